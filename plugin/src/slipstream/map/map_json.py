"""map.json in its published shape, one file a line, small enough to keep beside the source; and the whole as JSON."""
from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from slipstream.base.json_files import dump_json
from slipstream.map.index import Index
from slipstream.map.index_file import FAILED, FLAGS, GENERATED, IMPORTERS, SIZE, SKIPPED, FileEntry, Symbol
from slipstream.map.patch import file_json, level_of, quote, sizes_of, specifiers, surface_of

MAX_KEPT_FILES = 10_000  # above, parsed files are let go at once


def shown_paths(index: Index) -> list[str]:
    """Files that map.json holds, sorted."""
    table = index.table
    return sorted(path for path, slot in table.slots.items()
                  if not table.records[slot][FLAGS] & (SKIPPED | FAILED | GENERATED))


def surface(index: Index, path: str) -> FileEntry:
    """A file with only the symbols that map.json shows."""
    slot = index.table.slots[path]
    record = index.table.records[slot]
    return surface_of(index.table.section(slot), FileEntry(path, slot, record[SIZE], record[IMPORTERS]))


def choose_level(index: Index) -> tuple[int, list[int], list[str]]:
    """The richest level that keeps map.json small, the sizes it follows from, and the lines of the files."""
    paths = shown_paths(index)
    sizes = [500, 0, 0, 0]
    entries = []
    for path in paths:
        entry = surface(index, path)
        sizes = [total + more for total, more in zip(sizes, sizes_of(entry))]
        if len(paths) <= MAX_KEPT_FILES:
            entries.append(entry)
    level = level_of(sizes, index.stats()["totalBytes"])
    return level, sizes, [file_json(entry, level) for entry in entries or (surface(index, path) for path in paths)]


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
