"""Go: declarations at the top of a file, methods by their receiver, fields and interface methods."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.lexer import Lexicon, quoted
from slipstream.map.languages.text import after, tokens
from slipstream.map.languages.walker import Walker
from slipstream.map.model import Definition, FileScan

_WORD = re.compile(r"[^\W\d]\w*")
_RECEIVER = re.compile(r"([^\W\d]\w*)\s*(?:\[[^\]]*\])?\s*,?\s*\)\Z")
_NAMES = re.compile(r"([^\W\d]\w*)((?:\s*,\s*[^\W\d]\w*)*)")
_IMPORT = re.compile(r"(?:([\w.]+)[ \t]+)?[\"`]([^\"`\n]+)[\"`]")
_PACKAGE_COMMENT = pattern_of(r"^(?:(?://[^\n]*\n)+|/\*(?:[^*]|\*(?!/)){0,20000}\*/\n)(?=package\b)", re.M)
_TYPE_WORDS = ("struct", "interface")
_TYPE_WORD = pattern_of(r"\b(?:struct|interface)\s*\Z")
_OPERATORS = frozenset("|,+-*/&=.<>^%!:(")


def _hook(text: str, match: re.Match[str]) -> int:
    pos = match.start()
    return after(text, "`", pos + 1) if text[pos] == "`" else after(text, "*/", pos + 2)


_LEXICON = Lexicon(quoted('"') + "|" + quoted("'") + r"|//[^\n]*", ("`", r"/\*"), _hook)
_LINE = _LEXICON.compile(r"([({\[])|([)}\]])|(;)|(\n)")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Go file."""
    _GoScanner(text, out, _LEXICON).run()


