"""Swift: types, extensions, protocols, functions, initialisers and properties; `#if` inside types, raw and long strings."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceWalker, adopt
from slipstream.map.languages.linewise import LineWalker, StringLexicon
from slipstream.map.model import Definition, FileScan

_MODIFIERS = re.compile(r"(?:(?:public|private|fileprivate|internal|open|package)(?:\(set\))?|static|final|"
                        r"class(?=\s+(?:func|var|let|subscript|"
                        r"override|final|private|public|internal|open))|override|mutating|nonmutating|lazy|weak|unowned(?:"
                        r"\(\w+\))?|required|"
                        r"convenience|optional|dynamic|indirect|prefix|postfix|infix|nonisolated(?:\(unsafe\))?|isolated|"
                        r"distributed|async|"
                        r"consuming|borrowing|sending|__consuming|rethrows)(?=\s+[\w@`(])\s*")
_ANNOTATION = re.compile(r"@[\w.]+")
_KEYWORD = re.compile(r"(class|struct|enum|protocol|extension|actor|func|init|deinit|subscript|var|let|typealias|"
                      r"associatedtype|case|import|"
                      r"macro|operator|precedencegroup)\b")
_TYPE_NAME = re.compile(r"\s*\[?(`\w+`|[^\W\d][\w.]*)")
_FUNCTION_NAME = re.compile(r"\s*(`\w+`|[^\W\d]\w*|[-+*/%=<>!&|^~?.]+)\s*(?=[<(])")
_NAME = re.compile(r"\s*(`\w+`|[^\W\d]\w*)")
_MORE = re.compile(r",\s*(`\w+`|[^\W\d]\w*)\s*(?=[:=,\n]|\Z)")
_IMPORT = re.compile(r"import\s+(?:(?:class|struct|enum|protocol|func|var|let|typealias)\s+)?([\w.]+)")
_CONTINUED = ("->", "where", "async", "throws", "rethrows", "{", "&")
_HEAD_END = frozenset((",", "&", ":", "=", "(", "|"))

_LEXICON = StringLexicon(r"//[^\n]*|`\w+`", "\\(", "#{0,4}")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Swift file."""
    scanner = _SwiftScanner(text, out, _LEXICON)
    scanner.run(path)


