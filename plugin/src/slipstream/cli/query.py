"""slice, lines, outline, guard: scoped reads, kept fast (hot: no argparse, no process, few lines)."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.paths import shown_path
from slipstream.cli.flags import FROM_0, FROM_1, Flags, UsageError, print_json, print_text, run_query

USAGE = {
    "slice": "slice [FILE] SYMBOL... [--signature] [--context N] [--from LINE] [--root DIR] [--json]",
    "lines": "lines FILE START END [--root DIR] [--json]",
    "outline": "outline FILE [--root DIR] [--json]",
    "guard": "guard FILE [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, object]] = {"slice": {"signature": bool, "context": FROM_0, "from": FROM_1}}


def main(argv: list[str]) -> int:
    """Run one of the verbs; see USAGE."""
    return run_query(argv[0], argv[1:], USAGE[argv[0]], FLAGS.get(argv[0], {}), _VERBS[argv[0]])


def _slice(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.lookup import locate_file
    from slipstream.map.slices import Ambiguous, render_slice, slice_symbols
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
    except Ambiguous as error:
        print_text(f"{error}\n")
        return 1
    if flags.get("json"):
        values = [one.to_json() for one in found]
        return print_json(values[0] if len(values) == 1 else values)
    return print_text("\n\n".join(render_slice(one) for one in found) + "\n")


def _names_a_file(root: str, word: str) -> bool:
    return os.path.isfile(word) or os.path.isfile(os.path.join(root, word)) or "/" in word


def _lines(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.lookup import locate_file
    from slipstream.map.slices import render_slice, slice_lines
    if len(words) != 3:
        raise UsageError("a file and two line numbers")
    start, end = (int(word) if word.isdecimal() and len(word) < 16 else 0 for word in words[1:])
    if not 0 < start <= end:
        raise UsageError("line numbers are whole numbers from 1 on, and END is not before START")
    one = slice_lines(root, locate_file(root, words[0]), start, end)
    text, rest = render_slice(one, with_kind=False, with_rest=False), one.rest
    text += f"\n// goes on: lines {shown_path(words[0])} {rest} {end}" if rest else ""
    return print_json(one.to_json()) if flags.get("json") else print_text(text + "\n")


def _outline(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.lookup import locate_file
    from slipstream.map.outline import outline_file, outline_to_json, render_outline
    if len(words) != 1:
        raise UsageError("one file")
    found = outline_file(root, locate_file(root, words[0]))
    return print_json(outline_to_json(found.entry)) if flags.get("json") else print_text(render_outline(found) + "\n")


def _guard(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.context.guard import guard_file, render_verdict
    from slipstream.map.lookup import locate_file
    if len(words) != 1:
        raise UsageError("one file")
    verdict = guard_file(root, locate_file(root, words[0]))
    if flags.get("json"):
        print_json(verdict)
    else:
        print_text(render_verdict(verdict))
    return 0 if verdict["allow"] else 1


_VERBS = {"slice": _slice, "lines": _lines, "outline": _outline, "guard": _guard}
