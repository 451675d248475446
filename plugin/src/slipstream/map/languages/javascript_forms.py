"""Forms of JavaScript that few files hold: imports with comments, files inside of one call, patterns, chains of `=`."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import TARGET, Module
from slipstream.map.model import Definition

_IMPORT = pattern_of(r"import\b\s*(type\b(?!\s*(?:,|from\b)))?\s*(?:([^'\"();`=]{0,60000})\bfrom\s*)?"
                     r"(['\"])([^'\"\n]{1,500})\3")
_IMPORTED_NAME = pattern_of(r"(?:type\s+)?([\w$*]+)(?:\s+as\s+([\w$]+))?")
_IMPORT_EQUALS = pattern_of(r"import\s+(?:type\s+)?([\w$]+)\s*=\s*(?:require\s*\(\s*['\"]([^'\"\n]+)['\"]\s*\)|[\w$.]+)")
_ATTRIBUTES = pattern_of(r"[ \t]*(?:with|assert)\s*\{")
_WRAPPER = pattern_of(r"(?m)^[;!+(]*(?:define\s*\([^;{}()]{0,2000}|\(\s*)?(?:async\s+)?(?:function\s*[\w$]*\s*|"
                      r"(?<=\())\((?=[^()]{0,500}\)\s*(?:=>\s*)?\{)")
_PATTERN_NAME = pattern_of(r"(?:([\w$]+)\s*:\s*)?(?:\.\.\.)?([\w$]+)\s*(?:=[^,}\]]{0,200})?(?=\s*[,}\]])")
_COMMENT = pattern_of(r"'[^'\n]*'|\"[^\"\n]*\"|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")


def wrapped(scan: Module) -> None:
    """A file that is one call of a function (a closure, an AMD module): what that function holds is the file's."""
    text = scan.text
    lex = scan.lex
    found = _WRAPPER.search(text)
    if found is None:
        return
    brace = lex.space(text, lex.close(text, found.end() - 1))
    if text.startswith("=>", brace):
        brace = lex.space(text, brace + 2)
    if text.startswith("{", brace):
        scan.statements(brace + 1, hollow(scan), False)


def hollow(scan: Module) -> Definition:
    """An owner whose members belong to the file (`declare module "x"`, `declare global`)."""
    owner = Definition("", "class", 0, 0, 0)
    owner.members = scan.out.definitions
    return owner


def odd_import(scan: Module, pos: int, start: int, owner: Definition | None, exported: bool) -> int:
    """An import with comments in it, `import name = ...`; -1 for `import(...)` and `import.meta`."""
    text = scan.text
    if text.startswith(("(", "."), scan.lex.space(text, pos + 6)):
        return -1
    match = _IMPORT.match(without_comments(text[pos:pos + 20_000])) or _IMPORT.match(text, pos)
    if match is not None:
        names = tuple(found.group(1) for found in _IMPORTED_NAME.finditer(match.group(2) or ""))
        scan.out.imports.append((match.group(4), "type" if match.group(1) else "import", names))
        return scan.semicolon(after_attributes(scan, pos + match.end() - match.start()))
    equals = _IMPORT_EQUALS.match(text, pos)
    if equals is None:
        return scan.lex.expression_end(text, pos, False)
    end = scan.semicolon(equals.end())
    if equals.group(2):
        scan.out.imports.append((equals.group(2), "require", ()))
    if exported:
        scan.add(equals.group(1), "const", equals.start(1), start, end, (pos, end), owner, True, False)
    return end


def after_attributes(scan: Module, end: int) -> int:
    """Offset after the attributes (`with { type: "json" }`) of an import, where some follow."""
    attributes = _ATTRIBUTES.match(scan.text, end)
    return scan.lex.close(scan.text, attributes.end() - 1) if attributes is not None else end


def destructured(scan: Module, pos: int, start: int, at: int, end: int, owner: Definition | None) -> list[Definition]:
    """The names that the exported pattern at `pos` declares, in a declarator that ends at `end`."""
    close = scan.lex.close(scan.text, pos)
    made = [scan.add(name.group(2), "const", name.start(2), start, close, (at, close), owner, True, False)
            for name in _PATTERN_NAME.finditer(scan.text, pos + 1, min(close, pos + 20_000))]
    for definition in made:
        definition.end = scan.lines.at(end - 1)
    return made


def assigned_too(text: str, pos: int, exported: bool) -> tuple[int, bool, bool]:
    """Passes over other names that get the value (`var app = exports = module.exports = {}`): its offset, exported, default."""
    default = False
    while True:
        target = TARGET.match(text, pos)
        if target is None:
            return pos, exported, default
        default = default or target.group(1) in ("module.exports", "exports")
        exported = exported or default or target.group(1).startswith(("exports.", "module.exports."))
        pos = target.end()


def without_comments(text: str) -> str:
    """The text of an import or export with blanks for its comments."""
    return _COMMENT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    return " " * len(found) if found[0] == "/" else found
