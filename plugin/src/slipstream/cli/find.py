"""search, refs, graph: finding things, kept fast (query verbs: no argparse, no process, few lines)."""
from __future__ import annotations

from slipstream.base.errors import SlipstreamError
from slipstream.cli.flags import Flags, UsageError, print_json, print_text, run_query

USAGE = {
    "search": "search QUERY... [--limit N] [--offset N] [--kind KIND] [--path PREFIX] [--root DIR] [--json]",
    "refs": "refs SYMBOL [--file FILE] [--limit N] [--offset N] [--root DIR] [--json]",
    "graph": "graph [FILE] [--depth N] [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, type]] = {
    "search": {"limit": int, "offset": int, "kind": str, "path": str},
    "refs": {"file": str, "limit": int, "offset": int},
    "graph": {"depth": int},
}


def main(argv: list[str]) -> int:
    """Run one of the verbs; see USAGE."""
    return run_query(argv, USAGE[argv[0]], FLAGS.get(argv[0], {}), _VERBS[argv[0]])


def check_counts(flags: Flags) -> None:
    for name in ("limit", "offset", "depth"):
        if int(flags.get(name, 1)) < (name != "offset"):
            raise UsageError(f"--{name} is too small")


def _search(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.search import search
    if not words:
        raise UsageError("what for?")
    check_counts(flags)
    query = " ".join(words)
    answer = search(root, query, int(flags.get("limit", 8)), int(flags.get("offset", 0)), str(flags.get("kind", "")),
                    str(flags.get("path", "")))
    if flags.get("json"):
        from slipstream.map.search_text import answer_json
        print_json(answer_json(answer))
    else:
        from slipstream.map.search_text import render_answer
        print_text(render_answer(answer, query))
    return 0 if answer.hits else 1


def _refs(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.refs import find_references, references_json, render_references
    if len(words) != 1:
        raise UsageError("one symbol")
    check_counts(flags)
    found = find_references(root, words[0], str(flags.get("file", "")))
    limit, offset = int(flags.get("limit", 40)), int(flags.get("offset", 0))
    if flags.get("json"):
        print_json(references_json(found))
    else:
        print_text(render_references(found, limit, offset))
    return 0 if found.definitions or found.uses else 1


def _graph(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.codegraph import graph_json, render_file, render_graph
    from slipstream.map.graph import open_graph
    if len(words) > 1:
        raise UsageError("at most one file")
    check_counts(flags)
    graph, sizes, entry_points = open_graph(root)
    if flags.get("json"):
        return print_json(graph_json(graph, sizes))
    if not words:
        return print_text(render_graph(graph, entry_points))
    from slipstream.map.lookup import locate_file
    path = locate_file(root, words[0])
    if path not in graph.edges:
        raise SlipstreamError("not a file of the map", path)
    return print_text(render_file(graph, path, int(flags.get("depth", 2))))


_VERBS = {"search": _search, "refs": _refs, "graph": _graph}
