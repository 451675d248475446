"""search, refs, graph: finding things, kept fast (query verbs: no argparse, no process, few lines)."""
from __future__ import annotations

from slipstream.base.errors import UsageError
from slipstream.cli.flags import FROM_0, FROM_1, Flags, print_json, print_text, run_query
from slipstream.map.index_file import KINDS

USAGE = {
    "search": "search QUERY... [--limit N] [--offset N] [--kind KIND] [--path PATH] [--root DIR] [--json]",
    "refs": "refs SYMBOL [--file FILE] [--limit N] [--offset N] [--root DIR] [--json]",
    "graph": "graph [FILE] [--depth N] [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, object]] = {
    "search": {"limit": FROM_1, "offset": FROM_0, "kind": (*KINDS.values(), "file"), "path": str},
    "refs": {"file": str, "limit": FROM_1, "offset": FROM_0}, "graph": {"depth": FROM_1},
}


def main(argv: list[str]) -> int:
    """Run one of the verbs; see USAGE."""
    verb = _search
    if argv[0] != "search":
        from slipstream.cli import find_uses
        verb = find_uses.VERBS[argv[0]]
    return run_query(argv[0], argv[1:], USAGE[argv[0]], FLAGS[argv[0]], verb)


def locate(root: str, path: str) -> str:
    """What a person in some folder of the project means by a path, from the root; nothing by none."""
    if path:
        from slipstream.map.lookup import locate_file
        path = locate_file(root, path, folders=True)
    return path


def _search(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.search import search
    query = " ".join(words)
    if not query.strip():
        raise UsageError("what for?")
    answer = search(root, query, flags.get("limit", 8), flags.get("offset", 0), flags.get("kind", ""),
                    locate(root, flags.get("path", "")))
    if flags.get("json"):
        from slipstream.map.search_json import answer_json
        print_json(answer_json(answer))
    else:
        from slipstream.map.search_text import render_answer
        print_text(render_answer(answer, query))
    return 0 if answer.hits else 1
