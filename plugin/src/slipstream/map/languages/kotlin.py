"""Kotlin: classes with their constructors, objects, functions with receivers, properties with accessors, type aliases."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceWalker
from slipstream.map.languages.linewise import LineWalker, StringLexicon
from slipstream.map.model import Definition, FileScan

_MODIFIERS = re.compile(r"(?:public|private|protected|internal|abstract|final|open|sealed|data|inner|inline|value|enum|"
                        r"annotation|"
                        r"override|lateinit|const|suspend|tailrec|operator|infix|external|expect|actual|"
                        r"companion)\b(?=\s*[\w@`])\s*")
_ANNOTATION = re.compile(r"@(?:[a-z]+:)?(?:\[[^\]]*\]|[\w.]+(?:<[^<>()]*>)?)")
_KEYWORD = re.compile(r"(?:fun\s+(?=interface\b))?(class|interface|object|fun|val|var|typealias|init|constructor|import|"
                      r"package)\b")
_NAME = re.compile(r"\s*(`[^`\n]+`|[^\W\d]\w*)")
_NAME_BEFORE = re.compile(r"(`[^`\n]+`|[^\W\d]\w*)\s*\Z")
_HEADER = re.compile(r"(?:(?:@[\w.]+(?:\([^()]*\))?|public|private|protected|internal)\s*)*constructor\b\s*")
_PARAMETER = re.compile(r"(?:(?:@[\w.:]+(?:\([^()]*\))?|private|public|internal|protected|override|open|final|"
                        r"vararg)\s+)*(?:val|var)\s+(\w+)\s*:")
_ACCESSOR = re.compile(r"(?:(?:@[\w.]+(?:\([^()]*\))?|private|protected|internal|public|inline)\s+)*(?:get|"
                       r"set)\b\s*(?=[(\n;=]|\Z|//)")
_IMPORT = re.compile(r"(import|package)\s+([\w.`]+\*?)(?:\s+as\s+(\w+))?")
_ENTRY = re.compile(r"([^\W\d]\w*)")
_MAIN = re.compile(r"(?m)^\s*(?:suspend\s+)?fun\s+main\s*\(")

_LEXICON = StringLexicon(r"'(?:[^'\\\n]|\\[^\n]{1,6}?)'|//[^\n]*|`[^`\n]*`", "${")
_COMMA = _LEXICON.compile(r"([({\[])|(,)|([)}\]])")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Kotlin file."""
    scanner = _KotlinScanner(text, out, _LEXICON)
    at = scanner.header_purpose(text.find("\n") if text.startswith("#!") else 0)
    if text.startswith("@file:", at):
        scanner.header_purpose(scanner.words(at, _MODIFIERS, _ANNOTATION))
    scanner.members(max(0, text.find("\n")) if text.startswith("#!") else 0, None)
    if not out.purpose:
        out.purpose = next((d.doc for d in out.definitions if d.doc), "")
    if "fun main" in text and _MAIN.search(text):
        out.hints.append("main")


