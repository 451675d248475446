"""What the scanners of brace languages share: one file's text, lines and lexicon, the comment before a definition."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.lexer import Lexicon, after, after_nested
from slipstream.map.languages.text import Lines, signature
from slipstream.map.model import Definition, FileScan

_BLANKS = re.compile(r"[\s;]*")
_SPACES = re.compile(r"\s*")
# What a signature leaves out where it stands apart from text in quotes: comments, directives.
_NOTES = pattern_of(r"""(?s)\\.|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*(?:`|\Z)|//[^\n]*|"""
                    r"""/\*.*?(?:\*/|\Z)|\n[ \t]*#[^\n]*""")
SIGNATURE_SOURCE_CHARS = 1000
OWNER_KINDS = frozenset(("class", "interface", "enum", "type"))


class Walker:
    """State of one scan; `doc` is the offset of the comment right before the code that `trivia` found, or -1."""

    hash_comments = False       # whether `#` begins a comment
    line_comment = "//"         # what `comment_above` looks for
    hash_lines = False          # whether a line that begins with `#` is a directive, passed over

    nested_comments = False     # whether block comments nest

    def __init__(self, text: str, out: FileScan, lexicon: Lexicon) -> None:
        self.text = text
        self.out = out
        self.lines = Lines(text)
        self.lex = lexicon
        lexicon.unclosed = 0
        self.doc = -1
        self.doc_text = ""
        self.depth = 0

    def trivia(self, pos: int) -> int:
        """Offset of the next code; `doc` becomes the offset of the comment right before it, or -1."""
        text = self.text
        doc = -1
        fresh = pos == 0 or text[pos - 1:pos] == "\n"
        while True:
            match = _BLANKS.match(text, pos)
            at = match.end() if match else pos
            if at > pos:
                breaks = text.count("\n", pos, at)
                if breaks:
                    fresh = True
                    if breaks > 1:
                        doc = -1
            two = text[at:at + 2]
            if two[:1] == "#" and self.hash_lines and fresh:
                doc = -1
                pos = text.find("\n", at)
                if pos < 0:
                    pos = len(text)
            elif two == self.line_comment or two == "//" or (self.hash_comments and two[:1] == "#" and two != "#["):
                if doc < 0 and fresh:
                    doc = at
                pos = text.find("\n", at)
                if pos < 0:
                    pos = len(text)
            elif two == "/*":
                if fresh and (doc < 0 or text[at + 2:at + 3] == "*"):
                    doc = at
                pos = after_nested(text, at) if self.nested_comments else after(text, "*/", at + 2)
            else:
                self.doc = doc
                return at

    def add(self, name: str, kind: str, name_at: int, start: int, end: int, head: tuple[int, int],
            owner: Definition | None, exported: bool, default: bool) -> Definition:
        """Make a definition; `head` spans its signature. Its doc is the summary of `doc_text`."""
        lines = self.lines
        first = lines.at(start)
        line = lines.at(name_at)
        doc = self.doc_text
        text = self.text[head[0]:min(head[1], head[0] + SIGNATURE_SOURCE_CHARS)]
        if "//" in text or "/*" in text or (self.hash_lines and "\n#" in text):
            text = _NOTES.sub(self._without_note, text)
        definition = Definition(name, kind, line, first, lines.at(end - 1), signature(text).rstrip(" ;"), "", exported, default,
                                self.summary_of(doc) if doc else "")
        if owner is None:
            self.out.definitions.append(definition)
        else:
            if owner.name:
                definition.parent = owner.qualified
            owner.members.append(definition)
        return definition

    def _without_note(self, found: re.Match[str]) -> str:
        kept = found.group()
        return kept if kept[0] in "\\\"'`" or (kept[0] == "\n" and not self.hash_lines) else " "

    def summary_of(self, comment: str) -> str:
        """The first sentence of a comment."""
        from slipstream.map.languages.summaries import comment_summary
        return comment_summary(comment)

    def semicolon(self, pos: int) -> int:
        """The offset after a `;` that follows on the same line, else `pos`."""
        text = self.text
        at = pos
        while text[at:at + 1] in (" ", "\t"):
            at += 1
        return at + 1 if text[at:at + 1] == ";" else pos

    def space(self, pos: int) -> int:
        """Offset of the next code, comments passed over."""
        doc = self.doc
        pos = self.trivia(pos)
        self.doc = doc
        return pos

    def code(self, pos: int) -> int:
        """Offset of the next character that is neither blank nor in a comment (a `;` is code)."""
        text = self.text
        while True:
            match = _SPACES.match(text, pos)
            pos = match.end() if match else pos
            two = text[pos:pos + 2]
            if two == "//":
                pos = text.find("\n", pos)
                if pos < 0:
                    return len(text)
            elif two == "/*":
                pos = after_nested(text, pos) if self.nested_comments else after(text, "*/", pos + 2)
            else:
                return pos

    def comment_above(self, at: int) -> int:
        """Offset where the comment lines right above the line that begins at `at` begin, or `at`."""
        text = self.text
        start = at
        while start > 0:
            above = text.rfind("\n", 0, start - 1) + 1
            content = text[above:start].strip()
            if not content.startswith(self.line_comment) or content.startswith("#!"):
                break
            start = above
        return start

    def take_doc(self, at: int) -> int:
        """Remember the comment before the code at `at` for the next definition; where that comment, or the code, begins."""
        doc = self.doc
        self.doc_text = self.text[doc:at] if doc >= 0 else ""
        return doc if doc >= 0 else at

    def adopt(self, strays: list[Definition], definitions: list[Definition], among: list[Definition] | None = None) -> None:
        """Give members found outside of their type's braces to the type (one of `among`), else put them among `definitions`."""
        owners = {d.name: d for d in among or definitions if d.kind in OWNER_KINDS}
        for stray in strays:
            owner = owners.get(stray.parent)
            if owner is not None:
                stray.parent = owner.qualified
                owner.members.append(stray)
            else:
                definitions.append(stray)
        if strays:
            definitions.sort(key=_by_line)

    def mark_overloads(self, definitions: list[Definition]) -> None:
        """A signature without a body stays a definition only where no implementation follows, and then the first alone."""
        flagged = [d for d in definitions if d.overload]
        if not flagged:
            return
        bodied = {d.name for d in definitions if not d.overload and d.kind in ("function", "component", "method", "default")}
        for definition in flagged:
            definition.overload = definition.name in bodied
            bodied.add(definition.name)

    def header_purpose(self, pos: int = 0) -> int:
        """Take the file's purpose from the comments at `pos`, block by block; the offset of the first code."""
        at = self.trivia(pos)
        comments = self.text[pos:at]
        if not self.out.purpose and ("/" in comments or "#" in comments or "-" in comments):
            for block in comments.replace("*/", "*/\n\n").split("\n\n"):
                found = self.summary_of(block)
                if found:
                    self.out.purpose = found
                    break
        return at


class BraceWalker(Walker):
    """Declarations in braces, one after the other."""

    closers = "}"       # what ends them

    def members(self, pos: int, owner: Definition | None, public: bool = False) -> int:
        """Read declarations until an unopened closing bracket; the offset after it. `public` is for `declaration` to use."""
        text = self.text
        size = len(text)
        self.depth += 1
        while True:
            at = self.trivia(pos)
            if at >= size:
                break
            if text[at] in self.closers:
                at += 1
                if self.depth > 1:
                    break
                pos = at
                continue
            start = self.take_doc(at)
            pos = max(at + 1, self.declaration(at, start, owner, public))
        self.depth -= 1
        return at

    def declaration(self, at: int, start: int, owner: Definition | None, public: bool) -> int:
        """Read what begins at `at`, its comment at `start`, as a member of `owner`; the offset after it."""
        raise NotImplementedError


def _by_line(definition: Definition) -> int:
    return definition.line
