"""Writes map.json and map.md: only when what they say has changed, one line at a time where that will do."""
from __future__ import annotations

from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.map_json import LEVELS, MAX_SHARE, choose_level, file_json, head_lines, quote, shown_paths, tail_lines
from slipstream.map.publish import DEFAULT_BUDGET_TOKENS, JSON_NAME, TEXT_NAME, file_stamp
from slipstream.map.render import render_map

MAX_PATCHED = 40
FILES_MARK = '"files": ['
TIME_MARK = '"generatedAt": "'


def write_map_files(index: Index) -> str:
    """Write map.json and map.md where they changed, and note of what state they are; returns map.md's text."""
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
        outputs[name] = file_stamp(store_path(index.root, name))
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
    if file_stamp(path) != kept.get(JSON_NAME):
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
    before = next((row for row in old[:4_000].split("\n") if row.startswith(TIME_MARK)), "")
    kept = before[len(TIME_MARK):-2] if before else ""
    text = "\n".join([*head_lines(index, kept), ",\n".join(lines), *tail_lines(index)]) + "\n"
    if text != old:
        write_atomic(path, text.replace(f"{TIME_MARK}{kept}\"", f"{TIME_MARK}{now_iso()}\"", 1))
