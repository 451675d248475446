"""A file as its line in map.json; map.json and map.md brought up to date with a few edits by changing only lines (lean)."""
from __future__ import annotations

from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.map.index import Index
from slipstream.map.index_file import (
    EXPORTED,
    EXPORTS,
    FAILED,
    FLAGS,
    GENERATED,
    HEAD_ROWS,
    IMPORTS,
    LIVE,
    OUTLINE,
    RACY,
    SIZE,
    SKIPPED,
    SYMBOLS,
    FileEntry,
    Symbol,
    parse_rows,
)
from slipstream.map.publish import JSON_NAME, TEXT_NAME, file_stamp, note_published, render_text
from slipstream.map.source import read_source

NO_RECORD = (0,) * 14
HIDDEN = SKIPPED | FAILED | GENERATED
TIME_MARK, STATS_MARK = b'\n"generatedAt": "', b'\n"stats": {'
# What a symbol carries beyond name, kind and line, richest first: (signature, doc, endLine). The last level also leaves
# out a purpose that only repeats the names.
LEVELS = ((True, True, True), (True, False, True), (False, False, True), (False, False, False), (False, False, False))
MAX_SHARE = 0.095
SMALL_SOURCE_BYTES = 100_000


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
        same_text = same_text and (before == now or (  # EXPORTS are between
            path not in detail and old[SYMBOLS:LIVE + 1] == new[SYMBOLS:LIVE + 1]))
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


# -- one file's line ------------------------------------------------------------------------------------------------

def quote(text: str) -> str:
    """`text` as a JSON string; readable in any script, escaped where it holds half a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return encode_basestring_ascii(text)
    return encode_basestring(text)


def symbol_json(one: Symbol, level: int) -> str:
    """A symbol in the published shape."""
    signature, doc, end = LEVELS[level]
    parts = [f'{{"name":{quote(one.name)},"kind":"{one.kind}","line":{one.line}']
    if end:
        parts.append(f'"endLine":{one.end}')
    if signature and one.signature:
        parts.append(f'"signature":{quote(one.signature)}')
    if doc and one.doc:
        parts.append(f'"doc":{quote(one.doc)}')
    if one.default:
        parts.append('"default":true')
    return ",".join(parts) + "}"


def sizes_of(entry: FileEntry) -> tuple[int, int, int, int]:
    """Approximate bytes of a file's line at the barest level, and what ends, signatures and docs add."""
    bare = 80 + len(entry.path.encode("utf-8", "replace")) + len(entry.purpose.encode("utf-8", "replace"))
    bare += sum(len(name) + 3 for name in specifiers(entry))
    ends = signatures = docs = 0
    for one in entry.symbols:
        if one.depth == 0 and one.exported:
            bare += len(one.name) + len(one.kind) + 36
            ends += 15
            if one.signature:
                signatures += len(one.signature.encode("utf-8", "replace")) + one.signature.count('"') + 15
            if one.doc:
                docs += len(one.doc.encode("utf-8", "replace")) + one.doc.count('"') + 9
    return bare, ends, signatures, docs


def specifiers(entry: FileEntry) -> list[str]:
    """Imports as published: each specifier once, in the order of their first appearance; not the file's own package."""
    return list(dict.fromkeys(cells[0] for cells in entry.cells(IMPORTS)
                              if cells[0] and cells[1:2] not in (["package"], ["namespace"])))


def file_json(entry: FileEntry, level: int) -> str:
    """A file in the published shape, on one line."""
    symbols = ",".join(symbol_json(one, level) for one in entry.symbols if one.depth == 0 and one.exported)
    imports = ",".join(quote(name) for name in specifiers(entry))
    outline = entry.cells(OUTLINE)
    repeats = ("exports ", "defines ", *(f"{cells[1]}s " for cells in outline[:1]))
    purpose = "" if level == len(LEVELS) - 1 and entry.purpose.startswith(repeats) else entry.purpose
    return (f'{{"path":{quote(entry.path)},"purpose":{quote(purpose)},"symbols":[{symbols}],"imports":[{imports}],'
            f'"bytes":{entry.bytes},"lines":{entry.lines}}}')


def surface_of(section: bytes, entry: FileEntry) -> FileEntry:
    """Fill `entry` with only the symbols that map.json shows."""
    rows = section.decode("utf-8", "replace").split("\n")
    shown = [row for row in rows[HEAD_ROWS:] if row.startswith("0\t") and int(row.split("\t", 3)[2]) & EXPORTED]
    return parse_rows([*rows[:HEAD_ROWS], *shown], entry)


def level_of(sizes: list[int], source_bytes: int) -> int:
    """The richest level that keeps map.json under MAX_SHARE of the source, of the sums of `sizes_of`."""
    limit = source_bytes * MAX_SHARE
    if source_bytes < SMALL_SOURCE_BYTES:
        return 0
    bare, ends, signatures, docs = sizes
    totals = (bare + ends + signatures + docs, bare + ends + signatures, bare + ends, bare)
    return next((at for at, total in enumerate(totals) if total <= limit), len(LEVELS) - 1)
