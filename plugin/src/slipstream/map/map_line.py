"""A file as its line in map.json, and what that line weighs at each level (lean: every edit loads it)."""
from __future__ import annotations

from json.encoder import encode_basestring, encode_basestring_ascii

from slipstream.map.index_file import EXPORTED, HEAD_ROWS, IMPORTS, OUTLINE, FileEntry, Symbol, parse_rows

# What a symbol carries beyond name, kind and line, richest first: (signature, doc, endLine). The last level also leaves
# out a purpose that only repeats the names.
LEVELS = ((True, True, True), (True, False, True), (False, False, True), (False, False, False), (False, False, False))
MAX_SHARE = 0.095
SMALL_SOURCE_BYTES = 100_000


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
