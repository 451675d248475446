"""JavaScript and TypeScript, with JSX: statements of a module, ES and CommonJS exports, imports."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript_lexer import WORD, JavaScriptLexicon
from slipstream.map.languages.walker import Walker
from slipstream.map.model import Definition, FileScan

_DECLARATION_WORDS = frozenset("class function interface type enum namespace module const let var abstract async global "
                               "declare using".split())
_BLOCK_WORDS = frozenset("if for while do try switch with else catch finally".split())
_IMPORT = re.compile(r"import\b\s*(type\b(?!\s*(?:,|from\b)))?([^'\"();`=.]{0,60000})(['\"])([^'\"\n]{1,500})\3")
FUNCTION = re.compile(r"function\s*(?:/\*[^*]*\*/\s*)?\*?\s*([\w$]*)\s*")
TARGET = pattern_of(r"([\w$]+(?:\s*\.\s*[\w$#]+|\[\s*['\"][^'\"\n]{1,100}['\"]\s*\])*)\s*=(?![=>])\s*")
_JSX_VALUE = pattern_of(r"(?:return|=>|&&|[?:])\s*\(?\s*<[A-Za-z>]")


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
        definitions = self.out.definitions
        if (self.exported_names or self.default_names or self.assigned or "require(" in text
                or "import(" in text or "require (" in text or "import (" in text
                or any(one.overload or one.parent for one in definitions)
                or (not definitions and ("function" in text or "=>" in text))):
            from slipstream.map.languages.javascript_exports import finish
            finish(self)

    def purpose(self, pos: int) -> None:
        """The summary of the first comment that has one, before the first statement (directives passed over)."""
        for _ in range(6):
            at = self.header_purpose(pos)
            if self.out.purpose or not self.text.startswith(("'use ", '"use '), at):
                return
            pos = self.text.find(self.text[at], at + 1) + 1

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
                pos = at + 1
                if text[at] == "}" and owner is not None:
                    size = pos
                    break
            else:
                start = self.take_doc(at)
                pos = max(at + 1, self.statement(at, start, owner, exported))
        self.depth -= 1
        return size

    def word(self, pos: int) -> tuple[int, str]:
        """Offset and text of the word that is next, comments and decorators passed over; "" where something else stands."""
        pos = self.lex.space(self.text, pos)
        if self.text.startswith("@", pos):
            from slipstream.map.languages.javascript_class import decorators
            pos = decorators(self, pos)
        match = WORD.match(self.text, pos)
        return pos, match.group() if match else ""

    def statement(self, at: int, start: int, owner: Definition | None, exported: bool) -> int:
        """Read the statement at `at`; `start` is its doc comment or first decorator."""
        text = self.text
        at, word = self.word(at)
        pos = at
        default = False
        if word == "export":
            exported = True
            pos, word = self.word(at + 6)
            if word == "default":
                default = True
                pos, word = self.word(pos + 7)
            elif word in ("", "as") or (word == "type" and text.startswith(("{", "*"), self.lex.space(text, pos + 4))):
                from slipstream.map.languages.javascript_exports import export_form
                return export_form(self, pos, start, at, owner)
        while word in ("declare", "abstract", "async"):
            following, next_word = self.word(pos + len(word))
            if next_word not in _DECLARATION_WORDS:
                break
            exported = exported or word == "declare"
            pos, word = following, next_word
        found = self.declaration(word, pos, start, at, owner, exported, default)
        if found >= 0:
            return found
        if default:
            from slipstream.map.languages.javascript_exports import export_default
            return export_default(self, pos, start, at, owner)
        if word in _BLOCK_WORDS or (exported and word != "import"):
            return self.lex.expression_end(text, pos, False, word in _BLOCK_WORDS)
        if not self.may_assign(at):
            return self.semicolon(self.lex.expression_end(text, at, False))
        from slipstream.map.languages.javascript_objects import assignment
        return assignment(self, at, start, owner)

    def declaration(self, word: str, pos: int, start: int, at: int, owner: Definition | None, exported: bool,
                    default: bool) -> int:
        """Read a declaration that begins with `word` at `pos`; -1 when it is none."""
        text = self.text
        if word == "import":
            return self.import_statement(pos, start, owner, exported)
        if word == "function":
            return self.function(pos, start, at, owner, exported, default)
        if word in ("const", "let", "var", "using"):
            following = self.lex.space(text, pos + len(word))
            if text.startswith("enum", following) and word == "const":
                from slipstream.map.languages.javascript_types import enum
                found = enum(self, following, start, at, owner, exported)
                if found >= 0:
                    return found
            if following > pos + len(word) or text.startswith(("{", "["), following):
                from slipstream.map.languages.javascript_values import variables
                return variables(self, following, start, at, owner, exported)
        elif word == "class":
            from slipstream.map.languages.javascript_class import class_declaration
            return class_declaration(self, pos, start, at, owner, exported, default)
        elif word in _DECLARATION_WORDS and not text.startswith(".", pos + len(word)):  # `module.exports`
            from slipstream.map.languages.javascript_types import type_declaration
            return type_declaration(self, word, pos, start, at, owner, exported, default)
        return -1

    def import_statement(self, pos: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        match = _IMPORT.match(text, pos)
        clause = match.group(2).strip() if match else "/"
        if match is None or "/" in clause or (clause and not clause.endswith("from")):
            from slipstream.map.languages.javascript_forms import odd_import
            return odd_import(self, pos, start, owner, exported)
        parts = [part.split() for part in clause[:-4].replace("{", ",").replace("}", ",").split(",")]
        names = tuple(words[len(words) % 2 == 0] for words in parts if words)  # `type X as Y`, `type as Y`
        self.out.imports.append((match.group(4), "type" if match.group(1) else "import", names))
        end = match.end()
        if text.startswith((" with", " assert"), end):
            from slipstream.map.languages.javascript_forms import after_attributes
            end = after_attributes(self, end)
        return self.semicolon(end)

    def parameters(self, pos: int) -> int:
        """Offset after type parameters, parameters and return type that begin at `pos`; -1 without parameters."""
        text = self.text
        lex = self.lex
        if text.startswith("<", pos):
            from slipstream.map.languages.javascript_type_ends import angles
            pos = angles(lex, text, pos)
            if pos < 0:
                return -1
            pos = lex.space(text, pos)
        if not text.startswith("(", pos):
            return -1
        end = lex.close(text, pos)
        at = lex.space(text, end)
        if text.startswith(":", at):
            from slipstream.map.languages.javascript_type_ends import type_end
            end = type_end(lex, text, at + 1)
        return end

    def function(self, pos: int, start: int, at: int, owner: Definition | None, exported: bool, default: bool) -> int:
        text = self.text
        match = FUNCTION.match(text, pos)
        head = self.parameters(self.lex.space(text, match.end())) if match else -1
        if match is None or head < 0:
            return -1
        body = self.lex.space(text, head)
        bodied = text.startswith("{", body)
        end = self.lex.close(text, body) if bodied else self.semicolon(head)
        name = match.group(1)
        kind = "function" if name else "default"
        if bodied and name[:1].isupper() and self.has_jsx(body, end):
            kind = "component"
        definition = self.add(name or "default", kind, match.start(1) if name else at, start, end, (at, head), owner, exported,
                              default)
        definition.overload = not bodied
        return end

    def has_jsx(self, pos: int, end: int) -> bool:
        """Whether a body returns markup."""
        return self.lex.jsx and _JSX_VALUE.search(self.text, max(0, pos - 3), min(end, pos + 60_000)) is not None

    def may_assign(self, pos: int) -> bool:
        """Whether names with `=` behind them may begin at `pos`, judged by their line: few lines cost the pattern for it."""
        text = self.text
        names, mark, rest = text[pos:pos + 300].partition("=")
        return mark != "" and rest[:1] not in ("=", ">") and "\n" not in names.rstrip() and "(" not in names


_LEXICONS: dict[str, JavaScriptLexicon] = {}
