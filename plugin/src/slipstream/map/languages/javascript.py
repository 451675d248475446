"""JavaScript and TypeScript, with JSX: statements of a module, ES and CommonJS exports, imports."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript_lexer import JavaScriptLexicon
from slipstream.map.languages.walker import Walker
from slipstream.map.model import Definition, FileScan

WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_DECLARATION_WORDS = frozenset(("class", "function", "interface", "type", "enum", "namespace", "module", "const", "let", "var",
                                "abstract", "async", "global", "declare", "using"))
_TYPE_WORDS = frozenset(("interface", "enum", "type", "namespace", "module", "global"))
_BLOCK_WORDS = frozenset(("if", "for", "while", "do", "try", "switch", "with", "else", "catch", "finally"))
_IMPORT = re.compile(r"import\b\s*(type\b(?!\s*(?:,|from\b)))?\s*(?:([^'\"();`=]{0,60000})\bfrom\s*)?"
                     r"(['\"])([^'\"\n]{1,500})\3")
_ATTRIBUTES = re.compile(r"[ \t]*(?:with|assert)\s*\{")
_IMPORT_EQUALS = pattern_of(r"import\s+(?:type\s+)?([\w$]+)\s*=\s*(?:require\s*\(\s*['\"]([^'\"\n]+)['\"]\s*\)|[\w$.]+)")
_IMPORTED_NAME = re.compile(r"(?:type\s+)?([\w$*]+)(?:\s+as\s+([\w$]+))?")
TARGET = re.compile(r"([\w$]+(?:\s*\.\s*[\w$#]+|\[\s*['\"][^'\"\n]{1,100}['\"]\s*\])*)\s*=(?![=>])\s*")
_WRAPPER = pattern_of(r"(?m)^[;!+(]*(?:define\s*\([^;{}()]{0,2000}|\(\s*)?(?:async\s+)?(?:function\s*[\w$]*\s*|"
                      r"(?<=\())\((?=[^()]{0,500}\)\s*(?:=>\s*)?\{)")
FUNCTION = re.compile(r"function\s*(?:/\*[^*]*\*/\s*)?\*?\s*([\w$]*)\s*")
_JSX_VALUE = re.compile(r"(?:return|=>|[?:]|&&)\s*\(?\s*<(?:[A-Za-z]|>)")
_DIRECTIVE = re.compile(r"\s*(?:'use [\w -]+'|\"use [\w -]+\")\s*;?")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a JavaScript or TypeScript file."""
    read_module(text, out, out.language)


def read_module(text: str, out: FileScan, key: str) -> None:
    """Read the statements of a text in the dialect `key`: typescript, tsx, javascript or jsx."""
    Module(text, out, key).run()


