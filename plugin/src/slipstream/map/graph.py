"""The imports of an index resolved to files, and how many files import each: what ranks the map's detail."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from slipstream.map.imports.packages import own_packages, told_by_name
from slipstream.map.imports.resolver import Resolver
from slipstream.map.imports.tree import project_reader
from slipstream.map.index_file import FAILED, FLAGS, HEAD_ROWS, SKIPPED
from slipstream.map.model import Import
from slipstream.map.table import Table

if TYPE_CHECKING:
    from slipstream.map.codegraph import CodeGraph


def read_imports(row: bytes) -> list[Import]:
    """The imports in their row of a section."""
    cells = [cell.split("\x1f") for cell in row.decode("utf-8", "replace").split("\t")] if row else []
    return [(cell[0], cell[1], tuple(cell[2].split(",")) if cell[2] else ()) for cell in cells if len(cell) == 3]


class Imports:
    """Imports and packages as the sections hold them, read without the rest."""

    def __init__(self, table: Table) -> None:
        self.rows: list[tuple[str, str, bytes]] = []
        self.table = table
        for slot, path in table.live():
            if table.records[slot][FLAGS] & (SKIPPED | FAILED):
                continue
            head, row, _ = table.section(slot).split(b"\n", 2)
            self.rows.append((path, head.split(b"\t", 1)[0].decode(), row))

    def declared(self, language: str) -> Iterator[tuple[str, str, Iterable[str]]]:
        """(path, package, top-level names) of every file of `language` that names its package."""
        for path, found, row in self.rows:
            if found != language:
                continue
            kinds = [cell for cell in row.split(b"\t") if b"\x1fpackage" in cell or b"\x1fnamespace" in cell]
            packages = own_packages(language, read_imports(b"\t".join(kinds)))
            if packages:
                names: list[str] = []
                if not told_by_name(language, path):
                    rows = self.table.section(self.table.slots[path]).split(b"\n")[HEAD_ROWS:]
                    names = [one.split(b"\t", 7)[6].decode("utf-8", "replace") for one in rows if one.startswith(b"0\t")]
                for package in packages:
                    yield path, package, names


def build_edges(root: str, table: Table, seen: set[str] | None = None) -> dict[str, list[str]]:
    """Importer -> files it imports, for every file of the index."""
    imports = Imports(table)
    resolver = Resolver([path for path, _, _ in imports.rows], project_reader(root, seen), imports.declared)
    edges: dict[str, list[str]] = {}
    for path, language, row in imports.rows:
        found: set[str] = set()
        for one in read_imports(row):
            found.update(resolver.resolve(path, language, one))
        edges[path] = sorted(found)
    return edges


def count_importers(root: str, table: Table, seen: set[str]) -> dict[int, int]:
    """Slot -> number of files that import it; `seen` takes the project files that were read for it."""
    counts: dict[int, int] = {}
    for targets in build_edges(root, table, seen).values():
        for target in targets:
            slot = table.slots[target]
            counts[slot] = counts.get(slot, 0) + 1
    return counts


def open_graph(root: str) -> tuple[CodeGraph, dict[str, tuple[int, int]], list[str]]:
    """(graph, path -> (exported symbols, lines), entry points) of the tree at `root` as it is now."""
    from slipstream.map.codegraph import CodeGraph
    from slipstream.map.index import open_index  # it ranks by this module
    index = open_index(root)
    sizes = {entry.path: (sum(one.exported and not one.depth for one in entry.symbols), entry.lines) for entry in index.files()}
    return CodeGraph(build_edges(root, index.table)), sizes, index.entry_points
