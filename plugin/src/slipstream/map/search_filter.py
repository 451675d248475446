"""The kind and path filters of a search, and when grep is the better tool."""
from __future__ import annotations

from array import array
from collections.abc import Callable

from slipstream.base.errors import SlipstreamError
from slipstream.map.fresh import View
from slipstream.map.index_file import KINDS, FileEntry

PATTERN_SIGNS = frozenset("\\^$*+?|[](){}")


def make_filter(view: View, slots: array[int], places: array[int], kind: str, path: str) -> Callable[[int], bool]:
    """A test of one document. `path` is a folder, a file or a pattern; `kind` a symbol's kind or `file`."""
    if kind and kind not in (kinds := (*KINDS.values(), "file")):
        raise SlipstreamError(f"no kind {kind!r}; there are: {', '.join(kinds)}")
    known: dict[int, FileEntry] = {}
    prefix = (path + "/").removeprefix("./").strip("/")

    def accept(doc: int) -> bool:
        slot, place = slots[doc], places[doc]
        name = view.paths[slot]
        if prefix and not is_below(name, prefix):
            return False
        if not kind:
            return True
        if kind == "file" or not place:
            return kind == "file" and not place
        entry = known.get(slot)
        if entry is None:
            entry = known[slot] = view.entry(slot)
        return place <= len(entry.symbols) and entry.symbols[place - 1].kind == kind
    return accept


def is_below(path: str, prefix: str) -> bool:
    """Whether a path is `prefix`, lies below it, or fits it as a pattern with `*`."""
    if "*" in prefix:
        from fnmatch import fnmatchcase
        return fnmatchcase(path, prefix)
    return path == prefix or path.startswith(prefix + "/")


def grep_hint(query: str, tokens: list[str], unknown: bool, narrowed: bool) -> str:
    """When plain grep is the better tool: patterns, quoted text, punctuation, a word that no definition has."""
    if not PATTERN_SIGNS.isdisjoint(query) or query[:1] in "\"'" or not tokens:
        import re
        try:
            re.compile(query)
            how = "E"
        except re.error:
            how = "F"
        text = query[:60].replace("'", "'\\''")
        return f"for a pattern or an exact text, grep is the better tool: grep -rn{how} -e '{text}' ."
    if unknown and len(tokens) == 1:
        said = "no definition of that kind or place" if narrowed else "no definition"
        return f"{said} is called so; every line that holds it: grep -rn '{tokens[0][:60]}' ."
    return ""
