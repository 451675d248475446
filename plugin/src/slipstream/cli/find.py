"""search, refs, graph: finding things, kept fast (query verbs: no argparse, no process, few lines)."""
from __future__ import annotations

from slipstream.cli.flags import FROM_0, FROM_1, Flags, UsageError, print_json, print_text, run_query
from slipstream.map.index_file import KINDS

USAGE = {
    "search": "search QUERY... [--limit N] [--offset N] [--kind KIND] [--path PREFIX] [--root DIR] [--json]",
    "refs": "refs SYMBOL [--file FILE] [--limit N] [--offset N] [--root DIR] [--json]",
    "graph": "graph [FILE] [--depth N] [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, object]] = {
    "search": {"limit": FROM_1, "offset": FROM_0, "kind": (*KINDS.values(), "file"), "path": str},
    "refs": {"file": str, "limit": FROM_1, "offset": FROM_0}, "graph": {"depth": FROM_1},
}


def main(argv: list[str]) -> int:
    """Run one of the verbs; see USAGE."""
    return run_query(argv[0], argv[1:], USAGE[argv[0]], FLAGS[argv[0]], _VERBS[argv[0]])


def _search(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.search import search
    if not words:
        raise UsageError("what for?")
    query = " ".join(words)
    answer = search(root, query, flags.get("limit", 8), flags.get("offset", 0), flags.get("kind", ""),
                    flags.get("path", ""))
    if flags.get("json"):
        from slipstream.map.search_json import answer_json
        print_json(answer_json(answer))
    else:
        from slipstream.map.search_text import render_answer
        print_text(render_answer(answer, query))
    return 0 if answer.hits else 1


def _refs(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.refs import find_references, references_json, render_references
    if len(words) != 1:
        raise UsageError("one symbol")
    found = find_references(root, words[0], flags.get("file", ""))
    limit, offset = flags.get("limit", 40), flags.get("offset", 0)
    if flags.get("json"):
        print_json(references_json(found))
    else:
        print_text(render_references(found, limit, offset))
    return 0 if found.definitions or found.uses else 1


def _graph(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.codegraph import describe, graph_json
    from slipstream.map.graph import open_graph
    from slipstream.map.lookup import locate_file
    if len(words) > 1:
        raise UsageError("at most one file")
    graph, sizes, entry_points = open_graph(root)
    if flags.get("json"):
        return print_json(graph_json(graph, sizes))
    return print_text(describe(graph, entry_points, locate_file(root, words[0]) if words else "", flags.get("depth", 2)))


_VERBS = {"search": _search, "refs": _refs, "graph": _graph}
