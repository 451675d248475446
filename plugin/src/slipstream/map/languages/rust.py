"""Rust: items of modules, traits and impl blocks; methods belong to the type they are implemented for."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import BraceLexicon, CodeWalker, adopt, after_nested
from slipstream.map.languages.lexer import after
from slipstream.map.model import Definition, FileScan

_ITEM = re.compile(
    r"(?:(pub)(\s*\([^)]*\))?\s+)?(?:default\s+)?(?:(?:const|async|unsafe|safe|auto|gen|extern(?:\s*\"[^\"]*\")?)\s+)*"
    r"(?:(fn|struct|enum|trait|mod|const|static|type|union|macro)\s+(?:(?:mut|ref)\s+)?(?:r#)?([^\W\d]\w*)"
    r"|(impl)\b|(use)\s+|(extern\s+crate)\s+|(extern)(?:\s*\"[^\"]*\")?\s*\{|macro_rules!\s*([^\W\d]\w*))")
_FIELD = re.compile(r"(pub)?(?:\s*\([^)]*\))?\s*(?:r#)?([^\W\d]\w*)\s*:(?!:)")
_VARIANT = re.compile(r"()(?:r#)?([^\W\d]\w*)")
_ANGLES = re.compile(r"<[^<>]*>")
_FOR = re.compile(r"\bfor\s+(?!<)")
_TYPE_NAME = re.compile(r"(?:r#)?([^\W\d]\w*)\s*(?:\Z|[<\s{])")
_TEST = re.compile(r"\bcfg\(\s*(?:all\()?\s*test\b")
_PATH = re.compile(r"\[\s*path\s*=\s*\"([^\"\n]+)\"")
_CALL = re.compile(r"[\w:]+!\s*\{")
_GATED = re.compile(r"\b(?:mod|use)\s")
_KINDS = {"fn": "function", "struct": "class", "union": "class", "enum": "enum", "trait": "interface", "type": "type",
          "const": "const", "static": "const", "mod": "class", "macro": "function"}
_MAX_USES = 300


def _hook(text: str, match: re.Match[str]) -> int:
    """Nested block comments and raw strings."""
    pos = match.start()
    if text[pos] == "/":
        return after_nested(text, pos)
    return after(text, '"' + "#" * match.group().count("#"), match.end())


_LEXICON = BraceLexicon(
    r'"[^"\\]*(?:\\.[^"\\]*){0,9999}"?' + r"|'(?:[^'\\\n]|\\[^\n][^'\n]{0,10})'|//[^\n]*",
    (r"/\*", r'r(?<![^\W\d_]\wr)#{0,20}"'), _hook)
_STOP = _LEXICON.compile(r"([(\[])|(\{)|(;)|([)}\]])")
_END = _LEXICON.compile(r"([({\[])|(;)|([)}\]])")
_COMMA = _LEXICON.compile(r"([({\[])|(,)|([)}\]])")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, imports and purpose of a Rust file."""
    scanner = _RustScanner(text, out, _LEXICON)
    scanner.header_purpose()
    scanner.items(0, None, "", True)
    if any(d.name == "main" and d.kind == "function" for d in out.definitions):
        out.hints.append("main")


