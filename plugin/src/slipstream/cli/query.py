"""slice, lines, outline, guard: scoped reads, kept fast (hot: no argparse, no process, few lines)."""
from __future__ import annotations

import os
import sys

from slipstream.base.errors import SlipstreamError
from slipstream.base.roots import find_tree_root
from slipstream.cli.flags import UsageError, parse_flags

USAGE = {
    "slice": "slice [FILE] SYMBOL... [--signature] [--context N] [--from LINE] [--root DIR] [--json]",
    "lines": "lines FILE START END [--root DIR] [--json]",
    "outline": "outline FILE [--root DIR] [--json]",
    "guard": "guard FILE [--root DIR] [--json]",
}
FLAGS: dict[str, dict[str, type]] = {"slice": {"signature": bool, "context": int, "from": int}}
SHARED: dict[str, type] = {"root": str, "json": bool, "help": bool}


def main(argv: list[str]) -> int:
    """Run one query verb; see USAGE."""
    verb = argv[0]
    try:
        words, flags = parse_flags(argv[1:], {**FLAGS.get(verb, {}), **SHARED})
        if flags.get("help"):
            return _print(f"usage: slipstream {USAGE[verb]}")
        wanted = flags.get("root")
        if wanted and not os.path.isdir(str(wanted)):
            raise SlipstreamError("--root is not a folder", str(wanted))
        root = find_tree_root(str(wanted) if wanted else None)
        return _VERBS[verb](root, words, flags)
    except UsageError as error:
        print(f"slipstream {verb}: {error}\nusage: slipstream {USAGE[verb]}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except (SlipstreamError, OSError) as error:
        print(f"slipstream: {error}", file=sys.stderr)
        return 1


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    return 0


def _print_json(value: object) -> int:
    import json
    return _print(json.dumps(value, ensure_ascii=False, indent=2))


def _slice(root: str, words: list[str], flags: dict[str, str | int | bool]) -> int:
    from slipstream.map.lookup import locate_file
    from slipstream.map.slices import Ambiguous, render_slice, slice_symbols
    if not words:
        raise UsageError("which symbol?")
    file = None
    if len(words) > 1 and _names_a_file(root, words[0]):
        file, words = locate_file(root, words[0]), words[1:]
    elif "/" in words[0]:
        raise UsageError("which symbol of that file?") if _names_a_file(root, words[0]) else SlipstreamError(
            f"{words[0]}: no such file")
    try:
        found = slice_symbols(root, words, file, bool(flags.get("signature")), int(flags.get("context", 0)),
                              int(flags.get("from", 0)))
    except Ambiguous as error:
        _print(str(error))
        return 1
    if flags.get("json"):
        values = [one.to_json() for one in found]
        return _print_json(values[0] if len(values) == 1 else values)
    return _print("\n\n".join(render_slice(one) for one in found))


def _names_a_file(root: str, word: str) -> bool:
    return os.path.isfile(word) or os.path.isfile(os.path.join(root, word)) or "/" in word


def _lines(root: str, words: list[str], flags: dict[str, str | int | bool]) -> int:
    from slipstream.map.lookup import locate_file
    from slipstream.map.slices import render_slice, slice_lines
    if len(words) != 3:
        raise UsageError("a file and two line numbers")
    try:
        start, end = int(words[1]), int(words[2])
    except ValueError:
        raise UsageError("line numbers are whole numbers") from None
    if start < 1 or end < start:
        raise UsageError("line numbers start at 1, and END is not before START")
    one = slice_lines(root, locate_file(root, words[0]), start, end)
    text, rest = render_slice(one, with_kind=False, with_rest=False), one.rest
    text += f"\n// goes on: lines {words[0]} {rest} {end}" if rest else ""
    return _print_json(one.to_json()) if flags.get("json") else _print(text)


def _outline(root: str, words: list[str], flags: dict[str, str | int | bool]) -> int:
    from slipstream.map.lookup import locate_file
    from slipstream.map.outline import outline_file, outline_to_json, render_outline
    if len(words) != 1:
        raise UsageError("one file")
    found = outline_file(root, locate_file(root, words[0]))
    return _print_json(outline_to_json(found.entry)) if flags.get("json") else _print(render_outline(found))


def _guard(root: str, words: list[str], flags: dict[str, str | int | bool]) -> int:
    from slipstream.base.paths import resolve_inside
    from slipstream.context.guard import guard_read
    from slipstream.map.lookup import locate_file
    if len(words) != 1:
        raise UsageError("one file")
    path = locate_file(root, words[0])
    size = os.stat(resolve_inside(root, path)).st_size
    verdict = guard_read(path, size)
    if flags.get("json"):
        _print_json({"path": path, "bytes": size, **verdict})
    else:
        _print(str(verdict["recommendation"]))
        if not verdict["allow"]:
            _print(f"  slipstream outline {path}\n  slipstream slice {path} SYMBOL\n  slipstream lines {path} START END")
    return 0 if verdict["allow"] else 1


_VERBS = {"slice": _slice, "lines": _lines, "outline": _outline, "guard": _guard}
