"""Counts importers after edits of single files: what they imported before is taken off, what they import now is added.

Only what these files import may have changed since all was counted: neither the set of files nor a project file nor a package.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipstream.map.graph import Imports, project_reader, read_imports
from slipstream.map.imports.resolver import JAVASCRIPT, Resolver
from slipstream.map.index_file import FAILED, FLAGS, IMPORTERS, SKIPPED
from slipstream.map.model import Import
from slipstream.map.table import MAX_IMPORTERS, Table

Wanted = dict[object, Import]


def find_difference(root: str, table: Table, before: dict[str, bytes], seen: set[str]) -> dict[int, int] | None:
    """Slot -> importers more or less, where `before` holds the rows of imports that were counted; None: count all anew.

    `seen` takes the project files that were read for it.
    """
    resolver: Resolver | None = None
    counts: dict[int, int] = {}
    for path, row in before.items():
        head, now, _ = table.section(table.slots[path]).split(b"\n", 2)
        language = head.split(b"\t", 1)[0].decode()
        old, new = _wanted(language, row), _wanted(language, now)
        if old.keys() == new.keys():
            continue
        if resolver is None:
            resolver = _resolver(root, table, seen)
        gone, come = (_targets(resolver, path, language, one, other) for one, other in ((old, new), (new, old)))
        if gone == come:
            continue
        kept = _targets(resolver, path, language, {key: old[key] for key in old if key in new}, {})
        for targets, step in ((gone - come - kept, -1), (come - gone - kept, 1)):
            for target in targets:
                slot = table.slots[target]
                counts[slot] = counts.get(slot, 0) + step
    sums = [table.records[slot][IMPORTERS] for slot in counts]
    if any(not 0 <= count + more < MAX_IMPORTERS or count >= MAX_IMPORTERS for count, more in zip(sums, counts.values())):
        return None
    return counts


def _wanted(language: str, row: bytes) -> Wanted:
    """The imports by what their resolution depends on: of a script's import only the specifier."""
    return {one[0] if language in JAVASCRIPT else one: one for one in read_imports(row)}


def _targets(resolver: Resolver, path: str, language: str, wanted: Wanted, other: Wanted) -> set[str]:
    return {target for key, one in wanted.items() if key not in other for target in resolver.resolve(path, language, one)}


def _resolver(root: str, table: Table, seen: set[str]) -> Resolver:
    all_imports: list[Imports] = []

    def declared(language: str) -> Iterator[tuple[str, str, Iterable[str]]]:
        if not all_imports:
            all_imports.append(Imports(table))
        return all_imports[0].declared(language)

    paths = [path for path, slot in table.slots.items() if not table.records[slot][FLAGS] & (SKIPPED | FAILED)]
    return Resolver(paths, project_reader(root, seen), declared)
