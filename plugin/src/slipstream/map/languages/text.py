"""Text of a source file: decoding that keeps lines, line numbers of offsets, summaries out of comments."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of

DOC_LIMIT_CHARS = 160
SIGNATURE_LIMIT_CHARS = 240
DOC_SOURCE_LIMIT_CHARS = 6000

# Beginnings, in lower case, of lines of a header comment that say nothing about the file: of a licence, whose paragraph is
# passed over with them, and of notes to tools.
_LICENCE = (
    "copyright", "(c)", "©", "spdx", "licen", "@licen", "@copyright", "@preserve", "all rights reserved",
    "permission is hereby", "redistribution", "this source code is", "this code is", "this file is", "this program is",
    "this software is",
    "this file was", "this library is", "use of this source", "you may not use", "you may obtain", "you may opt",
    "unless required",
    "see the license", "the software is provided", "found in the license")
_PRAGMAS = (
    "vi:", "vim:", "-*-", "coding:", "coding=", "eslint", "tslint", "jshint", "jslint", "prettier", "stylelint", "biome-",
    "istanbul", "c8 ", "v8 ", "@ts-", "@flow", "@jsx", "@format", "@jest", "@vitest", "@author", "@since", "@version",
    "@package", "noqa", "pylint", "flake8", "mypy", "ruff", "type:", "fmt:", "isort", "pyright", "pragma", "nolint", "go:",
    "+build", "rubocop", "frozen_string_literal", "phpcs", "@phpstan", "phpstan", "@psalm", "swiftlint", "clang-format",
    "clang-tidy", "cspell", "spell-check", "global ", "globals ", "sourcemappingurl", "<reference", "use strict",
    "noinspection", "region", "#region", "http://", "https://", "mode:", "encoding:", "shellcheck", "syntax=")
_ONLY_MARKS = re.compile(r"[\W_]*\Z")
_TAG = pattern_of(r"</?[a-zA-Z][^<>]{0,200}>")
_SENTENCE = re.compile(r"(.+?[.!?。！？])(?=\s|\Z)")
_JSDOC_TAG = pattern_of(r"@(?:file|fileoverview|overview|description|summary|brief|desc)\b:?\s*|[\\@](?:brief|file|short)\b\s*")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|incl|no|fig)\.\Z", re.I)


def decode(data: bytes) -> str:
    """Text with one `\\n` per line of the file: UTF-8, UTF-16 by its mark, else Latin-1; never fails.

    A lone carriage return ends a line only in a file that has no line feed at all, so numbers agree with git and editors.
    """
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    elif data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _line_feeds(data.decode("utf-16", "replace"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return _line_feeds(text)


def _line_feeds(text: str) -> str:
    if "\r" in text and "\n" not in text:
        return text.replace("\r", "\n")
    return text


class Lines:
    """Line numbers of offsets, cheap when asked in rising order."""

    __slots__ = ("_count", "_line", "_pos")

    def __init__(self, text: str) -> None:
        self._count = text.count
        self._pos = 0
        self._line = 1

    def shift(self, lines: int) -> None:
        """Count from another first line: a text with a line feed put before it begins at -1."""
        self._line += lines

    def at(self, pos: int) -> int:
        """The 1-based line that holds the character at `pos`."""
        if pos >= self._pos:
            self._line += self._count("\n", self._pos, pos)
        else:
            self._line -= self._count("\n", pos, self._pos)
        self._pos = pos
        return self._line


def one_line(text: str, limit: int = SIGNATURE_LIMIT_CHARS) -> str:
    """Text on one line, blanks collapsed, cut at `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return line


def signature(text: str) -> str:
    """A declaration's head on one line, without blanks inside its brackets' edges."""
    line = one_line(text)
    if "( " in line or " )" in line or ",)" in line:
        line = line.replace("( ", "(").replace(" )", ")").replace(",)", ")")
    return line


def _is_drawing(line: str) -> bool:
    """Whether a line is more marks than letters (banners, letters made of lines)."""
    letters = sum(map(str.isalnum, line))
    return letters * 5 < (len(line) - line.count(" ")) * 3


def summary(lines: list[str]) -> str:
    """The first real sentence of a comment given as lines without their comment marks; '' when there is none."""
    words: list[str] = []
    licence = False
    for raw in lines:
        line = raw.strip()
        if line.startswith("<"):
            line = _TAG.sub("", line).strip()
        if line.startswith(("@", "\\")):
            tag = _JSDOC_TAG.match(line)
            if tag is None:
                if words:
                    break
                continue
            line = line[tag.end():]
        if not line or _ONLY_MARKS.match(line):
            if words:
                break
            licence = False
            continue
        low = line[:40].lower().lstrip("#*!/ \t")
        if low.startswith(_PRAGMAS):
            if words:
                break
            continue
        if low.startswith(_LICENCE) or (not words and "icense" in line):
            if words:
                break
            licence = True
            continue
        if not words and (licence or _is_drawing(line)):
            continue
        if not words:
            line = line.lstrip("#*=-/!> \t") if line[0] in "#*=-/!>" else line
            if not line:
                continue
        elif line.startswith((":param", ":return", "Args:", "Parameters", "Returns", "```", ">>>", "- ", "* ")):
            break
        words.append(line)
        if line[-1] in ".!?。！？" or len(words) > 6:
            break
    text = " ".join(words)
    start = 0
    while True:
        match = _SENTENCE.match(text, start) if start == 0 else _SENTENCE.search(text, start)
        if match is None:
            break
        if _ABBREVIATED.search(text[: match.end()]):
            start = match.end()
            continue
        text = text[: match.end()]
        break
    if len(text) > DOC_LIMIT_CHARS:
        text = text[: DOC_LIMIT_CHARS - 1].rsplit(" ", 1)[0] + "…"
    return text


_BLOCK_EDGE = re.compile(r"^[ \t]*(?:/\*+!?<?|\*+/?|///?/?!?<?|#+!?|--+|\{\*|;+)[ \t]?", re.M)


def comment_summary(comment: str) -> str:
    """The first sentence of one or more comments given with their marks (`//`, `/* */`, `#`, `--`)."""
    if len(comment) > DOC_SOURCE_LIMIT_CHARS:
        comment = comment[:DOC_SOURCE_LIMIT_CHARS]
    comment = comment.rstrip()
    if "arrant" in comment:                     # a whole licence: only what stands before it can be words about the file
        found = comment.lower().find("copyright")
        comment = comment[:found] if found >= 0 else comment
    if comment.endswith("*/"):
        comment = comment[:-2]
    return summary(_BLOCK_EDGE.sub("", comment).replace("*/", "\n").split("\n"))


def unescaped(text: str) -> str:
    """What a string of JSON with these contents says; the text itself when it is none."""
    if "\\" not in text:
        return text
    import json
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def lines_of(text: str) -> list[str]:
    """The lines without what ends them."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines]


def hash_header(text: str) -> str:
    """The summary of the `#` comments a file begins with."""
    lines: list[str] = []
    for line in text[:4000].split("\n"):
        stripped = line.strip()
        if stripped.startswith("#!"):
            continue
        if stripped.startswith("#"):
            lines.append(stripped.lstrip("#"))
        elif stripped:
            break
        else:
            lines.append("")
    return summary(lines)
