"""JSON as people keep it in settings files: comments, trailing commas, BOM; parsed with positions and edited in place.

An edit only inserts, replaces or removes the text of one member; every other byte stays, so no comment is ever lost.
"""
from __future__ import annotations

import json
import re
from typing import Any

from slipstream.base.errors import SlipstreamError

MAX_DEPTH = 200
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_LITERALS = {"true": True, "false": False, "null": None}


class Node:
    """A value in the text: `text[start:end]` is it. Members of an object are (key, start of the key, value)."""

    __slots__ = ("end", "items", "kind", "members", "start", "value")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = start
        self.value: Any = None
        self.members: list[tuple[str, int, Node]] = []
        self.items: list[Node] = []

    def member(self, key: str) -> Node | None:
        """The value of `key`; the last one when the key stands there twice, as JSON readers take it."""
        return next((value for name, _start, value in reversed(self.members) if name == key), None)

    def at(self, *path: str | int) -> Node | None:
        """The node below this one by keys and list positions."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                node = node.items[step] if step < len(node.items) else None
            else:
                node = node.member(step)
        return node

    def to_value(self) -> Any:
        if self.kind == "object":
            return {key: node.to_value() for key, _start, node in self.members}
        if self.kind == "array":
            return [node.to_value() for node in self.items]
        return self.value


def position(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class _Parser:
    def __init__(self, text: str, path: str, strict: bool) -> None:
        self.text, self.path, self.strict = text, path, strict
        self.at = 1 if text.startswith("\ufeff") else 0
        self.depth = 0

    def fail(self, message: str, at: int | None = None) -> SlipstreamError:
        line, column = position(self.text, self.at if at is None else at)
        return SlipstreamError(message, self.path or None, line, column)

    def skip(self) -> None:
        """Past blanks and, unless strict, comments."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\r\n":
                self.at += 1
            elif self.strict or self.text[self.at] != "/":
                return
            elif self.text.startswith("//", self.at):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", self.at):
                end = self.text.find("*/", self.at + 2)
                if end < 0:
                    raise self.fail("a comment that is never closed")
                self.at = end + 2
            else:
                return

    def value(self) -> Node:
        self.skip()
        if self.at >= len(self.text):
            raise self.fail("the text ends where a value should be")
        char = self.text[self.at]
        if char in "{[":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise self.fail("nested too deeply")
            node = self.group("object" if char == "{" else "array", "}" if char == "{" else "]")
            self.depth -= 1
            return node
        node = Node("string" if char == '"' else "number", self.at)
        match = (_STRING if char == '"' else _NUMBER).match(self.text, self.at)
        if match:
            node.value = json.loads(match.group())
            self.at = match.end()
        else:
            word = re.compile(r"[A-Za-z]*").match(self.text, self.at)
            name = word.group() if word else ""
            if name not in _LITERALS:
                raise self.fail("not a JSON value")
            node.kind, node.value = "literal", _LITERALS[name]
            self.at += len(name)
        node.end = self.at
        return node

    def group(self, kind: str, closing: str) -> Node:
        node = Node(kind, self.at)
        self.at += 1
        self.skip()
        comma_at = -1
        while not self.text.startswith(closing, self.at):
            if (node.members or node.items) and comma_at < 0:
                raise self.fail("`,` or `%s` expected" % closing)
            if kind == "object":
                start = self.at
                match = _STRING.match(self.text, start)
                if not match:
                    raise self.fail("a key in double quotes expected" if start < len(self.text) else "`}` is missing")
                self.at = match.end()
                self.skip()
                if not self.text.startswith(":", self.at):
                    raise self.fail("`:` expected")
                self.at += 1
                node.members.append((json.loads(match.group()), start, self.value()))
            else:
                node.items.append(self.value())
            self.skip()
            comma_at = -1
            if self.text.startswith(",", self.at):
                comma_at = self.at
                self.at += 1
                self.skip()
        if comma_at >= 0 and self.strict:
            raise self.fail("a comma before `%s`" % closing, comma_at)
        self.at += 1
        node.end = self.at
        return node


def parse_jsonc(text: str, path: str = "", strict: bool = False) -> Node:
    """The value of the whole text; SlipstreamError with line and column. `strict` allows no comments or trailing commas."""
    parser = _Parser(text, path, strict)
    node = parser.value()
    parser.skip()
    if parser.at < len(text):
        raise parser.fail("text after the value")
    return node


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, offset: int) -> str:
    """The blanks the line of `offset` begins with."""
    start = text.rfind("\n", 0, offset) + 1
    match = re.compile(r"[ \t]*").match(text, start)
    return match.group() if match else ""


def _indent_unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    if not match:
        return "  "
    return "\t" if match.group(1).startswith("\t") else match.group(1)[:8]


