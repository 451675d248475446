"""Comments and strings, coarsely, for telling code from text around one name; the scanners' own lexers know every trap."""
from __future__ import annotations

import re

_QUOTED = r'"(?:[^"\\\n]|\\.){0,2000}"?' + "|" + r"'(?:[^'\\\n]|\\.){0,2000}'?"
_FAMILIES = {
    "c": r"//[^\n]*|/\*.{0,60000}?\*/|" + _QUOTED,
    "backtick": r"//[^\n]*|/\*.{0,60000}?\*/|`(?:[^`\\]|\\.){0,60000}`|" + _QUOTED,
    "python": r'#[^\n]*|"""(?:[^\\]|\\.){0,60000}?"""|' + r"'''(?:[^\\]|\\.){0,60000}?'''|" + _QUOTED,
    "hash": r"#[^\n]*|" + _QUOTED,
    "both": r"#(?!\[)[^\n]*|//[^\n]*|/\*.{0,60000}?\*/|" + _QUOTED,
    "lifetime": r"//[^\n]*|/\*.{0,60000}?\*/|" + r'"(?:[^"\\]|\\.){0,20000}"' + r"|'(?:[^'\\\n]|\\.[^'\n]{0,8})'",
    "dashes": r"--[^\n]*|" + _QUOTED,
}
_FAMILY_OF = {"python": "python", "ruby": "hash", "shell": "hash", "php": "both", "rust": "lifetime", "lua": "dashes",
              **dict.fromkeys("go javascript jsx typescript tsx vue svelte astro".split(), "backtick")}
WINDOW_CHARS = 262_144


def code_places(language: str, text: str, places: list[int]) -> set[int]:
    """Those of the offsets `places` (ascending) that stand outside of comments and strings."""
    pattern = re.compile(_FAMILIES[_FAMILY_OF.get(language, "c")], re.S)
    code: set[int] = set()
    waiting = iter(places)
    place = next(waiting, -1)
    at = 0
    while at < len(text) and place >= 0:
        end = min(len(text), at + WINDOW_CHARS)
        for match in pattern.finditer(text, at, end):
            start, at = match.span()
            while 0 <= place < at:
                if place < start:
                    code.add(place)
                place = next(waiting, -1)
            if place < 0:
                return code
        at = max(at, end)
        while 0 <= place < at:
            code.add(place)
            place = next(waiting, -1)
    return code
