"""C#: types through namespaces, methods, properties, events, operators and fields; records and file-scoped namespaces."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon, BraceWalker
from slipstream.map.languages.lexer import after
from slipstream.map.model import Definition, FileScan

_WORDS = re.compile(r"(?:(?:public|private|protected|internal|static|readonly|sealed|abstract|virtual|override|async|"
                    r"partial|extern|"
                    r"unsafe|new|volatile|const|ref|required|file|fixed|implicit|explicit)\b(?!\s*[=(;,:])\s*)*")
_TYPE = re.compile(r"(class|struct|interface|enum|record(?:\s+(?:class|struct))?)\s+(@?[^\W\d]\w*)(?=\s*(?:[({<:;\[]|"
                   r"where\b|//|\Z))")
_NAMESPACE = re.compile(r"namespace\s+([\w.]+)\s*(;|\{)")
_USING = re.compile(r"(?:global\s+)?using\s+(static\s+)?(?:([\w]+)\s*=\s*)?([\w.:]+)[^;{(\n]*;")
_DELEGATE = re.compile(r"delegate\b[^;{}()]*?([^\W\d]\w*)\s*(?:<[^<>()]*>)?\s*\(")
_NAME_BEFORE = re.compile(r"(?<![@\w])(@?[^\W\d]\w*)\s*(?:<(?:[^<>(){};]|<[^<>(){};]{0,200}>){0,200}>)?\s*\Z")
_OPERATOR = re.compile(r"\boperator\s+(?:checked\s+)?([^\s(]+(?:\s*\[\s*\])?)\s*\Z")
_ENUM_MEMBER = re.compile(r"([^\W\d]\w*)")
_NOT_NAMES = frozenset("if for foreach while switch return using lock fixed catch typeof sizeof nameof default checked unc"
                       "hecked "
                       "where new base this public private protected internal static async override virtual ref out in".split())
_MAIN = re.compile(r"\bstatic\s+(?:async\s+)?(?:void|int|Task(?:<int>)?)\s+Main\s*\(")
_VERBATIM = re.compile(r'""|(")|\{\{|(\{)')
_INTERPOLATED = re.compile(r'\\.|(")|\{\{|(\{)|(\n)', re.S)


class _CSharpLexicon(BraceLexicon):
    def __init__(self) -> None:
        self._nested = 0
        super().__init__(r'"(?!"")[^"\\\n]*(?:\\.[^"\\\n]*){0,9999}"?|' r"'(?:[^'\\\n]|\\[^\n][^'\n]{0,8})'|//[^\n]*"
                         r"|\#[ \t]*(?:region|endregion|pragma|error|warning|if|elif|else|endif|line|nullable|define)\b[^\n]*",
                         (r"/\*", r'\$[$@]{0,3}"+', '@[$@]{0,3}"+', '"""+'), self._pass)

    def _pass(self, text: str, match: re.Match[str]) -> int:
        pos = match.start()
        token = match.group()
        if token == "/*":
            return after(text, "*/", pos + 2)
        quotes = token.count('"')
        interpolated = "$" in token
        verbatim = "@" in token
        if quotes > 1 and not verbatim:
            return match.end() if quotes == 2 else after(text, '"' * quotes, match.end())
        pattern = _VERBATIM if verbatim else _INTERPOLATED
        at = pos + token.index('"') + 1
        while True:
            for piece in pattern.finditer(text, at):
                kind = piece.lastindex
                if kind in (1, 3):
                    return piece.end()
                if kind == 2 and interpolated and self._nested < 20:
                    self._nested += 1
                    at = self.close(text, piece.start())
                    self._nested -= 1
                    break
            else:
                return len(text)


_LEXICON = _CSharpLexicon()
_STOP = _LEXICON.compile(r"(\[)|(\()|(\{)|(;)|(=>)|(=(?![=>]))|([)}\]])")
_BODY = _LEXICON.compile(r"([(\[])|(\{)|(;)|(=>)|([)}\]])")
_END = _LEXICON.compile(r"([({\[])|(;)|([)}\]])")
_COMMA = _LEXICON.compile(r"([({\[])|(,)|([)}\]])")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, usings and purpose of a C# file."""
    scanner = _CSharpScanner(text, out, _LEXICON)
    scanner.header_purpose()
    scanner.members(0, None, False)
    if not out.purpose:
        out.purpose = next((d.doc for d in out.definitions if d.doc), "")
    if _MAIN.search(text):
        out.hints.append("main")


