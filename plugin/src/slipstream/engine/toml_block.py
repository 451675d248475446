"""One marked block of our own at the end of somebody's TOML file; the rest is only read, to know that it is TOML."""
from __future__ import annotations

import json
import re

from slipstream.base.errors import SlipstreamError

BEGIN = "# >>> slipstream: written by `slipstream setup`, removed by `slipstream setup --undo` >>>"
END = "# <<< slipstream <<<"
_KEY = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_DOTTED = r"%s(?:[ \t]*\.[ \t]*%s)*" % (_KEY, _KEY)
_HEADER = re.compile(r"^[ \t]*(\[\[?)[ \t]*(%s)[ \t]*(\]\]?)[ \t]*(?:#.*)?$" % _DOTTED)
_ASSIGN = re.compile(r"^[ \t]*(%s)[ \t]*=[ \t]*(?=\S)" % _DOTTED)
_VALUE = re.compile(r"""[ \t]*(?:[+-]?[0-9A-Za-z_.:+-]+(?:[ ]\d\d:\d\d:\d\d\S*)?)""")
_BLOCK = re.compile(r"(?:\r?\n)?%s\r?\n.*?%s\r?\n?" % (re.escape(BEGIN), re.escape(END)), re.S)


def _skip_string(text: str, at: int) -> int:
    """The offset after the string that starts at `at`, or -1 when it is never closed."""
    quote = text[at]
    if text.startswith(quote * 3, at):
        end = at + 3
        while True:
            end = text.find(quote * 3, end)
            if end < 0:
                return -1
            slashes = len(text[:end]) - len(text[:end].rstrip("\\"))
            if quote == "'" or slashes % 2 == 0:
                while text.startswith(quote, end + 3):
                    end += 1
                return end + 3
            end += 1
    match = re.compile(r'"(?:[^"\\\n]|\\.)*"' if quote == '"' else r"'[^'\n]*'").match(text, at)
    return match.end() if match else -1


def _skip_value(text: str, at: int) -> int:
    """The offset after the value at `at`, nested lists and inline tables included, or -1 when it is not one."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            at = _skip_string(text, at)
            if at < 0:
                return -1
        elif char in "[{":
            depth += 1
            at += 1
        elif char in "]}":
            depth -= 1
            at += 1
            if depth < 0:
                return -1
        elif char == "#" and depth:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif depth and char in ",= \t\r\n.":
            at += 1
        else:
            match = _VALUE.match(text, at)
            if not match or match.end() == at:
                return -1
            at = match.end()
        if depth == 0:
            return at
    return -1


def scan_toml(text: str, path: str = "") -> list[str]:
    """Full dotted names of all tables and keys, in order; SlipstreamError with the line where the text is not TOML."""
    _parse_where_possible(text, path)
    names: list[str] = []
    table = ""
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line = text[at:line_end].rstrip("\r")
        number = text.count("\n", 0, at) + 1
        if not line.strip() or line.lstrip().startswith("#"):
            at = line_end + 1
            continue
        header = _HEADER.match(line)
        if header:
            if len(header.group(1)) != len(header.group(3)):
                raise SlipstreamError("a table header with uneven brackets", path or None, number, 1)
            table = _plain(header.group(2))
            names.append(table)
            at = line_end + 1
            continue
        assign = _ASSIGN.match(line)
        if not assign:
            raise SlipstreamError("neither a table nor `key = value`", path or None, number, 1)
        names.append((table + "." if table else "") + _plain(assign.group(1)))
        at = _skip_value(text, at + assign.end())
        if at < 0:
            raise SlipstreamError("the value of `%s` is not closed or not TOML" % assign.group(1), path or None, number, 1)
        rest_end = text.find("\n", at)
        rest_end = len(text) if rest_end < 0 else rest_end
        rest = text[at:rest_end].strip()
        if rest and not rest.startswith("#"):
            raise SlipstreamError("text after the value of `%s`" % assign.group(1), path or None, number, 1)
        at = rest_end + 1
    return names


def _parse_where_possible(text: str, path: str) -> None:
    """The whole grammar, duplicate keys included, on Pythons that bring a parser (3.11); the scan alone on older ones."""
    import importlib
    try:
        parser = importlib.import_module("tomllib")
    except ImportError:
        return
    try:
        parser.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except ValueError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = map(int, found.groups()) if found else (1, 1)
        raise SlipstreamError("not TOML: %s" % str(error).partition(" (at ")[0], path or None, line, column) from None
    except RecursionError:
        raise SlipstreamError("not TOML: nested too deeply", path or None) from None


def _plain(dotted: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in re.findall(_KEY, dotted))


def render_table(name: str, values: dict[str, object]) -> str:
    """A TOML table of text and lists of text; JSON's strings are TOML's, but for the escape of DEL."""
    lines = ["[%s]" % name]
    for key, value in values.items():
        lines.append("%s = %s" % (key, json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")))
    return "\n".join(lines)


def set_block(text: str, table: str, values: dict[str, object], path: str = "") -> str:
    """The text with our block at its end, or replaced where it stands. SlipstreamError when `table` is there by hand."""
    end = "\r\n" if "\r\n" in text else "\n"
    block = "\n".join((BEGIN, render_table(table, values), END, "")).replace("\n", end)
    found = _BLOCK.search(text)
    outside = text[:found.start()] + text[found.end():] if found else text
    parent = table.rpartition(".")[0]
    for name in scan_toml(outside, path):
        if name == table or name.startswith(table + "."):
            raise SlipstreamError("[%s] is there already, not written by us; left as it is" % table, path or None)
    if re.search(r"^[ \t]*%s[ \t]*=" % re.escape(parent), outside, re.M):
        raise SlipstreamError("`%s` is an inline table, which nothing can be added to" % parent, path or None)
    scan_toml(text, path)
    if found:
        lead = found.group()[:len(found.group()) - len(found.group().lstrip("\r\n"))]
        return text[:found.start()] + lead + block + text[found.end():]
    gap = "" if not text.strip("\ufeff") else end
    return text + gap + block


def remove_block(text: str) -> str:
    """The text without our block: the inverse of `set_block`."""
    return _BLOCK.sub("", text, count=1)
