"""What a JavaScript or TypeScript file exports by lists, names and values, and what it requires by calls."""
from __future__ import annotations

from slipstream.base.lazy_pattern import pattern_of
from slipstream.map.languages.javascript import Module
from slipstream.map.languages.javascript_lexer import WORD
from slipstream.map.model import Definition

_EXPORT_LIST = pattern_of(r"\s*(?:type\b\s*)?(?:\*\s*(?:as\s+([\w$]+|\"[^\"\n]*\"|'[^'\n]*')\s*)?|\{([^}]{0,100000})\}\s*)"
                          r"(?:from\s*(['\"])([^'\"\n]{1,500})\3)?")
_SPECIFIER = pattern_of(r"(?:type\s+)?([\w$]+|\"[^\"\n]*\"|'[^'\n]*')(?:\s+as\s+([\w$]+|\"[^\"\n]*\"|'[^'\n]*'))?")
_CLOSED = pattern_of(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|/\*(?:[^*]|\*(?!/))*\*/")
_CALLED = pattern_of(r"\s*(?:(?:/\*[^*]{0,200}\*/|//[^\n]{0,200}\n)\s*){0,9}(['\"`])([^'\"`\n$]{1,500})\1\s*[,)]")
_NAMED = pattern_of(r"(?:async\s+)?(?:function\s*\*?|class)\s*(?!extends\b|implements\b)([\w$]+)")
_OPTIONS = pattern_of(r"(?:(?:Vue\s*\.\s*extend|defineComponent)\s*\(\s*)?\{")
_LITERALS = frozenset("null true false undefined this".split())


def finish(scan: Module) -> None:
    """What is known when all statements have been read."""
    if not scan.out.definitions and not scan.out.reexports and not scan.exported_names:
        from slipstream.map.languages.javascript_forms import wrapped
        wrapped(scan)
    link_exports(scan)
    called_imports(scan)


def export_form(scan: Module, pos: int, start: int, at: int, owner: Definition | None) -> int:
    """What stands at `pos` behind `export` is no declaration: a list, `= VALUE`, `as namespace NAME`."""
    text = scan.text
    if text.startswith("=", pos):
        return export_default(scan, scan.lex.space(text, pos + 1), start, at, owner)
    if text.startswith(("{", "*", "type"), pos):
        return export_list(scan, pos, owner)
    return scan.lex.expression_end(text, pos, False)


def export_default(scan: Module, pos: int, start: int, at: int, owner: Definition | None) -> int:
    """`export default EXPRESSION`, `export = EXPRESSION` or `module.exports = EXPRESSION`."""
    from slipstream.map.languages.javascript_values import value
    text = scan.text
    match = WORD.match(text, pos)
    word = match.group() if match else ""
    kind, head, end = value(scan, pos, False)
    end = scan.semicolon(end)
    rest = text[pos + len(word):end].strip(" \t\r\n;")
    if rest[:1] in ("", ",") and word and not word[0].isdigit() and word not in _LITERALS:
        scan.default_names.append((word, at, owner))
        return end
    named = _NAMED.match(text, pos) if kind in ("function", "class") and word in ("async", "function", "class") else None
    name = named.group(1) if named else "default"
    definition = scan.add(name, kind if named else "default", at, start, end, (at, head), owner, True, True)
    if kind == "class":
        from slipstream.map.languages.javascript_class import class_body
        class_body(scan, head, definition)
    elif scan.out.language == "vue" and kind == "const":
        options = _OPTIONS.match(text, pos)
        if options is not None:
            from slipstream.map.languages.javascript_objects import component_options
            component_options(scan, options.end() - 1, definition)
    return end


def export_list(scan: Module, pos: int, owner: Definition | None) -> int:
    text, before = scan.text, 0
    brace = pos if text[pos] == "{" else scan.lex.space(text, pos + 4)
    if text[brace:brace + 1] == "{":
        close = scan.lex.close(text, brace)
        if "/" in text[brace:close]:  # a comment, with braces and words of its own
            from slipstream.map.languages.javascript_forms import without_comments
            text, before = without_comments(text[pos:close]) + text[close:close + 600], pos
    match = _EXPORT_LIST.match(text, pos - before)
    if match is None:
        return scan.lex.expression_end(scan.text, pos, False)
    source = match.group(4) or ""
    names: list[str] = []
    line = scan.lines.at(pos)
    if match.group(2) is not None:
        for found in _SPECIFIER.finditer(match.group(2)):
            at = before + match.start(2) + found.start()
            local = found.group(1).strip("'\"")
            name = (found.group(2) or local).strip("'\"")
            names.append(local)
            if not source:
                scan.exported_names.append((local, name, owner))
                if name == local:
                    continue
            scan.out.reexports.append((name, scan.lines.at(at), source, local))
    else:
        name = (match.group(1) or "*").strip("'\"")
        names.append("*")
        scan.out.reexports.append((name, line, source, "*"))
    if source:
        scan.out.imports.append((source, "reexport", tuple(names)))
    return scan.semicolon(before + match.end())


def link_exports(scan: Module) -> None:
    """Carry export lists, default names and assignments to `exports` over to the definitions they name."""
    local: dict[str, list[Definition]] = {}
    for definition in scan.out.definitions:
        local.setdefault(definition.name, []).append(definition)
    for name, public, owner in scan.exported_names:
        scope = local if owner is None else {d.name: [d] for d in owner.members if d.name == name}
        for definition in scope.get(name, ()):
            definition.exported = True
            definition.default = definition.default or public == "default"
    for name, at, owner in scan.default_names:
        found = local.get(name, ()) if owner is None else ()
        if not found:
            scan.out.reexports.append(("default", scan.lines.at(at), "", name))
        for definition in found:
            definition.exported = definition.default = True
    for short, value, name_at, start, end, at in scan.assigned:
        if value in local and short == value:
            continue
        scan.doc_text = ""
        scan.add(short, "const", name_at, start, end, (at, end), None, True, short == "default")
    if scan.assigned:
        scan.out.definitions.sort(key=_by_line)
    holders = {d.name: d for d in scan.out.definitions if d.exported}
    for definition in scan.out.definitions:
        if definition.kind == "method" and definition.parent and definition.parent.split(".")[0] not in holders:
            definition.exported = False
    if any(one.overload for one in scan.out.definitions):
        from slipstream.map.languages.braces import mark_overloads
        mark_overloads(scan.out.definitions)


def called_imports(scan: Module) -> None:
    """`require(...)` and `import(...)` anywhere in code."""
    text = scan.text
    for opening, kind in (("require(", "require"), ("require (", "require"), ("import(", "dynamic"), ("import (", "dynamic")):
        found = text.find(opening)
        while found >= 0:
            match = _CALLED.match(text, found + len(opening))
            if match is not None and is_code(scan, found):
                scan.out.imports.append((match.group(2), kind, ()))
            found = text.find(opening, found + len(opening))


def is_code(scan: Module, pos: int) -> bool:
    """Whether the call at `pos` stands neither in a comment nor in a string, judged by its line."""
    text = scan.text
    line = text[max(text.rfind("\n", 0, pos) + 1, pos - 500):pos]
    if line[-1:].isalnum() or line[-1:] in ("_", "$") or (line[-1:] == "." and line[-3:] != "..."):
        return False
    line = _CLOSED.sub("", line)
    return not (line.lstrip().startswith("*") or "/*" in line or "//" in line.replace("\\/", "")
                or line.count('"') % 2 or line.count("'") % 2 or line.count("`") % 2)


def _by_line(definition: Definition) -> int:
    return definition.line
