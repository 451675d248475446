"""Outlines of CSS, SCSS and Less in one pass: selectors and at-rules that no other selector holds, and custom properties."""
from __future__ import annotations

import re

from slipstream.map.languages.lexer import quoted, tokens
from slipstream.map.languages.summaries import comment_summary
from slipstream.map.languages.text import Lines
from slipstream.map.model import FileScan, OutlineEntry

MAX_LEVEL = 20
HEAD_LIMIT_CHARS = 300
HEADER_LIMIT_CHARS = 6000
# Blocks whose rules stand as if nothing were around them, and those whose variables are nobody else's.
_GROUPS = frozenset(("media", "supports", "layer", "container", "scope", "starting-style", "document", "-moz-document",
                     "include", "if", "else", "each", "for", "while", "at-root", "tailwind", "variants", "screen"))
_LOCAL = frozenset(("mixin", "function"))
_PAGE = frozenset(("page", "media", "supports", "import", "charset", "namespace", "layer", "container", "plugin"))

_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*){0,99999}(?:\*/)?"
_HIDDEN = (r"|" + quoted('"') + "|" + quoted("'") + r"|[uU][rR][lL]\([^()\n\"']{0,100000}\)"
           r"|[#@]\{[^{}]{0,2000}(?:\{[^{}]{0,500}\}[^{}]{0,500}){0,20}\}|\\.")
# A whole block without strings, comments or blocks in it; the start and end of another one; what ends a statement; brackets.
_TOKEN = re.compile(rf"({_COMMENT}|//(?<!:\/\/)[^\n]*)|(\{{[^{{}}\"'/\\]{{0,20000}}\}})|(\{{)|(\}})|(;)|(\()|(\))"
                    rf"{_HIDDEN}", re.S)
