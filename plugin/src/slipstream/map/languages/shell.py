"""Shell scripts: both forms of functions, exported and constant variables; heredocs and quoting respected."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import comment_above
from slipstream.map.languages.lexer import UNCLOSED_LIMIT, Lexicon, tokens
from slipstream.map.languages.summaries import hash_header
from slipstream.map.languages.walker import Walker
from slipstream.map.model import FileScan

_NAME = r"[\w:.+@/~!?%,-]+"
_BETWEEN = r"(?:[ \t]|\\\r?\n)"
_FUNCTION = re.compile(rf"(?:function[ \t]+({_NAME}(?:{_BETWEEN}+{_NAME}){{0,99}}){_BETWEEN}*(?:\([ \t]*\))?|"
                       rf"({_NAME})[ \t]*\([ \t]*\))\s*(?:#[^\n]*\n\s*)?([{{(])")
_NAMES = re.compile(_NAME)
_VARIABLE = re.compile(r"\n(?:export|readonly|declare[ \t]+-[a-zA-Z]*[rx][a-zA-Z]*)[ \t]+(?:-\w+[ \t]+)?([A-Za-z_]\w*)=")
_SOURCE = re.compile(r"\n[ \t]*(?:source|\.)[ \t]+([^\s;&|]+)")
_PLAIN = re.compile(r'"[^"\\$`]*(?:(?:\\.|\$(?![({]))[^"\\$`]*){0,9999}"', re.S)
_EXPANSION = re.compile(r"\$\{[^{}\"'`$\\\n]*\}")
# Between double quotes a single quote of an expansion quotes nothing, but for a brace of a pattern.
_IN_EXPANSION = {inside: re.compile(rf"\\.|'{text}'|(\}})|(\$\{{)|(\$\()|(\")", re.S)
                 for inside, text in ((True, "[{}]"), (False, "[^']{0,500}"))}
_MAX_EXPANSION_CHARS = 8_000
_INSIDE = re.compile(r'\\.|(")|(\$[({])', re.S)
_nested = [0]
_HEREDOC = re.compile(r"<<(-?)[ \t]*(['\"]?)\\?([\w.!-]+)\2")


def _hook(text: str, match: re.Match[str]) -> int:
    """Offset after a string with its substitutions, or after a heredoc's body."""
    if match.group() == '"':
        return _quoted_end(text, match.start())
    if match.group() == "${":
        return _expansion_end(text, match.start(), False)
    heredoc = _HEREDOC.match(text, match.start())
    if heredoc is None or text[match.start() - 1:match.start()] == "<":
        return match.end()
    line = text.find("\n", heredoc.end())
    if line < 0:
        return heredoc.end()
    tabs = r"\t*" if heredoc.group(1) else ""
    end = re.compile(rf"\n{tabs}{re.escape(heredoc.group(3))}(?=[ \t]*\r?(?:\n|\Z|\)))").search(text, line)
    return end.end() if end is not None else heredoc.end()


def _quoted_end(text: str, pos: int) -> int:
    plain = _PLAIN.match(text, pos)
    return plain.end() if plain is not None else _string_end(text, pos + 1)


def _expansion_end(text: str, pos: int, inside: bool) -> int:
    """Offset after the `${...}` at `pos`, in which `#` is plain; of an endless one after its `{`."""
    end = _expansion(text, pos, inside) if _LEXICON.unclosed <= UNCLOSED_LIMIT else -1
    if end < 0:
        _LEXICON.unclosed += 1
    return end if end >= 0 else pos + 2


def _expansion(text: str, pos: int, inside: bool) -> int:
    """The same, or -1."""
    simple = _EXPANSION.match(text, pos)
    if simple is not None:
        return simple.end()
    _nested[0] += 1
    try:
        at = pos + 2
        stop = min(len(text), pos + _MAX_EXPANSION_CHARS)
        while 0 <= at < stop and _nested[0] < 20:
            for match in _IN_EXPANSION[inside].finditer(text, at, stop):
                kind = match.lastindex
                if kind == 1:
                    return match.end()
                if kind is not None:
                    at = _quoted_end(text, match.start()) if kind == 4 else _substitution_end(text, match) if kind == 3 else (
                        _expansion(text, match.start(), inside))
                    break
            else:
                break
        return -1
    finally:
        _nested[0] -= 1


def _substitution_end(text: str, match: re.Match[str]) -> int:
    return _expansion_end(text, match.start(), True) if match.group() == "${" else _LEXICON.close(text, match.end() - 1)


def _string_end(text: str, pos: int) -> int:
    _nested[0] += 1
    try:
        while True:
            for match in _INSIDE.finditer(text, pos):
                kind = match.lastindex
                if kind == 1:
                    return match.end()
                if kind == 2 and _nested[0] < 20:
                    pos = _substitution_end(text, match)
                    break
            else:
                return len(text)
    finally:
        _nested[0] -= 1


_LEXICON = Lexicon(r"'[^']*'?|\\.|\#(?<![^\s;()&|]\#)[^\n]*|\$(?:\#|'[^'\\]*(?:\\.[^'\\]*){0,9999}'|\{\#[^}\n]*\})",
                   (r"<<(?!<)", '"', r"\$\{"), _hook)
_LINE = _LEXICON.compile(r"(\\?\n[ \t]*(?=[\w.:])|(?:\|\||&&|;|\))[ \t]*(?=function[ \t]|[\w:-]{1,200}[ \t]?\([ \t]*\)))")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the functions, variables and sourced files of a shell script."""
    out.purpose = hash_header(text)
    _ShellScanner("\n" + text, out, _LEXICON).run()


class _ShellScanner(Walker):
    hash_comments = True
    line_comment = "#"

    def run(self) -> None:
        text = self.text
        self.lines.shift(-1)
        pos = 0
        again = True
        while again:
            again = False
            for match in tokens(_LINE, text, pos):
                kind = match.lastindex
                if kind is None:
                    continue
                pos = self.lex.hook(text, match) if kind > 1 else self.line(match)
                if pos != match.end():
                    again = True
                    break

    def line(self, match: re.Match[str]) -> int:
        text = self.text
        at = match.start()
        found = _FUNCTION.match(text, match.end())
        if found is not None:
            brace = found.end() - 1
            end = self.lex.close(text, brace)
            start = comment_above(text, at + 1, self.line_comment) if text[at] == "\n" else match.end()
            for name in _NAMES.finditer(text, *found.span(2 if found.group(1) is None else 1)):
                self.doc_text = text[start:at] if start < at else ""
                self.add(name.group(), "function", name.start(), start, end, (match.end(), brace), None,
                         not name.group().startswith("_"), False)
            return end
        variable = _VARIABLE.match(text, at)
        if variable is not None:
            self.doc_text = ""
            line_end = text.find("\n", match.end())
            end = line_end if line_end >= 0 else len(text)
            self.add(variable.group(1), "const", variable.start(1), at + 1, end, (at + 1, end), None, True, False)
        else:
            source = _SOURCE.match(text, at)
            if source is not None:
                self.out.imports.append((source.group(1).strip("'\""), "include", ()))
        return match.end()
