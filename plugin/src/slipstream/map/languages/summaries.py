"""The first real sentence of a comment: what summaries of files and definitions are made of."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of

DOC_LIMIT_CHARS = 160
DOC_SOURCE_LIMIT_CHARS = 6000

# Beginnings, in lower case, of lines of a header comment that say nothing about the file: of a licence, whose paragraph is
# passed over with them, and of notes to tools.
_LICENCE = tuple((
    "copyright|(c)|©|spdx|licen|@licen|@copyright|@preserve|all rights reserved|permission is hereby|redistribution|"
    "this source code is|this code is|this file is|this program is|this software is|this file was|this library is|"
    "use of this source|you may not use|you may obtain|you may opt|unless required|see the license|"
    "the software is provided|found in the license").split("|"))
_PRAGMAS = tuple((
    "vi:|vim:|-*-|coding:|coding=|eslint|tslint|jshint|jslint|prettier|stylelint|biome-|istanbul|c8 |v8 |@ts-|@flow|@jsx|"
    "@format|@jest|@vitest|@author|@since|@version|@package|noqa|pylint|flake8|mypy|ruff|type:|fmt:|isort|pyright|pragma|"
    "nolint|go:|+build|rubocop|frozen_string_literal|phpcs|@phpstan|phpstan|@psalm|swiftlint|clang-format|clang-tidy|"
    "cspell|spell-check|global |globals |sourcemappingurl|<reference|use strict|noinspection|region|#region|http://|"
    "https://|mode:|encoding:|shellcheck|syntax=").split("|"))
_ONLY_MARKS = re.compile(r"[\W_]*\Z")
_TAG = pattern_of(r"</?[a-zA-Z][^<>]{0,200}>")
_MARKED = re.compile(r".+?[^\w\s](?!\S)")
_ENDS = ".!?。！？"
_JSDOC_TAG = pattern_of(r"@(?:file|fileoverview|overview|description|summary|brief|desc)\b:?\s*|[\\@](?:brief|file|short)\b\s*")
_SHORT = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "resp.", "approx.", "incl.", "no.", "fig.")
_ABBREVIATED = pattern_of(r"\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|incl|no|fig)\.\Z", re.I)


def _is_drawing(line: str) -> bool:
    """Whether a line is more marks than letters (banners, letters made of lines)."""
    letters = sum(map(str.isalnum, line))
    return letters * 5 < (len(line) - line.count(" ")) * 3


def _ends_sentence(text: str) -> bool:
    return text[-1] in _ENDS and not (text[-8:].lower().endswith(_SHORT) and _ABBREVIATED.search(text))


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
        if line[-1] in _ENDS or len(words) > 6:
            break
    text = " ".join(words)
    match = _MARKED.match(text)
    while match and not _ends_sentence(text[:match.end()]):
        match = _MARKED.match(text, match.end())
    if match:
        text = text[:match.end()]
    if len(text) > DOC_LIMIT_CHARS:
        text = text[: DOC_LIMIT_CHARS - 1].rsplit(" ", 1)[0] + "…"
    return text


_BLOCK_EDGE = pattern_of(r"^[ \t]*(?:/\*+!?<?|\*+/?|///?/?!?<?|#+!?|--+|\{\*|;+)[ \t]?", re.M)


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
