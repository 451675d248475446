"""Python and stub files by their logical lines: works for the syntax of any version and on files that do not parse."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.summaries import hash_header, summary
from slipstream.map.languages.text import Lines, find_unescaped, one_line, signature, tokens
from slipstream.map.model import Definition, FileScan

# Groups: 1 a line with code on it, 2 opening and 3 closing bracket, 4 triple quotes.
# Single-line strings, comments and continued line ends are passed over.
_TOKEN = re.compile(
    r"""(\n[ \t\f]*(?=[^\s#]))|([(\[{])|([)\]}])|("{3}|'{3})"""
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*){0,9999}"?|'[^'\\\n]*(?:\\.[^'\\\n]*){0,9999}'?|\#[^\n]*|\\\r?\n""", re.S)
_HEAD = re.compile(
    r"""[ \t]*(?:(?:async[ \t]+)?(def|class)[ \t]+(\w+)|(@)|((?:from|import)\b)"""
    r"""|type[ \t]+(\w+)[ \t]*[\[=]|([^\W\d]\w*)[ \t]*(?:(:)|=(?!=)))""")
# A line inside of brackets that begins so may be the next statement after brackets that were never closed.
_OUTSIDE = ("def ", "def\t", "class ", "class\t", "async ", "async\t", "@")
_BROKEN_OUT = pattern_of(r"(?:async[ \t]+)?(?:def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[ \t]*[(:\[])|@[^\W\d]\w*")
_STRING_START = re.compile(r"""[rRuUbBfF]{0,2}("{3}|'{3}|"|')""")
_NAMES = pattern_of(r"""["']([^\W\d]\w*)["']""")
_ANNOTATED_VALUE = pattern_of(
    r"(?:[^=\n#\[]|\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]{0,999}\]){0,999}\]){0,999}\]){0,999}=(?!=)")
_CALL = pattern_of(r"[ \t]*((?:[^\W\d]\w*\.)*)(\w+)([\[(])")
_TYPING = ("", "t.", "typing.", "typing_extensions.")
_TYPE_MAKERS = frozenset((
    "TypeVar NewType ParamSpec TypeVarTuple Union Optional Callable Literal Dict List Tuple Annotated type").split())
_ENUMS = ("Enum", "Flag", "Choices")
_ACCESSOR = pattern_of(r"@[ \t]*(?:[\w.]*property\b|\w+\.(?:setter|getter|deleter)\b)")
_IMPORT_WORD = re.compile(r"\bimport\b")
_IMPORT_NAME = re.compile(r"([\w.]+)(?:\s+as\s+(\w+))?")
_MAIN_GUARD = pattern_of(r"""^if[ \t]+__name__[ \t]*==[ \t]*["']__main__["']""", re.M)
_NOT_NAMES = frozenset(("else", "try", "finally", "lambda", "except", "match", "case", "if", "for", "while", "with"))


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Python file."""
    _Scanner("\n" + text, out, path.endswith("__init__.py")).run()
    tail = max(0, len(text) - 20_000)
    if text.find("__main__", tail) >= 0 and _MAIN_GUARD.search(text, tail):
        out.hints.append("main")
    if path.endswith("__main__.py"):
        out.hints.append("main")


class _Block:
    """An open `def` or `class`: what is indented deeper than `indent` belongs to it."""

    __slots__ = ("body_indent", "definition", "indent", "is_class")

    def __init__(self, indent: int, definition: Definition | None, is_class: bool) -> None:
        self.indent = indent
        self.definition = definition
        self.is_class = is_class
        self.body_indent = -1


class _Scanner:
    """One pass over the tokens of a file; the text begins with an added line feed, so offsets count lines from 1."""

    def __init__(self, text: str, out: FileScan, is_package: bool) -> None:
        self.text = text
        self.is_package = is_package
        self.out = out
        self.lines = Lines(text)
        self.blocks: list[_Block] = []
        self.header = -1                # offset of a def or class whose head is not complete yet
        self.header_close = -1          # offset after its parameter list
        self.header_of: Definition | None = None
        self.want_doc: Definition | None = None
        self.decorator = -1
        self.import_at = -1
        self.string_end = 0
        self.all_names: set[str] = set()
        self.all_at = -1
        self.first = True
        self.overloads: set[int] = set()

    def line(self, pos: int) -> int:
        return self.lines.at(pos) - 1

    def run(self) -> None:
        text = self.text
        depth = 0
        pos = 0
        again = True
        while again:
            again = False
            for match in tokens(_TOKEN, text, pos):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == 1:
                    if depth:
                        if not (text.startswith(_OUTSIDE, match.end()) and _BROKEN_OUT.match(text, match.end())):
                            continue
                        depth = 0
                    self.logical_line(match.start(), match.end())
                elif kind == 2:
                    depth += 1
                elif kind == 3:
                    if depth:
                        depth -= 1
                        if not depth and self.header >= 0 and self.header_close < 0 and match.group() == ")":
                            self.header_close = match.end()
                else:
                    pos = self.string_end = find_unescaped(text, match.group(), match.end())
                    again = True
                    break
        self.finish_line(len(text))
        while self.blocks:
            self.close_block(len(text))
        self.finish()

    def logical_line(self, newline: int, at: int) -> None:
        """A statement begins at `at`; the one before ended at `newline`."""
        text = self.text
        indent = at - newline - 1
        if "\t" in text[newline:at] or "\f" in text[newline:at]:
            indent = len(text[newline + 1:at].replace("\f", "").expandtabs(8))
        self.finish_line(newline)
        blocks = self.blocks
        while blocks and indent <= blocks[-1].indent:
            self.close_block(newline)
        if self.want_doc is not None:
            if blocks and blocks[-1].definition is self.want_doc:
                self.want_doc.doc = self.docstring(at)
            self.want_doc = None
        elif self.first:
            self.first = False
            self.out.purpose = self.docstring(at)
        match = _HEAD.match(text, at)
        if match is None:
            self.decorator = -1
            return
        kind = match.lastindex
        if kind == 3:
            if self.decorator < 0:
                self.decorator = at
            return
        if kind == 4:
            self.import_at = at
        elif kind == 2:
            self.open_definition(match, indent, at)
        elif kind == 5 or not (blocks and not blocks[-1].is_class):
            self.assignment(match, indent, at)
        self.decorator = -1

    def open_definition(self, match: re.Match[str], indent: int, at: int) -> None:
        name, is_class = match.group(2), match.group(1) == "class"
        block = self.blocks[-1] if self.blocks else None
        owner = block.definition if block and block.is_class else None
        if block and not owner:
            self.blocks.append(_Block(indent, None, is_class))      # local to a function
            return
        start = self.decorator if self.decorator >= 0 else at
        decorators = self.text[start:at]
        first, line = self.line(start), self.line(match.start(2))
        kind, exported = "class" if is_class else "function", not name.startswith("_")
        if owner:
            exported = exported or (name.startswith("__") and name.endswith("__"))
            if not is_class:
                kind = "accessor" if decorators and _ACCESSOR.search(decorators) else "method"
        definition = Definition(name, kind, line, first, line, "", owner.qualified if owner else "", exported)
        (owner.members if owner else self.out.definitions).append(definition)
        if "overload" in decorators:
            self.overloads.add(line)
        self.blocks.append(_Block(indent, definition, is_class))
        self.header, self.header_close, self.header_of = at, -1, definition

    def finish_line(self, newline: int) -> None:
        """The logical line that began last is complete at `newline`: head of a definition, or import."""
        if self.header >= 0 and self.header_of is not None:
            self.finish_header(self.header_of, newline)
            self.want_doc = self.header_of
            self.header, self.header_of = -1, None
        elif self.import_at >= 0:
            self.read_import(self.text[self.import_at:newline])
            self.import_at = -1
        elif self.all_at >= 0:
            self.all_names.update(_NAMES.findall(self.text[self.all_at:newline]))
            self.all_at = -1

    def finish_header(self, definition: Definition, newline: int) -> None:
        text = self.text
        close = self.header_close if 0 <= self.header_close <= newline else self.header
        end = _colon(text, close, min(newline, close + 600))
        head = text[self.header:end]
        definition.signature = signature(re.sub(r"#[^\n]*", "", head) if "#" in head else head)
        if definition.kind == "class":
            bases = re.findall(r"\w+", head.partition("(")[2])
            if any(base.endswith(_ENUMS) for base in bases):
                definition.kind = "enum"
            elif "Protocol" in bases:
                definition.kind = "interface"

    def assignment(self, match: re.Match[str], indent: int, at: int) -> None:
        blocks = self.blocks
        owner = blocks[-1].definition if blocks else None
        text = self.text
        if blocks:
            if owner is None:
                return
            if blocks[-1].body_indent < 0:
                blocks[-1].body_indent = indent
        if match.lastindex == 5:
            self.add_value(match.group(5), "type", at, owner)
            return
        name = match.group(6)
        after = match.end()
        if match.group(7):
            value = _ANNOTATED_VALUE.match(text, after)
            if (owner is None and value is None) or name in _NOT_NAMES:
                return
            after = value.end() if value else after
        if owner is not None:
            if indent == blocks[-1].body_indent and name != "__slots__":
                self.add_value(name, "field", at, owner)
            return
        if name == "__all__":
            self.all_at = at
            return
        while True:
            call = _CALL.match(text, after)
            package, made, bracket = call.groups() if call else ("", "", "")
            if name[0].isupper():
                self.add_value(name, "type" if made in _TYPE_MAKERS and package in _TYPING else "const", at, None)
            elif not indent and bracket == "(" and "A" <= made[0] <= "Z":
                self.add_value(name, "const", at, None)
            more = _HEAD.match(text, after)
            if more is None or more.lastindex != 6:
                return
            name, after = more.group(6), more.end()

    def add_value(self, name: str, kind: str, at: int, owner: Definition | None) -> None:
        line = self.line(at)
        text = self.text
        newline = text.find("\n", at)
        head = text[at:newline if newline >= 0 else len(text)]
        definition = Definition(name, kind, line, line, line, one_line(head, 120), owner.qualified if owner else "",
                                not name.startswith("_"))
        self.blocks.append(_Block(1 << 30, definition, False))     # closed, with its end, by the next logical line
        (owner.members if owner else self.out.definitions).append(definition)

    def close_block(self, newline: int) -> None:
        """The innermost open block ends before the line feed at `newline`: blank and comment lines are not its."""
        definition = self.blocks.pop().definition
        if definition is None:
            return
        text = self.text
        end = newline
        while end > self.string_end:
            begin = text.rfind("\n", 0, end)
            content = text[begin + 1:end].strip()
            if content and content[0] != "#":
                break
            end = begin
        definition.end = max(definition.line, self.line(end - 1 if end and text[end - 1:end] == "\n" else end))

    def docstring(self, at: int) -> str:
        match = _STRING_START.match(self.text, at)
        if match is None:
            return ""
        quote = match.group(1)
        body = self.text[match.end():match.end() + 4000]
        end = find_unescaped(body, quote, 0)
        if end < len(body) or body.endswith(quote):
            body = body[:end - len(quote)]
        return summary(body.split("\n"))

    def read_import(self, statement: str) -> None:
        if "#" in statement:
            statement = re.sub(r"#[^\n]*", "", statement)
        statement = statement.replace("\\", " ").partition(";")[0]
        imports = self.out.imports
        if statement.startswith("from"):
            source, names = (_IMPORT_WORD.split(statement[4:], maxsplit=1) + [""])[:2]
            specifier = "".join(source.split())
            if not specifier:
                return
            found = tuple(m.group(1) for m in _IMPORT_NAME.finditer(names)) if "*" not in names else ("*",)
            imports.append((specifier, "import", found))
            if self.is_package and not self.blocks and specifier.startswith("."):
                line = self.line(self.import_at)
                for match in _IMPORT_NAME.finditer(names):
                    self.out.reexports.append((match.group(2) or match.group(1), line, specifier, match.group(1)))
        else:
            for match in _IMPORT_NAME.finditer(statement, 6):
                imports.append((match.group(1), "import", ()))

    def finish(self) -> None:
        out = self.out
        if self.overloads:
            for definitions in [out.definitions, *(d.members for d in out.walk() if d.members)]:
                _mark_overloads(definitions, self.overloads)
        if self.all_names:
            for definition in out.definitions:
                if definition.name in self.all_names:
                    definition.exported = True
        if not out.purpose:
            out.purpose = hash_header(self.text)


def _mark_overloads(definitions: list[Definition], lines: set[int]) -> None:
    """Decorated signatures give way to the implementation, or (in a stub) to the first of them."""
    taken = {d.name for d in definitions if d.line not in lines and d.kind in ("function", "method")}
    for definition in definitions:
        if definition.line in lines:
            definition.overload = definition.name in taken
            taken.add(definition.name)


def _colon(text: str, pos: int, end: int) -> int:
    """Offset of the colon that ends a definition's head, brackets and strings respected."""
    depth = 0
    quote = ""
    for at in range(pos, end):
        char = text[at]
        if quote:
            if char == quote:
                quote = ""
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char in "\"'":
            quote = char
        elif char == ":" and depth <= 0:
            return at
    return end
