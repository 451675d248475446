"""Writes map.json and map.md: only when what they say has changed, one line at a time where that will do."""
from __future__ import annotations

from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.index_file import FAILED, FLAGS, GENERATED, SKIPPED
from slipstream.map.map_json import (
    LEVELS,
    MAX_SHARE,
    SMALL_SOURCE_BYTES,
    choose_level,
    file_json,
    head_lines,
    quote,
    tail_lines,
)
from slipstream.map.publish import DEFAULT_BUDGET_TOKENS, JSON_NAME, TEXT_NAME, file_stamp
from slipstream.map.render import render_map

MAX_PATCHED = 40
HIDDEN = SKIPPED | FAILED | GENERATED
FILES_MARK, TAIL_MARK, TIME_MARK = b'\n"files": [\n', b'\n],\n"stats": ', b'"generatedAt": "'


def write_map_files(index: Index) -> str:
    """Write map.json and map.md where they changed, and note of what state they are; returns map.md's text."""
    meta = index.table.meta
    kept = meta.get("outputs")
    path = store_path(index.root, JSON_NAME)
    level = kept.get("level") if isinstance(kept, dict) and file_stamp(path) == kept.get(JSON_NAME) else None
    if not (isinstance(kept, dict) and isinstance(level, int) and _patch(index, path, kept, level)):
        level, lines = choose_level(index)
        _write_json(index, path, lines)
    text = render_map(index, DEFAULT_BUDGET_TOKENS)
    write_atomic(store_path(index.root, TEXT_NAME), text.encode("utf-8", "backslashreplace"), only_if_changed=True)
    outputs: dict[str, Any] = {"edition": meta.get("edition"), "root": index.root, "level": level,
                               "files": index.stats()["fileCount"]}
    for name in (JSON_NAME, TEXT_NAME):
        outputs[name] = file_stamp(store_path(index.root, name))
    meta["outputs"], meta["unpublished"] = outputs, []
    index.table.changed = True
    return text


def _patch(index: Index, path: str, kept: dict[str, Any], level: int) -> bool:
    """Write map.json with only the changed files' lines made anew; False when that will not do.

    The file is the one `kept` describes, so its lines are those of the index as it was then.
    """
    changed, stats = index.table.meta.get("unpublished"), index.stats()
    if not isinstance(changed, list) or len(changed) > MAX_PATCHED or kept.get("files") != stats["fileCount"]:
        return False
    if not 0 <= level < len(LEVELS) or kept.get("root") != index.root:
        return False
    old = data = read_bytes(path)
    for name in changed:
        slot, entry = index.table.slots.get(name), index.file(name)
        start = data.find(f'\n{{"path":{quote(name)},'.encode("utf-8", "replace")) + 1
        end = data.find(b"\n", start)
        if slot is None or entry is None or start < 1 or end < 0 or index.table.records[slot][FLAGS] & HIDDEN:
            return False
        comma = b"," if data[end - 1:end] == b"," else b""
        data = data[:start] + file_json(entry, level).encode("utf-8") + comma + data[end:]
    start, end = data.find(FILES_MARK), data.rfind(TAIL_MARK)
    before = data[:max(start, 0)].rpartition(TIME_MARK)[2].partition(b'"')[0]
    if start < 0 or end < 0 or not before:
        return False
    total = stats["totalBytes"]
    if level < len(LEVELS) - 1 and total >= SMALL_SOURCE_BYTES and len(data) > total * (MAX_SHARE + 0.004):
        return False
    middle = data[start + len(FILES_MARK):end]
    if _whole(index, before.decode("ascii", "replace"), middle) != old:
        write_atomic(path, _whole(index, now_iso(), middle))
    return True


def _whole(index: Index, generated_at: str, files: bytes) -> bytes:
    head = "\n".join(head_lines(index, generated_at)).encode("utf-8", "replace")
    return b"".join([head, b"\n", files, b"\n", "\n".join(tail_lines(index)).encode("utf-8", "replace"), b"\n"])


def _write_json(index: Index, path: str, lines: list[str]) -> None:
    """Write map.json unless nothing but `generatedAt` would change."""
    try:
        old = read_bytes(path)
    except OSError:
        old = b""
    before = old[:4_000].partition(TIME_MARK)[2].partition(b'"')[0].decode("ascii", "replace")
    files = ",\n".join(lines).encode("utf-8")
    if _whole(index, before, files) != old:
        write_atomic(path, _whole(index, now_iso(), files))
