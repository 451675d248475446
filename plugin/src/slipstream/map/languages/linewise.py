"""What Kotlin, Swift and Scala share: statements that end with their line unless an operator or bracket carries them on."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon, CodeWalker, after_nested
from slipstream.map.languages.lexer import after, tokens
from slipstream.map.model import FileScan

_WORD = re.compile(r"[^\W\d]\w*")
_WORD_BEFORE = re.compile(r"\w+\Z")


class StringLexicon(BraceLexicon):
    """Nested comments, and strings with code in them: `code` is what opens it (`${` or `\\(`), quotes may be tripled."""

    def __init__(self, noise: str, code: str, prefix: str = "") -> None:
        self.code = code
        self._nested = 0
        opener = re.escape(code)
        self._plain = re.compile(rf'"(?!"")[^"\\\n{re.escape(code[0])}]*(?:(?:\\[^(\n]|(?!{opener}){re.escape(code[0])})'
                                 rf'[^"\\\n{re.escape(code[0])}]*){{0,9999}}"')
        self._pieces = re.compile(rf'({opener})|\\.|(")|(\n)', re.S)
        self._long = re.compile(rf'({opener})|\\.|("""+)', re.S)
        super().__init__(noise, (r"/\*", prefix + '"'), self._pass)

    def _pass(self, text: str, match: re.Match[str]) -> int:
        pos = match.start()
        token = match.group()
        if token == "/*":
            return after_nested(text, pos)
        if token[0] == "#":                             # Swift's raw strings
            marks = token.count("#")
            quotes = '"""' if text.startswith('"""', match.end() - 1) else '"'
            return after(text, quotes + "#" * marks, match.end() - 1 + len(quotes))
        plain = self._plain.match(text, pos)
        if plain is not None:
            return plain.end()
        long = text.startswith('"""', pos)
        if not long and text.startswith('""', pos):
            return pos + 2
        at = pos + (3 if long else 1)
        while True:
            for piece in tokens(self._long if long else self._pieces, text, at):
                kind = piece.lastindex
                if kind is None:
                    continue
                if kind != 1:
                    return piece.end()
                if self._nested < 20:
                    self._nested += 1
                    at = self.close(text, piece.end() - 1)
                    self._nested -= 1
                    break
            else:
                return len(text)


class LineWalker(CodeWalker):
    """Statement ends by the line; the class attributes say what carries a statement over a line feed."""

    nested_comments = True
    closers = ")}]"
    after_marks = frozenset("=+-*/%&|:,.(<")             # a line that ends so goes on
    after_words = frozenset(("in", "is", "as", "by", "else", "return", "throw", "where", "extends", "with"))
    before_marks: tuple[str, ...] = (".", "?.", "?:", "&&", "||", "::")   # a line that begins so belongs to the one before
    before_words = frozenset(("else", "as", "catch", "finally", "where"))
    condition_words: frozenset[str] = frozenset(("if", "while", "for"))

    def __init__(self, text: str, out: FileScan, lexicon: BraceLexicon) -> None:
        super().__init__(text, out, lexicon)
        self._line = lexicon.compile(r"([(\[])|(\{)|([)}\]])|(;)|(\n)|(,)|(//[^\n]*)")

    def expression_end(self, pos: int, comma: bool = False, body: bool = False) -> int:
        """Offset after the statement at `pos`; at its first brace when `body`, at a comma when `comma`."""
        text = self.text
        lex = self.lex
        at = pos
        comment = (-1, -1)
        plain = self._line.groups - len(lex.special)
        condition = -1                  # offset after the brackets of `if (...)`
        while True:
            for match in tokens(self._line, text, at):
                kind = match.lastindex
                if kind is None:
                    continue
                start = match.start()
                if kind == 7:
                    comment = match.span()
                    continue
                if kind == 1 or kind == 2:
                    if kind == 2 and body:
                        return start
                    at = lex.close(text, start)
                    if kind == 1:
                        before = start - 1 if text[start - 1:start] == " " else start
                        word = _WORD_BEFORE.search(text, max(pos, start - 12), before)
                        if word is not None and word.group() in self.condition_words:
                            condition = at
                    break
                if kind == 5:
                    last = comment[0] if comment[1] in (start, start - 1) else start
                    while last > pos and text[last - 1] in " \t\r\n":
                        last -= 1
                    following = self.code(start)
                    if not (last == condition or self.goes_on(pos, last, following)):
                        return last
                    at = following
                    if text[following:following + 1] == "\n":
                        at = following + 1
                    break
                if kind == 6:
                    if comma:
                        return start
                elif kind > plain:
                    at = lex.hook(text, match)
                    break
                else:
                    return start
            else:
                return len(text)

    def goes_on(self, begin: int, last: int, following: int) -> bool:
        """Whether the statement at `begin` goes on after the line that ends at `last`; `following` is the next code."""
        text = self.text
        if following >= len(text):
            return False
        if last <= begin:
            return True
        before = text[last - 1]
        pair = text[last - 2:last]
        if before in self.after_marks or pair in ("->", "=>", " >", " ?", "??"):
            return pair not in ("++", "--")
        if text.startswith(self.before_marks, following):
            return True
        word = _WORD.match(text, following)
        if word is not None and word.group() in self.before_words:
            return True
        word = _WORD_BEFORE.search(text, max(begin, last - 12), last)
        return word is not None and word.group() in self.after_words

    def angles(self, pos: int) -> int:
        """Offset after the `>` that closes the `<` at `pos`; the offset after the `<` when nothing does."""
        depth = 0
        for match in _ANGLE.finditer(self.text, pos, pos + 4000):
            mark = match.group()
            if mark == "<":
                depth += 1
            elif mark == ">":
                depth -= 1
                if not depth:
                    return match.end()
            elif mark in ";{}":
                break
        return pos + 1

    def words(self, pos: int, pattern: re.Pattern[str], annotation: re.Pattern[str]) -> int:
        """Offset after the modifiers and annotations at `pos`."""
        text = self.text
        while True:
            match = pattern.match(text, pos) or annotation.match(text, pos)
            if match is None or match.end() == pos:
                return pos
            at = match.end()
            if text[match.start()] == "@" and text[at:at + 1] == "(":
                at = self.lex.close(text, at)
            pos = self.code(at)


_ANGLE = re.compile(r"->|[<>;{}]")
