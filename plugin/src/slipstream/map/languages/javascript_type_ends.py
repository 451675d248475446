"""Where types of TypeScript end: annotations, type arguments, the heads of classes and interfaces."""
from __future__ import annotations

import re

from slipstream.map.languages.javascript_lexer import WORD, JavaScriptLexicon
from slipstream.map.languages.lexer import after, tokens

_PREFIX_WORDS = frozenset(("keyof", "typeof", "readonly", "unique", "infer", "asserts", "new", "abstract"))
_HEAD_STOP = re.compile(r"[{(<;/)}=]")


def type_end(lex: JavaScriptLexicon, text: str, pos: int) -> int:
    """Offset after the type that begins at `pos`."""
    need = True
    end = pos
    conditional = 0
    size = len(text)
    word = ""
    group = False               # whether the operand just passed was in round brackets: parameters, if `=>` follows
    while True:
        at = lex.space(text, end)
        if at >= size:
            return end
        char = text[at]
        if need:
            group = char == "("
            if char in "{[(":
                end = lex.close(text, at)
                need = False
            elif char == "<":
                found = angles(lex, text, at)
                if found < 0:
                    return end
                end = found
            elif char in "\"'":
                end = after(text, char, at + 1)
                need = False
            elif char == "`":
                end = lex.template(text, at)
                need = False
            elif char in "|&-.+":
                end = at + 1
            else:
                match = WORD.match(text, at)
                if match is None:
                    return end
                word = match.group()
                end = match.end()
                need = word in _PREFIX_WORDS and text[at - 1] != "."
                if need:
                    following = lex.space(text, end)
                    need = text[following:following + 1] not in ("", ")", "]", "}", ";", ",", "=", ">", "|", "&")
            continue
        same_line = "\n" not in text[end:at]
        if (char == "[" and same_line) or (char == "(" and word == "import"):
            end = lex.close(text, at)
        elif char == "<" and same_line:
            found = angles(lex, text, at)
            if found < 0:
                return end
            end = found
        elif char in "|&.":
            end = at + 1
            need = True
        elif char == "=" and group and text[at + 1:at + 2] == ">":
            end = at + 2
            need = True
        elif char == "?" and conditional:
            end = at + 1
            need = True
        elif char == ":" and conditional:
            conditional -= 1
            end = at + 1
            need = True
        else:
            match = WORD.match(text, at)
            word = match.group() if match else ""
            if word == "extends":
                conditional += 1
            elif word != "is" or not same_line:
                return end
            end = at + len(word)
            need = True


def angles(lex: JavaScriptLexicon, text: str, pos: int) -> int:
    """Offset after the `>` that closes the type arguments or parameters opened at `pos`; -1 when they are not that."""
    depth = 0
    at = pos
    stop = pos + 20_000
    while True:
        for match in tokens(lex.angle, text, at):
            kind = match.lastindex
            if kind is None:
                continue
            if kind == 1:
                at = lex.close(text, match.start())
                break
            if kind == 2:
                depth += 1
            elif kind == 3:
                depth -= 1
                if not depth:
                    return match.end()
            elif kind == 4:
                return -1
            else:
                at = lex.hook(text, match)
                break
            if match.end() > stop:
                return -1
        else:
            return -1


def class_head(lex: JavaScriptLexicon, text: str, pos: int) -> int:
    """Offset of the `{` of the class or interface whose keyword is at `pos`; -1 without one."""
    at = pos
    while True:
        match = _HEAD_STOP.search(text, at, at + 20_000)
        if match is None:
            return -1
        at = match.start()
        char = text[at]
        if char == "{":
            return at
        if char == "/":
            found = lex.space(text, at)
            at = found if found > at else at + 1
        elif char == "(":
            at = lex.close(text, at)
        elif char == "<":
            at = lex.angles(text, at)
            if at < 0:
                return -1
        else:
            return -1


for _step in (type_end, angles, class_head):
    setattr(JavaScriptLexicon, _step.__name__, _step)  # the method itself from now on: a file may ask it ten thousand times
