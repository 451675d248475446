"""PHP: classes, traits, enums, functions and constants between `<?php` and `?>`; heredocs, attributes, inline HTML."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon, BraceWalker
from slipstream.map.languages.lexer import after, tokens
from slipstream.map.model import Definition, FileScan, Import

_OPEN = re.compile(r"<\?(?:php\b|=)?", re.I)
_TYPE = re.compile(r"(?:(?:abstract|final|readonly)\s+)*(class|interface|trait|enum)\s+([^\W\d]\w*)(?=\s*(?:\{|extends\b|"
                   r"implements\b|:|/|#|\Z))", re.I)
_FUNCTION = re.compile(r"(?:(?:public|protected|private|static|abstract|final|var)\s+)*function\s*&?\s*([^\W\d]\w*)\s*\(", re.I)
_CONST = re.compile(r"(?:(?:public|protected|private|static|abstract|final)\s+)*const\s+(?:[\w\\|?]+\s+)?([^\W\d]\w*)\s*=",
                    re.I)
_MORE_CONST = re.compile(r"\s*([^\W\d]\w*)\s*=")
_CASE = re.compile(r"case\s+([^\W\d]\w*)\s*(?=[=;])", re.I)
_PROPERTY = re.compile(r"(?:(?:public|protected|private|static|readonly|var|final|abstract)(?:\(set\))?\s+)+(?:[?\w\\|&() "
                       r"]+\s+)?\$(\w+)", re.I)
_NAMESPACE = re.compile(r"namespace\b\s*([\w\\]*)\s*([;{])", re.I)
_USE = re.compile(r"use\s+(?:(function|const)\s+)?([\w\\]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w\\]+(?:\s+as\s+\w+)?)*)\s*(?:\{([^"
                  r"{}]*)\})?\s*;", re.I)
_BLOCK = re.compile(r"(?:if|elseif|else|try|catch|finally|foreach|for|while|do|switch)\b", re.I)
_DEFINE = re.compile(r"define\s*\(\s*(['\"])([\w\\]+)\1", re.I)
_REQUIRE = re.compile(r"\b(?:require|include)(?:_once)?\b[^;'\"\n]{0,80}['\"]([^'\"\n]{1,300})['\"]")
# Each begins with plain letters: that search is fast, and most files hold neither.
_REQUIRING = [re.compile(word + r"(?:_once)?\b[^;'\"\n]{0,80}['\"]") for word in ("require", "include")]
_HEREDOC = re.compile(r"<<<[ \t]*(['\"]?)([^\W\d]\w*)\1")


def _string(quote: str) -> str:
    return rf"{quote}[^{quote}\\]*(?:\\.[^{quote}\\]*){{0,9999}}{quote}?"


def _hook(text: str, match: re.Match[str]) -> int:
    pos = match.start()
    token = match.group()
    if token == "/*":
        return after(text, "*/", pos + 2)
    if token == "?>":
        opened = _OPEN.search(text, pos)
        return opened.end() if opened is not None else len(text)
    heredoc = _HEREDOC.match(text, pos)
    if heredoc is None:
        return pos + 3
    end = re.compile(rf"\n[ \t]*{heredoc.group(2)}\b").search(text, heredoc.end())
    return end.end() if end is not None else len(text)


_REST = r"[^\n?]*(?:\?(?!>)[^\n?]*){0,500}"
_LEXICON = BraceLexicon(_string('"') + "|" + _string("'") + "|//" + _REST + r"|\#(?!\[)" + _REST,
                        (r"/\*", r"\?>", "<<<"), _hook)
_STOP = _LEXICON.compile(r"([(\[])|(\{)|(;)|([)}\]])|(\?>)")
_END = _LEXICON.compile(r"([({\[])|(;)|([)}\]])|(\?>)")
_CALLS = _LEXICON.compile(r"(\b(?:require|include)(?:_once)?\b)")
_COMMA = _LEXICON.compile(r"([({\[])|(,)|(;)|([)}\]])")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, uses and purpose of a PHP file."""
    opened = _OPEN.search(text)
    if opened is None:
        return
    scanner = _PhpScanner(text, out, _LEXICON)
    scanner.header_purpose(opened.end())
    scanner.members(opened.end(), None)
    if any(word.search(text, opened.end()) for word in _REQUIRING):
        out.imports += required(text, opened.end())


def required(text: str, pos: int) -> list[Import]:
    """What `require` and `include` name, outside of strings, comments and HTML."""
    found: list[Import] = []
    while pos >= 0:
        begin, pos = pos, -1
        for match in tokens(_CALLS, text, begin):
            if match.lastindex == 1:
                call = _REQUIRE.match(text, match.start())
                if call is not None:
                    found.append((call.group(1), "require", ()))
            elif match.lastindex is not None:
                pos = _hook(text, match)
                break
    return found


