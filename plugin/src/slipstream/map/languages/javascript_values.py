"""JavaScript and TypeScript values: declared variables and what they hold."""
from __future__ import annotations

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import Module
from slipstream.map.languages.javascript_lexer import WORD
from slipstream.map.model import Definition

_HIGHER_COMPONENT = pattern_of(r"(?:[\w$]+\.)?(?:forwardRef|memo|lazy|observer|styled)\b")


def variables(scan: Module, pos: int, start: int, at: int, owner: Definition | None, exported: bool) -> int:
    """Read the declarators of `const`, `let` or `var`, the first of which begins at `pos`."""
    text = scan.text
    lex = scan.lex
    made: list[Definition] = []
    while True:
        match = WORD.match(text, pos)
        if match is not None and not text[match.end():match.end() + 80].lstrip(" \t")[:1].isalnum():
            definition, end = declarator(scan, match.group(), pos, start, at, owner, exported)
            made.append(definition)
        else:
            end = lex.expression_end(text, pos, True)
            if exported and text.startswith(("{", "["), pos):
                from slipstream.map.languages.javascript_forms import destructured
                made += destructured(scan, pos, start, at, end, owner)
        following = lex.space(text, end)
        if not text.startswith(",", following):
            break
        start = at = pos = lex.space(text, following + 1)
        scan.doc_text = ""
    end = scan.semicolon(end)
    if len(made) == 1:
        made[0].end = scan.lines.at(end - 1)
    return end


def declarator(scan: Module, name: str, name_at: int, start: int, at: int, owner: Definition | None,
               exported: bool) -> tuple[Definition, int]:
    text = scan.text
    lex = scan.lex
    head = end = name_at + len(name)
    pos = lex.space(text, end)
    if text.startswith("!", pos):
        pos = lex.space(text, pos + 1)
    if text.startswith(":", pos):
        from slipstream.map.languages.javascript_type_ends import type_end
        head = end = type_end(lex, text, pos + 1)
        pos = lex.space(text, end)
    kind = "const"
    default = False
    if text.startswith("=", pos):
        pos = lex.space(text, pos + 1)
        if scan.may_assign(pos):
            from slipstream.map.languages.javascript_forms import assigned_too
            pos, exported, default = assigned_too(text, pos, exported)
        kind, head, end = value(scan, pos, True)
        if kind != "class" and name[0].isupper() and (
                scan.has_jsx(head, end) if kind == "function" else lex.jsx and _HIGHER_COMPONENT.match(text, pos)):
            kind = "component"
    definition = scan.add(name, kind, name_at, start, end, (at, head), owner, exported, default)
    if kind == "class":
        from slipstream.map.languages.javascript_class import class_body
        class_body(scan, head, definition)
    elif default and text.startswith("{", pos):
        from slipstream.map.languages.javascript_objects import exported_object
        exported_object(scan, pos, owner)
    return definition, end


def value(scan: Module, pos: int, comma: bool) -> tuple[str, int, int]:
    """Kind of the value at `pos` (function, class or const), end of its head (a class: of its `{`), end of the value."""
    text = scan.text
    lex = scan.lex
    head = arrow(scan, pos)
    if head >= 0:
        body = lex.space(text, head)
        if text.startswith("{", body):
            return ended(scan, "function", head, lex.close(text, body), comma)
        return "function", head, lex.expression_end(text, body, comma)
    if text.startswith(("(", "function", "class", "async"), pos):
        from slipstream.map.languages.javascript_objects import braced_value
        found = braced_value(scan, pos, comma)
        if found is not None:
            return found
    end = lex.expression_end(text, pos, comma)
    first = text.find("\n", pos, end)
    return "const", first if first >= 0 else end, end


def arrow(scan: Module, pos: int) -> int:
    """Offset after the `=>` of the arrow function that begins at `pos`; -1 when there is none."""
    text = scan.text
    match = WORD.match(text, pos)
    if match is not None and match.group() == "async":
        pos = scan.lex.space(text, match.end())
        if text.startswith("=>", pos):  # a parameter of that name
            return pos + 2
        match = WORD.match(text, pos)
    end = match.end() if match is not None else scan.parameters(pos)
    if end < 0:
        return -1
    at = scan.lex.space(text, end)
    return at + 2 if text.startswith("=>", at) else -1


def ended(scan: Module, kind: str, head: int, end: int, comma: bool) -> tuple[str, int, int]:
    """A value with braces that end at `end`: something may still follow them (a call makes it a plain value)."""
    text = scan.text
    at = scan.lex.space(text, end)
    char = text[at:at + 1]
    if char in ("", ";", ",", "}", ")") or "\n" in text[end:at]:
        return kind, head, end
    return "const" if char in "(.[" else kind, head, scan.lex.expression_end(text, end, comma)