class Module(Walker):
    """The statements of a file, of its namespaces, and what they export."""

    lex: JavaScriptLexicon

    def __init__(self, text: str, out: FileScan, key: str) -> None:
        lexicon = _LEXICONS.get(key)
        if lexicon is None:
            lexicon = _LEXICONS[key] = JavaScriptLexicon(key != "typescript", key in ("typescript", "tsx"))
        super().__init__(text, out, lexicon)
        self.exported_names: list[tuple[str, str, Definition | None]] = []
        self.default_names: list[tuple[str, int, Definition | None]] = []
        self.assigned: list[tuple[str, str, int, int, int, int]] = []

    def run(self) -> None:
        text = self.text
        pos = 0
        if text.startswith("#!"):
            pos = max(0, text.find("\n"))
        self.purpose(pos)
        self.statements(pos, None, False)
        if not self.out.definitions and not self.out.reexports and not self.exported_names:
            self.wrapped()
        if self.exported_names or self.default_names or self.assigned or any(
                one.overload or one.parent for one in self.out.definitions):
            from slipstream.map.languages.javascript_exports import link_exports
            link_exports(self)
        if "require(" in text or "import(" in text:
            from slipstream.map.languages.javascript_exports import called_imports
            called_imports(self)

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
        match = WORD.match(text, at)
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
            match = WORD.match(text, pos)
            word = match.group() if match else ""
            if text[pos:pos + 1] in ("{", "*") or (word == "type" and text[self.lex.space(text, pos + 4):][:1] in ("{", "*")):
                from slipstream.map.languages.javascript_exports import export_list
                return export_list(self, pos, owner)
            if text[pos:pos + 1] == "=":
                return self.export_default(self.lex.space(text, pos + 1), start, at, owner)
            if word == "default":
                default = True
                pos = self.lex.space(text, pos + 7)
                if text[pos:pos + 1] == "@":
                    pos = self.decorators(pos)
                match = WORD.match(text, pos)
                word = match.group() if match else ""
            elif word == "as":
                return self.lex.expression_end(text, pos, False)
        while match is not None and word in ("declare", "abstract", "async"):
            following = self.lex.space(text, match.end())
            match = WORD.match(text, following)
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
        if word == "import":
            return self.import_statement(pos, start, owner, exported)
        if word in ("const", "let", "var", "using"):
            following = self.lex.space(text, pos + len(word))
            if word == "const" and text.startswith("enum", following):
                from slipstream.map.languages.javascript_types import enum
                found = enum(self, following, start, at, owner, exported)
                if found >= 0:
                    return found
            if following > pos + len(word) or text[following:following + 1] in ("{", "["):
                from slipstream.map.languages.javascript_values import variables
                return variables(self, following, start, at, owner, exported)
            return -1
        if word == "class":
            from slipstream.map.languages.javascript_class import class_declaration
            return class_declaration(self, pos, start, at, owner, exported, default)
        if word in _TYPE_WORDS:
            from slipstream.map.languages.javascript_types import type_declaration
            return type_declaration(self, word, pos, start, at, owner, exported, default)
        return -1

    def import_statement(self, pos: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        following = text[self.lex.space(text, pos + 6):][:1]
        if following in ("(", "."):
            return -1
        match = _IMPORT.match(text, pos)
        if match is None or "/" in (match.group(2) or ""):  # a comment, with quotes and words of its own
            from slipstream.map.languages.javascript_exports import without_comments
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

    def hollow(self) -> Definition:
        """An owner whose members belong to the file (`declare module "x"`, `declare global`)."""
        owner = Definition("", "class", 0, 0, 0)
        owner.members = self.out.definitions
        return owner

    def parameters(self, pos: int) -> int:
        """Offset after type parameters, parameters and return type that begin at `pos`; -1 without parameters."""
        text = self.text
        lex = self.lex
        if text[pos:pos + 1] == "<":
            pos = lex.angles(text, pos)
            if pos < 0:
                return -1
            pos = lex.space(text, pos)
        if text[pos:pos + 1] != "(":
            return -1
        end = lex.close(text, pos)
        at = lex.space(text, end)
        if text[at:at + 1] == ":":
            end = lex.type_end(text, at + 1)
        return end

    def function(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool, default: bool) -> int:
        text = self.text
        match = FUNCTION.match(text, pos)
        if match is None:
            return -1
        doc = self.doc_text
        head = self.parameters(self.lex.space(text, match.end()))
        if head < 0:
            return -1
        body = self.lex.space(text, head)
        bodied = text[body:body + 1] == "{"
        end = self.lex.close(text, body) if bodied else self.semicolon(head)
        name = match.group(1)
        self.doc_text = doc
        kind = "function" if name else "default"
        if bodied and self.lex.jsx and name[:1].isupper() and self.has_jsx(body, end):
            kind = "component"
        definition = self.add(name or "default", kind, match.start(1) if name else at, start, end, (at, head), owner, exported,
                              default)
        definition.overload = not bodied
        return end

    def has_jsx(self, pos: int, end: int) -> bool:
        """Whether a body returns markup."""
        return _JSX_VALUE.search(self.text, max(0, pos - 3), min(end, pos + 60_000)) is not None

    def decorators(self, pos: int) -> int:
        """Offset of the code after the decorators that begin at `pos`."""
        from slipstream.map.languages.javascript_class import decorators
        return decorators(self, pos)

    def class_body(self, brace: int, owner: Definition) -> int:
        """Read the members of the class whose `{` is at `brace`; the offset after its `}`."""
        from slipstream.map.languages.javascript_class import class_body
        return class_body(self, brace, owner)

    def export_default(self, pos: int, start: int, at: int, owner: Definition | None) -> int:
        """`export default EXPRESSION`, `export = EXPRESSION` or `module.exports = EXPRESSION`."""
        from slipstream.map.languages.javascript_values import export_default
        return export_default(self, pos, start, at, owner)

    def expression(self, at: int, start: int, owner: Definition | None) -> int:
        """An expression statement: assignments to exports and to properties define something."""
        if TARGET.match(self.text, at) is None:
            return self.semicolon(self.lex.expression_end(self.text, at, False))
        from slipstream.map.languages.javascript_objects import assignment
        return assignment(self, at, start, owner)


_LEXICONS: dict[str, JavaScriptLexicon] = {}
