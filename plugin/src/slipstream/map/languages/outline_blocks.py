"""Outlines of files told by their blocks: SQL, protobuf, GraphQL, CSS and SCSS, Terraform, JSON."""
from __future__ import annotations

import re

from slipstream.map.languages.lexer import Lexicon, after, quoted
from slipstream.map.languages.walker import Walker
from slipstream.map.model import FileScan, OutlineEntry

_SQL = re.compile(
    r"(?:create|alter)\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:global|local|temp|temporary|unlogged|external|foreign|unique|"
    r"clustered|"
    r"nonclustered|virtual|recursive|editionable|definer\s*=\s*\S+)\s+)*(table|view|materialized\s+view|function|"
    r"procedure|proc|trigger|"
    r"index|type|schema|sequence|domain|extension|policy|database)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?"
    r"((?:[\w$]+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\])(?:\s*\.\s*(?:[\w$]+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\]))*)", re.I)
_PROTO = re.compile(r"(message|enum|service|extend|oneof)\s+([\w.]+)\s*\{|rpc\s+(\w+)\s*\(")
_PROTO_IMPORT = re.compile(r"import\s+(?:public\s+|weak\s+)?[\"']([^\"'\n]+)[\"']\s*;|package\s+([\w.]+)\s*;")
_GRAPHQL = re.compile(r"(?:extend\s+)?(type|interface|input|enum|union|scalar|directive|fragment|query|mutation|"
                      r"subscription|schema)\b"
                      r"[ \t]*@?(\w+)?")
_CSS_VARIABLE = re.compile(r"(--[\w-]+|\$[\w-]+)\s*:")
_CSS_AT = re.compile(r"@([\w-]+)\s*([^{};]*)")
_TERRAFORM = re.compile(r"(\w+)((?:[ \t]+(?:\"[^\"\n]*\"|[\w.-]+))*)[ \t]*\{|([\w-]+)[ \t]*=(?!=)")
_JSON_KEY = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"\s*:|([A-Za-z_$][\w$]*)\s*:")
_DOLLAR = re.compile(r"\$(\w*)\$")


def _hook(text: str, match: re.Match[str]) -> int:
    token = match.group()
    if token == "/*":
        return after(text, "*/", match.end())
    if token == '"""':
        return after(text, '"""', match.end())
    return after(text, token, match.end())


_NOISE = quoted('"') + "|" + quoted("'")
_SQL_LEXICON = Lexicon(r"'[^']*'|\"[^\"]*\"|--[^\n]*|`[^`\n]*`", r"/\*|\$[A-Za-z_]*\$", _hook)
_C_LEXICON = Lexicon(_NOISE + r"|//[^\n]*", r"/\*", _hook)
_CSS_LEXICON = Lexicon(_NOISE + r"|//(?<!:\/\/)[^\n]*|url\([^)'\"\n]*\)", r"/\*", _hook)
_HASH_LEXICON = Lexicon(r'"(?!"")[^"\\\n]*(?:\\.[^"\\\n]*){0,9999}"?|\#[^\n]*|//[^\n]*', r'/\*|"""', _hook)


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline`, imports and the purpose."""
    name = out.language
    lexicon = {"sql": _SQL_LEXICON, "css": _CSS_LEXICON, "scss": _CSS_LEXICON, "graphql": _HASH_LEXICON,
               "terraform": _HASH_LEXICON}.get(name, _C_LEXICON)
    blocks = _Blocks(text, out, lexicon)
    blocks.hash_comments = name in ("graphql", "terraform")
    blocks.line_comment = "--" if name == "sql" else "//"
    blocks.header_purpose()
    {"sql": blocks.sql, "proto": blocks.proto, "graphql": blocks.graphql, "css": blocks.css, "scss": blocks.css,
     "terraform": blocks.terraform, "json": blocks.json}[name]()


class _Blocks(Walker):
    """Statements of a file up to `;` or behind their braces."""

    def entry(self, name: str, kind: str, at: int, end: int, level: int = 1) -> OutlineEntry:
        line = self.lines.at(at)
        made = OutlineEntry(" ".join(name.split()), kind, line, max(line, self.lines.at(max(at, end - 1))), level)
        self.out.outline.append(made)
        return made

    def sql(self) -> None:
        text = self.text
        end_of = self.lex.compile(r"([(\[])|(;)|(\n[ \t]*[gG][oO][ \t]*\r?(?=\n|\Z))")
        pos = 0
        while True:
            at = self.trivia(pos)
            if at >= len(text):
                return
            stop = self.lex.find(end_of, text, at)
            end = stop.end() if stop is not None else len(text)
            found = _SQL.match(text, at)
            if found is not None:
                kind = " ".join(found.group(1).lower().split()).replace("proc", "procedure").replace("procedureedure",
                                                                                                     "procedure")
                if kind in ("function", "procedure", "trigger") and "$" not in text[at:end] and re.search(
                        r"\bbegin\b", text[at:end], re.I):
                    closing = re.compile(r"(?m)^[ \t]*end\b[^\n;]*(?:;|//|\$\$|$)", re.I).search(text, end)
                    end = closing.end() if closing is not None else end
                if found.group().lower().startswith("create"):
                    name = re.sub(r"\s*\.\s*", ".", re.sub(r"[\"`\[\]]", "", found.group(2)))
                    self.entry(name, kind, at, end)
            pos = max(at + 1, end)

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
        end_of = self.lex.compile(r"([(\[])|(\{)|([)}\]])|(\n(?=[A-Za-z#\"]))")
        pos = 0
        while True:
            at = self.trivia(pos)
            if text.startswith('"', at):
                at = self.trivia(after(text, '"""', at + 3) if text.startswith('"""', at) else after(text, '"', at + 1))
            if at >= len(text):
                return
            found = _GRAPHQL.match(text, at)
            stop = self.lex.find(end_of, text, at)
            end = len(text.rstrip()) if stop is None else self.lex.close(text,
                                                                         stop.start()) if stop.group() == "{" else stop.start()
            if found is not None:
                named = found.group(1) != "schema" and found.group(2)
                self.entry(named or found.group(1), found.group(1), at, end)
            pos = max(at + 1, end)

    def css(self) -> None:
        self._css(0, len(self.text), 1)

    def _css(self, pos: int, stop: int, level: int) -> None:
        text = self.text
        end_of = self.lex.compile(r"([(\[])|(\{)|(;)|([)}\]])")
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            if text[at] == "}":
                pos = at + 1
                continue
            variable = _CSS_VARIABLE.match(text, at)
            mark = self.lex.find(end_of, text, at)
            if mark is None:
                return
            block = mark.group() == "{"
            end = self.lex.close(text, mark.start()) if block else mark.end() if mark.group() == ";" else mark.start()
            rule = _CSS_AT.match(text, at)
            if variable is not None:
                self.entry(variable.group(1), "property", at, end, level)
            elif rule is not None:
                if rule.group(1) in ("import", "use", "forward"):
                    for name in re.findall(r"[\"']([^\"'\n]+)[\"']", rule.group(2))[:1]:
                        self.out.imports.append((name, "import", ()))
                elif block and level == 1:
                    self.entry(f"@{rule.group(1)} {rule.group(2)}".strip(), rule.group(1), at, end, level)
            elif block and level == 1:
                self.entry(text[at:mark.start()][:200], "rule", at, end, level)
            if block and level < 20:
                self._css(mark.end(), end - 1, level + 1)
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
            self.entry(key.group(1) or key.group(2) or "", "key", at, last)
            if stop is None or stop.group() != ",":
                return
            pos = stop.end()
