"""TypeScript declarations without a value: interfaces, enums, type aliases, namespaces."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import Module
from slipstream.map.languages.javascript_type_ends import angles, class_head, type_end
from slipstream.map.model import Definition

_INTERFACE_NAME = pattern_of(r"interface\s+([\w$]+)")
MODIFIERS = re.compile(r"(?:(?:public|private|protected|static|readonly|abstract|override|declare|accessor|async|get|set)\b"
                        r"(?!\s*[(=:;?!<}\n,])\s*)*")
NAME = re.compile(r"(\*?)\s*(#?[\w$]+|'[^'\n]*'|\"[^\"\n]*\"|(\[))")
_ENUM_MEMBER = pattern_of(r"([\w$]+|'[^'\n]*'|\"[^\"\n]*\")\s*(?=[=,}])")
_MODULE = pattern_of(r"(?:namespace|module|global)\b\s*([\w$.]+|'[^'\n]*'|\"[^\"\n]*\")?\s*\{")
_ENUM_NAME = pattern_of(r"enum\s+([\w$]+)\s*\{")
_TYPE_NAME = pattern_of(r"type\s+([\w$]+)\s*(?=[=<])")


def type_declaration(scan: Module, word: str, pos: int, start: int, at: int, owner: Definition | None, exported: bool,
                     default: bool) -> int:
    """Read a declaration that begins with `word` at `pos`; -1 when it is none."""
    text = scan.text
    if word == "interface":
        return interface(scan, pos, start, at, owner, exported, default)
    if word == "enum":
        return enum(scan, pos, start, at, owner, exported)
    if word == "type":
        match = _TYPE_NAME.match(text, pos)
        if match is None:
            return -1
        end = match.end()
        if text[end] == "<":
            end = scan.lex.space(text, max(end, angles(scan.lex, text, end)))
        if text[end:end + 1] != "=":
            return -1
        end = type_end(scan.lex, text, end + 1)
        end = scan.semicolon(end)
        scan.add(match.group(1), "type", match.start(1), start, end, (at, end), owner, exported, default)
        return end
    if word in ("namespace", "module", "global"):
        match = _MODULE.match(text, pos)
        if match is None or (word != "global" and match.group(1) is None) or scan.depth > 40:
            return -1
        if word == "global" or match.group(1)[0] in "'\"":
            from slipstream.map.languages.javascript_forms import hollow
            return scan.statements(match.end(), hollow(scan), True)
        definition = scan.add(match.group(1), "class", match.start(1), start, match.end(), (at, match.end() - 1),
                              owner, exported, False)
        end = scan.statements(match.end(), definition, exported)
        definition.end = scan.lines.at(end - 1)
        return end
    return -1


def interface(scan: Module, pos: int, start: int, at: int, owner: Definition | None, exported: bool, default: bool) -> int:
    text = scan.text
    match = _INTERFACE_NAME.match(text, pos)
    body = class_head(scan.lex, text, pos) if match else -1
    if match is None or body < 0:
        return -1
    end = scan.lex.close(text, body)
    definition = scan.add(match.group(1), "interface", match.start(1), start, end, (at, body), owner, exported, default)
    interface_members(scan, body + 1, end - 1, definition)
    return end


def interface_members(scan: Module, pos: int, stop: int, owner: Definition) -> None:
    text = scan.text
    lex = scan.lex
    while True:
        at = scan.trivia(pos)
        if at >= stop:
            return
        doc = scan.doc
        modifiers = MODIFIERS.match(text, at)
        name_at = modifiers.end() if modifiers else at
        match = NAME.match(text, name_at, stop)
        if match is None or match.group(3):
            if text[at] in "(<":
                at = max(at, scan.parameters(at))
            pos = max(at + 1, lex.expression_end(text, at, True) + 1)
            continue
        name = match.group(2).strip("'\"")
        end = lex.space(text, match.end())
        if text[end:end + 1] == "?":
            end = lex.space(text, end + 1)
        kind = "field"
        scan.doc_text = text[doc:at] if doc >= 0 else ""
        if text[end:end + 1] in ("(", "<"):
            kind = "method"
            end = scan.parameters(end)
        elif text[end:end + 1] == ":":
            end = type_end(lex, text, end + 1)
        else:
            end = match.end()
        if end < 0 or end > stop:
            return
        if kind == "field" or name != "new":
            scan.add(name, kind, match.start(2), doc if doc >= 0 else at, end, (at, end), owner, True, False)
        pos = lex.space(text, end)
        if text[pos:pos + 1] == ",":
            pos += 1
        elif pos == end and text[pos:pos + 1] not in (";", "\n", "\r"):
            pos = max(at + 1, lex.expression_end(text, pos, True))


def enum(scan: Module, pos: int, start: int, at: int, owner: Definition | None, exported: bool) -> int:
    match = _ENUM_NAME.match(scan.text, pos)
    if match is None:
        return -1
    end = scan.lex.close(scan.text, match.end() - 1)
    definition = scan.add(match.group(1), "enum", match.start(1), start, end, (at, match.end() - 1), owner, exported, False)
    enum_members(scan, match.end(), end, definition)
    return end


def enum_members(scan: Module, pos: int, end: int, owner: Definition) -> None:
    text = scan.text
    lex = scan.lex
    while pos < end - 1:
        at = scan.trivia(pos)
        match = _ENUM_MEMBER.match(text, at, end)
        if match is None:
            return
        scan.doc_text = text[scan.doc:at] if scan.doc >= 0 else ""
        stop = lex.expression_end(text, match.end(), True)
        scan.add(match.group(1).strip("'\""), "field", match.start(1), at, stop, (at, stop), owner, True, False)
        pos = stop + 1
