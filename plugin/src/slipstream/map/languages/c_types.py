"""C and C++ types: classes, structs, unions and enums with their members, and the names a typedef gives."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import CodeWalker
from slipstream.map.languages.c_preprocessor import LEXICON
from slipstream.map.model import Definition, FileScan

LAST_NAME = re.compile(r"([^\W\d]\w*)\s*(?:\[[^\]]*\]\s*)*(?::\s*\w+\s*)?\Z")
STOP = LEXICON.compile(r"(\[)|(\()|(\{)|(;)|(=(?!=)(?<![=!<>]=))|([)}\]])")
TYPE = re.compile(r"(?:typedef\s+)?(?:(?:static|const|constexpr|volatile|extern|inline|friend|mutable)\s+)*"
                   r"(class|struct|union|enum)\b(?:\s+(?:class|struct)\b)?")
_TYPEDEF_POINTER = re.compile(r"\(\s*(?:[^\W\d]\w*\s+){0,3}(?:[\w:]+::\s*)?[*^&]{0,3}\s*(?:(?:const|volatile)\s+)?"
                              r"([^\W\d]\w*)\s*(?:\[[^\]]*\]\s*)?\)\s*[(\[]")
_ATTRIBUTES = re.compile(r"\[\[[^\]]*\]\]|__attribute__\s*\(\([^{}]*?\)\)|__declspec\s*\([^()]*\)|alignas\s*\([^()]*\)"
                         r"|\b[A-Z_][A-Z0-9_]{2,}\s*\([^()]*\)")
_ANGLES = re.compile(r"<[^<>]*>")
_IN_HEAD = ("alignas", "__attribute__", "__declspec", "decltype")
_ENUMERATOR = re.compile(r"([^\W\d]\w*)")
_END = LEXICON.compile(r"([({\[])|(;)|([)}\]])")
_COMMA = LEXICON.compile(r"([({\[])|(,)|([)}\]])")
_ANGLE = LEXICON.compile(r"([({\[])|(<)|(>)|(;)|([)}\]])")


_COMMENT = re.compile(r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*){0,5000}\*/")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


class CTypes(CodeWalker):
    """One pass over a masked text that begins with an added line feed."""

    def __init__(self, text: str, out: FileScan, header: bool) -> None:
        super().__init__(text, out, LEXICON)
        self.lines.shift(-1)
        self.header = header
        self.cpp = out.language == "cpp"
        self.strays: list[Definition] = []

    def declarations(self, pos: int, owner: Definition | None, in_class: bool, hidden: bool) -> int:
        """Read declarations until an unopened `}`; `hidden` inside an unnamed namespace. The offset after the brace."""
        raise NotImplementedError

    def statement(self, pos: int) -> int:
        """Offset after the `;` at depth 0, or of an unopened closing bracket."""
        stop = self.lex.find(_END, self.text, pos)
        if stop is None:
            return len(self.text)
        return stop.end() if stop.group() == ";" else stop.start()

    def angles(self, pos: int) -> int:
        """Offset after the `>` that closes the template brackets opened at `pos`."""
        depth = 0
        at = pos
        while True:
            match = self.lex.find(_ANGLE, self.text, at)
            if match is None:
                return len(self.text)
            at = match.end()
            kind = match.group()
            if kind == "<":
                depth += 1
            elif kind == ">" and self.text[match.start() - 1] not in "-=":
                depth -= 1
                if depth <= 0:
                    return at
            elif kind != ">" and kind != "<":
                return match.start()

    def type(self, found: re.Match[str], start: int, at: int, owner: Definition | None, in_class: bool, hidden: bool) -> int:
        """A class, struct, union or enum with a body; -1 when something else begins here."""
        text = self.text
        lex = self.lex
        pos = found.end()
        brace = -1
        while True:
            stop = lex.find(STOP, text, pos)
            if stop is None:
                return -1
            if stop.group() == "(":
                close = lex.close(text, stop.start())
                word = LAST_NAME.search(text, max(found.end(), stop.start() - 100), stop.start())
                name = word.group(1) if word else ""
                macro = name.isupper() and len(name) > 2
                if name not in _IN_HEAD and not macro and "<" not in text[found.end():stop.start()]:
                    return -1
                pos = close
                continue
            if stop.group() == "{":
                brace = stop.start()
                break
            return -1
        head = _ATTRIBUTES.sub(_blank, _COMMENT.sub(_blank, text[found.end():brace]))
        plain = head
        while True:
            shorter = _ANGLES.sub(_blank, plain)
            if shorter == plain:
                break
            plain = shorter
        base = re.search(r"(?<!:):(?!:)", plain)
        plain = plain[:base.start()] if base else plain
        words = [m for m in re.finditer(r"[^\W\d][\w:]*", plain) if m.group() not in ("final", "const")]
        keyword = found.group(1)
        kind = "enum" if keyword == "enum" else "class"
        typedef = found.group().startswith("typedef")
        doc = self.doc_text
        exported = not hidden and (self.cpp or self.header)
        definition: Definition | None = None
        if words:
            name = words[-1].group().rsplit("::", 1)[-1]
            name_at = found.end() + words[-1].end() - len(name)
            definition = self.add(name, kind, name_at, start, brace + 1, (at, brace), owner, exported, False)
        aside = definition if definition is not None else Definition("", kind, 0, 0, 0)
        if kind == "enum":
            close_known = lex.close(text, brace)
            self.enumerators(brace + 1, close_known - 1, aside)
        elif self.depth < 60:
            close_known = self.declarations(brace + 1, aside, True, hidden)
        else:
            close_known = lex.close(text, brace)
        end = self.space_in_line(close_known)
        if text[end:end + 1] == ";":
            end += 1
        elif text[end:end + 1] in ("", "}"):
            end = close_known
        else:
            tail = self.statement(close_known)
            value = text[close_known:tail]
            if typedef:
                self.doc_text = doc
                self.typedef_names(close_known, tail, start, (at, brace), owner, exported,
                                   kind if definition is None else "type", aside, definition)
            elif "\n" in value.strip() and not value.rstrip().endswith(";") and "=" not in value:
                tail = close_known
            elif in_class and definition is None:
                name_match = LAST_NAME.search(value.rstrip("; \n\t").split("=")[0])
                if name_match is not None:
                    self.doc_text = doc
                    self.add(name_match.group(1), "field", close_known + name_match.start(1), start, tail, (at, brace), owner,
                             True, False)
            end = tail
        if definition is not None:
            definition.end = self.lines.at(end - 1)
        elif in_class and owner is not None and not typedef and aside.members:
            owner.members.extend(aside.members)
        elif definition is None and aside.members and kind == "enum" and not typedef:
            for member in aside.members:
                member.kind = "const"
                (owner.members if owner is not None else self.out.definitions).append(member)
        return end

    def space_in_line(self, pos: int) -> int:
        while self.text[pos:pos + 1] in (" ", "\t", "\n", "\r"):
            pos += 1
        return pos

    def typedef_names(self, pos: int, end: int, start: int, head: tuple[int, int], owner: Definition | None, exported: bool,
                      kind: str, aside: Definition, definition: Definition | None) -> None:
        """The names after the braces of `typedef struct {...} A, *B;`."""
        at = pos
        for part in self.text[pos:end].rstrip("; \n\t").split(","):
            name = LAST_NAME.search(part)
            if name is not None and (definition is None or definition.name != name.group(1)):
                made = self.add(name.group(1), kind, at + name.start(1), start, end, head, owner, exported, False)
                if definition is None and aside.members:
                    made.members, aside.members = aside.members, []
                    for member in made.members:
                        member.parent = made.name
            at += len(part) + 1

    def enumerators(self, pos: int, stop: int, owner: Definition) -> None:
        text = self.text
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            self.take_doc(at)
            comma = self.lex.find(_COMMA, text, at)
            end = min(stop, comma.start()) if comma is not None else stop
            match = _ENUMERATOR.match(text, at)
            if match is not None:
                self.add(match.group(1), "field", at, at, max(end, match.end()), (at, end), owner, True, False)
            pos = max(end, at) + 1

    def typedef(self, head: int, start: int, at: int, owner: Definition | None, hidden: bool) -> int:
        text = self.text
        end = self.statement(head)
        body = text[head + 7:end].rstrip("; \n\t")
        pointer = _TYPEDEF_POINTER.search(body)
        match = pointer
        if match is None:
            cut = body
            if cut.endswith(")"):                       # typedef int name(args)
                paren = cut.find("(")
                cut = cut[:paren] if paren > 0 else cut
            match = LAST_NAME.search(cut)
        if match is not None:
            self.add(match.group(1), "type", head + 7 + match.start(1), start, end, (at, end), owner,
                     not hidden and (self.header or self.cpp), False)
        return end
