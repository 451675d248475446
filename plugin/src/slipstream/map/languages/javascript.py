"""JavaScript and TypeScript, with JSX: statements of a module, ES and CommonJS exports, imports."""
from __future__ import annotations

import re

from slipstream.map.languages.javascript_class import ClassScanner
from slipstream.map.languages.lexer import after
from slipstream.map.model import Definition, FileScan

_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_DECLARATION_WORDS = frozenset(("class", "function", "interface", "type", "enum", "namespace", "module", "const", "let", "var",
                                "abstract", "async", "global", "declare", "using"))
_LITERALS = frozenset(("null", "true", "false", "undefined", "this"))
_BLOCK_WORDS = frozenset(("if", "for", "while", "do", "try", "switch", "with", "else", "catch", "finally"))
_IMPORT = re.compile(r"import\b\s*(type\b(?!\s*(?:,|from\b)))?\s*(?:([^'\"();`=]{0,60000})\bfrom\s*)?"
                     r"(['\"])([^'\"\n]{1,500})\3")
_ATTRIBUTES = re.compile(r"[ \t]*(?:with|assert)\s*\{")
_IMPORT_EQUALS = re.compile(r"import\s+(?:type\s+)?([\w$]+)\s*=\s*(?:require\s*\(\s*['\"]([^'\"\n]+)['\"]\s*\)|[\w$.]+)")
_IMPORTED_NAME = re.compile(r"(?:type\s+)?([\w$*]+)(?:\s+as\s+([\w$]+))?")
_EXPORT_LIST = re.compile(r"\s*(?:type\b\s*)?(?:\*\s*(?:as\s+([\w$]+|\"[^\"\n]*\"|'[^'\n]*')\s*)?|\{([^}]{0,100000})\}\s*)"
                          r"(?:from\s*(['\"])([^'\"\n]{1,500})\3)?")
_SPECIFIER = re.compile(r"(?:type\s+)?([\w$]+|\"[^\"\n]*\")(?:\s+as\s+([\w$]+|\"[^\"\n]*\"))?")
_CALLED = re.compile(r"\s*(?:/\*[^*]{0,200}\*/\s*)?(['\"`])([^'\"`\n$]{1,500})\1\s*[,)]")
_TARGET = re.compile(r"([\w$]+(?:\s*\.\s*[\w$#]+|\[\s*['\"][^'\"\n]{1,100}['\"]\s*\])*)\s*=(?![=>])\s*")
_MODULE = re.compile(r"(?:namespace|module|global)\b\s*([\w$.]+|'[^'\n]*'|\"[^\"\n]*\")?\s*\{")
_ENUM_NAME = re.compile(r"enum\s+([\w$]+)\s*\{")
_TYPE_NAME = re.compile(r"type\s+([\w$]+)\s*(?=[=<])")
_DECLARATOR = re.compile(r"\s*([\w$]+)(?=\s*(?:[=:!,;]|\n|\Z|//|/\*|in\b|of\b))")
_PATTERN_NAME = re.compile(r"(?:([\w$]+)\s*:\s*)?(?:\.\.\.)?([\w$]+)\s*(?:=[^,}\]]{0,200})?(?=\s*[,}\]])")
_OBJECT_KEY = re.compile(r"\s*(?:async\s+)?(?:\*\s*)?(?:(?:get|set)\s+(?=[\w$'\"]))?"
                         r"([\w$]+|'[^'\n]*'|\"[^\"\n]*\")\s*(,|\}|:|\()")
