"""The graph of imports between files: who imports whom, cycles, orphans, and who breaks if a file changes."""
from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.paths import shown_path


class CodeGraph:
    """`edges`: importer -> files it imports, all of them keys. Every answer is sorted: same tree, same bytes."""

    def __init__(self, edges: Mapping[str, Iterable[str]]):
        self.edges = {path: sorted({target for target in targets if target != path and target in edges})
                      for path, targets in sorted(edges.items())}
        self.importers: dict[str, list[str]] = {path: [] for path in self.edges}
        for path, targets in self.edges.items():
            for target in targets:
                self.importers[target].append(path)

    @property
    def edge_count(self) -> int:
        return sum(map(len, self.edges.values()))

    def degree(self, path: str) -> int:
        """Edges in and out."""
        return len(self.edges[path]) + len(self.importers[path])

    def orphans(self, entry_points: Iterable[str] = ()) -> list[str]:
        """Files that nothing imports and that import nothing, entry points apart."""
        return [path for path in self.edges if not self.degree(path) and path not in set(entry_points)]

    def dependents(self, path: str, depth: int) -> dict[str, int]:
        """File -> steps (1 to `depth`) by which it depends on `path`: who may break if that changes."""
        steps = {path: 0}
        frontier = [path]
        for step in range(1, depth + 1):
            frontier = sorted({importer for near in frontier for importer in self.importers[near]} - steps.keys())
            if not frontier:
                break
            steps.update(dict.fromkeys(frontier, step))
        del steps[path]
        return dict(sorted(steps.items(), key=lambda item: (item[1], item[0])))

    def cycles(self) -> list[list[str]]:
        """Groups of files that import each other, directly or around, largest first (Tarjan 1972, without recursion)."""
        order: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        open_: set[str] = set()
        groups: list[list[str]] = []
        for start in self.edges:
            if start in order:
                continue
            work = [(start, iter(self.edges[start]))]
            order[start] = low[start] = len(order)
            stack.append(start)
            open_.add(start)
            while work:
                node, targets = work[-1]
                target = next(targets, None)
                if target is None:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == order[node]:
                        group = [stack.pop()]
                        while group[-1] != node:
                            group.append(stack.pop())
                        open_.difference_update(group)
                        if len(group) > 1:
                            groups.append(sorted(group))
                elif target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    open_.add(target)
                    work.append((target, iter(self.edges[target])))
                elif target in open_:
                    low[node] = min(low[node], order[target])
        return sorted(groups, key=lambda group: (-len(group), group))

    def hubs(self, limit: int) -> list[tuple[str, int, int]]:
        """(path, imported by, imports) of the best connected files."""
        rows = [(path, len(self.importers[path]), len(self.edges[path])) for path in self.edges if self.degree(path)]
        return sorted(rows, key=lambda row: (-row[1] - row[2], -row[1], row[0]))[:limit]


def area_of(path: str) -> str:
    """The part of the project a file belongs to: `src/<folder>` below src, else the first folder, else the file itself."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "src" and len(parts) > 2 else parts[0]


def graph_json(graph: CodeGraph, sizes: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """The published shape; `sizes`: path -> (exported symbols, lines)."""
    nodes = [{"id": path, "label": posixpath.basename(path), "area": area_of(path), "symbols": sizes.get(path, (0, 0))[0],
              "lines": sizes.get(path, (0, 0))[1], "degree": graph.degree(path)} for path in graph.edges]
    edges = [{"source": path, "target": target} for path, targets in graph.edges.items() for target in targets]
    return {"nodes": nodes, "edges": edges}


def render_graph(graph: CodeGraph, entry_points: Iterable[str] = (), limit: int = 12) -> str:
    """Counts, best connected files, cycles and orphans for a reader; each list is cut with its remainder named."""
    lines = [f"{count_of(len(graph.edges), 'file')}, {count_of(graph.edge_count, 'import')} between them"]
    lines += _section("best connected (imported by, imports)", [f"{shown_path(path)} ({inward}, {outward})"
                                                                for path, inward, outward in graph.hubs(limit)], limit)
    cycles = [(list(map(shown_path, group[:6])), len(group) - 6) for group in graph.cycles()]
    lines += _section("import cycles", [" <-> ".join(group) + (f" and {left} more" if left > 0 else "")
                                        for group, left in cycles], limit)
    lines += _section("connected to nothing", list(map(shown_path, graph.orphans(entry_points))), limit)
    return "\n".join(lines) + "\n"


def describe(graph: CodeGraph, entry_points: Iterable[str], path: str, depth: int) -> str:
    """The whole graph for a reader, or the file `path` in it; SlipstreamError when the map has no such file."""
    if path and path not in graph.edges:
        raise SlipstreamError("not a file of the map; `map --all` lists those it has, and what is left out", path)
    return render_file(graph, path, depth) if path else render_graph(graph, entry_points)


def render_file(graph: CodeGraph, path: str, depth: int = 2, limit: int = 40) -> str:
    """One file's neighbours and who breaks if it changes, nearest first."""
    lines = [shown_path(path)]
    lines += _section("imports", list(map(shown_path, graph.edges[path])), limit)
    lines += _section("imported by", list(map(shown_path, graph.importers[path])), limit)
    further = [f"{shown_path(name)} ({steps} steps)" for name, steps in graph.dependents(path, depth).items() if steps > 1]
    lines += _section(f"may break too, up to {depth} steps away", further, limit)
    group = next((group for group in graph.cycles() if path in group), [])
    lines += _section("in an import cycle with", [shown_path(name) for name in group if name != path], limit)
    if len(lines) == 1:
        lines.append("no imports from or to other files of this project")
    return "\n".join(lines) + "\n"


def _section(title: str, rows: Sequence[str], limit: int) -> list[str]:
    if not rows:
        return []
    more = [f"  ... and {len(rows) - limit} more"] if len(rows) > limit else []
    return [f"{title}:", *(f"  {row}" for row in rows[:limit]), *more]
