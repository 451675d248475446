"""Token steps over a text: a compiled pattern jumps over strings and comments and stops where a scanner must look."""
from __future__ import annotations

import re
from collections.abc import Iterator

WINDOW_CHARS = 262_144
MARGIN_CHARS = 8_192


def tokens(pattern: re.Pattern[str], text: str, pos: int = 0) -> Iterator[re.Match[str]]:
    """Like `pattern.finditer(text, pos)`, giving one regular expression call at most 256 KB of text."""
    if len(text) - pos <= WINDOW_CHARS:
        return pattern.finditer(text, pos)
    return _windows(pattern, text, pos)


def _windows(pattern: re.Pattern[str], text: str, pos: int) -> Iterator[re.Match[str]]:
    size = len(text)
    while True:
        end = pos + WINDOW_CHARS
        if end >= size:
            yield from pattern.finditer(text, pos)
            return
        safe = end - MARGIN_CHARS      # a token that begins after this could be cut by the window's edge
        for match in pattern.finditer(text, pos, end):
            if match.start() >= safe:
                pos = match.start()
                break
            pos = match.end()
            yield match
        else:
            pos = max(pos, safe)


def find_unescaped(text: str, mark: str, pos: int) -> int:
    """Offset just after the next `mark` that no odd run of backslashes precedes, or the text's length."""
    while True:
        found = text.find(mark, pos)
        if found < 0:
            return len(text)
        back = found
        while back > pos and text[back - 1] == "\\":
            back -= 1
        if (found - back) % 2 == 0:
            return found + len(mark)
        pos = found + 1
