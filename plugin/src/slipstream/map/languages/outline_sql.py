"""Outlines of SQL in its dialects: what CREATE statements make, with ends that hold the bodies of routines."""
from __future__ import annotations

import re
from bisect import bisect_left

from slipstream.map.languages.lexer import find_unescaped, tokens
from slipstream.map.languages.summaries import comment_summary
from slipstream.map.languages.text import Lines
from slipstream.map.model import FileScan, OutlineEntry

NAME_LIMIT_CHARS = 200
_MODIFIER = (r"or\s+replace|or\s+alter|global|local|temp|temporary|unlogged|external|foreign|unique|clustered|nonclustered|"
             r"columnstore|bitmap|fulltext|spatial|virtual|recursive|(?:non)?editionable|transient|secure|dynamic|constraint|"
             r"(?:no\s+)?force|aggregate(?=\s+function)|trusted|shared|private|algorithm\s*=\s*\w+|sql\s+security\s+\w+|"
             r"definer\s*=\s*[^\s@]{1,99}(?:\s*@\s*[^\s]{1,99})?")
_KIND = (r"materialized\s+view|event\s+trigger|package\s+body|type\s+body|property\s+graph|table|view|function|procedure|proc|"
         r"trigger|package|index|type|schema|sequence|domain|extension|policy|database|event|rule|aggregate|synonym")
_PART = r"(?:[\w$@#&{}:]{1,200}|\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`|\[[^\]\n]{1,200}\])"
_CREATE = re.compile(rf"(create|alter)\s+(?:(?:{_MODIFIER})\s+){{0,8}}({_KIND})\s+(?:concurrently\s+)?"
                     rf"(?:if\s+(?:not\s+)?exists\s+)?({_PART}(?:\s*\.\s*{_PART}){{0,4}})", re.I)
_ROUTINES = frozenset(("function", "procedure", "proc", "trigger", "package", "package body", "type body", "event",
                       "aggregate"))

# What hides text: comments, strings, names in quotes, notes to a client; the start of a dollar quote and of an unclosed string.
_HIDDEN = (r"--[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*){0,99999}(?:\*/)?|\#(?=[\s#\-])[^\n]*|\"[^\"]{0,2000}\"|`[^`\n]{0,300}`|"
           r"\[[^\[\]\n]{0,300}\]")
_SPECIAL = r"(\$(?:[A-Za-z_]\w{0,60})?\$|')"
_CLIENT = r"\n[ \t]*(?:rem|remark|prompt)\b[^\n]*"
_GO = r"\n[ \t]*(?:go(?:[ \t]+\d+)?|/)[ \t]*\r?(?=\n|\Z)"
_START = re.compile(rf"([\n;][ \t]*(?=(?:create|alter)\b))|(\n[ \t]*delimiter[ \t]+([^\s]{{1,20}}))|{_SPECIAL}|{_CLIENT}|"
                    rf"{_HIDDEN}", re.I)
_BATCH = re.compile(_GO, re.I)
_MARGIN = re.compile(r"\ncreate\b", re.I)
_PLAIN = re.compile(rf"([(])|([)])|(;)|({_GO}|\n[ \t]*(?=(?:create|alter|drop|insert|grant|exec|execute|print|use|"
                    rf"delimiter)\b))|{_SPECIAL}|{_CLIENT}|{_HIDDEN}", re.I)
_QUERY = re.compile(rf"([(])|([)])|(;)|({_GO}|\n[ \t]*(?=(?:create|alter|delimiter)\b))|{_SPECIAL}|{_CLIENT}|{_HIDDEN}",
                    re.I)