_DIRECTIVE = re.compile(r"\s*(?:'use [\w -]+'|\"use [\w -]+\")\s*;?")
_HIGHER_COMPONENT = re.compile(r"(?:[\w$]+\.)?(?:forwardRef|memo|lazy|observer|styled)\b")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a JavaScript or TypeScript file."""
    read_module(text, out, out.language)


def read_module(text: str, out: FileScan, key: str) -> None:
    """Read the statements of a text in the dialect `key`: typescript, tsx, javascript or jsx."""
    _Module(text, out, key).run()


class _Module(ClassScanner):
    """The statements of a file, of its namespaces, and what they export."""

    def run(self) -> None:
        text = self.text
        pos = 0
        if text.startswith("#!"):
            pos = max(0, text.find("\n"))
        self.purpose(pos)
        self.statements(pos, None, False)
        self.link_exports()
        self.called_imports()

    def purpose(self, pos: int) -> None:
        """The summary of the first comment that has one, before the first statement (directives passed over)."""
        for _ in range(6):
            at = self.header_purpose(pos)
            directive = _DIRECTIVE.match(self.text, at)
            if self.out.purpose or directive is None:
                return
            pos = directive.end()

    def statements(self, pos: int, owner: Definition | None, exported: bool) -> int:
        """Read statements until an unopened `}`; the offset after it."""
        text = self.text
        size = len(text)
        self.depth += 1
        while True:
            at = self.trivia(pos)
            if at >= size:
                break
            if text[at] in ")]}":
                if text[at] == "}" and owner is not None:
                    self.depth -= 1
                    return at + 1
                pos = at + 1
                continue
            doc = self.doc
            start = doc if doc >= 0 else at
            first = at
            if text[at] == "@":
                at = self.decorators(at)
            pos = self.statement(at, start, doc, first, owner, exported)
            if pos <= at:
                pos = at + 1
        self.depth -= 1
        return size

    def statement(self, at: int, start: int, doc: int, first: int, owner: Definition | None, exported: bool) -> int:
        """Read the statement at `at`; `start` is its doc comment or first decorator, `first` its first code."""
        text = self.text
        self.doc_text = text[doc:first] if doc >= 0 else ""
        match = _WORD.match(text, at)
        if match is None:
            return self.lex.expression_end(text, at, False)
        word = match.group()
        default = False
        pos = at
        if word == "export":
            exported = True
            pos = self.lex.space(text, match.end())
            if text[pos:pos + 1] == "@":
                pos = self.decorators(pos)
            match = _WORD.match(text, pos)
            word = match.group() if match else ""
            if text[pos:pos + 1] in ("{", "*") or (word == "type" and text[self.lex.space(text, pos + 4):][:1] in ("{", "*")):
                return self.export_list(pos, owner)
            if text[pos:pos + 1] == "=":
                return self.export_default(self.lex.space(text, pos + 1), start, at, owner)
            if word == "default":
                default = True
                pos = self.lex.space(text, pos + 7)
                if text[pos:pos + 1] == "@":
                    pos = self.decorators(pos)
                match = _WORD.match(text, pos)
                word = match.group() if match else ""
            elif word == "as":
                return self.lex.expression_end(text, pos, False)
        while match is not None and word in ("declare", "abstract", "async"):
            following = self.lex.space(text, match.end())
            match = _WORD.match(text, following)
            if match is None or match.group() not in _DECLARATION_WORDS:
                match = None
                break
            exported = exported or word == "declare"
            word = match.group()
            pos = following
        if match is not None:
            found = self.declaration(word, pos, start, at, owner, exported, default)
            if found >= 0:
                return found
        if default:
            return self.export_default(pos, start, at, owner)
        if word in _BLOCK_WORDS:
            return self.lex.expression_end(text, pos, False, True)
        if exported and word != "import":
            return self.lex.expression_end(text, pos, False)
        return self.expression(at, start, owner)

    def declaration(self, word: str, pos: int, start: int, at: int, owner: Definition | None, exported: bool,
                    default: bool) -> int:
        """Read a declaration that begins with `word` at `pos`; -1 when it is none."""
        text = self.text
        if word == "function":
            return self.function(pos, start, at, owner, exported, default)
        if word == "class":
            return self.class_declaration(pos, start, at, owner, exported, default)
        if word == "interface":
            return self.interface(pos, start, at, owner, exported, default)
        if word == "import":
            return self.import_statement(pos, start, owner, exported)
        if word in ("const", "let", "var", "using"):
            following = self.lex.space(text, pos + len(word))
            if word == "const" and text.startswith("enum", following) and _ENUM_NAME.match(text, following):
                return self.enum(following, start, at, owner, exported)
            if following > pos + len(word) or text[following:following + 1] in ("{", "["):
                return self.variables(following, start, at, owner, exported)
            return -1
        if word == "enum":
            return self.enum(pos, start, at, owner, exported)
        if word == "type":
            match = _TYPE_NAME.match(text, pos)
            if match is None:
                return -1
            end = match.end()
            if text[end] == "<":
                end = self.lex.space(text, max(end, self.lex.angles(text, end)))
            if text[end:end + 1] != "=":
                return -1
            end = self.lex.type_end(text, end + 1)
            end = self.semicolon(end)
            self.add(match.group(1), "type", match.start(1), start, end, (at, end), owner, exported, default)
            return end
        if word in ("namespace", "module", "global"):
            match = _MODULE.match(text, pos)
            if match is None or (word != "global" and match.group(1) is None) or self.depth > 40:
                return -1
            if word == "global" or match.group(1)[0] in "'\"":
                return self.statements(match.end(), self.hollow(), True)
            definition = self.add(match.group(1), "class", match.start(1), start, match.end(), (at, match.end() - 1),
                                  owner, exported, False)
            end = self.statements(match.end(), definition, exported)
            definition.end = self.lines.at(end - 1)
            return end
        return -1

    def enum(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool) -> int:
        match = _ENUM_NAME.match(self.text, pos)
        if match is None:
            return -1
        end = self.lex.close(self.text, match.end() - 1)
        definition = self.add(match.group(1), "enum", match.start(1), start, end, (at, match.end() - 1), owner, exported, False)
        self.enum_members(match.end(), end, definition)
        return end

    def variables(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool) -> int:
        """Read the declarators of `const`, `let` or `var`, the first of which begins at `pos`."""
        text = self.text
        lex = self.lex
        made: list[Definition] = []
        begin = start
        while True:
            if text[pos:pos + 1] in ("{", "["):
                close = lex.close(text, pos)
                if exported:
                    for name in _PATTERN_NAME.finditer(text, pos + 1, min(close, pos + 20_000)):
                        made.append(self.add(name.group(2), "const", name.start(2), begin, close, (at, close), owner,
                                             True, False))
                end = lex.expression_end(text, close, True)
            else:
                match = _DECLARATOR.match(text, pos)
                if match is None:
                    end = lex.expression_end(text, pos, True)
                else:
                    definition, end = self.declarator(match, begin, at, owner, exported)
                    made.append(definition)
            following = lex.space(text, end)
            if text[following:following + 1] == ",":
                pos = lex.space(text, following + 1)
                begin = at = pos
                self.doc_text = ""
                continue
            break
        end = self.semicolon(end)
        if len(made) == 1:
            made[0].end = self.lines.at(end - 1)
        return end

    def declarator(self, match: re.Match[str], start: int, at: int, owner: Definition | None,
                   exported: bool) -> tuple[Definition, int]:
        text = self.text
        lex = self.lex
        name = match.group(1)
        doc = self.doc_text
        pos = lex.space(text, match.end())
        if text[pos:pos + 1] == "!":
            pos = lex.space(text, pos + 1)
        end = match.end()
        if text[pos:pos + 1] == ":":
            end = lex.type_end(text, pos + 1)
            pos = lex.space(text, end)
        kind = "const"
        default = False
        head = end
        if text[pos:pos + 1] == "=":
            pos = lex.space(text, pos + 1)
            while True:                                        # var app = exports = module.exports = {}
                target = _TARGET.match(text, pos)
                if target is None:
                    break
                if target.group(1) in ("module.exports", "exports"):
                    exported = default = True
                elif target.group(1).startswith(("exports.", "module.exports.")):
                    exported = True
                pos = target.end()
            kind, head, end = self.value(pos, True)
            if kind in ("const", "function") and name[0].isupper() and lex.jsx and (
                    self.has_jsx(head, end) if kind == "function" else _HIGHER_COMPONENT.match(text, pos)):
                kind = "component"
        self.doc_text = doc
        definition = self.add(name, "class" if kind == "class" else kind, match.start(1), start, end, (at, head), owner,
                              exported, default)
        if kind == "class":
            self.class_body(head, definition)
        return definition, end

    def export_default(self, pos: int, start: int, at: int, owner: Definition | None) -> int:
        """`export default EXPRESSION`, `export = EXPRESSION` or `module.exports = EXPRESSION`."""
        text = self.text
        match = _WORD.match(text, pos)
        doc = self.doc_text
        kind, head, end = self.value(pos, False)
        end = self.semicolon(end)
        self.doc_text = doc
        if match is not None and text[match.end():end].strip(" \t\r\n;")[:1] in ("", ",") and match.group() not in _LITERALS:
            self.default_names.append((match.group(), at, owner))
            return end
        name = "default"
        word = match.group() if match else ""
        if kind in ("function", "class"):
            named = re.compile(r"(?:async\s+)?(?:function\s*\*?|class)\s*(?!extends\b|implements\b)([\w$]+)").match(text, pos)
            name = named.group(1) if named and word in ("async", "function", "class") else name
        definition = self.add(name, kind if name != "default" else "default", at, start, end, (at, head), owner, True, True)
        if kind == "class":
            self.class_body(head, definition)
        return end

    def export_list(self, pos: int, owner: Definition | None) -> int:
        text = self.text
        match = _EXPORT_LIST.match(text, pos)
        if match is None:
            return self.lex.expression_end(text, pos, False)
        source = match.group(4) or ""
        names: list[str] = []
        line = self.lines.at(pos)
        if match.group(2) is not None:
            for found in _SPECIFIER.finditer(re.sub(r"//[^\n]*|/\*[^*]*\*/", _blank, match.group(2))):
                at = match.start(2) + found.start()
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
        return self.semicolon(match.end())

    def import_statement(self, pos: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        following = text[self.lex.space(text, pos + 6):][:1]
        if following in ("(", "."):
            return -1
        match = _IMPORT.match(text, pos)
        end = match.end() if match else pos
        if match is None:
            end = self.lex.expression_end(text, pos, False)
            statement = text[pos:end]
            if "/*" in statement or "//" in statement:
                match = _IMPORT.match(re.sub(r"//[^\n]*|/\*[^*]*\*/", "", statement))
        if match is not None:
            clause = match.group(2) or ""
            names = tuple(m.group(1) for m in _IMPORTED_NAME.finditer(clause))
            self.out.imports.append((match.group(4), "type" if match.group(1) else "import", names))
            attributes = _ATTRIBUTES.match(text, end)
            if attributes is not None:
                end = self.lex.close(text, attributes.end() - 1)
            return self.semicolon(end)
        equals = _IMPORT_EQUALS.match(text, pos)
        if equals is not None:
            end = self.semicolon(equals.end())
            if equals.group(2):
                self.out.imports.append((equals.group(2), "require", ()))
            if exported:
                self.add(equals.group(1), "const", equals.start(1), start, end, (pos, end), owner, True, False)
            return end
        return end

    def expression(self, at: int, start: int, owner: Definition | None) -> int:
        """An expression statement: assignments to exports and to properties define something."""
        text = self.text
        target = _TARGET.match(text, at)
        if target is None:
            return self.semicolon(self.lex.expression_end(text, at, False))
        targets = [(target.group(1), target.start(1))]
        pos = target.end()
        while True:
            target = _TARGET.match(text, pos)
            if target is None:
                break
            targets.append((target.group(1), target.start(1)))
            pos = target.end()
        pos = self.lex.space(text, pos)
        names = [re.sub(r"\s+", "", re.sub(r"\[\s*['\"]([^'\"]*)['\"]\s*\]", r".\1", name)) for name, _ in targets]
        if any(name in ("module.exports", "exports") for name in names):
            if text[pos:pos + 1] == "{":
                self.exported_object(pos, owner)
                return self.semicolon(self.lex.expression_end(text, pos, False))
            return self.export_default(pos, start, at, owner)
        if not any("." in name for name in names):
            return self.semicolon(self.lex.expression_end(text, pos, False))
        doc = self.doc_text
        kind, head, end = self.value(pos, False)
        end = self.semicolon(end)
        self.doc_text = doc
        made = False
        for name, (_, name_at) in zip(reversed(names), reversed(targets)):
            holder, _, short = name.rpartition(".")
            if holder in ("exports", "module.exports"):
                named = _WORD.match(text, pos)
                if kind == "const" and named is not None and text[named.end():end].strip() in ("", ";"):
                    self.exported_names.append((named.group(), short, owner))
                    self.assigned.append((short, named.group(), name_at, start, end, at))
                    continue
                definition = self.add(short, kind, name_at, start, end, (at, head), owner, True, short == "default")
            elif holder and not holder.startswith("this") and kind != "const" and not made:
                holder = holder.removesuffix(".prototype")
                definition = self.add(short, "method" if kind == "function" else kind, name_at, start, end, (at, head), None,
                                      not short.startswith("_"), False)
                definition.parent = holder
            else:
                continue
            made = True
            if kind == "class":
                self.class_body(head, definition)
        return end

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
        before = line[-1:]
        return not (before.isalnum() or before in ("_", "$", ".") or "//" in line or line.lstrip().startswith("*")
                    or "/*" in line or line.count('"') % 2 or line.count("'") % 2 or line.count("`") % 2)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _by_line(definition: Definition) -> int:
    return definition.line
