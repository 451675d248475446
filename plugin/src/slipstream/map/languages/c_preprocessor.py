"""C and C++ preprocessor lines: blanked at the same length, so that what is left reads as one program."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon
from slipstream.map.languages.lexer import after, quoted, tokens


def _hook(text: str, match: re.Match[str]) -> int:
    pos = match.start()
    if text[pos] == "/":
        return after(text, "*/", pos + 2)
    delimiter = match.group()[match.group().index('"') + 1:-1]
    return after(text, ")" + delimiter + '"', match.end())


LEXICON = BraceLexicon(quoted('"') + r"|'(?:[^'\\\n]{1,8}|\\[^\n'][^'\n]{0,12}|\\')'" + r"|//[^\n]*",
                  (r"/\*", r'R(?<![A-KM-TV-Za-tv-z_]R)"[^()\\\s"]{0,16}\('), _hook)
_DIRECTIVE = LEXICON.compile(r"(\n[ \t]*\#)")
_LINE = re.compile(r"[ \t]*(\w*)[ \t]*([^\n\\/]*(?:(?:\\\r?\n|\\.|/(?![/*])|/\*[^*\n]*\*+/)[^\n\\/]*){0,5000})[^\n]*")
_SPLICED = re.compile(r"//[^\n]*\\\r?\n")
_SPLICE = LEXICON.compile(r"(//[^\n]*\\\r?\n)")
_NOT_LINE_FEED = re.compile(r"[^\n]+")
_TEXT = re.compile(r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*){0,5000}\*/"
                   r'|"[^"\\\n]*(?:\\.[^"\\\n]*){0,9999}"' r"|'(?:[^'\\\n]|\\[^\n])'")
_MAX_COMPARED_CHARS = 200_000
_NEVER = ("0", "false", "FALSE")


class Directive:
    """One preprocessor line: `start` is its `#`'s line feed, `end` the line feed after it."""

    __slots__ = ("argument", "end", "name", "start")

    def __init__(self, start: int, end: int, name: str, argument: str) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.argument = argument


def unsplice(text: str) -> str:
    """The text where each line that a `//` comment's last backslash makes part of the comment begins with `//` itself."""
    if _SPLICED.search(text) is None:
        return text
    pieces: list[str] = []
    done = pos = 0
    while pos >= 0:
        begin, pos = pos, -1
        for match in tokens(_SPLICE, text, begin):
            if match.lastindex is None:
                continue
            pos = match.end() if match.lastindex == 1 else LEXICON.hook(text, match)
            if match.lastindex == 1:
                pieces.append(text[done:pos])
                line = "\\"
                while line.endswith("\\"):
                    done = text.find("\n", pos) + 1 or len(text)
                    line = text[pos:done].rstrip("\r\n")
                    pieces.append(("//" + line[2:] if len(line) > 1 else " " * len(line)) + text[pos + len(line):done])
                    pos = done
            break
    return "".join([*pieces, text[done:]])


def read_directives(text: str) -> list[Directive]:
    """The preprocessor lines of a text that begins with a line feed."""
    out: list[Directive] = []
    pos = 0
    while True:
        for match in tokens(_DIRECTIVE, text, pos):
            kind = match.lastindex
            if kind is None:
                continue
            if kind > 1:
                pos = LEXICON.hook(text, match)
                break
            line = _LINE.match(text, match.end())
            end = line.end() if line else match.end()
            opened = text.rfind("/*", match.end(), end)
            if opened >= 0 and text.find("*/", opened + 2, end) < 0 and "//" not in text[match.end():opened]:
                end = text.find("\n", after(text, "*/", opened + 2))
                end = end if end >= 0 else len(text)
            out.append(Directive(match.start(), end, line.group(1) if line else "", line.group(2) if line else ""))
            pos = end
            break
        else:
            return out


def mask(text: str, directives: list[Directive]) -> str:
    """The text with directives blank, `#if 0` blank, and of branches that do not fit together only the first left."""
    if not directives:
        return text
    plain = _cut(text, [(d.start, d.end) for d in directives])
    cuts: list[tuple[int, int]] = []
    stack: list[list[Directive]] = []
    for directive in directives:
        name = directive.name
        if name in ("if", "ifdef", "ifndef"):
            stack.append([directive])
        elif name in ("else", "elif", "elifdef", "elifndef") and stack:
            stack[-1].append(directive)
        elif name == "endif" and stack:
            branches = stack.pop()
            branches.append(directive)
            cuts.extend(_dropped(plain, branches))
    return _cut(plain, sorted(cuts)) if cuts else plain


def _cut(text: str, cuts: list[tuple[int, int]]) -> str:
    """The text with these stretches blank."""
    pieces: list[str] = []
    pos = 0
    for start, end in cuts:
        if end <= pos:
            continue
        start = max(start, pos)
        pieces.append(text[pos:start])
        pieces.append(_NOT_LINE_FEED.sub(_blank, text[start:end]))
        pos = end
    pieces.append(text[pos:])
    return "".join(pieces)


def _blank(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _dropped(text: str, marks: list[Directive]) -> list[tuple[int, int]]:
    """The stretches of one conditional that are not read."""
    spans = [(marks[i].end, marks[i + 1].start) for i in range(len(marks) - 1)]
    out: list[tuple[int, int]] = []
    if marks[0].name == "if" and marks[0].argument.strip() in _NEVER:
        out.append(spans[0])
        spans = spans[1:]
    if len(spans) < 2 or spans[-1][1] - spans[0][0] > _MAX_COMPARED_CHARS:
        return out
    for start, end in spans:
        code = _TEXT.sub("", text[start:end]).rstrip()
        if code.count("{") != code.count("}") or code.count("(") != code.count(")") or (code and code[-1] not in ";}{"):
            kept = max(spans, key=_length)
            return out + [span for span in spans if span is not kept]
    return out


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]
