"""JavaScript and TypeScript definitions with bodies: functions, classes, interfaces, enums, and values that are functions."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript_lexer import JavaScriptLexicon
from slipstream.map.languages.walker import Walker
from slipstream.map.model import Definition, FileScan

_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_FUNCTION = re.compile(r"function\s*(?:/\*[^*]*\*/\s*)?\*?\s*([\w$]*)\s*")
_CLASS_NAME = pattern_of(r"class\b\s*(?!extends\b|implements\b)([\w$]*)")
_INTERFACE_NAME = pattern_of(r"interface\s+([\w$]+)")
_DECORATOR = pattern_of(r"@\s*[\w$]+(?:\s*\.\s*[\w$]+)*")
_MODIFIERS = re.compile(r"(?:(?:public|private|protected|static|readonly|abstract|override|declare|accessor|async|get|set)\b"
                        r"(?!\s*[(=:;?!<}\n,])\s*)*")
_NAME = re.compile(r"(\*?)\s*(#?[\w$]+|'[^'\n]*'|\"[^\"\n]*\"|(\[))")
_ARROW_HEAD = re.compile(r"(?:async\b\s*)?(?:[\w$]+\s*=>|([(<]))")
_WRAPPED = pattern_of(r"\(\s*(?:async\b|function\b|class\b|\(|[\w$]+\s*=>)")
_ENUM_MEMBER = pattern_of(r"([\w$]+|'[^'\n]*'|\"[^\"\n]*\")\s*(?=[=,}])")
_JSX_VALUE = re.compile(r"(?:return|=>|[?:]|&&)\s*\(?\s*<(?:[A-Za-z]|>)")


class ClassScanner(Walker):
    """The definitions that have a body."""

    lex: JavaScriptLexicon

    def __init__(self, text: str, out: FileScan, key: str) -> None:
        lexicon = _LEXICONS.get(key)
        if lexicon is None:
            lexicon = _LEXICONS[key] = JavaScriptLexicon(key != "typescript", key in ("typescript", "tsx"))
        super().__init__(text, out, lexicon)
        self.exported_names: list[tuple[str, str, Definition | None]] = []
        self.default_names: list[tuple[str, int, Definition | None]] = []
        self.assigned: list[tuple[str, str, int, int, int, int]] = []

    def hollow(self) -> Definition:
        """An owner whose members belong to the file (`declare module "x"`, `declare global`)."""
        owner = Definition("", "class", 0, 0, 0)
        owner.members = self.out.definitions
        return owner

    def decorators(self, pos: int) -> int:
        """Offset of the code after the decorators that begin at `pos`."""
        text = self.text
        lex = self.lex
        while text[pos:pos + 1] == "@":
            match = _DECORATOR.match(text, pos)
            at = match.end() if match else pos + 1
            if text[at:at + 1] == "<":
                at = max(at, lex.angles(text, at))
            if text[at:at + 1] == "(":
                at = lex.close(text, at)
            pos = lex.space(text, at)
        return pos

    def parameters(self, pos: int) -> int:
        """Offset after type parameters, parameters and return type that begin at `pos`; -1 without parameters."""
        text = self.text
        lex = self.lex
        if text[pos:pos + 1] == "<":
            pos = lex.angles(text, pos)
            if pos < 0:
                return -1
            pos = lex.space(text, pos)
        if text[pos:pos + 1] != "(":
            return -1
        end = lex.close(text, pos)
        at = lex.space(text, end)
        if text[at:at + 1] == ":":
            end = lex.type_end(text, at + 1)
        return end

    def function(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool, default: bool) -> int:
        text = self.text
        match = _FUNCTION.match(text, pos)
        if match is None:
            return -1
        doc = self.doc_text
        head = self.parameters(self.lex.space(text, match.end()))
        if head < 0:
            return -1
        body = self.lex.space(text, head)
        bodied = text[body:body + 1] == "{"
        end = self.lex.close(text, body) if bodied else self.semicolon(head)
        name = match.group(1)
        self.doc_text = doc
        kind = "function" if name else "default"
        if bodied and self.lex.jsx and name[:1].isupper() and self.has_jsx(body, end):
            kind = "component"
        definition = self.add(name or "default", kind, match.start(1) if name else at, start, end, (at, head), owner, exported,
                              default)
        definition.overload = not bodied
        return end

    def has_jsx(self, pos: int, end: int) -> bool:
        """Whether a body returns markup."""
        return _JSX_VALUE.search(self.text, max(0, pos - 3), min(end, pos + 60_000)) is not None

    def value(self, pos: int, comma: bool) -> tuple[str, int, int]:
        """Kind of the value at `pos` (function, class or const), end of its head (a class: of its `{`), end of the value."""
        text = self.text
        lex = self.lex
        match = _WORD.match(text, pos)
        word = match.group() if match else ""
        if word == "async":
            following = lex.space(text, pos + 5)
            if text.startswith("function", following):
                word, pos = "function", following
        if word == "function":
            found = _FUNCTION.match(text, pos)
            head = self.parameters(lex.space(text, found.end())) if found else -1
            if head >= 0:
                body = lex.space(text, head)
                if text[body:body + 1] == "{":
                    return self.ended("function", head, lex.close(text, body), comma)
        elif word == "class":
            body = self.class_head(pos)
            if body >= 0:
                return self.ended("class", body, lex.close(text, body), comma)
        else:
            arrow = self.arrow(pos)
            if arrow < 0 and text[pos:pos + 1] == "(" and _WRAPPED.match(text, pos):
                close = lex.close(text, pos)
                kind, head, end = self.value(lex.space(text, pos + 1), False)
                rest = lex.space(text, close)
                if kind != "const" and lex.space(text, end) == close - 1 and text[rest:rest + 1] not in ("(", ".", "["):
                    return kind, head, lex.expression_end(text, close, comma) if text[rest:rest + 1] != ";" else close
            elif arrow >= 0:
                body = lex.space(text, arrow)
                if text[body:body + 1] == "{":
                    return self.ended("function", arrow, lex.close(text, body), comma)
                return "function", arrow, lex.expression_end(text, body, comma)
        end = lex.expression_end(text, pos, comma)
        first = text.find("\n", pos, end)
        return "const", first if first >= 0 else end, end

    def ended(self, kind: str, head: int, end: int, comma: bool) -> tuple[str, int, int]:
        """A value with braces that end at `end`: something may still follow them (a call makes it a plain value)."""
        text = self.text
        at = self.lex.space(text, end)
        char = text[at:at + 1]
        if char in ("(", ".", "[") and "\n" not in text[end:at]:
            return "const", head, self.lex.expression_end(text, end, comma)
        if char in ("", ";", ",", "}", ")") or "\n" in text[end:at]:
            return kind, head, end
        return kind, head, self.lex.expression_end(text, end, comma)

    def arrow(self, pos: int) -> int:
        """Offset after the `=>` of the arrow function that begins at `pos`; -1 when there is none."""
        text = self.text
        match = _ARROW_HEAD.match(text, pos)
        if match is None:
            return -1
        if match.group(1) is None:
            return match.end()
        end = self.parameters(match.end() - 1)
        if end < 0:
            return -1
        at = self.lex.space(text, end)
        return at + 2 if text[at:at + 2] == "=>" else -1

    def class_head(self, pos: int) -> int:
        """Offset of the `{` of the class or interface whose keyword is at `pos`; -1 without one."""
        text = self.text
        lex = self.lex
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

    def class_declaration(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool, default: bool) -> int:
        text = self.text
        match = _CLASS_NAME.match(text, pos)
        body = self.class_head(pos)
        if match is None or body < 0:
            return -1
        name = match.group(1)
        definition = self.add(name or "default", "class" if name else "default", match.start(1) if name else at, start,
                              body + 1, (at, body), owner, exported, default)
        end = self.class_body(body, definition)
        definition.end = self.lines.at(end - 1)
        return end

    def class_body(self, brace: int, owner: Definition) -> int:
        """Read the members of the class whose `{` is at `brace`; the offset after its `}`."""
        text = self.text
        lex = self.lex
        size = len(text)
        pos = brace + 1
        while True:
            at = self.trivia(pos)
            if at >= size:
                break
            doc = self.doc
            start = doc if doc >= 0 else at
            first = at
            char = text[at]
            if char == "}":
                self.mark_overloads(owner.members)
                return at + 1
            if char == "@":
                at = self.decorators(at)
            modifiers = _MODIFIERS.match(text, at)
            name_at = lex.space(text, modifiers.end() if modifiers else at)
            words = text[at:name_at]
            match = _NAME.match(text, name_at)
            if match is None:
                pos = lex.close(text, name_at) if text[name_at:name_at + 1] in "{([" else name_at + 1
                if text[name_at:name_at + 1] == "{":
                    continue
                pos = max(pos, lex.expression_end(text, pos, False))
                continue
            name = match.group(2)
            end = match.end()
            if match.group(3):
                end = lex.close(text, end - 1)
                name = text[match.start(2):end]
                if ":" in name:                                # an index signature
                    pos = max(end, lex.expression_end(text, end, False))
                    continue
            elif name[0] in "'\"":
                name = name[1:-1]
            self.doc_text = text[doc:first] if doc >= 0 else ""
            pos = self.member(name, match.start(2), lex.space(text, end), end, start, at, words, owner)
            if pos <= at:
                pos = at + 1
        self.mark_overloads(owner.members)
        return size

    def member(self, name: str, name_at: int, pos: int, name_end: int, start: int, at: int, words: str,
               owner: Definition) -> int:
        """Read the rest of a class member whose name ends before `pos`."""
        text = self.text
        lex = self.lex
        exported = "private" not in words and name[0] != "#"
        char = text[pos:pos + 1]
        if char in ("?", "!"):
            name_end = pos + 1
            pos = lex.space(text, name_end)
            char = text[pos:pos + 1]
        kind = "field"
        bodied = True
        if char in ("(", "<"):
            head = self.parameters(pos)
            if head < 0:
                return lex.expression_end(text, pos, False)
            body = lex.space(text, head)
            kind = "accessor" if words.rstrip().endswith(("get", "set")) and name not in ("get", "set") else "method"
            bodied = text[body:body + 1] == "{"
            end = lex.close(text, body) if bodied else self.semicolon(head)
            bodied = bodied or "abstract" in words
        elif char == "{" and name == "static":
            return lex.close(text, pos)
        else:
            head = end = name_end
            if char == ":":
                head = end = lex.type_end(text, pos + 1)
                pos = lex.space(text, end)
                char = text[pos:pos + 1]
            if char == "=":
                doc = self.doc_text
                found, head, end = self.value(lex.space(text, pos + 1), False)
                kind = "method" if found == "function" else "field"
                self.doc_text = doc
            elif char not in (";", "}", "") and "\n" not in text[end:pos]:
                end = lex.expression_end(text, pos, False)
            end = self.semicolon(end)
        definition = self.add(name, kind, name_at, start, end, (at, head), owner, exported, False)
        definition.overload = not bodied
        return end

    def interface(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool, default: bool) -> int:
        text = self.text
        match = _INTERFACE_NAME.match(text, pos)
        body = self.class_head(pos) if match else -1
        if match is None or body < 0:
            return -1
        end = self.lex.close(text, body)
        definition = self.add(match.group(1), "interface", match.start(1), start, end, (at, body), owner, exported, default)
        self.interface_members(body + 1, end - 1, definition)
        return end

    def interface_members(self, pos: int, stop: int, owner: Definition) -> None:
        text = self.text
        lex = self.lex
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            doc = self.doc
            modifiers = _MODIFIERS.match(text, at)
            name_at = modifiers.end() if modifiers else at
            match = _NAME.match(text, name_at, stop)
            if match is None or match.group(3):
                if text[at] in "(<":
                    at = max(at, self.parameters(at))
                pos = max(at + 1, lex.expression_end(text, at, True) + 1)
                continue
            name = match.group(2).strip("'\"")
            end = lex.space(text, match.end())
            if text[end:end + 1] == "?":
                end = lex.space(text, end + 1)
            kind = "field"
            self.doc_text = text[doc:at] if doc >= 0 else ""
            if text[end:end + 1] in ("(", "<"):
                kind = "method"
                end = self.parameters(end)
            elif text[end:end + 1] == ":":
                end = lex.type_end(text, end + 1)
            else:
                end = match.end()
            if end < 0 or end > stop:
                return
            if kind == "field" or name != "new":
                self.add(name, kind, match.start(2), doc if doc >= 0 else at, end, (at, end), owner, True, False)
            pos = lex.space(text, end)
            if text[pos:pos + 1] == ",":
                pos += 1
            elif pos == end and text[pos:pos + 1] not in (";", "\n", "\r"):
                pos = max(at + 1, lex.expression_end(text, pos, True))

    def enum_members(self, pos: int, end: int, owner: Definition) -> None:
        text = self.text
        lex = self.lex
        while pos < end - 1:
            at = self.trivia(pos)
            match = _ENUM_MEMBER.match(text, at, end)
            if match is None:
                return
            self.doc_text = text[self.doc:at] if self.doc >= 0 else ""
            stop = lex.expression_end(text, match.end(), True)
            self.add(match.group(1).strip("'\""), "field", match.start(1), at, stop, (at, stop), owner, True, False)
            pos = stop + 1


_HEAD_STOP = re.compile(r"[{(<;/)}=]")
_LEXICONS: dict[str, JavaScriptLexicon] = {}
