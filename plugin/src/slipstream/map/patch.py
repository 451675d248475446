"""Brings map.json and map.md up to date with a few edited files by changing only their lines (lean: every edit loads it)."""
from __future__ import annotations

from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.index_file import EXPORTS, FAILED, FLAGS, GENERATED, LIVE, RACY, SIZE, SKIPPED, SYMBOLS, FileEntry
from slipstream.map.map_line import file_json, level_of, quote, sizes_of, surface_of
from slipstream.map.publish import JSON_NAME, TEXT_NAME, file_stamp, note_published, render_text
from slipstream.map.source import read_source

NO_RECORD = (0,) * 14
HIDDEN = SKIPPED | FAILED | GENERATED
TIME_MARK, STATS_MARK = b'\n"generatedAt": "', b'\n"stats": {'


def patch_map_files(index: Index, kept: dict[str, Any]) -> str | None:
    """Patch the files that `kept` describes; returns map.md's text, or None when both have to be made anew.

    Nothing but single files may have changed, come or left since they were written, all of them in this process: then the
    table still has what was known of each before. map.md is patched where only the size of the source can differ in it.
    """
    table, changed, detail = index.table, index.table.meta.get("unpublished"), kept["detail"]
    if any(file_stamp(store_path(index.root, name)) != kept.get(name) for name in (JSON_NAME, TEXT_NAME)):
        return None
    if not changed or (kept.get("root"), kept.get("title")) != (index.root, index.title):
        return None
    sizes, stats, lines, moved = list(kept["sizes"]), dict(kept["stats"]), [], []
    same_text = detail is not None and not table.meta.get("recounted")
    for path in changed:
        if path not in table.before:
            return None
        (old, before), slot = table.before[path], table.slots.get(path)
        new, now = (NO_RECORD, b"") if slot is None else (table.records[slot], table.section(slot))
        if old[LIVE] != new[LIVE]:
            moved.append(path)
        elif (old[FLAGS] ^ new[FLAGS]) & ~RACY:
            return None
        if (old[FLAGS] | new[FLAGS]) & HIDDEN:
            return None
        same_text = same_text and path not in detail and old[SYMBOLS:LIVE + 1] == new[SYMBOLS:LIVE + 1]  # EXPORTS are between
        for name, place in (("fileCount", LIVE), ("totalBytes", SIZE), ("symbolCount", EXPORTS), ("allSymbols", SYMBOLS)):
            stats[name] += new[place] - old[place]
        entry = None
        for section, step in ((before, -1), (now, 1)):
            if section:
                entry = surface_of(section, FileEntry(path, -1, new[SIZE]))
                for at, size in enumerate(sizes_of(entry)):
                    sizes[at] += size * step
        lines.append((path, entry if now else None))
    level = level_of(sizes, stats["totalBytes"])
    rows = [(path, file_json(entry, level) if entry else "") for path, entry in lines]
    if level != kept.get("level") or not _patch_json(index, stats, rows, moved):
        return None
    text = _patch_text(index, kept["stats"], stats) if same_text else None
    if text is None:
        text, detail = render_text(index)
    write_atomic(store_path(index.root, TEXT_NAME), text.encode("utf-8", "backslashreplace"), only_if_changed=True)
    note_published(index, {**kept, "sizes": sizes, "stats": stats, "detail": detail})
    return text


def _patch_text(index: Index, old: dict[str, int], new: dict[str, int]) -> str | None:
    """map.md with the size of the source as it is now: all that the text says of a file without detail."""
    text = read_source(store_path(index.root, TEXT_NAME))[0].decode("utf-8", "replace")
    before, after = (f" symbols, {stats['totalBytes'] / 1024:.1f} KiB of source. Shown " for stats in (old, new))
    head, mark, rest = text.partition(before)
    return head + after + rest if mark and head.count("\n") == 2 else None


def find_line(data: bytes, path: str) -> tuple[int, int]:
    """Where the line of a file starts in map.json, and where it ends; ValueError when it has none."""
    start = data.index(f'\n{{"path":{quote(path)},'.encode("utf-8", "replace")) + 1
    return start, data.index(b"\n", start)


def _patch_json(index: Index, stats: dict[str, int], lines: list[tuple[str, str]], moved: list[str]) -> bool:
    """Write map.json with other lines for some files, and other sums; what stays is written from where it was read.

    Of files that are `moved` the line is new, or, where it is empty, goes.
    """
    path = store_path(index.root, JSON_NAME)
    data, changes = read_bytes(path), []
    for name, line in lines:
        if name in moved:
            continue
        start, end = find_line(data, name)
        changes.append((start, end - (data[end - 1:end] == b","), line.encode("utf-8")))
    if moved:
        from slipstream.map.map_files import place_lines
        changes += place_lines(index, data, [one for one in lines if one[0] in moved])
    start = data.rfind(STATS_MARK) + len(STATS_MARK)
    sums = ", ".join(f'"{name}": {stats[name]}' for name in ("fileCount", "symbolCount", "totalBytes"))
    changes.append((start, data.find(b"}", start), sums.encode()))
    if start < len(STATS_MARK) or changes[-1][1] < 0:
        return False
    if any(data[start:end] != new for start, end, new in changes):
        start = data.find(TIME_MARK) + len(TIME_MARK)
        changes.append((start, data.find(b'"', start), now_iso().encode()))
        if start < len(TIME_MARK) or changes[-1][1] < 0:
            return False
        pieces: list[bytes | memoryview] = []
        at = 0
        for start, end, new in sorted(changes):
            if start < at:
                return False
            pieces += [memoryview(data)[at:start], new]
            at = end
        write_atomic(path, [*pieces, memoryview(data)[at:]])
    return True
