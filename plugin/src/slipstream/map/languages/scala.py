"""Scala 2 and 3: types, methods, values, givens and extensions, in braces or by indentation."""
from __future__ import annotations

import re

from slipstream.map.languages.linewise import LineWalker, StringLexicon
from slipstream.map.languages.summaries import hash_header
from slipstream.map.model import Definition, FileScan

_MODIFIERS = re.compile(r"(?:(?:private|protected)(?:\[\w+\]|\b)|(?:final|sealed|implicit|lazy|override|abstract|inline|"
                        r"transparent|"
                        r"open|opaque|infix|erased|case(?=\s+(?:class|object)\b))\b)(?!\s*[=:(.])\s*")
_ANNOTATION = re.compile(r"@[\w.]+(?:\[[^\]]*\])?")
_KEYWORD = re.compile(r"(class|object|trait|enum|def|val|var|type|given|extension|package(?:\s+object)?|import|case|end)\b")
_NAME = re.compile(r"\s*(`[^`\n]+`|[^\W\d][\w$]*(?:(?<=_)[!#%&*+\-/:<=>?@\\^|~]+)?|[^\w\s(){}\[\].,;\"'`]+(?=[\s(\[{]))")
_SELF = re.compile(r"\s*(?:\w+\s*(?::[^=\n{}]{1,300})?|this\s*:[^=\n{}]{1,300})=>")
_IMPORT = re.compile(r"import\s+([^\n;]+)")
_PACKAGE = re.compile(r"package\s+([\w.]+)")
_END_MARK = re.compile(r"\s*end\s+(\w+|`[^`]+`)[ \t]*(?=\r?\n|\Z|//|/\*)")
_WORD = re.compile(r"[^\W\d]\w*")
_TYPED = re.compile(r":[ \t]*(?!\r?\n|//|\Z)")
_PARAMETERS = re.compile(r"[\[(]")

_LEXICON = StringLexicon(r"'(?:[^'\\\n]|\\[^\n]{1,6}?)'|//[^\n]*|`[^`\n]*`", "${")
_HEAD = _LEXICON.compile(r"([(\[])|(\{)|([)}\]])|(;)|(\n)|(:(?=[ \t]*(?:\r?\n|//)))|((?<!\w)with(?=[ \t]*\r?\n))|"
                         r"(=(?![>=\w!<])(?<![<>=!:+*/-]=))")
