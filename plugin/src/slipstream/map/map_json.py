"""map.json in its published shape, one file a line, small enough to keep beside the source; and the whole as JSON."""
from __future__ import annotations

import json
from collections.abc import Iterator
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from slipstream.base.files import dump_json
from slipstream.map.index import Index
from slipstream.map.index_file import (
    EXPORTED,
    FAILED,
    FLAGS,
    GENERATED,
    HEAD_ROWS,
    IMPORTERS,
    SIZE,
    SKIPPED,
    FileEntry,
    Symbol,
    parse_rows,
)

# What a symbol carries beyond name, kind and line, richest first: (signature, doc, endLine). The last level also leaves
# out a purpose that only repeats the names.
LEVELS = ((True, True, True), (True, False, True), (False, False, True), (False, False, False), (False, False, False))
MAX_SHARE = 0.095
SMALL_SOURCE_BYTES = 100_000
MAX_KEPT_FILES = 10_000  # above, parsed files are let go at once


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


def _sizes(entry: FileEntry) -> tuple[int, int, int, int]:
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
    """Imports as published: each specifier once, in the order of their first appearance."""
    return list(dict.fromkeys(cells[0] for cells in entry.cells(1) if cells[0]))


def file_json(entry: FileEntry, level: int) -> str:
    """A file in the published shape, on one line."""
    symbols = ",".join(symbol_json(one, level) for one in entry.symbols if one.depth == 0 and one.exported)
    imports = ",".join(quote(name) for name in specifiers(entry))
    purpose = "" if level == len(LEVELS) - 1 and entry.purpose.startswith(("exports ", "defines ")) else entry.purpose
    return (f'{{"path":{quote(entry.path)},"purpose":{quote(purpose)},"symbols":[{symbols}],"imports":[{imports}],'
            f'"bytes":{entry.bytes},"lines":{entry.lines}}}')


def shown_paths(index: Index) -> list[str]:
    """Files that map.json holds, sorted."""
    table = index.table
    return sorted(path for path, slot in table.slots.items()
                  if not table.records[slot][FLAGS] & (SKIPPED | FAILED | GENERATED))


def surface(index: Index, path: str) -> FileEntry:
    """A file with only the symbols that map.json shows."""
    slot = index.table.slots[path]
    section = index.table.section(slot)
    rows = section.decode("utf-8", "replace").split("\n")
    shown = [row for row in rows[HEAD_ROWS:] if row.startswith("0\t") and int(row.split("\t", 3)[2]) & EXPORTED]
    record = index.table.records[slot]
    return parse_rows([*rows[:HEAD_ROWS], *shown], FileEntry(path, slot, record[SIZE], record[IMPORTERS]))


def choose_level(index: Index) -> tuple[int, list[str]]:
    """The richest level that keeps map.json under MAX_SHARE of the source, and the lines of the files."""
    limit = index.stats()["totalBytes"] * MAX_SHARE
    paths = shown_paths(index)
    totals = [500, 0, 0, 0]
    entries = []
    for path in paths:
        entry = surface(index, path)
        totals = [total + more for total, more in zip(totals, _sizes(entry))]
        if len(paths) <= MAX_KEPT_FILES:
            entries.append(entry)
    bare, ends, signatures, docs = totals
    sizes = [bare + ends + signatures + docs, bare + ends + signatures, bare + ends, bare]
    level = next((at for at, total in enumerate(sizes) if total <= limit), len(LEVELS) - 1)
    if limit < SMALL_SOURCE_BYTES * MAX_SHARE:
        level = 0
    return level, [file_json(entry, level) for entry in entries or (surface(index, path) for path in paths)]


def head_lines(index: Index, generated_at: str) -> list[str]:
    """The lines before the files."""
    entry_points = ",".join(quote(name) for name in index.entry_points)
    return ["{", '"version": 1,', f'"root": {quote(index.root)},', f'"generatedAt": {quote(generated_at)},',
            f'"entryPoints": [{entry_points}],', '"files": [']


def tail_lines(index: Index) -> list[str]:
    """The lines after the files: stats, and what was left out."""
    stats = index.stats()
    published = {name: stats[name] for name in ("fileCount", "symbolCount", "totalBytes")}
    skipped = [{"path": path, "reason": reason} for path, reason in index.skipped()[:500]]
    tail = ["],", f'"stats": {json.dumps(published)}']
    if skipped:
        tail[-1] += ","
        tail.append(f'"skipped": {dump_json(skipped)}')
    return [*tail, "}"]



def _tree(symbols: list[Symbol]) -> list[dict[str, Any]]:
    top: list[dict[str, Any]] = []
    stack: list[dict[str, Any]] = []
    for one in symbols:
        node: dict[str, Any] = {"name": one.name, "kind": one.kind, "line": one.line, "startLine": one.start,
                                "endLine": one.end, "exported": one.exported, "signature": one.signature, "doc": one.doc}
        if one.default:
            node["default"] = True
        node["members"] = []
        del stack[one.depth:]
        (stack[-1]["members"] if stack else top).append(node)
        stack.append(node)
    return top


def iter_json(index: Index, generated_at: str, path: str | None = None) -> Iterator[str]:
    """map.json's text, line by line, of the whole project or of the files at and below `path`."""
    prefix = path.rstrip("/") + "/" if path and path != "." else ""
    chosen = [name for name in shown_paths(index) if not prefix or name == path or name.startswith(prefix)]
    yield from head_lines(index, generated_at)
    for at, name in enumerate(chosen):
        entry = index.file(name)
        if entry is not None:
            yield file_json(entry, 0) + ("," if at < len(chosen) - 1 else "")
    yield from tail_lines(index)


def iter_all_json(index: Index, generated_at: str, path: str | None = None) -> Iterator[str]:
    """The whole map as JSON, line by line: every file with every definition and its members."""
    prefix = path.rstrip("/") + "/" if path and path != "." else ""
    yield from head_lines(index, generated_at)
    before = ""
    for name in sorted(index.table.slots):
        if prefix and name != path and not name.startswith(prefix):
            continue
        entry = index.file(name)
        if entry is None or entry.skipped:
            continue
        value: dict[str, Any] = {"path": entry.path, "purpose": entry.purpose, "language": entry.language,
                                 "symbols": _tree(entry.symbols), "imports": specifiers(entry), "bytes": entry.bytes,
                                 "lines": entry.lines, "importers": entry.importers}
        if entry.generated:
            value["generated"] = True
        if entry.cells(5):
            value["warnings"] = [cells[0] for cells in entry.cells(5)]
        if before:
            yield before + ","
        before = dump_json(value)
        index.forget(name)
    if before:
        yield before
    yield from tail_lines(index)
