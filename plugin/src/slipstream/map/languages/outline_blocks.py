"""Outlines of files told by their blocks: protobuf, GraphQL, Terraform, JSON."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon, CodeWalker
from slipstream.map.languages.lexer import UNCLOSED_LIMIT, after, find_unescaped, quoted, tokens
from slipstream.map.languages.text import unescaped
from slipstream.map.model import FileScan, OutlineEntry

_PROTO = re.compile(r"(message|enum|service|extend|oneof)\s+([\w.]+)\s*\{|rpc\s+(\w+)\s*\(")
_PROTO_IMPORT = re.compile(r"import\s+(?:public\s+|weak\s+)?[\"']([^\"'\n]+)[\"']\s*;|package\s+([\w.]+)\s*;")
_GRAPHQL = re.compile(r"(?:extend\s+)?(type|interface|input|enum|union|scalar|directive|fragment|query|mutation|"
                      r"subscription|schema)\b"
                      r"[ \t]*@?(\w+)?")
_TERRAFORM = re.compile(r"(\w+)((?:[ \t]+(?:\"[^\"\n]*\"|[\w.-]+))*)[ \t]*\{|([\w-]+)[ \t]*=(?!=)")
_TERRAFORM_SOURCE = re.compile(r"\n[ \t]*source[ \t]*=[ \t]*\"(\.{1,2}/?[^\"\n]*)\"")
_JSON_KEY = re.compile(r"\"([^\"\\\n]*(?:\\.[^\"\\\n]*){0,9999})\"\s*:|'([^'\\\n]*(?:\\.[^'\\\n]*){0,9999})'\s*:|"
                       r"([^\W\d][\w$]*|\$[\w$]*)\s*:")


def _hook(text: str, match: re.Match[str]) -> int:
    token = match.group()
    if token == "/*":
        return after(text, "*/", match.end())
    if token == '"""':
        return find_unescaped(text, token, match.end())
    return after(text, token, match.end())


_TEMPLATE = re.compile(r"\\.|\"|[$%]\{|[{}\n]", re.S)


class _Hcl:
    """What no pattern can pass in one file of HCL: heredocs, and strings with expressions that hold strings."""

    def __init__(self, text: str) -> None:
        self.ends = {line.strip() for line in text.split("\n")}
        self.unclosed = 0

    def __call__(self, text: str, match: re.Match[str]) -> int:
        token = match.group()
        if token[0] == '"':
            return self.template(text, match.end())
        if token[0] == "<":
            word = token.lstrip("<-~").strip()          # up to the line that holds it alone
            if word in self.ends:
                closing = re.compile(rf"\n[ \t]*{word}[ \t]*\r?(?=\n|\Z)").search(text, match.end() - 1)
                if closing is not None:
                    return closing.end()
                self.ends.discard(word)
            return match.end()
        return after(text, "*/", match.end())

    def template(self, text: str, pos: int) -> int:
        """Offset after a string whose first `${` ends at `pos`; `pos` when it does not end."""
        stack = ['"', "{"]
        for token in tokens(_TEMPLATE, text, pos) if self.unclosed < UNCLOSED_LIMIT else ():
            mark = token.group()
            inside = stack[-1]
            if mark == '"':
                if inside == '"':
                    stack.pop()
                else:
                    stack.append(mark)
            elif mark == "\n":
                if inside == '"':
                    return token.start()
            elif mark == "}":
                if inside == "{":
                    stack.pop()
            elif mark[0] in "$%" or (mark == "{" and inside == "{"):
                stack.append("{")
            if not stack:
                return token.end()
        self.unclosed += 1
        return pos


