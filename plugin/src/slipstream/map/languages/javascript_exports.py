"""What a JavaScript or TypeScript file exports by lists, objects and names, and what it requires by calls."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript_class import ClassScanner
from slipstream.map.languages.lexer import after
from slipstream.map.model import Definition

_WORD = pattern_of(r"[^\W\d][\w$]*|\$[\w$]*")
_EXPORT_LIST = pattern_of(r"\s*(?:type\b\s*)?(?:\*\s*(?:as\s+([\w$]+|\"[^\"\n]*\"|'[^'\n]*')\s*)?|\{([^}]{0,100000})\}\s*)"
                          r"(?:from\s*(['\"])([^'\"\n]{1,500})\3)?")
_SPECIFIER = pattern_of(r"(?:type\s+)?([\w$]+|\"[^\"\n]*\")(?:\s+as\s+([\w$]+|\"[^\"\n]*\"))?")
_COMMENT = pattern_of(r"'[^'\n]*'|\"[^\"\n]*\"|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_CLOSED = pattern_of(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|/\*(?:[^*]|\*(?!/))*\*/")
_CALLED = pattern_of(r"\s*(?:/\*[^*]{0,200}\*/\s*)?(['\"`])([^'\"`\n$]{1,500})\1\s*[,)]")
_OBJECT_KEY = pattern_of(r"\s*(?:async\s+)?(?:\*\s*)?(?:(?:get|set)\s+(?=[\w$'\"]))?"
                         r"([\w$]+|'[^'\n]*'|\"[^\"\n]*\")\s*(,|\}|:|\()")


class ExportScanner(ClassScanner):
    """Names that are exported away from their definitions."""

    def export_list(self, pos: int, owner: Definition | None) -> int:
        text, before = self.text, 0
        brace = pos if text[pos] == "{" else self.lex.space(text, pos + 4)
        if text[brace:brace + 1] == "{":
            close = self.lex.close(text, brace)
            if "/" in text[brace:close]:  # a comment, with braces and words of its own
                text, before = without_comments(text[pos:close]) + text[close:close + 600], pos
        match = _EXPORT_LIST.match(text, pos - before)
        if match is None:
            return self.lex.expression_end(self.text, pos, False)
        source = match.group(4) or ""
        names: list[str] = []
        line = self.lines.at(pos)
        if match.group(2) is not None:
            for found in _SPECIFIER.finditer(match.group(2)):
                at = before + match.start(2) + found.start()
                local = found.group(1).strip("\"")
                name = (found.group(2) or local).strip("\"")
                names.append(local)
                if not source:
                    self.exported_names.append((local, name, owner))
                    if name == local:
                        continue
                self.out.reexports.append((name, self.lines.at(at), source, local))
        else:
            name = (match.group(1) or "*").strip("'\"")
            names.append("*")
            self.out.reexports.append((name, line, source, "*"))
        if source:
            self.out.imports.append((source, "reexport", tuple(names)))
        return self.semicolon(before + match.end())

    def component_options(self, brace: int, owner: Definition, inside: bool = False) -> None:
        """`export default { data() {}, methods: { load() {} } }` of a component: functions, also of `computed`."""
        text = self.text
        lex = self.lex
        close = lex.close(text, brace)
        pos = brace + 1
        while True:
            at = self.trivia(pos)
            if at >= close - 1:
                return
            start = self.take_doc(at)
            match = _OBJECT_KEY.match(text, at, close)
            if match is None:
                pos = lex.expression_end(text, at, True) + 1
                continue
            name = match.group(1).strip("'\"")
            kind = "method"
            head = end = match.end()
            if match.group(2) == "(":
                head = self.parameters(end - 1)
                body = lex.space(text, head)
                end = lex.close(text, body) if text[body:body + 1] == "{" else head
            elif match.group(2) == ":":
                value = lex.space(text, end)
                if name in ("methods", "computed") and text[value:value + 1] == "{" and not inside:
                    self.component_options(value, owner, True)
                    kind, end = "", lex.close(text, value)
                else:
                    doc = self.doc_text
                    found, head, end = self.value(value, True)
                    kind = "method" if found == "function" else "accessor" if inside and text[value] == "{" else ""
                    self.doc_text = doc
            else:
                kind, end = "", end - 1
            if kind:
                self.add(name, kind, match.start(1), start, end, (at, head), owner, True, False)
            end = lex.space(text, end)
            pos = end + 1 if text[end:end + 1] == "," else max(end, at + 1)

    def exported_object(self, pos: int, owner: Definition | None) -> None:
        """`module.exports = { a, b: c, d() {} }`: names of the file are exported, functions written here are theirs."""
        text = self.text
        lex = self.lex
        close = lex.close(text, pos)
        at = pos + 1
        while at < close - 1:
            at = lex.space(text, at)
            match = _OBJECT_KEY.match(text, at, close)
            if match is None:
                at = lex.expression_end(text, at, True) + 1
                continue
            name = match.group(1).strip("'\"")
            mark = match.group(2)
            end = match.end()
            if mark in ",}":
                self.exported_names.append((name, name, owner))
            elif mark == ":":
                value = lex.space(text, end)
                word = _WORD.match(text, value)
                self.doc_text = ""
                kind, head, end = self.value(value, True)
                if word is not None and text[word.end():end].strip() == "":
                    self.exported_names.append((word.group(), name, owner))
                elif kind in ("function", "class"):
                    definition = self.add(name, kind, match.start(1), at, end, (at, head), owner, True, False)
                    if kind == "class":
                        self.class_body(head, definition)
                end = after(text, ",", end) if text[end:end + 1] == "," else end + 1
            else:
                body = lex.space(text, lex.close(text, end - 1))
                if text[body:body + 1] == "{":
                    end = lex.close(text, body)
                    self.add(name, "function", match.start(1), at, end, (at, body), owner, True, False)
                end = lex.expression_end(text, end, True) + 1
            at = end

    def link_exports(self) -> None:
        """Carry export lists, default names and assignments to `exports` over to the definitions they name."""
        local: dict[str, list[Definition]] = {}
        for definition in self.out.definitions:
            local.setdefault(definition.name, []).append(definition)
        for name, public, owner in self.exported_names:
            scope = local if owner is None else {d.name: [d] for d in owner.members if d.name == name}
            for definition in scope.get(name, ()):
                definition.exported = True
                definition.default = definition.default or public == "default"
        for name, at, owner in self.default_names:
            found = local.get(name, ()) if owner is None else ()
            if not found:
                self.out.reexports.append(("default", self.lines.at(at), "", name))
            for definition in found:
                definition.exported = definition.default = True
        for short, value, name_at, start, end, at in self.assigned:
            if value in local and short == value:
                continue
            self.doc_text = ""
            self.add(short, "const", name_at, start, end, (at, end), None, True, short == "default")
        if self.assigned:
            self.out.definitions.sort(key=_by_line)
        holders = {d.name: d for d in self.out.definitions if d.exported}
        for definition in self.out.definitions:
            if definition.kind == "method" and definition.parent and definition.parent.split(".")[0] not in holders:
                definition.exported = False
        self.mark_overloads(self.out.definitions)

    def called_imports(self) -> None:
        """`require(...)` and `import(...)` anywhere in code."""
        text = self.text
        for opening, kind in (("require(", "require"), ("import(", "dynamic")):
            found = text.find(opening)
            while found >= 0:
                match = _CALLED.match(text, found + len(opening))
                if match is not None and self.is_code(found):
                    self.out.imports.append((match.group(2), kind, ()))
                found = text.find(opening, found + len(opening))

    def is_code(self, pos: int) -> bool:
        """Whether the call at `pos` stands neither in a comment nor in a string, judged by its line."""
        text = self.text
        line = text[max(text.rfind("\n", 0, pos) + 1, pos - 500):pos]
        if line[-1:].isalnum() or line[-1:] in ("_", "$") or (line[-1:] == "." and line[-3:] != "..."):
            return False
        line = _CLOSED.sub("", line)
        return not (line.lstrip().startswith("*") or "/*" in line or "//" in line.replace("\\/", "")
                    or line.count('"') % 2 or line.count("'") % 2 or line.count("`") % 2)


def without_comments(text: str) -> str:
    """The text of an import or export with blanks for its comments."""
    return _COMMENT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    return " " * len(found) if found[0] == "/" else found


def _by_line(definition: Definition) -> int:
    return definition.line