class _SwiftScanner(LineWalker, BraceWalker):
    hash_lines = True            # `#if`, `#else`, `#endif`: what stands between is read
    before_marks = (".", "?.", "->", "??", "&&", "||", "? ", ": ", "+ ", "- ", "* ", "/ ", "== ", "!= ", "| ", "as ", "is ")
    before_words = frozenset(("else", "as", "is", "where"))
    condition_words: frozenset[str] = frozenset()

    def run(self, path: str) -> None:
        text = self.text
        self.strays: list[Definition] = []
        at = 0
        for _ in range(4):                          # a file header comes first: take the first comment that says something
            at = self.header_purpose(at)
            imported = _IMPORT.match(text, at)
            if imported is None or self.out.purpose:
                break
            at = imported.end()
        name = path.rsplit("/", 1)[-1]
        if self.out.purpose.startswith(name) or self.out.purpose.endswith(".swift"):
            self.out.purpose = ""
        self.members(0, None, False)
        adopt(self.strays, self.out.definitions, self.out.walk())
        if not self.out.purpose:
            self.out.purpose = next((d.doc for d in self.out.definitions if d.doc), "")
        if "@main" in text or name == "main.swift":
            self.out.hints.append("main")

    def declaration(self, at: int, start: int, owner: Definition | None, protocol: bool) -> int:
        text = self.text
        head = self.words(at, _MODIFIERS, _ANNOTATION)
        found = _KEYWORD.match(text, head)
        if found is None:
            return self.expression_end(head)
        modifiers = text[at:head]
        exported = "private " not in modifiers and "fileprivate" not in modifiers.split() and "private\n" not in modifiers
        word = found.group(1)
        end = found.end()
        if word in ("class", "struct", "enum", "protocol", "extension", "actor"):
            return self.type(word, end, at, start, owner, exported)
        if word == "func":
            name = _FUNCTION_NAME.match(text, end)
            if name is None:
                return self.expression_end(at)
            return self.callable(name.group(1).strip("`"), name.start(1), name.end(), at, start, owner, exported)
        if word in ("init", "subscript", "deinit"):
            if word == "init" and owner is None:
                return self.expression_end(at)
            return self.callable(word, found.start(1), end, at, start, owner, exported)
        if word in ("var", "let"):
            return self.property(end, at, start, owner, exported)
        if word in ("typealias", "associatedtype"):
            name = _NAME.match(text, end)
            close = self.expression_end(end)
            if name is not None:
                self.add(name.group(1), "type", name.start(1), start, close, (at, close), owner, exported, False)
            return close
        if word == "case" and owner is not None:
            return self.cases(end, at, start, owner)
        if word == "import":
            imported = _IMPORT.match(text, head)
            if imported is not None:
                self.out.imports.append((imported.group(1), "import", ()))
                return imported.end()
        return self.expression_end(at)

    def type(self, word: str, pos: int, at: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        name = _TYPE_NAME.match(text, pos)
        brace = self.code(self.expression_end(pos, body=True))
        if name is None or text[brace:brace + 1] != "{":
            return brace
        title = name.group(1).strip("`")
        if self.depth > 60:
            return self.lex.close(text, brace)
        if word == "extension":
            aside = Definition(title.rsplit(".", 1)[-1], "class", 0, 0, 0)
            end = self.members(brace + 1, aside, False)
            for member in aside.members:
                member.parent = aside.name
            self.strays.extend(aside.members)
            return end
        kind = {"protocol": "interface", "enum": "enum"}.get(word, "class")
        definition = self.add(title, kind, name.start(1), start, brace + 1, (at, brace), owner, exported, False)
        end = self.members(brace + 1, definition, word == "protocol")
        definition.end = self.lines.at(end - 1)
        return end

    def callable(self, name: str, name_at: int, pos: int, at: int, start: int, owner: Definition | None, exported: bool) -> int:
        """A function, initialiser or subscript whose generics or parameters begin at or after `pos`."""
        text = self.text
        end = pos
        while text[end:end + 1] in ("?", "!"):
            end += 1
        if text[end:end + 1] == "<":
            end = self.angles(end)
        here = self.code(end)
        if text[here:here + 1] == "(":
            end = self.lex.close(text, here)
        head = self.head_end(end)
        end = self.lex.close(text, head) if text[head:head + 1] == "{" else head
        kind = "method" if owner is not None else "function"
        self.add(name, kind, name_at, start, end, (at, head), owner, exported, False)
        return end

    def head_end(self, pos: int) -> int:
        """Offset of the body's brace, or of the end of a head without one."""
        text = self.text
        end = pos
        at = pos
        while True:
            here = self.code(at)
            if here >= len(text):
                return end
            char = text[here]
            carried = text.startswith(_CONTINUED, here) or text[end - 1:end] in _HEAD_END or text[end - 2:end] == "->"
            if "\n" in text[end:here] and not carried:
                return end
            if char == "{":
                return here
            if char in "};":
                return end
            if char in "([":
                at = end = self.lex.close(text, here)
            else:
                match = _HEAD_PIECE.match(text, here)
                at = end = match.end() if match is not None else here + 1

    def property(self, pos: int, at: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        name = _NAME.match(text, pos)
        end = self.expression_end(pos)
        here = self.code(end)
        typed = name is not None and text[name.end():name.end() + 1] == ":"
        if typed and text[here:here + 1] == "{" and text[end - 1:end] != "}":
            end = self.lex.close(text, here)
        line = text.find("\n", at, end)
        head = line if line >= 0 else end
        brace = text.find("{", at, head)
        while name is not None:
            self.add(name.group(1).strip("`"), "field" if owner is not None else "const", name.start(1), start, end,
                     (at, brace if brace > 0 else head), owner, exported, False)
            plain = text.find("(", name.end(), head) < 0 and text.find("=", name.end(), head) < 0
            name = _MORE.search(text, name.end(), head) if plain else None
        return end

    def cases(self, pos: int, at: int, start: int, owner: Definition) -> int:
        text = self.text
        end = self.expression_end(pos)
        name = _NAME.match(text, pos)
        while name is not None:
            self.add(name.group(1).strip("`"), "field", name.start(1), start, end, (at, end), owner, True, False)
            stop = self.expression_end(name.end(), comma=True)
            name = _NAME.match(text, stop + 1, end) if text[stop:stop + 1] == "," else None
        return end


_HEAD_PIECE = re.compile(r"->|[\w.<>?!@]+")
