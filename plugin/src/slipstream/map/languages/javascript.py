"""JavaScript and TypeScript, with JSX: statements of a module, ES and CommonJS exports, imports."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript_exports import ExportScanner, without_comments
from slipstream.map.model import Definition, FileScan

_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_DECLARATION_WORDS = frozenset(("class", "function", "interface", "type", "enum", "namespace", "module", "const", "let", "var",
                                "abstract", "async", "global", "declare", "using"))
_LITERALS = frozenset(("null", "true", "false", "undefined", "this"))
_BLOCK_WORDS = frozenset(("if", "for", "while", "do", "try", "switch", "with", "else", "catch", "finally"))
_IMPORT = re.compile(r"import\b\s*(type\b(?!\s*(?:,|from\b)))?\s*(?:([^'\"();`=]{0,60000})\bfrom\s*)?"
                     r"(['\"])([^'\"\n]{1,500})\3")
_ATTRIBUTES = re.compile(r"[ \t]*(?:with|assert)\s*\{")
_IMPORT_EQUALS = pattern_of(r"import\s+(?:type\s+)?([\w$]+)\s*=\s*(?:require\s*\(\s*['\"]([^'\"\n]+)['\"]\s*\)|[\w$.]+)")
_IMPORTED_NAME = re.compile(r"(?:type\s+)?([\w$*]+)(?:\s+as\s+([\w$]+))?")
_TARGET = re.compile(r"([\w$]+(?:\s*\.\s*[\w$#]+|\[\s*['\"][^'\"\n]{1,100}['\"]\s*\])*)\s*=(?![=>])\s*")
_MODULE = pattern_of(r"(?:namespace|module|global)\b\s*([\w$.]+|'[^'\n]*'|\"[^\"\n]*\")?\s*\{")
_ENUM_NAME = pattern_of(r"enum\s+([\w$]+)\s*\{")
_TYPE_NAME = pattern_of(r"type\s+([\w$]+)\s*(?=[=<])")
_DECLARATOR = re.compile(r"\s*([\w$]+)(?=\s*(?:[=:!,;]|\n|\Z|//|/\*|in\b|of\b))")
_PATTERN_NAME = pattern_of(r"(?:([\w$]+)\s*:\s*)?(?:\.\.\.)?([\w$]+)\s*(?:=[^,}\]]{0,200})?(?=\s*[,}\]])")
_WRAPPER = pattern_of(r"(?m)^[;!+(]*(?:define\s*\([^;{}()]{0,2000}|\(\s*)?(?:async\s+)?(?:function\s*[\w$]*\s*|"
                      r"(?<=\())\((?=[^()]{0,500}\)\s*(?:=>\s*)?\{)")
_DIRECTIVE = re.compile(r"\s*(?:'use [\w -]+'|\"use [\w -]+\")\s*;?")
_OPTIONS = pattern_of(r"(?:(?:Vue\s*\.\s*extend|defineComponent)\s*\(\s*)?\{")
_HIGHER_COMPONENT = pattern_of(r"(?:[\w$]+\.)?(?:forwardRef|memo|lazy|observer|styled)\b")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a JavaScript or TypeScript file."""
    read_module(text, out, out.language)


def read_module(text: str, out: FileScan, key: str) -> None:
    """Read the statements of a text in the dialect `key`: typescript, tsx, javascript or jsx."""
    _Module(text, out, key).run()


class _Module(ExportScanner):
    """The statements of a file, of its namespaces, and what they export."""

    def run(self) -> None:
        text = self.text
        pos = 0
        if text.startswith("#!"):
            pos = max(0, text.find("\n"))
        self.purpose(pos)
        self.statements(pos, None, False)
        if not self.out.definitions and not self.out.reexports and not self.exported_names:
            self.wrapped()
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

    def wrapped(self) -> None:
        """A file that is one call of a function (a closure, an AMD module): what that function holds is the file's."""
        text = self.text
        found = _WRAPPER.search(text)
        if found is None:
            return
        brace = self.lex.space(text, self.lex.close(text, found.end() - 1))
        if text.startswith("=>", brace):
            brace = self.lex.space(text, brace + 2)
        if text[brace:brace + 1] == "{":
            self.statements(brace + 1, self.hollow(), False)

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
                counted = len(made)
                if exported:
                    for name in _PATTERN_NAME.finditer(text, pos + 1, min(close, pos + 20_000)):
                        made.append(self.add(name.group(2), "const", name.start(2), begin, close, (at, close), owner,
                                             True, False))
                end = lex.expression_end(text, close, True)
                for definition in made[counted:]:
                    definition.end = self.lines.at(end - 1)
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
        elif self.out.language == "vue" and kind == "const":
            options = _OPTIONS.match(text, pos)
            if options is not None:
                self.component_options(options.end() - 1, definition)
        return end

    def import_statement(self, pos: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        following = text[self.lex.space(text, pos + 6):][:1]
        if following in ("(", "."):
            return -1
        match = _IMPORT.match(text, pos)
        if match is None or "/" in (match.group(2) or ""):  # a comment, with quotes and words of its own
            match = _IMPORT.match(without_comments(text[pos:pos + 20_000])) or match
        end = pos + match.end() - match.start() if match else self.lex.expression_end(text, pos, False)
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
