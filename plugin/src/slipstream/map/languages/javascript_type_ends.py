"""Where what begins with `<` or `:` ends: types, type arguments, the heads of classes and interfaces, elements of JSX."""
from __future__ import annotations

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript_lexer import WORD, JavaScriptLexicon
from slipstream.map.languages.lexer import after, tokens

_PREFIX_WORDS = frozenset(("keyof", "typeof", "readonly", "unique", "infer", "asserts", "new", "abstract"))
_HEAD_STOP = pattern_of(r"[{(<;/)}=]")
_TAG = pattern_of(r"(<(?=[A-Za-z_$>]))|(</[^>]{0,300}>)|(/>)|(\{)|=\s*(?:\"[^\"]*\"|'[^']*')")


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
        for match in tokens(lex.stops, text, at):
            kind = match.lastindex or 0
            if kind == 10:
                depth += 1
            elif kind == 11:
                depth -= 1
                if not depth:
                    return match.end()
            elif kind > 11:
                at = lex.hook(text, match)
                break
            elif kind > 3:
                if kind < 8:
                    return -1
                continue
            elif kind:
                at = lex.close(text, match.start())
                break
            else:
                continue
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
            at = angles(lex, text, at)
            if at < 0:
                return -1
        else:
            return -1


def angle(lex: JavaScriptLexicon, text: str, begin: int, pos: int) -> int:
    """Offset after type arguments or a JSX element at `pos`, or `pos` for a plain `<`; the expression began at `begin`."""
    following = text[pos + 1:pos + 2]
    before = text[pos - 1] if pos else ""
    if lex.typed and (before.isalnum() or before in "_$") and following not in " =<":
        return max(pos, angles(lex, text, pos))
    if lex.jsx and (following.isalpha() or following in "_$>"):
        back = pos
        while back > begin and text[back - 1] in " \t\r\n(":
            back -= 1
        if back == begin or text[back - 1] in "=>?:&|,([{":
            return jsx_end(lex, text, pos)
    return pos


def jsx_end(lex: JavaScriptLexicon, text: str, pos: int) -> int:
    """Offset after the JSX element that begins at `pos`."""
    depth = 0
    at = pos
    while True:
        for match in tokens(_TAG, text, at):
            kind = match.lastindex
            if kind == 1:
                depth += 1
            elif kind == 4:
                at = lex.close(text, match.start())
                break
            elif kind:
                depth -= 1
                if depth <= 0:
                    return match.end()
        else:
            return len(text)
