"""Comments and strings, coarsely, for telling code from text around one name; the scanners' own lexers know every trap."""
from __future__ import annotations

import re

_QUOTED = r'"(?:[^"\\\n]|\\.){0,2000}"?' + "|" + r"'(?:[^'\\\n]|\\.){0,2000}'?"
_PATTERNS = {name: pattern for names, pattern in (  # a group stands behind what may go on for many lines, not in front:
    ("", r"//[^\n]*|/\*()|" + _QUOTED),  # the engine looks for first characters
    ("go javascript jsx typescript tsx vue svelte astro", r"//[^\n]*|/\*()|`()|" + _QUOTED),
    ("python toml graphql", r'#[^\n]*|"""()|' + r"'''()|" + _QUOTED),
    ("ruby shell yaml dockerfile makefile", r"#[^\n]*|" + _QUOTED),
    ("php terraform", r"#(?!\[)[^\n]*|//[^\n]*|/\*()|" + _QUOTED),
    ("rust", r'//[^\n]*|/\*()|"()|' + r"'(?:[^'\\\n]|\\.[^'\n]{0,8})'"),
    ("lua", r"--[^\n]*|" + _QUOTED),
    ("sql", r"--[^\n]*|/\*()|" + _QUOTED),
) for name in names.split(" ")}
_ESCAPED = {"`": r"\\.|`", '"': r'\\.|"', '"""': r'\\.|"""', "'''": r"\\.|'''"}
MAX_BLOCK_CHARS = 60_000  # what does not close by then was no opener


def code_places(language: str, text: str, places: list[int]) -> set[int]:
    """Those of the offsets `places` (ascending) that stand outside of comments and strings."""
    if language == "markdown":
        return set()  # prose about code, and samples of it
    search = re.compile(_PATTERNS.get(language, _PATTERNS[""]), re.S).search
    code: set[int] = set()
    waiting = iter(places)
    place = next(waiting, -1)
    ends: dict[str, int] = {}
    match = search(text)
    while match and place >= 0:
        start, at = match.span()
        if match.lastindex:
            end = _find_end(text, match.group(), at, ends)
            at = end if end - at <= MAX_BLOCK_CHARS else at
        while 0 <= place < at:
            if place < start:
                code.add(place)
            place = next(waiting, -1)
        match = search(text, at)
    while place >= 0:
        code.add(place)
        place = next(waiting, -1)
    return code


def _find_end(text: str, opener: str, at: int, ends: dict[str, int]) -> int:
    """Where a comment or string closes whose text begins at `at`; `ends` remembers it, so that no text is searched twice."""
    end = ends.get(opener, -1)
    if end - len(opener) < at:
        if opener in _ESCAPED:
            closers = re.compile(_ESCAPED[opener], re.S).finditer(text, at)
            end = next((one.end() for one in closers if one.group()[0] != "\\"), 0)
        else:
            end = text.find("*/", at) + 2
        end = ends[opener] = end if end > at else len(text) + MAX_BLOCK_CHARS + 1
    return end
