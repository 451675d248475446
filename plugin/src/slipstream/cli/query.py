"""slice, lines, outline, guard: scoped reads, kept fast (hot: no argparse, no process, few lines)."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.cli.flags import FROM_0, FROM_1, Flags, print_json, print_text, run_query

USAGE = {
    "slice": "slice [FILE] SYMBOL... [--signature] [--context N] [--from LINE] [--root DIR] [--json]",
    "lines": "lines FILE START END [--root DIR] [--json]",
    "outline": "outline FILE [--root DIR] [--json]",
    "guard": "guard FILE [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, object]] = {"slice": {"signature": bool, "context": FROM_0, "from": FROM_1}}


def main(argv: list[str]) -> int:
    """Run one of the verbs; see USAGE."""
    act = _slice
    if argv[0] != "slice":
        from slipstream.cli.query_file import VERBS
        act = VERBS[argv[0]]
    return run_query(argv[0], argv[1:], USAGE[argv[0]], FLAGS.get(argv[0], {}), act)


def _slice(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.cuts import render_slice
    from slipstream.map.lookup import locate_file
    from slipstream.map.slices import slice_symbols
    if not words:
        raise UsageError("which symbol?")
    file = None
    if len(words) > 1 and _names_a_file(root, words[0]):
        file, words = locate_file(root, words[0]), words[1:]
    elif "/" in words[0]:
        raise UsageError("which symbol of that file?") if _names_a_file(root, words[0]) else SlipstreamError(
            "no such file", words[0])
    try:
        found = slice_symbols(root, words, file, bool(flags.get("signature")), flags.get("context", 0), flags.get("from", 0))
    except SlipstreamError as error:
        from slipstream.cli.query_file import explain
        return explain(error, words if file is None else [], _names_a_file(root, words[0]), flags)
    if flags.get("json"):
        values = [one.to_json() for one in found]
        return print_json(values[0] if len(values) == 1 else values)
    return print_text("\n\n".join(render_slice(one) for one in found) + "\n")


def _names_a_file(root: str, word: str) -> bool:
    return os.path.isfile(word) or os.path.isfile(os.path.join(root, word)) or "/" in word
