"""Java: types, their methods, constructors, fields and constants; records, sealed types, annotation types."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon, BraceWalker
from slipstream.map.languages.lexer import after, find_unescaped, quoted
from slipstream.map.model import Definition, FileScan

_WORDS = re.compile(r"(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp|default|transient|"
                    r"volatile|synchronized|native)\b\s*)*")
_ANNOTATION = re.compile(r"@(?!interface\b)\s*[\w.]+")
_TYPE = re.compile(r"(class|interface|enum|record|@\s*interface)\s+([^\W\d]\w*)(?=\s*(\(|<|[{\w@]))")
_NAME_BEFORE = re.compile(r"(?<![@.\w])([^\W\d][\w$]*)\s*\Z")
_FIELD = re.compile(r"[\w.$]+(?:\s*<(?:[^<>;=(){}]|<(?:[^<>;]|<[^<>;]{0,200}>){0,20}>){0,200}>)?(?:\s*@\w+)?(?:\s*\[\s*\]){0,9}"
                    r"\s+([^\W\d][\w$]*)\s*(?=[=;,\[])")
_MORE_NAMES = re.compile(r"\s*([^\W\d][\w$]*)\s*(?=[=;,\[])")
_CONSTANT = re.compile(r"([^\W\d][\w$]*)\s*(?=[(,;{}])")
_PACKAGE = re.compile(r"package\s+([\w.]+)\s*;")
_IMPORT = re.compile(r"import\s+(static\s+)?([\w.]+(?:\.\*)?)\s*;")
_MAIN = re.compile(r"\bvoid\s+main\s*\(")
_KINDS = {"class": "class", "interface": "interface", "enum": "enum", "record": "class"}


def _hook(text: str, match: re.Match[str]) -> int:
    pos = match.start()
    if text[pos] == "/":
        return after(text, "*/", pos + 2)
    return find_unescaped(text, '"""', pos + 3)


_LEXICON = BraceLexicon(r'"(?!"")[^"\\\n]*(?:\\.[^"\\\n]*){0,9999}"?' + "|" + quoted("'") + r"|//[^\n]*",
                        (r"/\*", '"""'), _hook)
