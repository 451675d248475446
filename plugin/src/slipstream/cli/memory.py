"""`memory search|timeline|observations`, kept fast (no argparse); every other verb over memory is in memory_verbs."""
from __future__ import annotations

from slipstream.base.errors import UsageError
from slipstream.base.shown import shown_text
from slipstream.cli.flags import FROM_0, FROM_1, Flags, print_json, print_text, run_query
from slipstream.cli.kinds import date
from slipstream.memory.model import is_number
from slipstream.memory.terms import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from slipstream.cli.kinds import Kind

USAGE = {
    "search": "memory search QUERY... [--kind KIND] [--session SESSION] [--branch BRANCH] [--file PATH] [--since DATE] "
              "[--limit N] [--root DIR] [--json]",
    "timeline": "memory timeline ID|QUERY... [--window N] [--session SESSION] [--root DIR] [--json]",
    "observations": "memory observations ID... [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, Kind]] = {
    "search": {"kind": KINDS, "session": str, "branch": str, "file": str, "since": date, "limit": FROM_1},
    "timeline": {"window": FROM_0, "session": str}, "observations": {},
}


def main(argv: list[str]) -> int:
    """Status 0 with rows, 1 when there is nothing, 2 for words that are off."""
    verb = argv[1] if argv[0] == "memory" and len(argv) > 1 else ""
    if verb not in USAGE or "-h" in argv or "--help" in argv:
        from slipstream.cli.memory_verbs import main as other
        return other(argv)
    return run_query(f"memory {verb}", argv[2:], USAGE[verb], FLAGS[verb],
                     lambda root, words, flags: _act(verb, root, words, flags))


def _act(verb: str, tree_root: str, words: list[str], flags: Flags) -> int:
    from slipstream.base.roots import find_store_root
    from slipstream.memory import search
    if not words or (verb == "timeline" and len(words) > 1 and words[0].isdecimal()):
        raise UsageError({"search": "what for?", "timeline": "one number, or a query"}.get(verb, "which numbers?"))
    store_root, word = find_store_root(tree_root), " ".join(words)
    found: list[Any]
    if verb == "search":
        if flags.get("file"):
            from slipstream.memory.freshness import as_recorded
            flags["file"] = as_recorded(tree_root, flags["file"])
        hits = search.search_memory(store_root, word, **{name: flags[name] for name in FLAGS[verb] if name in flags})
        found, text = [hit.to_record() for hit in hits], search.render_hits(hits)
    elif verb == "timeline":
        found = search.timeline(store_root, word, flags.get("window", 3), flags.get("session"))
        text = search.render_timeline(found)
    else:
        ids = [part.lstrip("#") for part in word.replace(",", " ").split()]
        if not ids or not all(map(is_number, ids)):
            raise UsageError("give the numbers of observations")
        found = search.find_records(store_root, map(int, ids))
        text = search.show_records(store_root, found)
    if flags.get("json"):
        print_json(found)
    else:
        print_text(shown_text(text) + "\n")
    return 0 if found else 1
