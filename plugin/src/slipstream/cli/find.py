"""search, refs, graph: finding things, kept fast (query verbs: no argparse, no process, few lines)."""
from __future__ import annotations

import os
import sys

from slipstream.base.errors import SlipstreamError
from slipstream.base.roots import find_tree_root
from slipstream.cli.flags import UsageError, parse_flags

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
SHARED: dict[str, type] = {"root": str, "json": bool, "help": bool}
Flags = dict[str, "str | int | bool"]


def main(argv: list[str]) -> int:
    """Run one of the verbs; see USAGE."""
    verb = argv[0]
    try:
        words, flags = parse_flags(argv[1:], {**FLAGS[verb], **SHARED})
        if flags.get("help"):
            return _print(f"usage: slipstream {USAGE[verb]}\n")
        wanted = str(flags.get("root", "")) or None
        if wanted and not os.path.isdir(wanted):
            raise SlipstreamError("--root is not a folder", wanted)
        for name in ("limit", "offset", "depth"):
            if int(flags.get(name, 1)) < (name != "offset"):
                raise UsageError(f"--{name} is too small")
        return _VERBS[verb](find_tree_root(wanted), words, flags)
    except UsageError as error:
        print(f"slipstream {verb}: {error}\nusage: slipstream {USAGE[verb]}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except (SlipstreamError, OSError) as error:
        print(f"slipstream: {error}", file=sys.stderr)
        return 1


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    return 0


def _print_json(value: object) -> int:
    import json
    return _print(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _search(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.search import search
    if not words:
        raise UsageError("what for?")
    query = " ".join(words)
    answer = search(root, query, int(flags.get("limit", 8)), int(flags.get("offset", 0)), str(flags.get("kind", "")),
                    str(flags.get("path", "")))
    if flags.get("json"):
        from slipstream.map.search_text import answer_json
        _print_json(answer_json(answer))
    else:
        from slipstream.map.search_text import render_answer
        _print(render_answer(answer, query))
    return 0 if answer.hits else 1


def _refs(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.refs import find_references, references_json, render_references
    if len(words) != 1:
        raise UsageError("one symbol")
    found = find_references(root, words[0], str(flags.get("file", "")))
    limit, offset = int(flags.get("limit", 40)), int(flags.get("offset", 0))
    if flags.get("json"):
        _print_json(references_json(found))
    else:
        _print(render_references(found, limit, offset))
    return 0 if found.definitions or found.uses else 1


def _graph(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.codegraph import graph_json, render_file, render_graph
    from slipstream.map.graph import open_graph
    if len(words) > 1:
        raise UsageError("at most one file")
    graph, sizes, entry_points = open_graph(root)
    if flags.get("json"):
        return _print_json(graph_json(graph, sizes))
    if not words:
        return _print(render_graph(graph, entry_points))
    from slipstream.map.lookup import locate_file
    path = locate_file(root, words[0])
    if path not in graph.edges:
        raise SlipstreamError("not a file of the map", path)
    return _print(render_file(graph, path, int(flags.get("depth", 2))))


_VERBS = {"search": _search, "refs": _refs, "graph": _graph}