_NOISE = quoted('"') + "|" + quoted("'")
_C_LEXICON = BraceLexicon(_NOISE + r"|//[^\n]*", (r"/\*",), _hook)
_GRAPHQL_LEXICON = BraceLexicon(quoted('"') + r"|\#[^\n]*", ('"""',), _hook)
_HCL_SPECIAL = (r"/\*", r'"[^"\\\n$%]*(?:(?:\\.|[$%](?!\{))[^"\\\n$%]*){0,9999}[$%]\{', r"<<[-~]?[A-Za-z_]\w{0,60}[ \t]*\r?\n")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline`, imports and the purpose."""
    name = out.language
    lexicon = _GRAPHQL_LEXICON if name == "graphql" else _C_LEXICON
    if name == "terraform":
        lexicon = BraceLexicon(quoted('"') + r"|\#[^\n]*|//[^\n]*", _HCL_SPECIAL, _Hcl(text))
    blocks = _Blocks(text, out, lexicon)
    blocks.hash_comments = name in ("graphql", "terraform")
    blocks.header_purpose()
    {"proto": blocks.proto, "graphql": blocks.graphql, "terraform": blocks.terraform, "json": blocks.json}[name]()


class _Blocks(CodeWalker):
    """Statements of a file up to `;` or behind their braces."""

    def entry(self, name: str, kind: str, at: int, end: int, level: int = 1) -> OutlineEntry:
        line = self.lines.at(at)
        made = OutlineEntry(" ".join(name.split()), kind, line, max(line, self.lines.at(max(at, end - 1))), level)
        self.out.outline.append(made)
        return made

    def proto(self) -> None:
        self._proto(0, len(self.text), 1)
        for found in _PROTO_IMPORT.finditer(self.text):
            self.out.imports.append((found.group(1), "import", ()) if found.group(1) else (found.group(2), "package", ()))

    def _proto(self, pos: int, stop: int, level: int) -> None:
        text = self.text
        end_of = self.lex.compile(r"([(\[])|(\{)|(;)|([)}\]])")
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            found = _PROTO.match(text, at)
            end_mark = self.lex.find(end_of, text, at)
            if end_mark is None:
                return
            end = self.lex.close(text, end_mark.start()) if end_mark.group() == "{" else end_mark.end()
            if found is not None:
                kind = found.group(1) or "rpc"
                self.entry(found.group(2) or found.group(3), kind, at, end, level)
                if kind in ("message", "service") and level < 20:
                    self._proto(found.end(), end - 1, level + 1)
            pos = max(at + 1, end)

    def graphql(self) -> None:
        text = self.text
        end_of = self.lex.compile(r"([(\[])|(\{)|([)}\]])|(\n[ \t]*(?=(?:type|interface|input|enum|union|scalar|directive|"
                                  r"fragment|query|mutation|subscription|schema|extend)\b|[\"#]))")
        pos = 0
        while True:
            at = self.trivia(pos)
            if text.startswith('"', at):
                block = text.startswith('"""', at)
                at = self.trivia(find_unescaped(text, '"""', at + 3) if block else after(text, '"', at + 1))
            if at >= len(text):
                return
            found = _GRAPHQL.match(text, at)
            stop = self.lex.find(end_of, text, at)
            end = len(text.rstrip()) if stop is None else self.lex.close(text,
                                                                         stop.start()) if stop.group() == "{" else stop.start()
            while end > at and text[end - 1] in " \t\r\n":
                end -= 1
            if found is not None:
                named = found.group(1) != "schema" and found.group(2)
                self.entry(named or found.group(1), found.group(1), at, end)
            elif text[at] == "{":       # a query without its word
                self.entry("query", "query", at, end)
            pos = max(at + 1, end)

    def terraform(self) -> None:
        text = self.text
        end_of = self.lex.compile(r"([({\[])|(\n)")
        pos = 0
        while True:
            at = self.trivia(pos)
            if at >= len(text):
                return
            found = _TERRAFORM.match(text, at)
            if found is None:
                pos = max(at + 1, after(text, "\n", at))
                continue
            if found.group(3):
                stop = self.lex.find(end_of, text, found.end())
                end = stop.start() if stop is not None else len(text)
                self.entry(found.group(3), "key", at, end)
            else:
                end = self.lex.close(text, found.end() - 1)
                if found.group(1) == "module":
                    source = _TERRAFORM_SOURCE.search(text, found.end(), end)
                    if source is not None:
                        self.out.imports.append((source.group(1), "module", ()))
                labels = [label.strip('"') for label in re.findall(r"\"[^\"\n]*\"|[\w.-]+", found.group(2))]
                self.entry(".".join(labels) or found.group(1), found.group(1), at, end)
            pos = max(at + 1, end)

    def json(self) -> None:
        text = self.text
        at = self.code(0)
        if text[at:at + 1] != "{":
            return
        end_of = self.lex.compile(r"([({\[])|(,)|([)}\]])")
        pos = at + 1
        while True:
            at = self.code(pos)
            key = _JSON_KEY.match(text, at)
            if key is None:
                return
            stop = self.lex.find(end_of, text, key.end())
            end = stop.start() if stop is not None else len(text)
            last = end
            while last > at and text[last - 1] in " \t\r\n":
                last -= 1
            name = key.group(1)
            self.entry(unescaped(name) if name is not None else key.group(2) or key.group(3) or "", "key", at, last)
            if stop is None or stop.group() != ",":
                return
            pos = stop.end()