def _dump(value: Any, text: str, indent: str, one_line: bool) -> str:
    if one_line:
        return json.dumps(value, ensure_ascii=False)
    unit = _indent_unit(text)
    dumped = json.dumps(value, ensure_ascii=False, indent=unit if "\t" in unit else len(unit))
    return dumped.replace("\n", _line_end(text) + indent)


def set_member(text: str, path: list[str], value: Any, source: str = "") -> str:
    """The text with the member at `path` set, missing objects on the way made; unchanged when it has that value.

    SlipstreamError when the text is not JSON, or something on the way is not an object.
    """
    if not text.strip("\ufeff \t\r\n"):
        whole: Any = value
        for key in reversed(path):
            whole = {key: whole}
        dumped = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
        return text[:1].strip(" \t\r\n") + dumped.replace("\n", _line_end(text))
    node = parse_jsonc(text, source)
    for depth, key in enumerate(path):
        if node.kind != "object":
            line, column = position(text, node.start)
            raise SlipstreamError("`%s` should be an object" % ".".join(path[:depth]) if depth else "should be an object",
                                  source or None, line, column)
        found = node.member(key)
        if found is None:
            for name in reversed(path[depth + 1:]):
                value = {name: value}
            return _insert(text, node, key, value)
        node = found
    if node.to_value() == value:
        return text
    one_line = "\n" not in text[node.start:node.end] and "\n" not in text
    return text[:node.start] + _dump(value, text, _indent_at(text, node.start), one_line) + text[node.end:]


def _insert(text: str, node: Node, key: str, value: Any) -> str:
    """The object `node` with one more member, after the last one, in the manner of the file."""
    one_line = "\n" not in text[node.start:node.end] and bool(node.members)
    if not node.members:
        indent = _indent_at(text, node.start) + _indent_unit(text)
        entry = "%s: %s" % (json.dumps(key, ensure_ascii=False), _dump(value, text, indent, False))
        inner = text[node.start + 1:node.end - 1]
        if not inner.strip():
            end = _line_end(text)
            return text[:node.start + 1] + end + indent + entry + end + _indent_at(text, node.start) + text[node.end - 1:]
        at = node.start + 1  # comments inside: our entry goes before them
        return text[:at] + _line_end(text) + indent + entry + text[at:]
    _name, key_start, last = node.members[-1]
    indent = _indent_at(text, key_start) if not one_line else ""
    entry = "%s: %s" % (json.dumps(key, ensure_ascii=False), _dump(value, text, indent, one_line))
    comma = _comma_after(text, last.end)
    if one_line and comma < 0:
        return text[:last.end] + ", " + entry + text[last.end:]
    if one_line:
        return text[:comma + 1] + " " + entry + "," + text[comma + 1:]
    after = _rest_of_line(text, last.end if comma < 0 else comma + 1, node.end - 1)
    if comma < 0:
        return text[:last.end] + "," + text[last.end:after] + _line_end(text) + indent + entry + text[after:]
    return text[:after] + _line_end(text) + indent + entry + "," + text[after:]


def _comma_after(text: str, offset: int) -> int:
    """Position of the comma after a value, comments passed over, or -1."""
    parser = _Parser(text, "", False)
    parser.at = offset
    parser.skip()
    return parser.at if text.startswith(",", parser.at) else -1


def _rest_of_line(text: str, offset: int, limit: int) -> int:
    """The end of a comment that stands after `offset` on its line, so that it stays with what it is about."""
    match = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)").match(text, offset)
    return match.end() if match and match.end() <= limit else offset


def remove_member(text: str, path: list[str], source: str = "") -> str:
    """The text without the member at `path`, the inverse of `set_member`; unchanged when it is not there."""
    node = parse_jsonc(text, source)
    for key in path[:-1]:
        found = node.member(key)
        if found is None or found.kind != "object":
            return text
        node = found
    index = next((i for i in range(len(node.members) - 1, -1, -1) if node.members[i][0] == path[-1]), -1)
    if index < 0:
        return text
    _name, start, value = node.members[index]
    comma = _comma_after(text, value.end)
    line_start = text.rfind("\n", 0, start)
    alone = line_start >= node.start and not text[line_start + 1:start].strip()
    begin = start
    if alone:
        begin = line_start - 1 if text[line_start - 1] == "\r" else line_start
    else:
        while begin > node.start + 1 and text[begin - 1] in " \t":
            begin -= 1
    end = comma + 1 if comma >= 0 else value.end
    if comma < 0 and index > 0:
        before = _comma_after(text, node.members[index - 1][2].end)
        return text[:before] + text[before + 1:begin] + text[end:]
    if len(node.members) == 1 and not (text[node.start + 1:begin] + text[end:node.end - 1]).strip():
        return text[:node.start + 1] + text[node.end - 1:]
    return text[:begin] + text[end:]