class _GoScanner(Walker):
    def run(self) -> None:
        text = self.text
        size = len(text)
        pos = self.header_purpose()
        self.package_purpose()
        methods: list[Definition] = []
        main = False
        pos = 0
        while True:
            at = self.trivia(pos)
            if at >= size:
                break
            doc = self.doc
            self.doc_text = text[doc:at] if doc >= 0 else ""
            start = doc if doc >= 0 else at
            match = _WORD.match(text, at)
            word = match.group() if match else ""
            if word == "func":
                pos = self.function(at, start, methods)
            elif word in ("type", "const", "var", "import"):
                following = self.space(at + len(word))
                if text[following:following + 1] == "(":
                    pos = self.lex.close(text, following)
                    self.group(word, following + 1, pos - 1)
                else:
                    pos = self.spec(word, following, start, at)
            elif word == "package":
                pos = max(at + 7, self.line_end(at))
                for name in text[at + 7:pos].split()[:1]:
                    main = name == "main"
                    self.out.imports.append((name, "package", ()))
            else:
                pos = max(at + 1, self.line_end(at))
        owners = {d.name: d for d in self.out.definitions if d.kind in ("class", "interface", "type")}
        for method in methods:
            owner = owners.get(method.parent)
            if owner is not None:
                owner.members.append(method)
            else:
                self.out.definitions.append(method)
        self.out.definitions.sort(key=_by_line)
        if main and any(d.name == "main" and d.kind == "function" for d in self.out.definitions):
            self.out.hints.append("main")

    def package_purpose(self) -> None:
        """The comment right above the package clause says more than a licence or build tag before it."""
        match = _PACKAGE_COMMENT.search(self.text, 0, 20_000) if "Package " in self.text[:20_000] else None
        if match is not None and "Package " in match.group():
            comment = match.group()
            self.out.purpose = ""
            found = comment.find("Package ")
            self.text, whole = "// " + comment[found:], self.text
            self.header_purpose()
            self.text = whole

    def line_end(self, pos: int) -> int:
        """Offset after the statement at `pos`: its line, or more when brackets or an operator carry it on."""
        text = self.text
        at = pos
        comment = (-1, -1)
        while True:
            for match in tokens(_LINE, text, at):
                kind = match.lastindex
                if kind is None:
                    if text[match.start()] == "/":
                        comment = match.span()
                    continue
                start = match.start()
                if kind == 1:
                    at = self.lex.close(text, start)
                    break
                if kind == 4:
                    last = comment[0] if comment[1] == start else start
                    while last > pos and text[last - 1] in " \t\r\n":
                        last -= 1
                    if last > pos and text[last - 1] not in _OPERATORS:
                        return last
                elif kind > 4:
                    at = self.lex.hook(text, match)
                    break
                else:
                    return start
            else:
                return len(text)

    def function(self, at: int, start: int, methods: list[Definition]) -> int:
        text = self.text
        pos = self.space(at + 4)
        parent = ""
        if text[pos:pos + 1] == "(":
            end = self.lex.close(text, pos)
            receiver = _RECEIVER.search(text, pos, end)
            parent = receiver.group(1) if receiver else ""
            pos = self.space(end)
        match = _WORD.match(text, pos)
        if match is None:
            return max(at + 4, self.line_end(at))
        body = self.body(match.end())
        end = self.lex.close(text, body) if body >= 0 else self.line_end(match.end())
        name = match.group()
        exported = name[0].isupper()
        if parent:
            definition = self.add(name, "method", match.start(), start, end, (at, body if body >= 0 else end), _ASIDE, exported,
                                  False)
            _ASIDE.members.clear()
            definition.parent = parent
            methods.append(definition)
        else:
            self.add(name, "function", match.start(), start, end, (at, body if body >= 0 else end), None, exported, False)
        return end

    def body(self, pos: int) -> int:
        """Offset of the `{` of the function whose parameters begin at or after `pos`; -1 without a body."""
        text = self.text
        at = pos
        while True:
            for match in tokens(_LINE, text, at):
                kind = match.lastindex
                if kind is None:
                    continue
                start = match.start()
                if kind == 1:
                    low = max(pos, start - 12)
                    if text[start] == "{" and not (
                            text[low:start].rstrip().endswith(_TYPE_WORDS) and _TYPE_WORD.search(text, low, start)):
                        return start
                    at = self.lex.close(text, start)
                    break
                if kind > 4:
                    at = self.lex.hook(text, match)
                    break
                return -1
            else:
                return -1

    def group(self, word: str, pos: int, stop: int) -> None:
        """The specifications in the brackets of `type (`, `const (`, `var (` or `import (`."""
        text = self.text
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            doc = self.doc
            self.doc_text = text[doc:at] if doc >= 0 else ""
            pos = max(at + 1, self.spec(word, at, doc if doc >= 0 else at, at))

    def spec(self, word: str, pos: int, start: int, at: int) -> int:
        text = self.text
        end = self.line_end(pos)
        if word == "import":
            found = _IMPORT.match(text, pos)
            if found is not None:
                self.out.imports.append((found.group(2), "import", (found.group(1),) if found.group(1) else ()))
            return end
        names = _NAMES.match(text, pos)
        if names is None:
            return end
        if word == "type":
            name = names.group(1)
            after_name = self.space(names.end(1))
            if text[after_name:after_name + 1] == "[":
                close = self.lex.close(text, after_name)
                if text[self.space(close):][:1] not in ("", "\n") and "\n" not in text[close:self.space(close)]:
                    after_name = self.space(close)
            kind_word = _WORD.match(text, after_name)
            kind = {"struct": "class", "interface": "interface"}.get(kind_word.group() if kind_word else "", "type")
            brace = text.find("{", after_name, end) if kind != "type" else -1
            head = (at, brace if brace >= 0 else end)
            definition = self.add(name, kind, pos, start, end, head, None, name[0].isupper(), False)
            if brace >= 0:
                self.fields(brace + 1, end - 1, definition)
            return end
        newline = text.find("\n", at, end)
        head = (at, newline if newline >= 0 else end)
        name_at = names.start(1)
        for name in [names.group(1), *(n.strip() for n in names.group(2).split(",") if n.strip())]:
            if name != "_":
                self.add(name, "const", text.find(name, name_at), start, end, head, None, name[0].isupper(), False)
        return end

    def fields(self, pos: int, stop: int, owner: Definition) -> None:
        text = self.text
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            self.doc_text = text[self.doc:at] if self.doc >= 0 else ""
            end = min(stop, self.line_end(at))
            names = _NAMES.match(text, at)
            pos = max(at + 1, end)
            if names is None:
                continue
            following = text[names.end():names.end() + 1]
            if following == "(":
                self.add(names.group(1), "method", at, at, end, (at, end), owner, names.group(1)[0].isupper(), False)
            elif following in (" ", "\t") and text[names.end():end].strip()[:1] not in ("", "|", "`", '"', "/"):
                for name in [names.group(1), *(n.strip() for n in names.group(2).split(",") if n.strip())]:
                    if name != "_":
                        self.add(name, "field", text.find(name, at), at, end, (at, end), owner, name[0].isupper(), False)


_ASIDE = Definition("", "class", 0, 0, 0)


def _by_line(definition: Definition) -> int:
    return definition.line
