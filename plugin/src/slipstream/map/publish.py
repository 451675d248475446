"""The map as the store keeps it: map.md is given as it is while nothing changed, else both files are made anew."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.refresh import TooMuch, refresh_index, write_index
from slipstream.map.source import Unreadable, read_source

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

    from slipstream.map.pool import Progress

JSON_NAME, TEXT_NAME = "map.json", "map.md"
DEFAULT_BUDGET_TOKENS = 4_000
MAX_LOOKED_AT = 150
MANY_FILES = 1_000  # to write all of these anew takes a tenth of a second


def refresh_map(root: str, write: bool = True, ask_git: bool = True, progress: Progress | None = None,
                little: bool = False) -> tuple[Index, str]:
    """The index of `root`, up to date, and its map at the default budget; `write` keeps both in the store."""
    refreshed = refresh_index(root, False, ask_git, progress, little)
    index = Index(refreshed)
    try:
        text = _kept_text(index)
        if text is None and write:
            text = _write_files(index)
    except (OSError, SlipstreamError, Unreadable) as error:
        refreshed.note = f"map not written: {error}" if write else ""
        text = None
    if text is None:
        return index, render_text(index)[0]
    if refreshed.table.changed and write:
        write_index(refreshed)
    return index, text


def _write_files(index: Index) -> str:
    kept, text = index.table.meta.get("outputs"), None
    if isinstance(kept, dict) and index.table.meta.get("unpublished") and index.table.before:
        from slipstream.map.patch import patch_map_files
        try:
            text = patch_map_files(index, kept)
        except (KeyError, TypeError, ValueError):
            pass  # an index may have come with a clone
    if text is None:
        if index.refreshed.little and len(index.table.slots) >= MANY_FILES:
            raise TooMuch
        from slipstream.map.map_files import write_map_files
        text = write_map_files(index)
    return text


def render_text(index: Index) -> tuple[str, list[str] | None]:
    """map.md, and the files whose detail it may depend on; None for those when they are too many to keep in the notes."""
    from slipstream.map.render import render_map
    text = render_map(index, DEFAULT_BUDGET_TOKENS)
    looked_at = index.parsed_paths()
    return text, looked_at if len(looked_at) <= MAX_LOOKED_AT else None


def note_published(index: Index, outputs: dict[str, Any]) -> None:
    """Keep in the index of what state the written files are."""
    meta = index.table.meta
    outputs["edition"] = meta.get("edition")
    for name in (JSON_NAME, TEXT_NAME):
        outputs[name] = file_stamp(store_path(index.root, name))
    meta["outputs"], meta["unpublished"] = outputs, []
    meta.pop("recounted", None)
    index.table.before.clear()
    index.table.changed = True


def file_stamp(path: str) -> list[int] | None:
    """[mtime in ns, size, inode] of a file of the store."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return [info.st_mtime_ns, info.st_size, info.st_ino]


def _kept_text(index: Index) -> str | None:
    """map.md, when it and map.json are those of this very state."""
    kept = index.table.meta.get("outputs")
    now = (index.table.meta.get("edition"), index.root, index.title)
    if not isinstance(kept, dict) or (kept.get("edition"), kept.get("root"), kept.get("title")) != now:
        return None
    for name in (JSON_NAME, TEXT_NAME):
        stamp = file_stamp(store_path(index.root, name))
        if stamp is None or stamp != kept.get(name):
            return None
    return read_source(store_path(index.root, TEXT_NAME))[0].decode("utf-8", "replace")
