"""Writes map.json and map.md whole, where what they say has changed."""
from __future__ import annotations

from bisect import bisect
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.map_json import choose_level, head_lines, shown_paths, tail_lines
from slipstream.map.patch import STATS_MARK, TIME_MARK, find_line
from slipstream.map.publish import JSON_NAME, TEXT_NAME, note_published, render_text


def write_map_files(index: Index) -> str:
    """Write map.json and map.md where they changed, and note of what state they are; returns map.md's text."""
    level, sizes, lines = choose_level(index)
    _write_json(index, store_path(index.root, JSON_NAME), lines)
    text, detail = render_text(index)
    write_atomic(store_path(index.root, TEXT_NAME), text.encode("utf-8", "backslashreplace"), only_if_changed=True)
    outputs: dict[str, Any] = {"root": index.root, "title": index.title, "level": level, "sizes": sizes, "stats": index.stats(),
                               "detail": detail}
    note_published(index, outputs)
    return text


def place_lines(index: Index, data: bytes, moved: list[tuple[str, str]]) -> list[tuple[int, int, bytes]]:
    """Changes (start, end, new bytes) to map.json, the bytes `data`: the lines of new files, the empty ones of removed files.

    ValueError where there is no place for one.
    """
    new = {path for path, line in moved if line}
    stay = [path for path in shown_paths(index) if path not in new]
    if not stay:
        raise ValueError
    places: dict[int, bytes] = {}
    changes = []
    for path, line in sorted(moved):
        if not line:
            start, end = find_line(data, path)
            last = data[end - 1:end] != b","
            if last and data[start - 2:start - 1] != b",":
                raise ValueError(path)
            changes.append((start - 2 * last, end + (not last), b""))
            continue
        at = bisect(stay, path)
        if at < len(stay):
            place, text = find_line(data, stay[at])[0], line + ",\n"
        else:
            place, text = data.rindex(b"\n]," + STATS_MARK), ",\n" + line
        places[place] = places.get(place, b"") + text.encode("utf-8")
    return changes + [(place, place, text) for place, text in places.items()]


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


def _whole(index: Index, generated_at: str, files: bytes) -> bytes:
    head = "\n".join(head_lines(index, generated_at)).encode("utf-8", "replace")
    return b"".join([head, b"\n", files, b"\n", "\n".join(tail_lines(index)).encode("utf-8", "replace"), b"\n"])
