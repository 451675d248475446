"""lines, outline, guard: what a query says of one file (hot, as `query`)."""
from __future__ import annotations

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.paths import shown_path
from slipstream.cli.flags import Flags, print_json, print_text
from slipstream.map.lookup import locate_file


def _lines(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.map.cuts import render_slice, slice_lines
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
    from slipstream.map.outline import outline_file, outline_to_json, render_outline
    if len(words) != 1:
        raise UsageError("one file")
    found = outline_file(root, locate_file(root, words[0]))
    return print_json(outline_to_json(found.entry)) if flags.get("json") else print_text(render_outline(found) + "\n")


def _guard(root: str, words: list[str], flags: Flags) -> int:
    from slipstream.context.guard import guard_file, render_verdict
    if len(words) != 1:
        raise UsageError("one file")
    verdict = guard_file(root, locate_file(root, words[0]))
    if flags.get("json"):
        print_json(verdict)
    else:
        print_text(render_verdict(verdict))
    return 0 if verdict["allow"] else 1


def explain(error: SlipstreamError, words: list[str], is_file: bool, flags: Flags) -> int:
    """Why a slice of `words` came to nothing, the first of which `is_file`, in the form that was asked for."""
    from slipstream.map.slices import Ambiguous
    if isinstance(error, Ambiguous):
        said, *rows = str(error).split("\n")
        print_json({"error": said, "definitions": rows}) if flags.get("json") else print_text(f"{error}\n")
        return 1
    if is_file and len(words) == 1:
        raise UsageError("which symbol of that file?") from None
    if not is_file and len(words) > 1:
        from slipstream.map.languages.registry import language_of
        if language_of(words[0]):
            raise SlipstreamError("no such file, and no such symbol", words[0]) from None
    raise error


VERBS = {"lines": _lines, "outline": _outline, "guard": _guard}
