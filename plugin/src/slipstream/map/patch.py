"""Brings map.json and map.md up to date with a few edited files by changing only their lines (lean: every edit loads it)."""
from __future__ import annotations

from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.index_file import EXPORTS, FAILED, FLAGS, GENERATED, RACY, SIZE, SKIPPED, SYMBOLS, FileEntry
from slipstream.map.map_line import file_json, level_of, quote, sizes_of, surface_of
from slipstream.map.publish import JSON_NAME, TEXT_NAME, file_stamp, note_published, render_text
from slipstream.map.source import read_source

HIDDEN = SKIPPED | FAILED | GENERATED
TIME_MARK, STATS_MARK = b'\n"generatedAt": "', b'\n"stats": {'


def patch_map_files(index: Index, kept: dict[str, Any]) -> str | None:
    """Patch the files that `kept` describes; returns map.md's text, or None when both have to be made anew.

    Nothing but single files may have changed since they were written, all of them in this process: then the table still
    has what was known of each before. map.md is patched where only the size of the source can differ in it.
    """
    table, changed, detail = index.table, index.table.meta.get("unpublished"), kept["detail"]
    if any(file_stamp(store_path(index.root, name)) != kept.get(name) for name in (JSON_NAME, TEXT_NAME)):
        return None
    if not changed or kept.get("root") != index.root:
        return None
    sizes, stats, lines = list(kept["sizes"]), dict(kept["stats"]), []
    same_text = detail is not None and not table.meta.get("recounted")
    for path in changed:
        if path not in table.before or path not in table.slots:
            return None
        slot = table.slots[path]
        (old, section), new = table.before[path], table.records[slot]
        if (old[FLAGS] ^ new[FLAGS]) & ~RACY or new[FLAGS] & HIDDEN:
            return None
        same_text = same_text and path not in detail and old[SYMBOLS] == new[SYMBOLS] and old[EXPORTS] == new[EXPORTS]
        for name, place in (("totalBytes", SIZE), ("symbolCount", EXPORTS), ("allSymbols", SYMBOLS)):
            stats[name] += new[place] - old[place]
        entry = surface_of(table.section(slot), FileEntry(path, slot, new[SIZE]))
        for at, (less, more) in enumerate(zip(sizes_of(surface_of(section, FileEntry(path))), sizes_of(entry))):
            sizes[at] += more - less
        lines.append((path, entry))
    level = level_of(sizes, stats["totalBytes"])
    if level != kept.get("level") or not _patch_json(index, stats, [(path, file_json(entry, level)) for path, entry in lines]):
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


def _patch_json(index: Index, stats: dict[str, int], lines: list[tuple[str, str]]) -> bool:
    """Write map.json with other lines for some files, and other sums; what stays is written from where it was read."""
    path = store_path(index.root, JSON_NAME)
    data, changes = read_bytes(path), []
    for name, line in lines:
        start = data.find(f'\n{{"path":{quote(name)},'.encode("utf-8", "replace")) + 1
        end = data.find(b"\n", start)
        if start < 1 or end < 0:
            return False
        changes.append((start, end - (data[end - 1:end] == b","), line.encode("utf-8")))
    start = data.rfind(STATS_MARK) + len(STATS_MARK)
    shown = ", ".join(f'"{name}": {stats[name]}' for name in ("fileCount", "symbolCount", "totalBytes"))
    changes.append((start, data.find(b"}", start), shown.encode()))
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