class _CSharpScanner(BraceWalker):
    hash_lines = True

    def declaration(self, at: int, start: int, owner: Definition | None, public: bool) -> int:
        text = self.text
        lex = self.lex
        head = at
        while text[head:head + 1] == "[":
            head = self.space(lex.close(text, head))
        first = head
        words = _WORDS.match(text, head)
        head = words.end() if words else head
        modifiers = text[first:head].split()
        public = public or "public" in modifiers or "protected" in modifiers
        namespace = _NAMESPACE.match(text, head)
        if namespace is not None:
            self.out.imports.append((namespace.group(1), "package", ()))
            return namespace.end() if namespace.group(2) == ";" else self.members(namespace.end(), owner, False)
        found = _TYPE.match(text, head)
        if found is not None:
            return self.type(found, first, start, owner, public)
        if owner is None:
            using = _USING.match(text, head)
            if using is not None:
                self.out.imports.append((using.group(3), "import", ("static",) if using.group(1) else ()))
                return using.end()
        delegate = _DELEGATE.match(text, head) if text.startswith("delegate", head) else None
        if delegate is not None:
            end = self.statement(delegate.end() - 1)
            self.add(delegate.group(1), "type", delegate.start(1), start, end, (first, end), owner, public, False)
            return end
        if owner is None:
            return self.skip(head)
        return self.member(head, first, start, owner, public)

    def skip(self, pos: int) -> int:
        """Pass a statement of the top level."""
        stop = self.lex.find(_BODY, self.text, pos)
        if stop is None:
            return len(self.text)
        if stop.group() == "{":
            return self.lex.close(self.text, stop.start())
        return self.statement(stop.start())

    def statement(self, pos: int) -> int:
        stop = self.lex.find(_END, self.text, pos)
        if stop is None:
            return len(self.text)
        return stop.end() if stop.group() == ";" else stop.start()

    def member(self, head: int, first: int, start: int, owner: Definition, public: bool) -> int:
        text = self.text
        lex = self.lex
        pos = head
        while True:
            stop = lex.find(_STOP, text, pos)
            if stop is None:
                return len(text)
            char = stop.group()
            where = stop.start()
            if char == "(":
                close = lex.close(text, where)
                operator = _OPERATOR.search(text, max(head, where - 200), where)
                if operator is not None:
                    return self.method("operator " + operator.group(1), operator.start(), close, first, start, owner, public)
                name = _NAME_BEFORE.search(text, max(head, where - 300), where)
                if name is not None and name.group(1) not in _NOT_NAMES:
                    tilde = text[name.start(1) - 1] == "~"
                    return self.method(("~" if tilde else "") + name.group(1).lstrip("@"), name.start(1), close, first, start,
                                       owner,
                                       public)
                pos = close
                continue
            if char in ("=", "=>") and re.search(r"\boperator\s*\S{0,2}\Z", text[max(head, where - 20):where]):
                pos = text.find("(", where)
                if pos < 0:
                    return len(text)
                continue
            break
        if char in ")]}":
            return where
        return self.value(char, where, head, first, start, owner, public)

    def value(self, char: str, where: int, head: int, first: int, start: int, owner: Definition, public: bool) -> int:
        """A property, indexer, event or field whose name ends before `where`."""
        text = self.text
        lex = self.lex
        name = re.compile(r"(@?[^\W\d]\w*)\s*(?:\[[^\]]*\]\s*)?\Z").search(text, max(head, where - 300), where)
        kind = "field" if char in (";", "=") or text.startswith("event", head) else "accessor"
        if char == "{":
            end = lex.close(text, where)
            following = self.code(end)
            if text[following:following + 1] == "=":
                end = self.statement(following)
        else:
            end = self.statement(where)
        if name is not None and name.start(1) > head:
            self.add(name.group(1).lstrip("@"), kind, name.start(1), start, end, (first, where), owner, public, False)
        return end

    def method(self, name: str, name_at: int, close: int, first: int, start: int, owner: Definition, public: bool) -> int:
        stop = self.lex.find(_BODY, self.text, close)
        if stop is None:
            head = end = len(self.text)
        else:
            head = stop.start()
            if stop.group() == "{":
                end = self.lex.close(self.text, head)
            elif stop.group() in (";", "=>"):
                end = self.statement(head)
            else:
                end = head
        self.add(name, "method", name_at, start, end, (first, head), owner, public, False)
        return end

    def type(self, found: re.Match[str], first: int, start: int, owner: Definition | None, public: bool) -> int:
        text = self.text
        stop = self.lex.find(_BODY, text, found.end())
        if stop is None or stop.group() not in ("{", ";"):
            return stop.end() if stop is not None else len(text)
        word = found.group(1)
        kind = word if word in ("interface", "enum") else "class"
        body = stop.start()
        definition = self.add(found.group(2).lstrip("@"), kind, found.start(2), start, stop.end(), (first, body), owner,
                              public, False)
        if stop.group() == ";":
            return stop.end()
        if kind == "enum":
            end = self.lex.close(text, body)
            self.enum_members(body + 1, end - 1, definition)
        elif self.depth > 60:
            return self.lex.close(text, body)
        else:
            end = self.members(body + 1, definition, kind == "interface")
        following = self.code(end)
        if text[following:following + 1] == ";":
            end = following + 1
        definition.end = self.lines.at(end - 1)
        return end

    def enum_members(self, pos: int, stop: int, owner: Definition) -> None:
        text = self.text
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            start = self.take_doc(at)
            while text[at:at + 1] == "[":
                at = self.space(self.lex.close(text, at))
            comma = self.lex.find(_COMMA, text, at)
            end = min(stop, comma.start()) if comma is not None else stop
            match = _ENUM_MEMBER.match(text, at)
            if match is not None:
                self.add(match.group(1), "field", at, start, max(end, match.end()), (at, end), owner, True, False)
            pos = max(at, end) + 1
