"""map.json and map.md in the store: rewritten only when what they say has changed, one line at a time where that will do."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.map_json import LEVELS, MAX_SHARE, choose_level, file_json, head_lines, quote, shown_paths, tail_lines
from slipstream.map.pool import Progress
from slipstream.map.refresh import refresh_index, write_index
from slipstream.map.render import DEFAULT_BUDGET_TOKENS, render_map

JSON_NAME, TEXT_NAME = "map.json", "map.md"
MAX_PATCHED = 40
FILES_MARK = '"files": ['


def refresh_map(root: str, write: bool = True, ask_git: bool = True, progress: Progress | None = None) -> tuple[Index, str]:
    """The index of `root`, up to date, and its map at the default budget; `write` keeps both in the store."""
    refreshed = refresh_index(root, write=False, ask_git=ask_git, progress=progress)
    index = Index(refreshed)
    if not write:
        return index, render_map(index)
    try:
        text = _kept_text(index) or _publish(index)
    except (OSError, SlipstreamError) as error:
        refreshed.note = f"map not written: {error}"
        return index, render_map(index)
    if refreshed.table.changed:
        write_index(refreshed)
    return index, text


def _stamp(path: str) -> list[int] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return [info.st_mtime_ns, info.st_size, info.st_ino]


def _kept_text(index: Index) -> str | None:
    """map.md, when it and map.json are those of this very state."""
    kept = index.table.meta.get("outputs")
    if not isinstance(kept, dict) or kept.get("edition") != index.table.meta.get("edition") or kept.get("root") != index.root:
        return None
    for name in (JSON_NAME, TEXT_NAME):
        stamp = _stamp(store_path(index.root, name))
        if stamp is None or stamp != kept.get(name):
            return None
    return read_bytes(store_path(index.root, TEXT_NAME)).decode("utf-8", "replace")


def _publish(index: Index) -> str:
    meta = index.table.meta
    kept = meta.get("outputs")
    path = store_path(index.root, JSON_NAME)
    level, lines = _patched(index, path, kept) if isinstance(kept, dict) else (-1, [])
    if level < 0:
        level, lines = choose_level(index)
    _write_json(index, path, lines)
    text = render_map(index, DEFAULT_BUDGET_TOKENS)
    write_atomic(store_path(index.root, TEXT_NAME), text.encode("utf-8", "backslashreplace"), only_if_changed=True)
    outputs: dict[str, Any] = {"edition": meta.get("edition"), "root": index.root, "level": level}
    for name in (JSON_NAME, TEXT_NAME):
        outputs[name] = _stamp(store_path(index.root, name))
    meta["outputs"], meta["unpublished"] = outputs, []
    index.table.changed = True
    return text


def _patched(index: Index, path: str, kept: dict[str, Any]) -> tuple[int, list[str]]:
    """Level and lines of map.json with only the changed files rendered anew; level -1 when that will not do."""
    level, changed = kept.get("level"), index.table.meta.get("unpublished")
    if not isinstance(level, int) or not 0 <= level < len(LEVELS):
        return -1, []
    if not isinstance(changed, list) or len(changed) > MAX_PATCHED:
        return -1, []
    if _stamp(path) != kept.get(JSON_NAME):
        return -1, []
    rows = read_bytes(path).decode("utf-8", "replace").split("\n")
    try:
        start = rows.index(FILES_MARK) + 1
        end = rows.index("],", start)
    except ValueError:
        return -1, []
    lines = [row[:-1] if row.endswith(",") else row for row in rows[start:end]]
    paths = shown_paths(index)
    if len(paths) != len(lines):
        return -1, []
    places = {name: at for at, name in enumerate(paths)}
    for name in changed:
        at, entry = places.get(name), index.file(name)
        if at is None or entry is None or not lines[at].startswith(f'{{"path":{quote(name)},'):
            return -1, []
        lines[at] = file_json(entry, level)
    total = index.stats()["totalBytes"]
    if level < len(LEVELS) - 1 and total >= 100_000 and sum(map(len, lines)) > total * (MAX_SHARE + 0.004):
        return -1, []
    return level, lines


def _write_json(index: Index, path: str, lines: list[str]) -> None:
    """Write map.json unless nothing but `generatedAt` would change."""
    try:
        old = read_bytes(path).decode("utf-8", "replace")
    except OSError:
        old = ""
    before = next((row for row in old[:4_000].split("\n") if row.startswith('"generatedAt": ')), "")
    kept = before[len('"generatedAt": "'):-2] if before else ""
    text = _render_json(index, kept, lines)
    if text != old:
        write_atomic(path, _render_json(index, now_iso(), lines))


def _render_json(index: Index, generated_at: str, lines: Iterable[str]) -> str:
    return "\n".join([*head_lines(index, generated_at), ",\n".join(lines), *tail_lines(index)]) + "\n"