class _KotlinScanner(LineWalker, BraceWalker):
    def declaration(self, at: int, start: int, owner: Definition | None, public: bool) -> int:
        text = self.text
        head = self.words(at, _MODIFIERS, _ANNOTATION)
        found = _KEYWORD.match(text, head)
        if found is None:
            return self.expression_end(head)
        modifiers = text[at:head].split()
        exported = "private" not in modifiers and "internal" not in modifiers
        word = found.group(1)
        end = found.end()
        if word in ("class", "interface", "object"):
            return self.type(word, end, at, start, owner, exported, modifiers)
        if word == "fun":
            return self.function(end, at, start, owner, exported)
        if word in ("val", "var"):
            return self.property(end, at, start, owner, exported, "const" in modifiers)
        if word == "typealias":
            name = _NAME.match(text, end)
            close = self.expression_end(end)
            if name is not None:
                self.add(name.group(1), "type", name.start(1), start, close, (at, close), owner, exported, False)
            return close
        if word == "constructor":
            close = self.lex.close(text, self.code(end)) if text[self.code(end):][:1] == "(" else end
            body = self.expression_end(close, body=True) if text[self.code(close):][:1] in (":", "{") else close
            close = self.lex.close(text, body) if text[body:body + 1] == "{" else body
            self.add("constructor", "method", found.start(1), start, close, (at, body), owner, exported, False)
            return close
        if word == "init":
            brace = self.code(end)
            return self.lex.close(text, brace) if text[brace:brace + 1] == "{" else self.expression_end(at)
        imported = _IMPORT.match(text, head)
        if imported is None:
            return self.expression_end(at)
        self.out.imports.append((imported.group(2).replace("`", ""), imported.group(1), (imported.group(3),)
                                 if imported.group(3) else ()))
        return imported.end()

    def type(self, word: str, pos: int, at: int, start: int, owner: Definition | None, exported: bool,
             modifiers: list[str]) -> int:
        text = self.text
        lex = self.lex
        name = _NAME.match(text, pos)
        if name is not None and "\n" in text[pos:name.start(1)]:
            name = None
        title = name.group(1) if name is not None else "Companion"
        name_at = name.start(1) if name is not None else pos - len(word)
        end = name.end() if name is not None else pos
        parameters = (-1, -1)
        body = -1
        while True:
            here = self.code(end)
            char = text[here:here + 1]
            same_line = "\n" not in text[end:here]
            if char == "<" and same_line:
                end = self.angles(here)
            elif char == "(" and same_line and parameters[0] < 0:
                end = lex.close(text, here)
                parameters = (here + 1, end - 1)
            elif char == ":":
                stop = self.supertypes(here + 1)
                end = stop
            elif char == "{":
                body = here
                break
            else:
                constructor = _HEADER.match(text, here)
                if constructor is not None and text[constructor.end():constructor.end() + 1] == "(":
                    end = lex.close(text, constructor.end())
                    parameters = (constructor.end() + 1, end - 1)
                elif text.startswith("where", here):
                    end = self.supertypes(here + 5)
                else:
                    break
        kind = "interface" if word == "interface" else "enum" if "enum" in modifiers else "class"
        definition = self.add(title.strip("`"), kind, name_at, start, end, (at, end), owner, exported, False)
        if parameters[0] >= 0:
            self.parameters(*parameters, definition)
        if body >= 0:
            if self.depth > 60:
                return lex.close(text, body)
            pos = self.entries(body + 1, definition) if kind == "enum" else body + 1
            end = self.members(pos, definition)
            definition.end = self.lines.at(end - 1)
        return end

    def supertypes(self, pos: int) -> int:
        """Offset of the brace behind a list of types, or of its end."""
        text = self.text
        at = pos
        while True:
            end = self.expression_end(at, comma=True, body=True)
            if text[end:end + 1] != ",":
                return end
            at = end + 1

    def parameters(self, pos: int, stop: int, owner: Definition) -> None:
        """Properties declared in a primary constructor."""
        text = self.text
        while pos < stop:
            at = self.trivia(pos)
            start = self.take_doc(at)
            comma = self.lex.find(_COMMA, text, at)
            end = min(stop, comma.start()) if comma is not None else stop
            match = _PARAMETER.match(text, at, stop)
            if match is not None:
                self.add(match.group(1), "field", match.start(1), start, end, (at, end), owner,
                         "private" not in match.group(), False)
            pos = max(at, end) + 1

    def entries(self, pos: int, owner: Definition) -> int:
        """The entries of an enum class; the offset after the `;` behind them or of the `}`."""
        text = self.text
        while True:
            at = self.code(pos)
            if text[at:at + 1] == ";":
                return at + 1
            at = self.trivia(pos)
            start = self.take_doc(at)
            at = self.words(at, _MODIFIERS, _ANNOTATION)
            match = _ENTRY.match(text, at)
            if match is None:
                return at
            end = match.end()
            here = self.code(end)
            if text[here:here + 1] == "(":
                end = self.lex.close(text, here)
                here = self.code(end)
            if text[here:here + 1] == "{":
                end = self.lex.close(text, here)
                here = self.code(end)
            self.add(match.group(1), "field", match.start(1), start, end, (at, match.end()), owner, True, False)
            if text[here:here + 1] != ",":
                return here
            pos = here + 1

    def function(self, pos: int, at: int, start: int, owner: Definition | None, exported: bool) -> int:
        text = self.text
        lex = self.lex
        end = self.code(pos)
        low = end
        name = None
        while end < len(text):
            char = text[end]
            if char == "<":
                end = self.angles(end)
            elif char == "(":
                name = _NAME_BEFORE.search(text, max(low, end - 200), end)
                end = lex.close(text, end)
                if name is not None and text[end:end + 1] != ".":
                    break
                name = None
            elif char == "`":
                end = text.find("`", end + 1) + 1 or len(text)
            elif char in "{}=;":
                return self.expression_end(at)
            else:
                end += 1
        if name is None:
            return end
        head = end
        here = self.code(end)
        if text[here:here + 1] == ":":
            head = end = self.type_end(here + 1)
            here = self.code(end)
        if text.startswith("where", here):
            end = self.supertypes(here + 5)
            here = self.code(end)
        if text[here:here + 1] == "{":
            end = lex.close(text, here)
        elif text[here:here + 1] == "=" and text[here + 1:here + 2] != "=":
            end = self.expression_end(here + 1)
        self.add(name.group(1).strip("`"), "method" if owner is not None else "function", name.start(1), start, end, (at,
                                                                                                                      head),
                                                                                                                      owner,
                 exported, False)
        return end

    def type_end(self, pos: int) -> int:
        """Offset after the type at `pos`."""
        text = self.text
        end = pos
        need = True
        while True:
            at = self.code(end)
            char = text[at:at + 1]
            if need:
                if char == "@":
                    match = _ANNOTATION.match(text, at)
                    end = match.end() if match is not None else at + 1
                elif char == "(":
                    end = self.lex.close(text, at)
                    need = False
                else:
                    match = re.compile(r"[\w`*]+(?:\.[\w`]+)*").match(text, at)
                    if match is None:
                        return end
                    end = match.end()
                    need = match.group() == "suspend"
                continue
            if text.startswith("->", at):
                end = at + 2
                need = True
            elif "\n" in text[end:at]:
                return end
            elif char == "<":
                end = self.angles(at)
            elif char in ("?", "."):
                end = at + 1
                need = char == "."
            elif char == "&":
                end = at + 1
                need = True
            else:
                return end

    def property(self, pos: int, at: int, start: int, owner: Definition | None, exported: bool, constant: bool) -> int:
        text = self.text
        low = self.code(pos)
        if text[low:low + 1] == "<":
            low = self.code(self.angles(low))
        match = re.compile(r"(?:[\w.]+(?:<[^<>\n]*(?:<[^<>\n]*>[^<>\n]*){0,9}>)?\??\.)?(`[^`\n]+`|[^\W\d]\w*)(?=\s*(?::|=|"
                           r"\bby\b|\n|;|\Z|\}|//|/\*|get\b))").match(text, low)
        end = match.end() if match is not None else self.expression_end(low)
        here = self.code(end)
        if text[here:here + 1] == ":" and match is not None:
            end = self.type_end(here + 1)
            here = self.code(end)
        head = end
        if (text[here:here + 1] == "=" or (text.startswith("by", here)
                                           and text[here + 2:here + 3] in " \n")) and match is not None:
            end = head = self.expression_end(here + 1)
        while True:
            here = self.trivia(end)
            accessor = _ACCESSOR.match(text, here)
            if accessor is None:
                break
            end = accessor.end()
            if text[end:end + 1] == "(":
                end = self.lex.close(text, end)
                here = self.code(end)
                if text[here:here + 1] == ":":
                    end = self.type_end(here + 1)
                    here = self.code(end)
                if text[here:here + 1] == "{":
                    end = self.lex.close(text, here)
                elif text[here:here + 1] == "=":
                    end = self.expression_end(here + 1)
        if match is not None:
            line = text.find("\n", at, head)
            self.add(match.group(1).strip("`"), "field" if owner is not None else "const", match.start(1), start, max(end,
                                                                                                                      match.end()),
                     (at, line if line >= 0 else head), owner, exported, False)
        return end
