"""Writing frontmatter so that every YAML reader loads the same texts: quoted where a reader could see something else."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Union

Writable = Union[str, Sequence["Writable"], Mapping[str, "Writable"]]

LINE_WIDTH = 80
_PLAIN_FIRST = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]")
_SPECIAL_WORD = re.compile(r"(?:~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?\.(?:inf|nan))$", re.I)
_NUMBER_LIKE = re.compile(r"[-+.]*[0-9][0-9a-fA-FxXoO_,.:+\-TtZz ]*$")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def render_frontmatter(values: Mapping[str, Writable]) -> str:
    """`---`, the mapping, `---` and a final line end. Values are texts, lists or mappings of them, nested as needed."""
    return "---\n" + "".join(_entry(key, value, 0) for key, value in values.items()) + "---\n"


def _entry(key: str, value: Writable, indent: int) -> str:
    return " " * indent + _scalar(key, indent, one_line=True) + ":" + _after(value, indent)


def _after(value: Writable, indent: int) -> str:
    """What follows `key:` or `-`, line end included."""
    if isinstance(value, str):
        return f" {_scalar(value, indent)}\n"
    if isinstance(value, Mapping):
        return "\n" + "".join(_entry(k, v, indent + 2) for k, v in value.items()) if value else " {}\n"
    return "\n" + "".join(_item(item, indent + 2) for item in value) if value else " []\n"


def _item(value: Writable, indent: int) -> str:
    if isinstance(value, Mapping) and value:
        text = "".join(_entry(key, item, indent + 2) for key, item in value.items())
        return " " * indent + "- " + text[indent + 2:]
    return " " * indent + "-" + _after(value, indent)


def _scalar(text: str, indent: int, one_line: bool = False) -> str:
    if _UNPRINTABLE.search(text) or (one_line and "\n" in text):
        return _double_quoted(text)
    width = max(min(LINE_WIDTH, 40), LINE_WIDTH - indent - 2)
    if "\n" in text or (len(text) > width and not one_line):
        return _block(text, indent + 2, width)
    if is_plain(text):
        return text
    return "'" + text.replace("'", "''") + "'" if "\t" not in text else _double_quoted(text)


def is_plain(text: str) -> bool:
    """May the text stand unquoted: no YAML 1.1 or 1.2 reader takes it for anything but itself."""
    return bool(text and _PLAIN_FIRST.match(text) and text == text.strip() and ": " not in text and " #" not in text
                and not text.endswith(":") and "\n" not in text and "\t" not in text
                and not _SPECIAL_WORD.match(text) and not _NUMBER_LIKE.match(text) and text not in ("---", "..."))


def _block(text: str, indent: int, width: int) -> str:
    body = text.rstrip("\n")
    lines = body.split("\n")
    if not body or any(line != line.strip() and (not line.strip() or line is lines[0]) for line in lines) or not lines[0]:
        return _double_quoted(text)  # leading blanks would need an indentation indicator
    trailing = len(text) - len(body)
    if trailing > 1:
        return _double_quoted(text)
    chomp = "" if trailing else "-"
    margin = " " * indent
    if len(lines) == 1:
        if body != body.strip() or "\t" in body or (not trailing and "\n" in text):
            return _double_quoted(text)
        return f">{chomp}\n" + "\n".join(margin + piece for piece in _wrap(body, width))
    return f"|{chomp}\n" + "\n".join(margin + line if line else "" for line in lines)


def _wrap(line: str, width: int) -> list[str]:
    """Lines of at most `width` characters, broken at single blanks only, since a folded line end reads as one blank."""
    pieces: list[str] = []
    start = end = 0
    for found in re.finditer(r"(?<=\S) (?=\S)", line):
        if found.start() - start > width and end > start:
            pieces.append(line[start:end])
            start = end + 1
        end = found.start()
    if len(line) - start > width and end > start:
        pieces.append(line[start:end])
        start = end + 1
    return [*pieces, line[start:]]


def _double_quoted(text: str) -> str:
    def escape(found: re.Match[str]) -> str:
        code = ord(found.group())
        short = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 34: '"', 92: "\\"}.get(code)
        return "\\" + (short or (f"x{code:02X}" if code < 256 else f"u{code:04X}"))
    return '"' + re.sub('["\\\\\n\t]|' + _UNPRINTABLE.pattern, escape, text) + '"'
