"""JavaScript and TypeScript values: declared variables, default exports, functions and classes that are values."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import FUNCTION, TARGET, WORD, Module
from slipstream.map.model import Definition

_LITERALS = frozenset(("null", "true", "false", "undefined", "this"))
_DECLARATOR = re.compile(r"\s*([\w$]+)(?=\s*(?:[=:!,;]|\n|\Z|//|/\*|in\b|of\b))")
_PATTERN_NAME = pattern_of(r"(?:([\w$]+)\s*:\s*)?(?:\.\.\.)?([\w$]+)\s*(?:=[^,}\]]{0,200})?(?=\s*[,}\]])")
_HIGHER_COMPONENT = pattern_of(r"(?:[\w$]+\.)?(?:forwardRef|memo|lazy|observer|styled)\b")
_OPTIONS = pattern_of(r"(?:(?:Vue\s*\.\s*extend|defineComponent)\s*\(\s*)?\{")
_ARROW_HEAD = re.compile(r"(?:async\b\s*)?(?:[\w$]+\s*=>|([(<]))")
_WRAPPED = pattern_of(r"\(\s*(?:async\b|function\b|class\b|\(|[\w$]+\s*=>)")


def variables(scan: Module, pos: int, start: int, at: int, owner: Definition | None, exported: bool) -> int:
    """Read the declarators of `const`, `let` or `var`, the first of which begins at `pos`."""
    text = scan.text
    lex = scan.lex
    made: list[Definition] = []
    begin = start
    while True:
        if text[pos:pos + 1] in ("{", "["):
            close = lex.close(text, pos)
            counted = len(made)
            if exported:
                for name in _PATTERN_NAME.finditer(text, pos + 1, min(close, pos + 20_000)):
                    made.append(scan.add(name.group(2), "const", name.start(2), begin, close, (at, close), owner,
                                         True, False))
            end = lex.expression_end(text, close, True)
            for definition in made[counted:]:
                definition.end = scan.lines.at(end - 1)
        else:
            match = _DECLARATOR.match(text, pos)
            if match is None:
                end = lex.expression_end(text, pos, True)
            else:
                definition, end = declarator(scan, match, begin, at, owner, exported)
                made.append(definition)
        following = lex.space(text, end)
        if text[following:following + 1] == ",":
            pos = lex.space(text, following + 1)
            begin = at = pos
            scan.doc_text = ""
            continue
        break
    end = scan.semicolon(end)
    if len(made) == 1:
        made[0].end = scan.lines.at(end - 1)
    return end


def declarator(scan: Module, match: re.Match[str], start: int, at: int, owner: Definition | None,
               exported: bool) -> tuple[Definition, int]:
    text = scan.text
    lex = scan.lex
    name = match.group(1)
    doc = scan.doc_text
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
            target = TARGET.match(text, pos)
            if target is None:
                break
            if target.group(1) in ("module.exports", "exports"):
                exported = default = True
            elif target.group(1).startswith(("exports.", "module.exports.")):
                exported = True
            pos = target.end()
        kind, head, end = value(scan, pos, True)
        if kind in ("const", "function") and name[0].isupper() and lex.jsx and (
                scan.has_jsx(head, end) if kind == "function" else _HIGHER_COMPONENT.match(text, pos)):
            kind = "component"
    scan.doc_text = doc
    definition = scan.add(name, "class" if kind == "class" else kind, match.start(1), start, end, (at, head), owner,
                          exported, default)
    if kind == "class":
        scan.class_body(head, definition)
    elif default and text[pos:pos + 1] == "{":
        from slipstream.map.languages.javascript_objects import exported_object
        exported_object(scan, pos, owner)
    return definition, end


def value(scan: Module, pos: int, comma: bool) -> tuple[str, int, int]:
    """Kind of the value at `pos` (function, class or const), end of its head (a class: of its `{`), end of the value."""
    text = scan.text
    lex = scan.lex
    match = WORD.match(text, pos)
    word = match.group() if match else ""
    if word == "async":
        following = lex.space(text, pos + 5)
        if text.startswith("function", following):
            word, pos = "function", following
    if word == "function":
        found = FUNCTION.match(text, pos)
        head = scan.parameters(lex.space(text, found.end())) if found else -1
        if head >= 0:
            body = lex.space(text, head)
            if text[body:body + 1] == "{":
                return ended(scan, "function", head, lex.close(text, body), comma)
    elif word == "class":
        body = scan.lex.class_head(text, pos)
        if body >= 0:
            return ended(scan, "class", body, lex.close(text, body), comma)
    else:
        after_arrow = arrow(scan, pos)
        if after_arrow < 0 and text[pos:pos + 1] == "(" and _WRAPPED.match(text, pos):
            close = lex.close(text, pos)
            kind, head, end = value(scan, lex.space(text, pos + 1), False)
            rest = lex.space(text, close)
            if kind != "const" and lex.space(text, end) == close - 1 and text[rest:rest + 1] not in ("(", ".", "["):
                return kind, head, lex.expression_end(text, close, comma) if text[rest:rest + 1] != ";" else close
        elif after_arrow >= 0:
            body = lex.space(text, after_arrow)
            if text[body:body + 1] == "{":
                return ended(scan, "function", after_arrow, lex.close(text, body), comma)
            return "function", after_arrow, lex.expression_end(text, body, comma)
    end = lex.expression_end(text, pos, comma)
    first = text.find("\n", pos, end)
    return "const", first if first >= 0 else end, end


def arrow(scan: Module, pos: int) -> int:
    """Offset after the `=>` of the arrow function that begins at `pos`; -1 when there is none."""
    text = scan.text
    match = _ARROW_HEAD.match(text, pos)
    if match is None:
        return -1
    if match.group(1) is None:
        return match.end()
    end = scan.parameters(match.end() - 1)
    if end < 0:
        return -1
    at = scan.lex.space(text, end)
    return at + 2 if text[at:at + 2] == "=>" else -1


def ended(scan: Module, kind: str, head: int, end: int, comma: bool) -> tuple[str, int, int]:
    """A value with braces that end at `end`: something may still follow them (a call makes it a plain value)."""
    text = scan.text
    at = scan.lex.space(text, end)
    char = text[at:at + 1]
    if char in ("(", ".", "[") and "\n" not in text[end:at]:
        return "const", head, scan.lex.expression_end(text, end, comma)
    if char in ("", ";", ",", "}", ")") or "\n" in text[end:at]:
        return kind, head, end
    return kind, head, scan.lex.expression_end(text, end, comma)


def export_default(scan: Module, pos: int, start: int, at: int, owner: Definition | None) -> int:
    """`export default EXPRESSION`, `export = EXPRESSION` or `module.exports = EXPRESSION`."""
    text = scan.text
    match = WORD.match(text, pos)
    doc = scan.doc_text
    kind, head, end = value(scan, pos, False)
    end = scan.semicolon(end)
    scan.doc_text = doc
    if match is not None and text[match.end():end].strip(" \t\r\n;")[:1] in ("", ",") and match.group() not in _LITERALS:
        scan.default_names.append((match.group(), at, owner))
        return end
    name = "default"
    word = match.group() if match else ""
    if kind in ("function", "class"):
        named = re.compile(r"(?:async\s+)?(?:function\s*\*?|class)\s*(?!extends\b|implements\b)([\w$]+)").match(text, pos)
        name = named.group(1) if named and word in ("async", "function", "class") else name
    definition = scan.add(name, kind if name != "default" else "default", at, start, end, (at, head), owner, True, True)
    if kind == "class":
        scan.class_body(head, definition)
    elif scan.out.language == "vue" and kind == "const":
        from slipstream.map.languages.javascript_objects import component_options
        options = _OPTIONS.match(text, pos)
        if options is not None:
            component_options(scan, options.end() - 1, definition)
    return end
