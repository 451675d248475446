"""What the scanners of brace languages share: one file's text, lines and lexicon, the comment before a definition."""
from __future__ import annotations

import re

from slipstream.map.languages.lexer import Lexicon, after
from slipstream.map.languages.text import Lines, signature
from slipstream.map.model import Definition, FileScan

_BLANKS = re.compile(r"[\s;]*")
SIGNATURE_SOURCE_CHARS = 1000


class Walker:
    """State of one scan; `doc` is the offset of the comment right before the code that `trivia` found, or -1."""

    hash_comments = False       # whether `#` begins a comment
    line_comment = "//"         # what `comment_above` looks for
    hash_lines = False          # whether a line that begins with `#` is a directive, passed over

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
            line = two == "//" or two == self.line_comment or (self.hash_comments and two[:1] == "#" and two != "#[")
            if line or (fresh and self.hash_lines and two[:1] == "#"):
                if not line:
                    doc = -1
                elif doc < 0 and fresh:
                    doc = at
                pos = text.find("\n", at)
                if pos < 0:
                    pos = len(text)
            elif two == "/*":
                if fresh and (doc < 0 or text[at + 2:at + 3] == "*"):
                    doc = at
                pos = self.comment_end(at)
            else:
                self.doc = doc
                return at

    def comment_end(self, pos: int) -> int:
        """Offset after the block comment at `pos`."""
        return after(self.text, "*/", pos + 2)

    def add(self, name: str, kind: str, name_at: int, start: int, end: int, head: tuple[int, int],
            owner: Definition | None, exported: bool, default: bool) -> Definition:
        """Make a definition; `head` spans its signature. Its doc is the summary of `doc_text`."""
        lines = self.lines
        first = lines.at(start)
        line = lines.at(name_at)
        doc = self.doc_text
        text = self.text[head[0]:min(head[1], head[0] + SIGNATURE_SOURCE_CHARS)]
        if "//" in text or "/*" in text or (self.hash_lines and "\n#" in text):
            from slipstream.map.languages.braces import without_notes
            text = without_notes(text, self.hash_lines)
        definition = Definition(name, kind, line, first, lines.at(end - 1), signature(text).rstrip(" ;"), "", exported, default,
                                self.summary_of(doc) if doc else "")
        if owner is None:
            self.out.definitions.append(definition)
        else:
            if owner.name:
                definition.parent = owner.qualified
            owner.members.append(definition)
        return definition

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

    def take_doc(self, at: int) -> int:
        """Remember the comment before the code at `at` for the next definition; where that comment, or the code, begins."""
        doc = self.doc
        self.doc_text = self.text[doc:at] if doc >= 0 else ""
        return doc if doc >= 0 else at

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
