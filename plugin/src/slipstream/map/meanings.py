"""Which of several definitions of a name a using file means, by what it imports."""
from __future__ import annotations

from slipstream.map.fresh import View
from slipstream.map.graph import resolve_files
from slipstream.map.refs import References

MAX_PASSED_ON = 3


def find_meanings(root: str, view: View, found: References, homes: set[str]) -> dict[str, str]:
    """Using file -> the one of `homes`, the defining files, that its imports lead to; each home means its own."""
    using = sorted({use.path for use in found.uses} - homes)
    slots = {path: slot for slot, path in enumerate(view.paths) if path in using}
    imported = resolve_files(root, view, slots, found.name.rpartition(".")[2],
                             [slot for slot, path in enumerate(view.paths) if path in homes])
    reached = {path: targets & homes for path, targets in imported.items()}
    for _ in range(MAX_PASSED_ON):  # a package's front file passes names on: what it reaches, its importers reach
        for path in using:
            if not reached[path]:
                reached[path] = set().union(*(reached.get(target, set()) for target in imported[path]))
    meant = {path: next(iter(found_homes)) for path, found_homes in reached.items() if len(found_homes) == 1}
    return {**meant, **{path: path for path in homes}}