class _PhpScanner(BraceWalker):
    hash_comments = True

    def declaration(self, at: int, start: int, owner: Definition | None, public: bool) -> int:
        while self.text[at:at + 2] == "#[":
            at = self.space(self.lex.close(self.text, at + 1))
        return self.member(at, start, owner) if owner is not None else self.statement(at, start)

    def statement(self, at: int, start: int) -> int:
        text = self.text
        if text.startswith("?>", at):
            opened = _OPEN.search(text, at)
            return opened.end() if opened is not None else len(text)
        found = _TYPE.match(text, at)
        if found is not None:
            return self.type(found, at, start, None)
        found = _FUNCTION.match(text, at)
        if found is not None:
            return self.function(found, at, start, None)
        found = _CONST.match(text, at)
        if found is not None:
            return self.constants(found, at, start, None, True)
        found = _NAMESPACE.match(text, at)
        if found is not None:
            if found.group(1):
                self.out.imports.append((found.group(1), "package", ()))
            return found.end() if found.group(2) == ";" else self.members(found.end(), None)
        found = _USE.match(text, at)
        if found is not None:
            self.uses(found)
            return found.end()
        define = _DEFINE.match(text, at)
        if define is not None:
            end = self.skip(at)
            self.add(define.group(2), "const", define.start(2), start, end, (at, end), None, True, False)
            return end
        found = _BLOCK.match(text, at)
        if found is not None and self.depth < 30:
            pos = self.space(found.end())
            if text[pos:pos + 1] == "(":
                pos = self.space(self.lex.close(text, pos))
            if text[pos:pos + 1] == "{":
                return self.members(pos + 1, None)
            return pos + 1 if text[pos:pos + 1] == ":" else pos
        return self.skip(at)

    def skip(self, pos: int) -> int:
        """Offset after the `;` of a statement, or of the `?>` or bracket that ends it."""
        stop = self.lex.find(_END, self.text, pos)
        if stop is None:
            return len(self.text)
        return stop.end() if stop.group() == ";" else stop.start()

    def uses(self, found: re.Match[str]) -> None:
        prefix = found.group(2) if found.group(3) is not None else ""
        for part in (found.group(3) if found.group(3) is not None else found.group(2)).split(","):
            words = part.split()
            if not words:
                continue
            name = words[1] if words[0] in ("function", "const") and len(words) > 1 else words[0]
            self.out.imports.append(((prefix + name).lstrip("\\"), "import", (words[-1],) if "as" in words else ()))

    def type(self, found: re.Match[str], at: int, start: int, owner: Definition | None) -> int:
        text = self.text
        stop = self.lex.find(_STOP, text, found.end())
        if stop is None or stop.group() != "{":
            return self.skip(found.end())
        word = found.group(1).lower()
        definition = self.add(found.group(2), "class" if word == "trait" else word, found.start(2), start, stop.end(),
                              (at, stop.start()), owner, True, False)
        end = self.members(stop.end(), definition)
        definition.end = self.lines.at(end - 1)
        return end

    def function(self, found: re.Match[str], at: int, start: int, owner: Definition | None) -> int:
        text = self.text
        stop = self.lex.find(_STOP, text, found.end() - 1)
        if stop is None:
            return len(text)
        end = self.lex.close(text, stop.start()) if stop.group() == "{" else stop.end() if stop.group() == ";" else stop.start()
        words = text[at:found.start(1)].lower().split()
        public = "private" not in words and "protected" not in words
        self.add(found.group(1), "method" if owner is not None else "function", found.start(1), start, end, (at,
                                                                                                             stop.start()),
                                                                                                             owner,
                 public, False)
        return end

    def constants(self, found: re.Match[str], at: int, start: int, owner: Definition | None, public: bool) -> int:
        text = self.text
        end = self.skip(at)
        name: re.Match[str] | None = found
        while name is not None:
            self.add(name.group(1), "const" if owner is None else "field", name.start(1), start, end, (at, end), owner,
                     public, False)
            comma = self.lex.find(_COMMA, text, name.end())
            name = _MORE_CONST.match(text, comma.end()) if comma is not None and comma.group() == "," else None
        return end

    def member(self, at: int, start: int, owner: Definition) -> int:
        text = self.text
        found = _FUNCTION.match(text, at)
        if found is not None:
            return self.function(found, at, start, owner)
        public = not text.startswith(("private", "protected"), at)
        found = _CONST.match(text, at)
        if found is not None:
            return self.constants(found, at, start, owner, public)
        stop = self.lex.find(_STOP, text, at)
        if stop is None:
            return len(text)
        end = self.lex.close(text, stop.start()) if stop.group() == "{" else stop.end() if stop.group() == ";" else stop.start()
        found = _PROPERTY.match(text, at) or _CASE.match(text, at)
        if found is not None:
            head = text.find("\n", at, stop.start())
            self.add(found.group(1), "field", found.start(1), start, end, (at, head if head >= 0 else stop.start()), owner,
                     public, False)
        return end
