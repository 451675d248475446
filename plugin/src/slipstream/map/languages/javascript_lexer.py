"""What hides brackets in JavaScript and TypeScript: templates, regular expressions, JSX text; and how statements end."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.lexer import Lexicon, after, quoted, tokens

_REGEX = pattern_of(
    r"/(?![*/])[^/\\\[\n]{0,2000}(?:(?:\\.|\[[^\]\\\n]{0,500}(?:\\.[^\]\\\n]{0,500}){0,200}\])[^/\\\[\n]{0,2000}){0,200}/["
    r"a-z]*")
_REGEX_WORDS = frozenset("return typeof case in of do else void delete throw new instanceof await yield".split())
_WORD_BEFORE = pattern_of(r"[\w$]+\Z")
_TEMPLATE = pattern_of(r"\\.|(`)|(\$\{)", re.S)
_MAX_NESTED_TEMPLATES = 30
# A string where markup's text may hold quotes: `don't`, `{name}'s`, `12' wide` begin none, `return'x'` does.
_STRING = r"'(?<![\w$)\]}].)[^'\\\n]*(?:\\.[^'\\\n]*){0,9999}'?"
_STRING_WORDS = frozenset("return case from typeof import in of".split())
_ANY_STRING = quoted("'") + "|" + quoted('"')
_any_string = pattern_of(_ANY_STRING, re.S)
# Groups: 1-3 what opens brackets, 4-6 what closes them, 7 to 11 `;`, `,`, line feed, `<`, `>`.
_STOPS = r"\{()|\(()|\[()|\}()|\)()|\]()|;()|,()|\n()|<()|>(?<!=.)()"
WORD = re.compile(r"[\w$]+")
_SPACE = re.compile(r"\s*")
_CONTINUE_AFTER = frozenset("=+-*%&|^<>?:,.([{")
_CONTINUE_BEFORE = frozenset(".?:=+-*/%&|^<>,([)]`")
_WORDS_AFTER = frozenset("extends implements in of new await as is keyof typeof instanceof satisfies infer void delete "
                         "default readonly from async".split())
_WORDS_BEFORE = frozenset("in instanceof extends implements as satisfies is else catch finally from".split())


class JavaScriptLexicon(Lexicon):
    """Brackets, types, type arguments and statement ends; `jsx` tells that tags and their text may occur."""

    def __init__(self, jsx: bool, typed: bool) -> None:
        if jsx:
            noise = _STRING + "|" + _STRING.replace("'", '"') + r"|/(?<!:.)/[^\n]*"
        else:
            noise = _ANY_STRING + r"|//[^\n]*"
        super().__init__(noise, (r"/\*", "`", "/(?!/)", "'", '"'), self._special)
        self.jsx = jsx
        self.typed = typed
        self._templates = 0
        self.stops = stops = self.compile(_STOPS)
        self.pairs = {"{": (stops, 1, 4, 11), "(": (stops, 2, 5, 11), "[": (stops, 3, 6, 11)}

    def compile(self, stops: str) -> re.Pattern[str]:
        """As of every lexicon; a quote is special where it begins no string of `noise`."""
        return pattern_of(stops + "|" + self.noise + "|" + "()|".join(self.special) + "()", re.S)

    def _special(self, text: str, match: re.Match[str]) -> int:
        pos = match.start()
        char = text[pos]
        if char == "`":
            return self.template(text, pos)
        if char != "/":
            word = _WORD_BEFORE.search(text, max(0, pos - 12), pos)
            found = _any_string.match(text, pos) if word is not None and word.group() in _STRING_WORDS else None
            return found.end() if found else pos + 1
        if text.startswith("*", pos + 1):
            return after(text, "*/", pos + 2)
        back = pos - 1
        while back >= 0 and text[back] in " \t\r\n":
            back -= 1
        if back >= 0:
            before = text[back]
            if before.isalnum() or before in "_$":
                word = _WORD_BEFORE.search(text, max(0, back - 12), back + 1)
                if word is None or word.group() not in _REGEX_WORDS:
                    return pos + 1
            elif before in ")]}\"'`<" or (before == ">" and text[back - 1] != "="):
                return pos + 1
        found = _REGEX.match(text, pos)
        return found.end() if found else pos + 1

    def template(self, text: str, pos: int) -> int:
        """Offset after the template literal that begins at `pos`, its expressions included."""
        self._templates += 1
        at = pos + 1
        while True:
            for match in tokens(_TEMPLATE, text, at):
                if match.lastindex == 1:
                    self._templates -= 1
                    return match.end()
                if match.lastindex and self._templates < _MAX_NESTED_TEMPLATES:
                    at = self.close(text, match.end() - 1)
                    break
            else:
                self._templates -= 1
                return len(text)

    def space(self, text: str, pos: int) -> int:
        """Offset of the next character that is neither blank nor in a comment."""
        while True:
            match = _SPACE.match(text, pos)
            pos = match.end() if match else pos
            two = text[pos:pos + 2]
            if two == "//":
                pos = text.find("\n", pos)
                if pos < 0:
                    return len(text)
            elif two == "/*":
                pos = after(text, "*/", pos + 2)
            else:
                return pos

    def expression_end(self, text: str, pos: int, comma: bool, block: bool = False) -> int:
        """Offset after the expression or statement that begins at `pos`, without its `;`.

        Stops at `;`, an unopened closing bracket, a line feed where a statement may end, at `,` when `comma`, and after the
        first braces when `block`.
        """
        at = pos
        comment = (-1, -1)
        while True:
            for match in tokens(self.stops, text, at):
                kind = match.lastindex
                start = match.start()
                if kind is None:
                    if text[start] == "/":
                        comment = match.span()
                elif kind < 4:
                    at = self.close(text, start)
                    if block and kind == 1:
                        return at
                    break
                elif kind < 8:
                    return start
                elif kind == 9:
                    last = comment[0] if comment[1] == start or comment[1] == start - 1 else start
                    while last > pos and text[last - 1] in " \t\r\n":
                        last -= 1
                    at = self.space(text, start)
                    if not self._goes_on(text, pos, last, at):
                        return last
                    break
                elif kind == 8:
                    if comma:
                        return start
                elif kind == 10:
                    from slipstream.map.languages.javascript_type_ends import angle
                    at = angle(self, text, pos, start)
                    if at > start:
                        break
                elif kind > 11:
                    at = self.hook(text, match)
                    break
            else:
                return len(text)

    def _goes_on(self, text: str, begin: int, last: int, following: int) -> bool:
        """Whether the statement goes on after the line that ends at `last`; `following` is the next code."""
        if following >= len(text):
            return False
        if last <= begin:
            return True
        before = text[last - 1]
        if before in _CONTINUE_AFTER:
            two = text[last - 2:last]
            return two not in ("++", "--") and (before != ">" or two in ("=>", " >"))
        char = text[following]
        if char in _CONTINUE_BEFORE:
            two = text[following:following + 2]
            return two not in ("++", "--") and not (char == "<" and self.jsx and before == "}")
        if char == "{":
            return before == ")"
        if char.isalpha():
            match = WORD.match(text, following)
            if match is not None and match.group() in _WORDS_BEFORE:
                return text[match.end():match.end() + 1] not in (":", "=", "(", ";") or match.group() in ("catch", "in")
        if before.isalpha():
            word = _WORD_BEFORE.search(text, max(begin, last - 12), last)
            return word is not None and word.group() in _WORDS_AFTER
        return False
