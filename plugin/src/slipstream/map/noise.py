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


def code_places(language: str, text: str, name_pattern: str) -> set[int]:
    """Offsets of the matches of a pattern that stand outside of comments and strings."""
    noise = _FAMILIES[_FAMILY_OF.get(language, "c")]
    pattern = re.compile(f"({name_pattern})|{noise}", re.S)
    places: set[int] = set()
    at = 0
    while at < len(text):
        end = min(len(text), at + WINDOW_CHARS)
        for match in pattern.finditer(text, at, end):
            at = match.end()
            if match.lastindex:
                places.add(match.start())
        at = max(at, end)
    return places
