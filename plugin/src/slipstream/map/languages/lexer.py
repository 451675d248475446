"""Steps over code: compiled patterns jump over strings and comments in one go and stop only where a scanner must look."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from slipstream.base.lazy_pattern import pattern_of

WINDOW_CHARS = 262_144
MARGIN_CHARS = 8_192
UNCLOSED_LIMIT = 4
CLOSERS = {"{": "}", "(": ")", "[": "]"}

# Called at a token no plain pattern can pass (nested comment, heredoc, template): offset after it.
Hook = Callable[[str, "re.Match[str]"], int]


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


def after(text: str, mark: str, pos: int) -> int:
    """Offset just after the next `mark`, or the text's length."""
    found = text.find(mark, pos)
    return found + len(mark) if found >= 0 else len(text)


_COMMENT_EDGE = re.compile(r"/\*|\*/")


def after_nested(text: str, pos: int) -> int:
    """Offset after the block comment that begins at `pos`, in languages where such comments nest."""
    depth = 0
    for mark in tokens(_COMMENT_EDGE, text, pos):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return mark.end()
    return len(text)


def quoted(quote: str) -> str:
    """Pattern of a string in one line with backslash escapes; an unclosed one reaches to the end of its line."""
    return rf"{quote}[^{quote}\\\n]*(?:\\.[^{quote}\\\n]*){{0,9999}}{quote}?"


class Lexicon:
    """How one language hides brackets in text: `noise` matches whole strings and comments, each alternative beginning with
    a plain character (that keeps the search fast); `special` matches the start of what `hook` then passes.
    """

    def __init__(self, noise: str, special: str, hook: Hook) -> None:
        self.noise = noise
        self.special = special
        self.hook = hook
        self.unclosed = 0
        self._pairs = {opener: self.compile(rf"(\{opener})|(\{CLOSERS[opener]})") for opener in CLOSERS}

    def compile(self, stops: str) -> re.Pattern[str]:
        """A pattern for `stops` (groups of their own) outside of strings and comments; the last group is `special`."""
        return pattern_of(f"{stops}|({self.special})|{self.noise}", re.S)

    def find(self, pattern: re.Pattern[str], text: str, pos: int) -> re.Match[str] | None:
        """The next token of a compiled pattern that is in none of the brackets its group 1 matches; None at the end."""
        special = pattern.groups
        while True:
            for match in tokens(pattern, text, pos):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == 1:
                    pos = self.close(text, match.start())
                    break
                if kind == special:
                    pos = self.hook(text, match)
                    break
                return match
            else:
                return None

    def close(self, text: str, pos: int) -> int:
        """Offset after the bracket that closes the one at `pos`; other kinds of brackets are not looked at.

        Without one: the end of the line that begins with the closing bracket at the opener's indentation, else of the text.
        """
        opener = text[pos]
        pattern = self._pairs[opener]
        hook = self.hook
        depth = 1
        at = pos + 1
        again = True
        while again:
            again = False
            for match in tokens(pattern, text, at):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == 2:
                    depth -= 1
                    if not depth:
                        return match.end()
                elif kind == 1:
                    depth += 1
                else:
                    at = hook(text, match)
                    again = True
                    break
        self.unclosed += 1
        if self.unclosed <= UNCLOSED_LIMIT:
            begin = text.rfind("\n", 0, pos) + 1
            indent = begin
            while text[indent:indent + 1] in (" ", "\t"):
                indent += 1
            found = text.find("\n" + text[begin:indent] + CLOSERS[opener], pos)
            if found >= 0:
                return found + indent - begin + 2
        return len(text)
