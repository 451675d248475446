"""Counts importers: all of them anew, or after edits of single files what these imported before is taken off, and what they
import now is added.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipstream.map.graph import Imports, count_importers, read_imports
from slipstream.map.imports.resolver import JAVASCRIPT, Resolver
from slipstream.map.imports.tree import project_reader
from slipstream.map.index_file import FAILED, FLAGS, IMPORTERS, SKIPPED
from slipstream.map.model import Import
from slipstream.map.refresh import Refresh, file_stamps
from slipstream.map.rescan import is_project_file
from slipstream.map.table import MAX_IMPORTERS, Table

Wanted = dict[object, Import]

MAX_WATCHED = 200  # project files beyond the manifests at the root that are looked at each time


def rank(result: Refresh) -> None:
    """Count importers anew, and find the entry points; of few edited files only what they import."""
    table, root = result.table, result.root
    seen: set[str] = set()
    noted = table.meta.pop("unranked", None)
    table.changed = True
    if noted and isinstance(noted, dict) and all(path in table.slots for path in noted):
        rows = {path: str(row).encode("utf-8", "replace") for path, row in noted.items()}
        difference = find_difference(root, table, rows, seen)
        if difference is not None and all(path in table.meta["manifests"] for path in _untold(table, seen)):
            table.add_importers(difference)
            return
    from slipstream.map.entrypoints import MANIFESTS, find_entry_points
    table.set_importers(count_importers(root, table, seen))
    entry_points = find_entry_points(root, table, seen)
    manifests = file_stamps(root, dict.fromkeys([*MANIFESTS, *_untold(table, seen)[:MAX_WATCHED]]))
    if entry_points != table.meta.get("entryPoints") or manifests != table.meta.get("manifests"):
        table.meta["entryPoints"], table.meta["manifests"] = entry_points, manifests
        table.reshape()


def _untold(table: Table, seen: set[str]) -> list[str]:
    """Of the project files that were read those of which no scan of a file tells."""
    return [path for path in sorted(seen) if path not in table.slots or not is_project_file(path)]


def find_difference(root: str, table: Table, before: dict[str, bytes], seen: set[str]) -> dict[int, int] | None:
    """Slot -> importers more or less, where `before` holds the rows of imports that were counted; None: count all anew.

    Only what these files import may have changed since: neither the set of files nor a project file nor a package. `seen`
    takes the project files that were read for it.
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
