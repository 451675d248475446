"""Declarations in braces: what such languages share, and what any scanner needs for an odd file only (huge, unclosed)."""
from __future__ import annotations

import re
from collections.abc import Iterator

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.lexer import CLOSERS, UNCLOSED_LIMIT, Lexicon, tokens
from slipstream.map.languages.text import WINDOW_CHARS
from slipstream.map.languages.walker import Walker
from slipstream.map.model import Definition

MARGIN_CHARS = 8_192
OWNER_KINDS = frozenset(("class", "interface", "enum", "type"))
_COMMENT_EDGE = pattern_of(r"/\*|\*/")
_SPACES = pattern_of(r"\s*")
# What a signature leaves out where it stands apart from text in quotes: comments, directives.
_NOTES = pattern_of(r"""(?s)\\.|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*(?:`|\Z)|//[^\n]*|"""
                    r"""/\*.*?(?:\*/|\Z)|\n[ \t]*#[^\n]*""")


def windows(pattern: re.Pattern[str], text: str, pos: int) -> Iterator[re.Match[str]]:
    size = len(text)
    while True:
        end = pos + WINDOW_CHARS
        if end >= size:
            yield from pattern.finditer(text, pos)
            return
        safe = end - MARGIN_CHARS      # a token that begins after this could be cut by the window's edge
        for match in pattern.finditer(text, pos, end):
            if match.start() >= safe:
                pos = match.start()
                break
            pos = match.end()
            yield match
        else:
            pos = max(pos, safe)


def after_nested(text: str, pos: int) -> int:
    """Offset after the block comment that begins at `pos`, in languages where such comments nest."""
    depth = 0
    for mark in tokens(_COMMENT_EDGE, text, pos):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return mark.end()
    return len(text)


def unclosed(lex: Lexicon, text: str, pos: int) -> int:
    """Where the bracket at `pos` without a closing one ends: see `Lexicon.close`."""
    lex.unclosed += 1
    if lex.unclosed <= UNCLOSED_LIMIT:
        begin = text.rfind("\n", 0, pos) + 1
        indent = begin
        while text[indent:indent + 1] in (" ", "\t"):
            indent += 1
        found = text.find("\n" + text[begin:indent] + CLOSERS[text[pos]], pos)
        if found >= 0:
            return found + indent - begin + 2
    return len(text)


def without_notes(text: str, hash_lines: bool) -> str:
    """A signature without its comments, and without directives where `hash_lines`."""
    def kept(found: re.Match[str]) -> str:
        note = found.group()
        return note if note[0] in "\\\"'`" or (note[0] == "\n" and not hash_lines) else " "
    return _NOTES.sub(kept, text)


def mark_overloads(definitions: list[Definition]) -> None:
    """A signature without a body stays a definition only where no implementation follows, and then the first alone."""
    flagged = [d for d in definitions if d.overload]
    if not flagged:
        return
    bodied = {d.name for d in definitions if not d.overload and d.kind in ("function", "component", "method", "default")}
    for definition in flagged:
        definition.overload = definition.name in bodied
        bodied.add(definition.name)


def comment_above(text: str, at: int, mark: str) -> int:
    """Offset where the comment lines right above the line that begins at `at` begin, or `at`."""
    start = at
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        content = text[above:start].strip()
        if not content.startswith(mark) or content.startswith("#!"):
            break
        start = above
    return start


def adopt(strays: list[Definition], definitions: list[Definition], among: list[Definition] | None = None) -> None:
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


class BraceLexicon(Lexicon):
    """Searches for the next mark that is in no bracket."""

    def find(self: Lexicon, pattern: re.Pattern[str], text: str, pos: int) -> re.Match[str] | None:
        """The next token of a compiled pattern that is in none of the brackets its group 1 matches; None at the end."""
        plain = pattern.groups - len(self.special)
        while True:
            for match in tokens(pattern, text, pos):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == 1:
                    pos = self.close(text, match.start())
                    break
                if kind > plain:
                    pos = self.hook(text, match)
                    break
                return match
            else:
                return None


class CodeWalker(Walker):
    """Passes over comments, which may nest."""

    lex: BraceLexicon
    nested_comments = False     # whether block comments nest

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
                pos = self.comment_end(pos)
            else:
                return pos

    def comment_end(self, pos: int) -> int:
        return after_nested(self.text, pos) if self.nested_comments else super().comment_end(pos)


class BraceWalker(CodeWalker):
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