_KINDS = {"class": "class", "object": "class", "trait": "interface", "enum": "enum"}
_MAIN = re.compile(r"^[ \t]*(?:(?:override|final)[ \t]+){0,2}(?:def[ \t]+main\b|@main\b|object\b[^\n]{0,300}"
                   r"\b(?:extends|with)[ \t]+(?:[\w.]+\.)?(?:IO)?App\b)", re.M)


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Scala file."""
    scanner = _ScalaScanner(text, out, _LEXICON)
    scanner.header_purpose()
    scanner.members(0, None, -1)
    if not out.purpose:
        out.purpose = next((d.doc for d in out.definitions if d.doc), "") or hash_header(text)
    if ("main" in text or "App" in text) and _MAIN.search(text):
        out.hints.append("main")


class _ScalaScanner(LineWalker):
    def column(self, pos: int) -> int:
        """The indentation of the line that holds `pos`."""
        begin = self.text.rfind("\n", 0, pos) + 1
        at = begin
        while self.text[at:at + 1] in (" ", "\t"):
            at += 1
        return at - begin

    def members(self, pos: int, owner: Definition | None, indent: int) -> int:
        """Read statements until an unopened `}` or, with `indent` >= 0, a line that is indented no deeper."""
        text = self.text
        size = len(text)
        self.depth += 1
        while True:
            at = self.trivia(pos)
            if at >= size:
                at = size if indent < 0 else self.last(pos)
                break
            if text[at] in ")}]":
                if indent >= 0:
                    at = self.last(pos)
                    break
                at += 1
                if self.depth > 1:
                    break
                pos = at
                continue
            if indent >= 0 and self.column(at) <= indent:
                at = self.last(pos)
                break
            start = self.take_doc(at)
            pos = max(at + 1, self.declaration(at, start, owner))
        self.depth -= 1
        return at

    def last(self, pos: int) -> int:
        """Offset after the last code at or before `pos`."""
        while pos > 0 and self.text[pos - 1] in " \t\r\n":
            pos -= 1
        return pos

    def marked(self, end: int, indent: int) -> int:
        """The end of a definition, its `end name` line included."""
        at = self.code(end)
        if self.text.startswith("end", at) and self.column(at) == indent and "\n" in self.text[end:at]:
            mark = _END_MARK.match(self.text, at)
            if mark is not None:
                return mark.end()
        return end

    def block_end(self, pos: int, indent: int) -> int:
        """Offset after the expression at `pos`, whose further lines are indented deeper than `indent`."""
        text = self.text
        at = pos
        while True:
            stop = self.lex.find(self._line, text, at)
            if stop is None:
                return self.last(len(text))
            kind = stop.group()
            start = stop.start()
            if kind == "{":
                at = self.lex.close(text, start)
            elif kind == "\n":
                following = self.code(start)
                if following >= len(text):
                    return self.last(start)
                word = _WORD.match(text, following)
                carried = word is not None and word.group() in ("else", "catch", "finally", "yield", "then", "do", "match")
                if self.column(following) <= indent and not carried and not text.startswith((".", "&&", "||", "{"), following):
                    return self.last(start) if "//" not in text[max(pos, start - 200):start] else start
                at = following
            elif kind == "," or kind.startswith("//"):
                at = stop.end()
            else:
                return self.last(start) if kind != ";" else start

    def declaration(self, at: int, start: int, owner: Definition | None) -> int:
        text = self.text
        head = self.words(at, _MODIFIERS, _ANNOTATION)
        found = _KEYWORD.match(text, head)
        indent = self.column(at)
        if found is None:
            return self.block_end(head, indent)
        word = found.group(1)
        modifiers = text[at:head]
        exported = "private" not in modifiers and "protected" not in modifiers
        if word in _KINDS or word.startswith("package"):
            if word == "package":
                package = _PACKAGE.match(text, head)
                if package is not None:
                    self.out.imports.append((package.group(1), "package", ()))
                    here = self.code(package.end())
                    return here + 1 if text[here:here + 1] in ("{", ":") else package.end()
            return self.type(word, found.end(), at, start, owner, exported, indent)
        if word == "def":
            return self.value("method" if owner is not None else "function", found.end(), at, start, owner, exported, indent)
        if word in ("val", "var", "type"):
            kind = "type" if word == "type" else "field" if owner is not None else "const"
            return self.value(kind, found.end(), at, start, owner, exported, indent)
        if word == "given":
            return self.type(word, found.end(), at, start, owner, exported, indent)
        if word == "extension":
            pos = self.code(found.end())
            while _PARAMETERS.match(text, pos):
                pos = self.code(self.lex.close(text, pos))
            return pos + 1 if text[pos:pos + 1] == "{" else pos
        if word == "case" and owner is not None and owner.kind == "enum":
            name = _NAME.match(text, found.end())
            end = self.block_end(found.end(), indent)
            while name is not None and name.start() < end:
                self.add(name.group(1), "field", name.start(1), start, end, (at, end), owner, True, False)
                name = _NAME.match(text, name.end() + 1) if text[name.end():name.end() + 1] == "," else None
            return end
        if word == "import":
            imported = _IMPORT.match(text, head)
            if imported is not None:
                end = imported.end()
                brace = text.find("{", imported.start(1), end)
                if brace >= 0:
                    end = max(end, self.lex.close(text, brace))
                self.out.imports.append((" ".join(text[imported.start(1):end].split()), "import", ()))
                return end
        return self.block_end(head, indent)

    def type(self, word: str, pos: int, at: int, start: int, owner: Definition | None, exported: bool, indent: int) -> int:
        text = self.text
        lex = self.lex
        plain = self.conditions(pos) if word == "given" else pos
        name = _NAME.match(text, plain)
        if name is None:
            return self.block_end(pos, indent)
        here = name.end()
        head = end = here
        body = ""
        while True:
            stop = lex.find(_HEAD, text, here)
            if stop is None:
                head = end = self.last(len(text))
                break
            head = end = stop.start()
            mark = stop.group()
            if mark == "\n":
                following = self.code(head)
                carried = (text.startswith(("extends ", "with ", "derives ", "(", "["), following)
                           or text[self.last(head) - 1] == ",")
                if not carried and not (text.startswith("{", following) and text.count("\n", head, following) < 2):
                    end = head = self.last(head)
                    break
                here = following
                continue
            body = mark
            break
        kind = _KINDS.get(word, "const" if word == "given" else "class")
        called = name.group(1).strip("`")
        if word == "given" and (plain > pos or not self.named(name.end())):
            called = "_".join(["given", *_WORD.findall(text, name.start(), head)])      # as the compiler calls it
        definition = self.add(called, kind, name.start(1), start, max(end, name.end()), (at, head), owner, exported, False)
        if body == "=":
            end = self.block_end(head + 1, indent)
        elif body == "{":
            itself = _SELF.match(text, head + 1)
            inside = itself.end() if itself is not None else head + 1
            end = self.members(inside, definition, -1) if self.depth < 60 else lex.close(text, head)
        elif body in (":", "with"):
            following = self.code(head + len(body))
            end = head + len(body)
            if following < len(text) and self.column(following) > indent and self.depth < 60:
                end = self.members(end, definition, indent)
        end = self.marked(end, indent)
        definition.end = self.lines.at(end - 1)
        return end

    def conditions(self, pos: int) -> int:
        """Offset of the type of a given without a name that begins with parameters: `[A](using B): C`, `[A: B] => C`."""
        text = self.text
        at = self.code(pos)
        if _PARAMETERS.match(text, at) is None:
            return pos
        while _PARAMETERS.match(text, at):
            at = self.code(self.lex.close(text, at))
            if text.startswith("=>", at):
                at = self.code(at + 2)
        return self.code(at + 1) if text[at:at + 1] == ":" else at

    def named(self, pos: int) -> bool:
        """Whether what stood before `pos` is the name of a given: after its parameters comes `: TYPE`."""
        pos = self.code(pos)
        while _PARAMETERS.match(self.text, pos):
            pos = self.code(self.lex.close(self.text, pos))
        return _TYPED.match(self.text, pos) is not None

    def value(self, kind: str, pos: int, at: int, start: int, owner: Definition | None, exported: bool, indent: int) -> int:
        text = self.text
        name = _NAME.match(text, pos)
        if name is None or (text[name.end():name.end() + 1] == "(" and kind in ("field", "const")):
            return self.block_end(pos, indent)
        here = name.end()
        head = -1
        while head < 0:
            stop = self.lex.find(_HEAD, text, here)
            if stop is None:
                head = len(text)
            elif stop.group() == ":":
                here = stop.end()
            elif stop.group() == "\n":
                following = self.code(stop.start())
                if self.column(following) > indent or (text[following:following + 1] in ("(", ":", "=") and kind == "method"):
                    here = following
                else:
                    head = stop.start()
            elif (stop.group() == "{" and kind in ("type", "field", "const")) or stop.group() == "with":
                here = self.lex.close(text, stop.start()) if stop.group() == "{" else stop.end()
            else:
                head = stop.start()
        mark = text[head:head + 1]
        end = self.last(head)
        if mark == "=":
            end = self.block_end(head + 1, indent)
        elif mark == "{":
            end = self.lex.close(text, head)
            here = self.code(end)
            if text[here:here + 1] == "=" and text[here + 1:here + 2] != ">":       # a refined type
                end = self.block_end(here + 1, indent)
        end = self.marked(end, indent)
        self.add(name.group(1).strip("`"), kind, name.start(1), start, max(end, name.end()), (at, head), owner, exported, False)
        return end
