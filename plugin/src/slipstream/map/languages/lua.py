"""Lua: functions, methods of tables and local modules by counting `end`; long brackets and nested functions."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import adopt, comment_above
from slipstream.map.languages.lexer import Lexicon, after, quoted, tokens
from slipstream.map.languages.walker import Walker
from slipstream.map.model import Definition, FileScan

_LONG = re.compile(r"(?:--)?\[(=*)\[")
_FUNCTION = re.compile(r"function[ \t]+([\w.]+(?::\w+)?)[ \t]*\(")
_ASSIGNED = re.compile(r"(?:local[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*function\b")
_VALUE = re.compile(r"local[ \t]+([A-Za-z_]\w*)[ \t]*(?:<\w+>[ \t]*)?=(?![ \t]*function\b)([ \t]*require\b)?")
_REQUIRE = re.compile(r"\brequire[ \t]*\(?[ \t]*['\"]([^'\"\n]+)['\"]")
_RETURNED = re.compile(r"\nreturn[ \t]+(\w+)\s*\Z")


def _hook(text: str, match: re.Match[str]) -> int:
    long = _LONG.match(text, match.start())
    return after(text, f"]{long.group(1)}]", long.end()) if long is not None else match.end()


_LEXICON = Lexicon(quoted('"') + "|" + quoted("'") + r"|--(?!\[=*\[)[^\n]*", (r"--\[=*\[", r"\[=*\["), _hook)
_TOKEN = _LEXICON.compile(r"((?<![\w.:])(?:function|if|do|repeat)(?!\w))|((?<![\w.:])(?:end|until)(?!\w))|(\n(?=[A-Za-z_]))")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the functions, module values and requires of a Lua file."""
    scanner = _LuaScanner("\n" + text, out, _LEXICON)
    scanner.lines.shift(-1)
    scanner.header_purpose()
    scanner.run()
    for match in _REQUIRE.finditer(text):
        out.imports.append((match.group(1), "require", ()))


class _LuaScanner(Walker):
    line_comment = "--"

    def run(self) -> None:
        text = self.text
        pos = 0
        depth = 0
        opened: Definition | None = None
        again = True
        while again:
            again = False
            for match in tokens(_TOKEN, text, pos):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == 1:
                    depth += 1
                elif kind == 2:
                    depth = max(0, depth - 1)
                    if not depth and opened is not None:
                        opened.end = self.lines.at(match.end() - 1)
                        opened = None
                elif kind == 3:
                    if not depth:
                        opened = self.statement(match.end())
                else:
                    pos = self.lex.hook(text, match)
                    again = True
                    break
        tables = [d for d in self.out.definitions if "." not in d.name and d.kind == "const"]
        strays = [d for d in self.out.definitions if d.parent]
        self.out.definitions = [d for d in self.out.definitions if not d.parent]
        for table in tables:
            table.kind = "class" if any(s.parent == table.name for s in strays) else "const"
        adopt(strays, self.out.definitions)
        returned = _RETURNED.search(text)
        for definition in self.out.definitions:
            if returned is not None and definition.name == returned.group(1):
                definition.exported = definition.default = True

    def statement(self, at: int) -> Definition | None:
        """A definition at the beginning of a line outside of every block; the function whose `end` is awaited."""
        text = self.text
        start = comment_above(text, at, self.line_comment)
        self.doc_text = text[start:at] if start < at else ""
        head = at + 6 if text.startswith("local ", at) else at
        found = _FUNCTION.match(text, head) or _ASSIGNED.match(text, at)
        line_end = text.find("\n", at)
        line_end = line_end if line_end >= 0 else len(text)
        if found is not None:
            holder, _, name = found.group(1).replace(":", ".").rpartition(".")
            paren = text.find("(", found.end() - 1)
            close = self.lex.close(text, paren) if 0 <= paren < line_end else line_end
            made = self.add(name, "method" if holder else "function", found.start(1), start, close, (at, close), None,
                            head == at and not text.startswith("local", at), False)
            made.parent = holder
            return made
        value = _VALUE.match(text, at)
        if value is not None and value.group(2) is None:
            self.add(value.group(1), "const", value.start(1), start, line_end, (at, line_end), None, False, False)
        return None
