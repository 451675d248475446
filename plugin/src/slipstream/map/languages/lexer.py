"""Steps over code: compiled patterns jump over strings and comments in one go and stop only where a scanner must look."""
from __future__ import annotations

import re
from collections.abc import Callable

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.text import after as after
from slipstream.map.languages.text import find_unescaped as find_unescaped
from slipstream.map.languages.text import tokens as tokens

UNCLOSED_LIMIT = 4
CLOSERS = {"{": "}", "(": ")", "[": "]"}

# Called at a token no plain pattern can pass (nested comment, heredoc, template): offset after it.
Hook = Callable[[str, "re.Match[str]"], int]


def quoted(quote: str) -> str:
    """Pattern of a string in one line with backslash escapes; an unclosed one reaches to the end of its line."""
    return r"'[^'\\\n]*(?:\\.[^'\\\n]*){0,9999}'?".replace("'", quote)


class Lexicon:
    """How one language hides brackets in text: `noise` matches whole strings and comments, each of `special` the start of what
    `hook` then passes. Search is fast where every alternative begins with a plain character; its group, empty, is at its end.
    """

    def __init__(self, noise: str, special: tuple[str, ...], hook: Hook) -> None:
        self.noise = noise
        self.special = special
        self.hook = hook
        self.unclosed = 0
        # By opening bracket: a pattern, its groups for this and for the closing one, the last group that is not special.
        self.pairs = {one: (self.compile("\\" + one + "()|\\" + CLOSERS[one] + "()"), 1, 2, 2) for one in CLOSERS}

    def compile(self, stops: str) -> re.Pattern[str]:
        """A pattern for `stops` (groups of their own) outside of strings and comments; the groups after those are `special`."""
        return pattern_of(stops + "|" + "()|".join(self.special) + "()|" + self.noise, re.S)

    def close(self, text: str, pos: int) -> int:
        """Offset after the bracket that closes the one at `pos`; other kinds of brackets are not looked at.

        Without one: the end of the line that begins with the closing bracket at the opener's indentation, else of the text.
        """
        pattern, up, down, plain = self.pairs[text[pos]]
        depth = 1
        at = pos + 1
        while True:
            for match in tokens(pattern, text, at):
                kind = match.lastindex
                if kind == down:
                    depth -= 1
                    if not depth:
                        return match.end()
                elif kind == up:
                    depth += 1
                elif kind and kind > plain:
                    at = self.hook(text, match)
                    break
            else:
                break
        from slipstream.map.languages.braces import unclosed
        return unclosed(self, text, pos)
