"""Frontmatter: a `---` block of YAML before a text. Reads what YAML dumpers write; every scalar is text, never a guess.

Supported: block and flow mappings and lists, plain, quoted, literal and folded scalars with chomping, comments, CRLF.
Refused, with line and column: anchors, aliases, tags, complex keys, tabs as indentation, duplicate keys.
"""
from __future__ import annotations

import re

from slipstream.base.errors import SlipstreamError
from slipstream.base.frontmatter_write import render_frontmatter as render_frontmatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Value = Union[str, list["Value"], dict[str, "Value"]]

MAX_DEPTH = 32
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|"""  # quoted, or plain: no indicator first, no comment inside
                  r"""(?![-?:](?:\s|$))[^\s#"'\[\]{},&*!|>%@`](?:(?!\s#).)*?)\s*:(?=\s|$)""")
_BLOCK = re.compile(r"([|>])(?:([-+])?([1-9])?|([1-9])([-+])?)[ \t]*(?:\s#.*)?$")
_REFUSED = {"&": "an anchor", "*": "an alias", "!": "a tag", "%": "a directive", "@": "a reserved character",
            "`": "a reserved character"}
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
            " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}
_HEX = {"x": 2, "u": 4, "U": 8}


def split_frontmatter(text: str, path: str | None = None) -> tuple[str | None, str, int]:
    """(block or None, body, line of the block's first line). SlipstreamError when the block is never closed."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not re.match(r"---[ \t]*(\n|$)", text):
        return None, text, 1
    start = text.find("\n") + 1
    end = re.compile(r"^(---|\.\.\.)[ \t]*(\n|\Z)", re.M).search(text, start) if start else None
    if end is None:
        raise SlipstreamError("the frontmatter is never closed with ---", path, 1, 1)
    return text[start:end.start()], text[end.end():], 2


def parse_frontmatter(text: str, path: str | None = None) -> tuple[dict[str, Value], str]:
    """(mapping, body). A text without frontmatter gives ({}, text). SlipstreamError carries path, line and column."""
    block, body, first_line = split_frontmatter(text, path)
    if block is None:
        return {}, body
    value = _Reader(block, path, first_line).read()
    if isinstance(value, dict):
        return value, body
    if value == "":
        return {}, body
    raise SlipstreamError("the frontmatter is not a mapping of keys to values", path, first_line, 1)


class _Reader:
    def __init__(self, text: str, path: str | None, first_line: int):
        self.lines = text.split("\n")
        self.row = 0
        self.depth = 0
        self.path, self.first_line = path, first_line

    def fail(self, message: str, row: int | None = None, column: int = 0) -> SlipstreamError:
        row = self.row if row is None else row
        return SlipstreamError(message, self.path, self.first_line + row, column + 1)

    def read(self) -> Value:
        value = self.node(0)
        if self.next_content() is not None:
            raise self.fail("text that belongs to no key", column=self.indent())
        return value

    def next_content(self) -> int | None:
        """Indent of the next line with content, moving to it; None at the end."""
        while self.row < len(self.lines):
            stripped = self.lines[self.row].lstrip(" ")
            if stripped.startswith("\t") and stripped.strip():
                raise self.fail("a tab as indentation", column=self.indent())
            if stripped.strip() and not stripped.startswith("#"):
                return self.indent()
            self.row += 1
        return None

    def indent(self) -> int:
        line = self.lines[self.row] if self.row < len(self.lines) else ""
        return len(line) - len(line.lstrip(" "))

    def node(self, least: int) -> Value:
        """The value that starts on the next line with content, when that is indented by `least` or more."""
        indent = self.next_content()
        if indent is None or indent < least:
            return ""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail("nested too deeply", column=indent)
        rest = self.lines[self.row][indent:]
        if rest == "-" or rest.startswith(("- ", "-\t")):
            value: Value = self.sequence(indent)
        elif rest.startswith("? ") or rest == "?":
            raise self.fail("a complex key", column=indent)
        elif _KEY.match(rest):
            value = self.mapping(indent)
        else:
            value = self.inline(indent, indent - 1)
        self.depth -= 1
        return value

    def sequence(self, indent: int) -> list[Value]:
        items: list[Value] = []
        while self.next_content() == indent:
            line = self.lines[self.row]
            if not (line[indent:] == "-" or line[indent:].startswith(("- ", "-\t"))):
                break
            rest = line[indent + 1:].lstrip()
            if not rest or rest.startswith("#"):
                self.row += 1
                items.append(self.node(indent + 1))
                continue
            column = len(line) - len(rest)
            if rest.startswith("- ") or _KEY.match(rest):
                self.lines[self.row] = " " * column + rest  # what follows the dash is a block of its own
                items.append(self.node(indent + 1))
            else:
                items.append(self.inline(column, indent))
        return items

    def mapping(self, indent: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while self.next_content() == indent:
            line = self.lines[self.row]
            found = _KEY.match(line[indent:])
            if not found:
                raise self.fail("expected `key: value`", column=indent)
            key = self.key_text(found.group(1), indent)
            if key in values:
                raise self.fail(f"the key {key!r} stands here twice", column=indent)
            after = indent + found.end()
            rest = line[after:].lstrip()
            if rest and not rest.startswith("#"):
                values[key] = self.inline(len(line) - len(rest), indent)
                continue
            self.row += 1
            below = self.next_content()
            dash = below == indent and re.match(r"-(\s|$)", self.lines[self.row][indent:])
            values[key] = self.node(indent if dash else indent + 1)
        return values

    def key_text(self, raw: str, column: int) -> str:
        if raw[0] in "\"'":
            text, _, _ = self.quoted(self.row, self.lines[self.row].index(raw, column))
            return text
        return raw.rstrip()

    def inline(self, column: int, parent: int) -> Value:
        """A value that starts at `column` of this line; its later lines are indented more than `parent`."""
        head = self.lines[self.row][column]
        if head in _REFUSED:
            raise self.fail(f"{_REFUSED[head]} is not supported; quote the value", column=column)
        if head in "|>":
            return self.block_scalar(column, parent)
        if head in "\"'":
            text, row, after = self.quoted(self.row, column)
            self.finish(row, after)
            return text
        if head in "[{":
            value, row, after = self.flow(self.row, column, 0)
            self.finish(row, after)
            return value
        return self.plain(column, parent)

    def finish(self, row: int, column: int) -> None:
        """Nothing but a comment may follow on the line where a quoted or flow value ended."""
        rest = self.lines[row][column:]
        if rest.strip() and not re.match(r"\s+#", rest):
            raise self.fail("text after the end of the value", row, column)
        self.row = row + 1

    def plain(self, column: int, parent: int) -> str:
        text = _without_comment(self.lines[self.row][column:])
        ended = text != self.lines[self.row][column:].rstrip()
        self.row += 1
        blanks = 0
        while self.row < len(self.lines) and not ended:
            line = self.lines[self.row]
            if not line.strip():
                blanks += 1
                self.row += 1
                continue
            if self.indent() <= parent or line.lstrip().startswith("#"):
                break
            piece = _without_comment(line.strip())
            if _KEY.match(piece):
                raise self.fail("`key: value` inside a plain text; quote it or mend the indentation", column=self.indent())
            ended = piece != line.strip()
            text += "\n" * blanks + piece if blanks else " " + piece
            blanks = 0
            self.row += 1
        return text

    def block_scalar(self, column: int, parent: int) -> str:
        header = _BLOCK.match(self.lines[self.row][column:])
        if not header:
            raise self.fail("not a block scalar header", column=column)
        style = header.group(1)
        chomp = header.group(2) or header.group(5) or ""
        explicit = header.group(3) or header.group(4)
        self.row += 1
        start = self.row
        indent = max(parent, 0) + int(explicit) if explicit else 0
        lines: list[str] = []
        while self.row < len(self.lines):
            line = self.lines[self.row]
            if line.strip(" "):
                if not indent:
                    indent = self.indent()
                    if indent <= parent:
                        indent = 0
                        break
                if self.indent() < indent:
                    break
            lines.append(line[indent:] if indent else "")
            self.row += 1
        if not indent:
            self.row = start + len(lines)
        if lines and self.row == len(self.lines) and lines[-1] == "":
            lines.pop()  # the piece after the block's last line end
        text = "\n".join(lines) + "\n" if style == "|" else _fold(lines)
        body = text.rstrip("\n")
        if chomp == "+":
            return text if lines else ""
        return body if chomp == "-" or not body else body + "\n"

    def quoted(self, row: int, column: int) -> tuple[str, int, int]:
        """A quoted scalar -> (text, row and column after it). Line ends fold: one to a space, more to all but one."""
        quote = self.lines[row][column]
        out: list[str] = []
        start = (row, column)
        column += 1
        while True:
            line = self.lines[row]
            while column < len(line):
                char = line[column]
                if char == quote:
                    if quote == "'" and line[column + 1:column + 2] == "'":
                        out.append("'")
                        column += 2
                        continue
                    return "".join(out), row, column + 1
                if char == "\\" and quote == '"':
                    if column + 1 == len(line):
                        break
                    column = self.escape(row, column, out)
                    continue
                out.append(char)
                column += 1
            joined = quote == '"' and column < len(line)
            if not joined:
                while out and out[-1] in (" ", "\t"):
                    out.pop()
            row, blanks = row + 1, 0
            while row < len(self.lines) and not self.lines[row].strip():
                row, blanks = row + 1, blanks + 1
            if row >= len(self.lines):
                raise self.fail("a quote that is never closed", *start)
            out.append("\n" * blanks if blanks or joined else " ")
            column = len(self.lines[row]) - len(self.lines[row].lstrip())

    def escape(self, row: int, column: int, out: list[str]) -> int:
        code = self.lines[row][column + 1]
        if code in _HEX:
            digits = self.lines[row][column + 2:column + 2 + _HEX[code]]
            try:
                out.append(chr(int(digits, 16)))
            except (ValueError, OverflowError):
                raise self.fail("a broken \\ escape", row, column) from None
            return column + 2 + _HEX[code]
        if code not in _ESCAPES:
            raise self.fail(f"an unknown escape \\{code}", row, column)
        out.append(_ESCAPES[code])
        return column + 2

    def skip(self, row: int, column: int) -> tuple[int, int]:
        """Past blanks, line ends and comments inside a flow collection."""
        while row < len(self.lines):
            line = self.lines[row]
            while column < len(line) and line[column] in " \t":
                column += 1
            if column < len(line) and not (line[column] == "#" and (column == 0 or line[column - 1] in " \t")):
                return row, column
            row, column = row + 1, 0
        opening = re.search(r"[\[{]", self.lines[self.row])
        raise self.fail("a bracket that is never closed", column=opening.start() if opening else 0)

    def flow(self, row: int, column: int, depth: int) -> tuple[Value, int, int]:
        """A flow value -> (value, row and column after it)."""
        if depth > MAX_DEPTH:
            raise self.fail("nested too deeply", row, column)
        char = self.lines[row][column]
        if char in "\"'":
            return self.quoted(row, column)
        if char in _REFUSED:
            raise self.fail(f"{_REFUSED[char]} is not supported; quote the value", row, column)
        if char == "?" and self.lines[row][column + 1:column + 2] in ("", " ", "\t"):
            raise self.fail("a complex key", row, column)
        if char not in "[{":
            return self.flow_plain(row, column)
        close = "]" if char == "[" else "}"
        items: list[Value] = []
        values: dict[str, Value] = {}
        row, column = self.skip(row, column + 1)
        while self.lines[row][column] != close:
            at = row, column
            item, row, column = self.flow(row, column, depth + 1)
            row, column = self.skip(row, column)
            if self.lines[row][column] == ":":
                if not isinstance(item, str):
                    raise self.fail("a complex key", *at)
                row, column = self.skip(row, column + 1)
                value: Value = ""
                if self.lines[row][column] not in ",]}":
                    value, row, column = self.flow(row, column, depth + 1)
                    row, column = self.skip(row, column)
                if close == "}" and item in values:
                    raise self.fail(f"the key {item!r} stands here twice", *at)
                values[item] = value
                if close == "]":
                    items.append({item: value})
            elif close == "]":
                items.append(item)
            else:
                if not isinstance(item, str) or item in values:
                    raise self.fail("expected `key: value`", *at)
                values[item] = ""
            if self.lines[row][column] == ",":
                row, column = self.skip(row, column + 1)
            elif self.lines[row][column] != close:
                raise self.fail(f"expected , or {close}", row, column)
        return items if close == "]" else values, row, column + 1

    def flow_plain(self, row: int, column: int) -> tuple[str, int, int]:
        text = gap = ""
        while True:
            found = re.compile(r"(?:[^,\[\]{}:#\s]|:(?![\s,\[\]{}]|$)|(?<!\s)#|[ \t]+(?![\s#]|$|:(?:[\s,\[\]{}]|$)))*").match(
                self.lines[row], column)
            end = found.end() if found else column
            if end > column:
                text += gap + self.lines[row][column:end].strip()
            rest = self.lines[row][end:].lstrip()
            if (rest and rest[0] != "#") or row + 1 >= len(self.lines):
                if not text:
                    raise self.fail("expected a value", row, column)
                return text, row, end
            before = row + 1
            row, column = self.skip(before, 0)
            gap = "\n" * (row - before) or " "
            if self.lines[row][column] in ",[]{}:":
                return text, row, column


def _without_comment(text: str) -> str:
    found = re.search(r"(?:^|\s)#", text)
    return (text[:found.start()] if found else text).rstrip()


def _fold(lines: list[str]) -> str:
    """YAML's folding: a line end between two ordinary lines becomes a space; blank and more-indented lines keep theirs."""
    out = ""
    previous_plain = False
    pending = 0
    for line in lines:
        if not line:
            pending += 1
            continue
        plain = line[0] not in " \t"
        if out or pending:
            if plain and previous_plain:
                out += "\n" * pending if pending else " "
            else:
                out += "\n" * (pending + (1 if out else 0))
        out += line
        previous_plain, pending = plain, 0
    return out + "\n" * (pending + (1 if out else 0))
