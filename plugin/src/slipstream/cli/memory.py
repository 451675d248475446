"""`memory search|timeline|observations`, kept fast (no argparse); every other verb over memory is in memory_verbs."""
from __future__ import annotations

import os
import sys

from slipstream.cli.flags import UsageError, parse_flags

USAGE = {
    "search": "memory search QUERY [--kind KIND] [--session S] [--branch B] [--file PATH] [--since DATE] [--limit N] "
              "[--root DIR] [--json]",
    "timeline": "memory timeline ID|QUERY [--window N] [--session S] [--root DIR] [--json]",
    "observations": "memory observations ID,ID [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, type]] = {
    "search": {"kind": str, "session": str, "branch": str, "file": str, "since": str, "limit": int},
    "timeline": {"window": int, "session": str}, "observations": {},
}
SHARED: dict[str, type] = {"root": str, "json": bool, "help": bool}


def main(argv: list[str]) -> int:
    """Status 0 with rows, 1 when there is nothing, 2 for words that are off."""
    verb = argv[1] if argv[0] == "memory" and len(argv) > 1 else ""
    if verb not in USAGE or "-h" in argv:
        from slipstream.cli.memory_verbs import main as other
        return other(argv)
    from slipstream.base.errors import SlipstreamError
    try:
        words, flags = parse_flags(argv[2:], {**FLAGS[verb], **SHARED})
        if flags.get("help"):
            _print(f"usage: slipstream {USAGE[verb]}")
            return 0
        if len(words) != 1:
            raise UsageError("one query, in quotes when it has blanks" if verb != "observations" else "one list of numbers")
        from slipstream.base.roots import find_store_root, find_tree_root
        root = str(flags.get("root") or "")
        if root and not os.path.isdir(root):
            raise SlipstreamError("--root is not a folder", root)
        found, text = _answer(verb, find_store_root(find_tree_root(root or None)), words[0], flags)
        if flags.get("json"):
            import json
            text = json.dumps(found, ensure_ascii=False, indent=2)
        _print(text)
        return 0 if found else 1
    except UsageError as error:
        print(f"slipstream memory {verb}: {error}\nusage: slipstream {USAGE[verb]}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except (SlipstreamError, OSError) as error:
        print(f"slipstream: {error}", file=sys.stderr)
        return 1


def _answer(verb: str, store_root: str, word: str, flags: dict[str, str | int | bool]) -> tuple[list[object], str]:
    from slipstream.memory import search
    texts = {key: str(flags[key]) for key in ("kind", "session", "branch", "file", "since") if key in flags}
    if verb == "search":
        hits = search.search_memory(store_root, word, limit=int(flags.get("limit", search.DEFAULT_LIMIT)), **texts)
        return [hit.to_record() for hit in hits], search.render_hits(hits)
    if verb == "timeline":
        rows = search.timeline(store_root, word, int(flags.get("window", 3)), texts.get("session"))
        return list(rows), search.render_timeline(rows)
    ids = [part.strip().lstrip("#") for part in word.split(",") if part.strip()]
    if not ids or not all(part.isdigit() for part in ids):
        raise UsageError("give numbers, separated by commas")
    records = search.find_records(store_root, map(int, ids))
    from slipstream.memory.observations import render_records
    return list(records), render_records(records)


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
