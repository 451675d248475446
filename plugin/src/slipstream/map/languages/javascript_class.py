"""JavaScript and TypeScript classes and their members."""
from __future__ import annotations

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import Module
from slipstream.map.languages.javascript_type_ends import angles, class_head, type_end
from slipstream.map.languages.javascript_types import MODIFIERS, NAME
from slipstream.map.languages.javascript_values import value
from slipstream.map.model import Definition

_CLASS_NAME = pattern_of(r"class\b\s*(?:/(?:\*[^*]*\*/|/[^\n]*\n)\s*)?(?!extends\b|implements\b)([\w$]*)")
_DECORATOR = pattern_of(r"@\s*[\w$]+(?:\s*\.\s*[\w$]+)*")


def class_declaration(scan: Module, pos: int, start: int, at: int, owner: Definition | None, exported: bool,
                      default: bool) -> int:
    text = scan.text
    match = _CLASS_NAME.match(text, pos)
    body = class_head(scan.lex, text, pos)
    if match is None or body < 0:
        return -1
    name = match.group(1)
    definition = scan.add(name or "default", "class" if name else "default", match.start(1) if name else at, start,
                          body + 1, (at, body), owner, exported, default)
    end = class_body(scan, body, definition)
    definition.end = scan.lines.at(end - 1)
    return end


def class_body(scan: Module, brace: int, owner: Definition) -> int:
    """Read the members of the class whose `{` is at `brace`; the offset after its `}`."""
    text = scan.text
    lex = scan.lex
    size = len(text)
    pos = brace + 1
    while True:
        at = scan.trivia(pos)
        if at >= size:
            break
        start = scan.take_doc(at)
        char = text[at]
        if char == "}":
            size = at + 1
            break
        if char == "@":
            at = decorators(scan, at)
        modifiers = MODIFIERS.match(text, at)
        name_at = lex.space(text, modifiers.end() if modifiers else at)
        words = text[at:name_at]
        match = NAME.match(text, name_at)
        if match is None:
            pos = lex.close(text, name_at) if text[name_at:name_at + 1] in "{([" else name_at + 1
            if text[name_at:name_at + 1] == "{":
                continue
            pos = max(pos, lex.expression_end(text, pos, False))
            continue
        name = match.group(2)
        end = match.end()
        if match.group(3):
            end = lex.close(text, end - 1)
            name = text[match.start(2):end]
            if ":" in name:                                # an index signature
                pos = max(end, lex.expression_end(text, end, False))
                continue
        elif name[0] in "'\"":
            name = name[1:-1]
        pos = member(scan, name, match.start(2), lex.space(text, end), end, start, at, words, owner)
        if pos <= at:
            pos = at + 1
    if any(one.overload for one in owner.members):
        from slipstream.map.languages.braces import mark_overloads
        mark_overloads(owner.members)
    return size


def member(scan: Module, name: str, name_at: int, pos: int, name_end: int, start: int, at: int, words: str,
           owner: Definition) -> int:
    """Read the rest of a class member whose name ends before `pos`."""
    text = scan.text
    lex = scan.lex
    exported = "private" not in words and name[0] != "#"
    char = text[pos:pos + 1]
    if char in ("?", "!"):
        name_end = pos + 1
        pos = lex.space(text, name_end)
        char = text[pos:pos + 1]
    kind = "field"
    bodied = True
    if char in ("(", "<"):
        head = scan.parameters(pos)
        if head < 0:
            return lex.expression_end(text, pos, False)
        body = lex.space(text, head)
        kind = "accessor" if words.rstrip().endswith(("get", "set")) and name not in ("get", "set") else "method"
        bodied = text[body:body + 1] == "{"
        end = lex.close(text, body) if bodied else scan.semicolon(head)
        bodied = bodied or "abstract" in words
    elif char == "{" and name == "static":
        return lex.close(text, pos)
    else:
        head = end = name_end
        if char == ":":
            head = end = type_end(lex, text, pos + 1)
            pos = lex.space(text, end)
            char = text[pos:pos + 1]
        if char == "=":
            found, head, end = value(scan, lex.space(text, pos + 1), False)
            kind = "method" if found == "function" else "field"
        elif char not in (";", "}", "") and "\n" not in text[end:pos]:
            end = lex.expression_end(text, pos, False)
        end = scan.semicolon(end)
    definition = scan.add(name, kind, name_at, start, end, (at, head), owner, exported, False)
    definition.overload = not bodied
    return end


def decorators(scan: Module, pos: int) -> int:
    """Offset of the code after the decorators that begin at `pos`."""
    text = scan.text
    lex = scan.lex
    while text[pos:pos + 1] == "@":
        match = _DECORATOR.match(text, pos)
        at = match.end() if match else pos + 1
        if text[at:at + 1] == "<":
            at = max(at, angles(lex, text, at))
        if text[at:at + 1] == "(":
            at = lex.close(text, at)
        pos = lex.space(text, at)
    return pos
