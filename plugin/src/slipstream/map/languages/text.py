"""Text of a source file: decoding that keeps lines, steps over it, line numbers, declarations on one line (lean)."""
from __future__ import annotations

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

SIGNATURE_LIMIT_CHARS = 240
WINDOW_CHARS = 262_144


def decode(data: bytes) -> str:
    """Text with one `\\n` per line of the file: UTF-8, UTF-16 by its mark, else Latin-1; never fails.

    A lone carriage return ends a line only in a file that has no line feed at all, so numbers agree with git and editors.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8") if data[:2] not in (b"\xff\xfe", b"\xfe\xff") else data.decode("utf-16", "replace")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r", "\n") if "\r" in text and "\n" not in text else text


def tokens(pattern: re.Pattern[str], text: str, pos: int = 0) -> Iterator[re.Match[str]]:
    """Like `pattern.finditer(text, pos)`, giving one regular expression call at most 256 KB of text."""
    if len(text) - pos <= WINDOW_CHARS:
        return pattern.finditer(text, pos)
    from slipstream.map.languages.braces import windows
    return windows(pattern, text, pos)


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


class Lines:
    """Line numbers of offsets, cheap when asked in rising order."""

    __slots__ = ("_count", "_line", "_pos")

    def __init__(self, text: str) -> None:
        self._count = text.count
        self._pos = 0
        self._line = 1

    def shift(self, lines: int) -> None:
        """Count from another first line: a text with a line feed put before it begins at -1."""
        self._line += lines

    def at(self, pos: int) -> int:
        """The 1-based line that holds the character at `pos`."""
        if pos >= self._pos:
            self._line += self._count("\n", self._pos, pos)
        else:
            self._line -= self._count("\n", pos, self._pos)
        self._pos = pos
        return self._line


def one_line(text: str, limit: int = SIGNATURE_LIMIT_CHARS) -> str:
    """Text on one line, blanks collapsed, cut at `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return line


def cut_line(text: str, limit: int) -> str:
    """Text on one line, its blanks kept where it is on one already, cut at `limit` characters."""
    if not text.isprintable():
        text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit - 1].rstrip() + "\u2026"


def signature(text: str) -> str:
    """A declaration's head on one line, without blanks inside its brackets' edges."""
    line = one_line(text)
    if "( " in line or " )" in line or ",)" in line:
        line = line.replace("( ", "(").replace(" )", ")").replace(",)", ")")
    return line


def unescaped(text: str) -> str:
    """What a string of JSON with these contents says; the text itself when it is none."""
    if "\\" not in text:
        return text
    import json
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def lines_of(text: str) -> list[str]:
    """The lines without what ends them."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines]
