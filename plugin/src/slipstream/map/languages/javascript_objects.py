"""JavaScript values with a form of their own, or given to names of other objects: CommonJS exports, options of a component."""
from __future__ import annotations

import re

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import FUNCTION, TARGET, Module
from slipstream.map.languages.javascript_values import ended, value
from slipstream.map.languages.lexer import after
from slipstream.map.model import Definition

_NAME = pattern_of(r"(?!\d)[\w$]+")
_WRAPPED = pattern_of(r"\(\s*(?:async\b|function\b|class\b|\(|[\w$]+\s*=>)")
_ASYNC_FUNCTION = pattern_of(r"(?:async\b\s*)?(?=function(?![\w$]))")
_CLASS = pattern_of(r"class(?![\w$])")
_OBJECT_KEY = pattern_of(r"\s*(?:async\s+)?(?:\*\s*)?(?:(?:get|set)\s+(?=[\w$'\"]))?"
                         r"([\w$]+|'[^'\n]*'|\"[^\"\n]*\")\s*(,|\}|:|\()")


def braced_value(scan: Module, pos: int, comma: bool) -> tuple[str, int, int] | None:
    """A function or class as a value, in round brackets too, as `javascript_values.value` gives it; None for another."""
    text = scan.text
    lex = scan.lex
    if text.startswith("(", pos):
        if _WRAPPED.match(text, pos) is None:
            return None
        close = lex.close(text, pos)
        kind, head, end = value(scan, lex.space(text, pos + 1), False)
        rest = lex.space(text, close)
        if kind == "const" or lex.space(text, end) != close - 1 or text.startswith(("(", ".", "["), rest):
            return None
        return kind, head, close if text.startswith(";", rest) else lex.expression_end(text, close, comma)
    function = _ASYNC_FUNCTION.match(text, pos)
    if function is not None:
        found = FUNCTION.match(text, function.end())
        head = scan.parameters(lex.space(text, found.end())) if found else -1
        body = lex.space(text, head) if head >= 0 else len(text)
        return ended(scan, "function", head, lex.close(text, body), comma) if text.startswith("{", body) else None
    if not _CLASS.match(text, pos):
        return None
    from slipstream.map.languages.javascript_type_ends import class_head
    body = class_head(lex, text, pos)
    return ended(scan, "class", body, lex.close(text, body), comma) if body >= 0 else None


def assignment(scan: Module, at: int, start: int, owner: Definition | None) -> int:
    """An expression statement: assignments to exports and to properties define something."""
    text = scan.text
    target = TARGET.match(text, at)
    if target is None:
        return scan.semicolon(scan.lex.expression_end(text, at, False))
    targets = [(target.group(1), target.start(1))]
    pos = target.end()
    while True:
        target = TARGET.match(text, pos)
        if target is None:
            break
        targets.append((target.group(1), target.start(1)))
        pos = target.end()
    pos = scan.lex.space(text, pos)
    names = [re.sub(r"\s+", "", re.sub(r"\[\s*['\"]([^'\"]*)['\"]\s*\]", r".\1", name)) for name, _ in targets]
    if any(name in ("module.exports", "exports") for name in names):
        if text[pos:pos + 1] == "{":
            exported_object(scan, pos, owner)
            return scan.semicolon(scan.lex.expression_end(text, pos, False))
        from slipstream.map.languages.javascript_exports import export_default
        return export_default(scan, pos, start, at, owner)
    if not any("." in name for name in names):
        return scan.semicolon(scan.lex.expression_end(text, pos, False))
    kind, head, end = value(scan, pos, False)
    end = scan.semicolon(end)
    made = False
    for name, (_, name_at) in zip(reversed(names), reversed(targets)):
        holder, _, short = name.rpartition(".")
        if holder in ("exports", "module.exports"):
            named = _NAME.match(text, pos)
            if kind == "const" and named is not None and text[named.end():end].strip() in ("", ";"):
                scan.exported_names.append((named.group(), short, owner))
                scan.assigned.append((short, named.group(), name_at, start, end, at))
                continue
            definition = scan.add(short, kind, name_at, start, end, (at, head), owner, True, short == "default")
        elif holder and not holder.startswith("this") and kind != "const" and not made:
            holder = holder.removesuffix(".prototype")
            definition = scan.add(short, "method" if kind == "function" else kind, name_at, start, end, (at, head), None,
                                  not short.startswith("_"), False)
            definition.parent = holder
        else:
            continue
        made = True
        if kind == "class":
            from slipstream.map.languages.javascript_class import class_body
            class_body(scan, head, definition)
    return end


def exported_object(scan: Module, pos: int, owner: Definition | None) -> None:
    """`module.exports = { a, b: c, d() {} }`: names of the file are exported, functions written here are theirs."""
    text = scan.text
    lex = scan.lex
    close = lex.close(text, pos)
    at = pos + 1
    while at < close - 1:
        at = scan.trivia(at)
        start = scan.take_doc(at)
        match = _OBJECT_KEY.match(text, at, close)
        if match is None:
            at = lex.expression_end(text, at, True) + 1
            continue
        name = match.group(1).strip("'\"")
        mark = match.group(2)
        end = match.end()
        if mark in ",}":
            scan.exported_names.append((name, name, owner))
        elif mark == ":":
            begin = lex.space(text, end)
            word = _NAME.match(text, begin)
            kind, head, end = value(scan, begin, True)
            if word is not None and text[word.end():end].strip() == "":
                scan.exported_names.append((word.group(), name, owner))
            elif kind in ("function", "class"):
                definition = scan.add(name, kind, match.start(1), start, end, (at, head), owner, True, False)
                if kind == "class":
                    from slipstream.map.languages.javascript_class import class_body
                    class_body(scan, head, definition)
            end = after(text, ",", end) if text[end:end + 1] == "," else end + 1
        else:
            body = lex.space(text, lex.close(text, end - 1))
            if text[body:body + 1] == "{":
                end = lex.close(text, body)
                scan.add(name, "function", match.start(1), start, end, (at, body), owner, True, False)
            end = lex.expression_end(text, end, True) + 1
        at = end


def component_options(scan: Module, brace: int, owner: Definition, inside: bool = False) -> None:
    """`export default { data() {}, methods: { load() {} } }` of a component: functions, also of `computed`."""
    text = scan.text
    lex = scan.lex
    close = lex.close(text, brace)
    pos = brace + 1
    while True:
        at = scan.trivia(pos)
        if at >= close - 1:
            return
        start = scan.take_doc(at)
        match = _OBJECT_KEY.match(text, at, close)
        if match is None:
            pos = lex.expression_end(text, at, True) + 1
            continue
        name = match.group(1).strip("'\"")
        kind = "method"
        head = end = match.end()
        if match.group(2) == "(":
            head = scan.parameters(end - 1)
            body = lex.space(text, head)
            end = lex.close(text, body) if text[body:body + 1] == "{" else head
        elif match.group(2) == ":":
            begin = lex.space(text, end)
            if name in ("methods", "computed") and text[begin:begin + 1] == "{" and not inside:
                component_options(scan, begin, owner, True)
                kind, end = "", lex.close(text, begin)
            else:
                found, head, end = value(scan, begin, True)
                kind = "method" if found == "function" else "accessor" if inside and text[begin] == "{" else ""
        else:
            kind, end = "", end - 1
        if kind:
            scan.add(name, kind, match.start(1), start, end, (at, head), owner, True, False)
        end = lex.space(text, end)
        pos = end + 1 if text[end:end + 1] == "," else max(end, at + 1)
