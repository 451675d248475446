"""refs and graph, apart from search, which loads none of it."""
from __future__ import annotations

from slipstream.base.errors import UsageError
from slipstream.cli.find import locate
from slipstream.cli.flags import Flags, print_json, print_text


def _refs(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.refs import find_references, render_references
    if len(words) != 1:
        raise UsageError("one symbol")
    limit = 0 if flags.get("json") else flags.get("limit", 40)
    found = find_references(root, words[0], locate(root, flags.get("file", "")), limit, flags.get("offset", 0))
    if flags.get("json"):
        from slipstream.map.refs_json import references_json
        print_json(references_json(found))
    else:
        print_text(render_references(found))
    return 0 if found.page or (found.definitions and not found.offset) else 1


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


VERBS = {"refs": _refs, "graph": _graph}