_BODY = re.compile(rf"((?:begin|case)\b)|(end\b)|(;)|({_GO}|\n(?=create\b))|{_SPECIAL}|{_CLIENT}|{_HIDDEN}", re.I)
_NO_BLOCK = re.compile(r"begin\s*(?:;|tran\b|transaction\b|work\b)", re.I)
_NO_END = re.compile(r"end\s+(?:if|loop|while|repeat|for)\b", re.I)


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline` and the purpose."""
    script = _Script(text, out)
    script.purpose()
    script.read()


class _Script:
    def __init__(self, text: str, out: FileScan) -> None:
        self.out = out
        # One line feed before the text, so that every line has one before it.
        self.text = "\n" + (_without_versions(text) if "/*!" in text else text)
        self.lines = Lines(self.text)
        self.lines.shift(-1)
        self.delimiter = ";"
        self.backslash = "`" in text
        self.batches = [found.start() for found in _BATCH.finditer(self.text)]
        self.unclosed = 0

    def purpose(self) -> None:
        lines: list[str] = []
        for line in self.text[:6000].split("\n"):
            bare = line.strip()
            if lines and lines[0].startswith("/*") and "*/" not in lines[-1]:
                lines.append(line)
            elif bare.startswith(("--", "/*", "#")) or not bare:
                if not bare or (bare.startswith("/*") and lines):
                    if not lines:
                        continue
                    break
                lines.append(line)
            else:
                break
        self.out.purpose = comment_summary("\n".join(lines))

    def read(self) -> None:
        pos = 0
        while pos >= 0:
            pos = self._from(pos)

    def _from(self, pos: int) -> int:
        """Read to the end of the next statement that makes something; -1 at the end."""
        text = self.text
        again = True
        while again:
            again = False
            for token in tokens(_START, text, pos):
                kind = token.lastindex
                if kind == 1:
                    end = max(self._statement(token.end()), token.end())
                    return end - (text[end - 1] == ";")     # another may follow on its line
                if kind == 2:
                    self.delimiter = token.group(3)
                elif kind is not None:
                    pos = self._quoted(token)
                    again = True
                    break
        return -1

    def _quoted(self, token: re.Match[str]) -> int:
        """Offset after the string a token begins; after the token when the string has no end."""
        text = self.text
        mark = token.group(token.re.groups)
        at = token.end()
        if mark == "'" and self.backslash and self.unclosed < 100:
            end = find_unescaped(text, mark, at)
            self.unclosed += not text.endswith(mark, at, end)
            return end if text.endswith(mark, at, end) else at
        if mark == "$$" or mark == "'" or not text[token.start() - 1].isalnum():
            end = text.find(mark, at) if self.unclosed < 100 else -1
            if end >= 0:
                return end + len(mark)
            self.unclosed += 1
        return at

    def _statement(self, at: int) -> int:
        """Make an entry of the statement at `at`; the offset after it."""
        text = self.text
        found = _CREATE.match(text, at)
        if found is None:
            return at + 6
        kind = " ".join(found.group(2).lower().split())
        stop = self._end(found.end(), kind)
        last = stop
        while last > at and text[last - 1] in " \t\r\n":
            last -= 1
        if found.group(1).lower() == "create":
            name = re.sub(r"\s*\.\s*", ".", re.sub(r"[\"`\[\]]", "", found.group(3)))
            line = self.lines.at(at)
            kind = "procedure" if kind == "proc" else kind
            self.out.outline.append(OutlineEntry(name[:NAME_LIMIT_CHARS], kind, line, max(line, self.lines.at(last - 1))))
        return stop

    def _end(self, at: int, kind: str) -> int:
        if self.delimiter != ";":
            return self._delimited(at)
        if kind in _ROUTINES or (kind == "type" and self.batches):
            end = self._body(at)
            batch = bisect_left(self.batches, at)
            if batch < len(self.batches) and not _MARGIN.search(self.text, end, self.batches[batch]):
                end = self.batches[batch]
            return end
        return self._walk(_QUERY if kind in ("view", "materialized view", "rule") else _PLAIN, at)

    def _delimited(self, at: int) -> int:
        pattern = re.compile(rf"({re.escape(self.delimiter)})|{_SPECIAL}|{_HIDDEN}")
        end = self._walk(pattern, at)
        return end - len(self.delimiter) if self.text.endswith(self.delimiter, at, end) else end

    def _walk(self, pattern: re.Pattern[str], at: int) -> int:
        """Offset of the end of a statement: after a `;`, before what else ends it."""
        text = self.text
        depth = 0
        again = True
        while again:
            again = False
            for token in tokens(pattern, text, at):
                kind = token.lastindex
                if kind is None:
                    continue
                if kind == pattern.groups:
                    at = self._quoted(token)
                    again = True
                    break
                if pattern.groups == 2:
                    return token.start() if token.group()[0] == "\n" else token.end()
                if kind == 1:
                    depth += 1
                elif kind == 2:
                    depth = max(0, depth - 1)
                elif kind == 3:
                    if not depth:
                        return token.end()
                elif not depth or token.group().strip():
                    return token.start()
        return len(text)

    def _body(self, at: int) -> int:
        """Offset after a routine: the first `;` outside of BEGIN and CASE, or the next statement at the margin."""
        text = self.text
        depth, begin = 0, at
        margin = -1
        margins = 0
        again = True
        while again:
            again = False
            for token in tokens(_BODY, text, at):
                kind = token.lastindex
                if kind is None:
                    continue
                if kind == 5:
                    at = self._quoted(token)
                    again = True
                    break
                word = kind in (1, 2) and (text[token.start() - 1].isalnum() or text[token.start() - 1] in "_.@$#")
                if word:
                    continue
                if kind == 1:
                    depth += _NO_BLOCK.match(text, token.start()) is None
                elif kind == 2:
                    depth -= depth > 0 and _NO_END.match(text, token.start()) is None
                elif kind == 3:
                    if not depth:
                        return token.end()
                elif not depth:
                    return token.start()
                else:
                    margin = token.start() if margin < 0 else margin
                    margins += 1
                    if margins > 3:
                        return margin
        return margin if margin > begin else len(text)


def _without_versions(text: str) -> str:
    """MySQL runs what stands in `/*!50003 ... */`: the marks become blanks."""
    parts: list[str] = []
    pos = 0
    while True:
        start = text.find("/*!", pos)
        end = text.find("*/", start) if start >= 0 else -1
        if end < 0:
            return "".join((*parts, text[pos:]))
        mark = re.compile(r"/\*!\d{0,6}").match(text, start)
        after = mark.end() if mark else start + 3
        parts += [text[pos:start], " " * (after - start), text[after:end], "  "]
        pos = end + 2