class _RustScanner(CodeWalker):
    nested_comments = True
    file = ""  # what `#[path = "..."]` in front of an item names

    def __init__(self, text: str, out: FileScan, lexicon: BraceLexicon) -> None:
        super().__init__(text, out, lexicon)
        self.inside: list[str] = []  # the modules of this file around here

    def items(self, pos: int, owner: Definition | None, context: str, wanted: bool) -> int:
        """Read items until an unopened `}`; `context` is trait, impl, implfor or empty. The offset after the brace."""
        text = self.text
        size = len(text)
        strays: list[Definition] = []
        self.depth += 1
        while True:
            at = self.trivia(pos)
            if at >= size:
                break
            char = text[at]
            if char == "}":
                at += 1
                if owner is not None:
                    break
                pos = at
                continue
            start = self.take_doc(at)
            test = False
            self.file = ""
            while text[at:at + 1] == "#":
                bracket = text.find("[", at, at + 3)
                if bracket < 0:
                    at += 1
                    break
                end = self.lex.close(text, bracket)
                test = test or _TEST.search(text, bracket, end) is not None
                named = _PATH.match(text, bracket, end)
                self.file = named.group(1) if named is not None else self.file
                at = self.space(end)
            match = _ITEM.match(text, at)
            if match is None:
                pos = self.skip(at, context)
                continue
            pos = max(at + 1, self.item(match, start, at, owner, context, wanted and not test, strays))
        self.depth -= 1
        adopt(strays, owner.members if owner is not None else self.out.definitions)
        return at

    def skip(self, at: int, context: str) -> int:
        """Pass a macro call or anything else that is no item; of a call in braces the modules and uses are taken."""
        stop = self.lex.find(_STOP, self.text, at)
        if stop is None:
            return len(self.text)
        if stop.group() == "{":
            close = self.lex.close(self.text, stop.start())
            called = context == "call" or _CALL.match(self.text, at) is not None
            if called and self.depth < 60 and _GATED.search(self.text, stop.end(), close) is not None:
                self.items(stop.end(), Definition("", "class", 0, 0, 0), "call", False)
            return close
        return stop.end() if stop.group() == ";" else max(at + 1, stop.start())

    def item(self, match: re.Match[str], start: int, at: int, owner: Definition | None, context: str, wanted: bool,
             strays: list[Definition]) -> int:
        text = self.text
        lex = self.lex
        public = match.group(1) is not None and match.group(2) is None
        if match.group(6) or match.group(7):
            end = text.find(";", match.end())
            end = end if end >= 0 else len(text)
            if match.group(6):
                for path in _expand("".join(text[match.end():min(end, match.end() + 20_000)].split())):
                    self.out.imports.append((self.from_file(path), "reexport" if public else "import", ()))
                    if public:
                        name = path.rsplit("::", 1)[-1]
                        self.out.reexports.append((name, self.lines.at(at), path, name))
            else:
                self.out.imports.append((text[match.end():end].split(" ")[0], "import", ()))
            return end + 1
        if match.group(8):
            return self.items(match.end(), self.hollow(owner), "extern", wanted) if self.depth < 60 else lex.close(
                text, match.end() - 1)
        word = match.group(3) or ""
        name = match.group(4) or match.group(9) or ""
        if match.group(9):
            word = "macro"
        if word in ("const", "static", "type"):
            found = lex.find(_END, text, match.end())
            end = found.end() if found and found.group() == ";" else found.start() if found else len(text)
            if name != "_":
                kind = "field" if word != "type" and context in ("trait", "impl", "implfor") else _KINDS[word]
                self.add(name, kind, match.start(4), start, end, (at, end), owner, wanted and (public or (context != "" and
                         context != "impl")), False)
            return end
        stop = lex.find(_STOP, text, match.end())
        body = stop.start() if stop is not None and stop.group() == "{" else -1
        end = len(text) if stop is None else stop.end() if stop.group() in "{;" else stop.start()
        if match.group(5):
            return self.impl(text[match.end():end], body, end, owner, wanted, strays)
        if word == "mod" and body < 0:
            self.out.imports.append((self.file, "mod", (name,)) if self.file and not self.inside else
                                    ("::".join([*self.inside, name]), "mod", ()))
        name_at = match.start(4) if match.group(4) else match.start(9)
        if word == "fn" and context in ("trait", "impl", "implfor"):
            kind = "method"
            exported = public or context != "impl"
        else:
            kind = _KINDS[word]
            exported = public
        nested = body >= 0 and word in ("trait", "mod") and self.depth < 60
        close = lex.close(text, body) if body >= 0 and not nested else end
        definition = self.add(name, kind, name_at, start, close, (at, body if body >= 0 else end), owner, exported and wanted,
                              False)
        if nested:
            within = [name] if word == "mod" else []
            self.inside += within
            close = self.items(body + 1, definition, "trait" if word == "trait" else "", wanted)
            del self.inside[len(self.inside) - len(within):]
            definition.end = self.lines.at(close - 1)
        elif body >= 0 and word in ("struct", "union", "enum"):
            self.fields(body + 1, close - 1, definition, _VARIANT if word == "enum" else _FIELD)
        if word == "mod" and body < 0:
            (owner.members if owner is not None else self.out.definitions).remove(definition)
        return close

    def from_file(self, path: str) -> str:
        """A `use` path seen from the file's own module: `super` of a module inside the file is the file itself."""
        parts = path.split("::")
        if not self.inside or parts[0] not in ("self", "super"):
            return path
        ups = next((at for at, part in enumerate(parts) if part != "super"), len(parts))
        rest = parts[ups + (parts[0] == "self"):]
        if ups > len(self.inside):
            return "::".join(["super"] * (ups - len(self.inside)) + rest)
        return "::".join(["self", *self.inside[:len(self.inside) - ups], *rest])

    def hollow(self, owner: Definition | None) -> Definition:
        """An owner whose members belong to the block around it."""
        aside = Definition(owner.name if owner else "", "class", 0, 0, 0, "", owner.parent if owner else "")
        aside.members = owner.members if owner is not None else self.out.definitions
        return aside

    def impl(self, head: str, body: int, end: int, owner: Definition | None, wanted: bool, strays: list[Definition]) -> int:
        """`impl Trait for Type {`: what it holds belongs to the type."""
        if body < 0:
            return end
        if self.depth > 60:
            return self.lex.close(self.text, body)
        plain = head[:4000].replace("->", "  ").replace("=>", "  ")
        while True:
            shorter = _ANGLES.sub(" ", plain)
            if shorter == plain:
                break
            plain = shorter
        found = _FOR.search(plain)
        target = plain[found.end():] if found else plain
        target = target.split(" where ")[0].split("\nwhere")[0].strip(" {\n\t&*!")
        name = _TYPE_NAME.search(target.rsplit("::", 1)[-1] + " ")
        holder = Definition(name.group(1) if name else "", "class", 0, 0, 0)
        close = self.items(body + 1, holder, "implfor" if found else "impl", wanted)
        for member in holder.members:
            member.parent = holder.name
        strays.extend(holder.members)
        return close

    def fields(self, pos: int, stop: int, owner: Definition, pattern: re.Pattern[str]) -> None:
        text = self.text
        while True:
            at = self.trivia(pos)
            if at >= stop:
                return
            start = self.take_doc(at)
            while text[at:at + 2] == "#[":
                at = self.space(self.lex.close(text, at + 1))
            comma = self.lex.find(_COMMA, text, at)
            end = comma.start() if comma is not None else stop
            for _ in range(9):              # a comma between type arguments ends nothing
                if comma is None or text.count("<", at, end) <= text.count(">", at, end) - text.count("->", at, end):
                    break
                comma = self.lex.find(_COMMA, text, end + 1)
                end = comma.start() if comma is not None else stop
            match = pattern.match(text, at, stop)
            if match is not None:
                self.add(match.group(2), "field", match.start(2), start, end, (at, end), owner,
                         bool(match.group(1)) or pattern is _VARIANT, False)
            pos = max(at, end) + 1


def _expand(path: str) -> list[str]:
    """`a::{b, c::{d}}` as `a::b`, `a::c::d`; aliases dropped."""
    out: list[str] = []
    stack = [("", path)]
    while stack and len(out) < _MAX_USES:
        prefix, rest = stack.pop()
        brace = rest.find("{")
        if brace < 0:
            name = rest.split("as", 1)[0] if re.search(r"\w+as\w+\Z", rest) and "::" not in rest else rest
            out.append(prefix + name.rstrip(";"))
            continue
        parts: list[str] = []
        depth = 0
        begin = brace + 1
        for at in range(brace, len(rest)):
            char = rest[at]
            if char == "{":
                depth += 1
            elif char in ",}" and depth == 1:
                parts.append(rest[begin:at])
                begin = at + 1
            if char == "}":
                depth -= 1
                if not depth:
                    break
        head = prefix + rest[:brace]
        stack.extend((head, part) for part in reversed(parts) if part)
    return [path[:-6] if path.endswith("::self") else path for path in out]