_STOP = _LEXICON.compile(r"(\[)|(\()|(\{)|(;)|(=)|([)}\]])")
_BODY = _LEXICON.compile(r"([(\[])|(\{)|(;)|([)}\]])")
_END = _LEXICON.compile(r"([({\[])|(;)|([)}\]])")
_COMMA = _LEXICON.compile(r"([({\[])|(;)|(,)|([)}\]])")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Java file."""
    scanner = _JavaScanner(text, out, _LEXICON)
    scanner.header_purpose()
    scanner.members(0, None, False)
    types = [d for d in out.definitions if d.doc]
    if types and not out.purpose:
        out.purpose = types[0].doc
    if " main" in text and _MAIN.search(text):
        out.hints.append("main")


class _JavaScanner(BraceWalker):
    def prefix(self, at: int) -> int:
        """Offset after the annotations and modifiers at `at`."""
        text = self.text
        while True:
            words = _WORDS.match(text, at)
            end = words.end() if words else at
            annotation = _ANNOTATION.match(text, end)
            if annotation is None:
                return end
            end = annotation.end()
            following = self.space(end)
            at = self.space(self.lex.close(text, following)) if text[following:following + 1] == "(" else following

    def declaration(self, at: int, start: int, owner: Definition | None, public: bool) -> int:
        text = self.text
        lex = self.lex
        head = self.prefix(at)
        public = public or "public" in text[at:head].split()
        found = _TYPE.match(text, head)
        if found is not None and (found.group(1) != "record" or found.group(3) in ("(", "<")):
            return self.type(found, at, start, owner, public)
        if owner is None:
            package = _PACKAGE.match(text, head)
            if package is not None:
                self.out.imports.append((package.group(1), "package", ()))
                return package.end()
            imported = _IMPORT.match(text, head)
            if imported is not None:
                self.out.imports.append((imported.group(2), "import", ("static",) if imported.group(1) else ()))
                return imported.end()
        pos = head
        while True:
            stop = lex.find(_STOP, text, pos)
            if stop is None:
                return len(text)
            char = stop.group()
            if char != "(":
                break
            pos = lex.close(text, stop.start())
            name = _NAME_BEFORE.search(text, max(head, stop.start() - 200), stop.start())
            if name is not None and owner is not None:
                return self.method(name, pos, at, start, owner, public)
        if char == "{":
            end = lex.close(text, stop.start())
            name = _NAME_BEFORE.search(text, max(head, stop.start() - 200), stop.start())
            if name is not None and owner is not None and name.group(1) == owner.name:     # compact constructor of a record
                self.add(name.group(1), "method", name.start(1), start, end, (at, stop.start()), owner, public, False)
            return end
        if char in ")]}":
            return stop.start()
        end_of = lex.find(_END, text, stop.start())
        end = end_of.end() if end_of is not None and end_of.group() == ";" else end_of.start() if end_of else len(text)
        field = _FIELD.match(text, head, end)
        if field is not None and owner is not None:
            names = field
            while True:
                self.add(names.group(1), "field", names.start(1), start, end, (at, min(stop.start(), end)), owner,
                         public, False)
                comma = lex.find(_COMMA, text, names.end())
                if comma is None or comma.group() != ",":
                    break
                more = _MORE_NAMES.match(text, comma.end(), end)
                if more is None:
                    break
                names = more
        return end

    def method(self, name: re.Match[str], pos: int, at: int, start: int, owner: Definition, public: bool) -> int:
        """Read what follows the parameters of a method or constructor."""
        text = self.text
        stop = self.lex.find(_BODY, text, pos)
        if stop is None:
            return len(text)
        head = stop.start()
        if stop.group() == "{" and not text[max(pos, head - 12):head].rstrip().endswith("default"):
            end = self.lex.close(text, head)
        elif stop.group() == ";":
            end = stop.end()
        else:
            found = self.lex.find(_END, text, head)
            end = found.end() if found is not None and found.group() == ";" else head
        self.add(name.group(1), "method", name.start(1), start, end, (at, head), owner, public, False)
        return end

    def type(self, found: re.Match[str], at: int, start: int, owner: Definition | None, public: bool) -> int:
        text = self.text
        stop = self.lex.find(_BODY, text, found.end())
        if stop is None or stop.group() != "{":
            return stop.end() if stop is not None else len(text)
        kind = _KINDS.get(found.group(1), "interface")
        body = stop.start()
        definition = self.add(found.group(2), kind, found.start(2), start, body + 1, (at, body), owner, public, False)
        if self.depth > 60:
            return self.lex.close(text, body)
        pos = self.constants(body + 1, definition) if kind == "enum" else body + 1
        end = self.members(pos, definition, kind == "interface")
        definition.end = self.lines.at(end - 1)
        return end

    def constants(self, pos: int, owner: Definition) -> int:
        """The constants of an enum; the offset after the `;` or of the `}` behind them."""
        text = self.text
        while True:
            at = self.trivia(pos)
            start = self.take_doc(at)
            if text[at:at + 1] == ";":
                return at + 1
            at = self.prefix(at)
            match = _CONSTANT.match(text, at)
            if match is None:
                return at
            end = match.end()
            if text[end:end + 1] == "(":
                end = self.space(self.lex.close(text, end))
            if text[end:end + 1] == "{":
                end = self.lex.close(text, end)
            self.add(match.group(1), "field", match.start(1), start, end, (at, end), owner, True, False)
            if text[match.end():match.end() + 1] in ";}":
                return match.end() + (text[match.end()] == ";")
            pos = self.space(end)
            if text[pos - 1:pos] == ";" or text[pos:pos + 1] != ",":
                return pos
            pos += 1