_VARIABLE = re.compile(r"(--(?:[\w-]|#\{[^{}\n]{0,200}\}|@\{[\w-]{0,200}\}){1,300}|\$[\w-]+)\s*:")
_LESS = re.compile(r"@([\w-]+)\s*:")
_AT = re.compile(r"@(-?[\w-]+)")
_STATEMENT = re.compile(r"[^;{}]+")
_DECLARES = re.compile(r"[{;]\s*(?:--|[$@])")
_QUOTED = re.compile(r"[\"']([^\"'\n]{1,1000})[\"']|url\(\s*([^)'\"\s]{1,1000})")
_COMMENTS = re.compile(_COMMENT + r"|//(?<!:\/\/)[^\n]*", re.S)
_FIRST = re.compile(rf"(?:\s|{_COMMENT}|//[^\n]*)*", re.S)
_BLANKS = re.compile(r"\s*")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline`, imports and the purpose."""
    header = _FIRST.match(text[:HEADER_LIMIT_CHARS])
    for block in (header.group() if header else "").replace("*/", "*/\n\n").split("\n\n"):
        out.purpose = out.purpose or comment_summary(block)
    sheet = _Sheet(text, path.endswith(".less"))
    if not sheet.read():
        broken, sheet = sheet, _Sheet(text, sheet.less)
        sheet.recover = True
        sheet.read()
        if len(sheet.outline) <= len(broken.outline):
            sheet = broken
    out.outline = sheet.outline
    out.imports = sheet.imports


class _Sheet:
    def __init__(self, text: str, less: bool) -> None:
        self.text = text
        self.less = less
        self.recover = False        # a block was never closed: one at the margin ends what stands open
        self.lines = Lines(text)
        self.outline: list[OutlineEntry] = []
        self.imports: list[tuple[str, str, tuple[str, ...]]] = []
        # Open blocks: (its entry, whether its rules are entries, whether its variables are local).
        self.open: list[tuple[OutlineEntry | None, bool, bool]] = []

    def read(self) -> bool:
        """Whether every block is closed."""
        text = self.text
        at = brackets = 0
        for token in tokens(_TOKEN, text):
            kind = token.lastindex
            if kind is None:
                continue
            start, end = token.span()
            if kind == 1:
                blank = _BLANKS.match(text, at)
                if blank is not None and blank.end() >= start:
                    at = end
            elif kind == 6:
                brackets += 1
            elif kind == 7:
                brackets = max(0, brackets - 1)
            elif kind == 5:
                if not brackets:
                    self._statement(at, end)
                    at = end
            elif kind == 4:
                self._statement(at, start)
                self._close(start)
                at, brackets = end, 0
            else:
                at = self._begin(at, start)
                brackets = 0
                if kind == 2:
                    if _DECLARES.search(text, start, end):
                        self._body(start + 1, end - 1)
                    self._close(end - 1)
                    at = end
                else:
                    at = end
        closed = not self.open
        while self.open:
            self._close(len(text.rstrip()) - 1)
        return closed

    def _begin(self, at: int, brace: int) -> int:
        """Open the block whose head begins at `at`; the offset of that head."""
        text = self.text
        blank = _BLANKS.match(text, at)
        at = blank.end() if blank else at
        if self.recover and (at == 0 or text[at - 1] == "\n"):
            while self.open:
                self._close(at - 1)
        _, group, local = self.open[-1] if self.open else (None, True, False)
        head = text[at:min(brace, at + HEAD_LIMIT_CHARS)]
        rule = _AT.match(head)
        variable = _VARIABLE.match(head)
        entry = None
        name = rule.group(1).lower() if rule is not None else ""
        less = _LESS.match(head) if self.less else None
        if less is not None and less.group(1) not in _PAGE:
            entry = self._entry("@" + less.group(1), "property", at)
        elif variable is not None:
            if not (local and head[0] == "$"):
                entry = self._entry(variable.group(1), "property", at)
        elif group:
            if "/" in head:
                head = _COMMENTS.sub(" ", head)
            entry = self._entry(" ".join(head.split()), name or "rule", at) if head.strip() else None
        self.open.append((entry, group and name in _GROUPS, local or name in _LOCAL))
        return at

    def _close(self, brace: int) -> None:
        if self.open:
            entry = self.open.pop()[0]
            if entry is not None:
                entry.end = max(entry.line, self.lines.at(max(0, brace)))

    def _body(self, at: int, stop: int) -> None:
        for found in _STATEMENT.finditer(self.text, at, stop):
            self._statement(*found.span())

    def _statement(self, at: int, end: int) -> None:
        """A declaration or an at-rule without a block."""
        text = self.text
        blank = _BLANKS.match(text, at, end)
        at = blank.end() if blank else at
        first = text[at:at + 1]
        if first == "@":
            rule = _AT.match(text, at)
            less = _LESS.match(text, at) if self.less else None
            if less is not None and less.group(1) not in _PAGE:
                self._property("@" + less.group(1), at, end)
            elif rule is not None and rule.group(1) in ("import", "use", "forward"):
                for found in _QUOTED.finditer(text, rule.end(), end):
                    self.imports.append((found.group(1) or found.group(2), "import", ()))
                    if rule.group(1) != "import":       # what follows is what it is loaded with
                        break
        elif first == "$" or (first == "-" and text.startswith("--", at)):
            variable = _VARIABLE.match(text, at, end)
            if variable is not None:
                self._property(variable.group(1), at, end)

    def _property(self, name: str, at: int, end: int) -> None:
        if name[0] != "-" and self.open and self.open[-1][2]:
            return
        entry = self._entry(name, "property", at)
        last = end - 1
        while last > at and self.text[last] in " \t\r\n":
            last -= 1
        entry.end = self.lines.at(last)

    def _entry(self, name: str, kind: str, at: int) -> OutlineEntry:
        line = self.lines.at(at)
        entry = OutlineEntry(name, kind, line, line, min(MAX_LEVEL, len(self.open) + 1))
        self.outline.append(entry)
        return entry
