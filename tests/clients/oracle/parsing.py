"""Parses source with tree-sitter's grammars, works around what they cannot read, and lists the definitions of a file."""

from __future__ import annotations

import re
import sys

from tree_sitter_language_pack import get_parser

from tests.clients.oracle import c, csharp, go, java, javascript, kotlin, php, python, ruby, rust, swift
from tests.clients.oracle.macros import blank, blank_macros
from tests.clients.oracle.nodes import Found

READERS = {
    "python": python, "javascript": javascript, "typescript": javascript, "tsx": javascript, "go": go, "rust": rust,
    "java": java, "csharp": csharp, "ruby": ruby, "php": php, "kotlin": kotlin, "swift": swift,
}
# What a parse error makes unknown: the whole declaration around it, unless that holds others.
UNITS = {
    "function_definition", "declaration", "field_declaration", "type_definition", "template_declaration", "enum_specifier",
}
HOLDERS = {
    "class_specifier", "struct_specifier", "union_specifier", "namespace_definition", "preproc_if", "preproc_ifdef",
    "linkage_specification", "compound_statement", "translation_unit",
}
KOTLIN_CONSTRUCTOR = re.compile(
    rb"(\bclass[ \t]+\w+(?:<[^>{}()]*>)?)([ \t]*\n\s*(?:(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?"
    rb"|private|internal|protected|public)\s+)*constructor\s*)\("
)
CPP = re.compile(
    rb"(?m)^\s*(namespace\b|template\s*<|class\s+\w+[^;]*$|using\s+\w|public:|private:|protected:)|\bstd::|\bconstexpr\b"
)
SWIFT_CONDITION = re.compile(rb"(?m)^[ \t]*#(?:if|elseif|else|endif)\b[^\n]*")
_parsers = {}


def parse(language, source):
    """(tree, ranges of lines with errors)."""
    if language not in _parsers:
        _parsers[language] = get_parser(language)
    tree = _parsers[language].parse(source)
    return tree, errors_of(tree.root_node)


def errors_of(root):
    found = []
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            found.append((node.start_point[0] + 1, node.end_point[0] + 1, node.type))
            around = node.parent
            while around is not None and around.type not in UNITS and around.type not in HOLDERS:
                around = around.parent
            if around is not None and around.type in UNITS:
                found.append((around.start_point[0] + 1, around.end_point[0] + 1, "unit"))
            if node.type == "ERROR":
                continue
        stack.extend(child for child in node.children if child.has_error)
    return found


def weight(errors):
    return sum(last - start + 1 for start, last, kind in errors if kind != "unit")


def parse_c(source, language, macros):
    """The parse with the fewest broken lines, of several levels of blanking macros."""
    best = None
    for mode, pattern in ((0, None), (0, macros), (1, macros), (2, macros), (1, None), (2, None)):
        if mode == 0 and pattern is None and best is not None:
            continue
        text = blank_macros(source, mode, pattern) if mode or pattern is not None else source
        tree, errors = parse(language, text)
        if best is None or weight(errors) < weight(best[1]):
            best = tree, errors
        if not errors:
            break
    return best


def parse_kotlin(source):
    """Moves the "(" of a primary constructor on its own line up to the class name, and hides the `fun` of an interface."""
    source = KOTLIN_CONSTRUCTOR.sub(lambda m: m.group(1) + b"(" + re.sub(rb"[^\n]", b" ", m.group(2)), source)
    return parse("kotlin", re.sub(rb"\bfun(?=[ \t]+interface\b)", b"   ", source))


def parse_swift(source):
    """Without the lines of conditional compilation, which can end a type early, where that breaks no more lines."""
    tree, errors = parse("swift", source)
    condition = SWIFT_CONDITION.search(source)
    if condition or errors:
        other = SWIFT_CONDITION.sub(blank, source) if condition else re.sub(rb"\bnonisolated\(unsafe\)", blank, source)
        tree2, errors2 = parse("swift", other)
        if weight(errors2) < weight(errors) or (condition and weight(errors2) == weight(errors)):
            return tree2, errors2
    return tree, errors


def definitions_of(source, language, path="", macros=None):
    """The truth about one file: `lang`, `defs`, `unsure` ranges of lines and `error_share`."""
    header = language == "h" or path.endswith((".hpp", ".hh", ".hxx"))
    if language == "h":
        language = "cpp" if CPP.search(source) else "c"
    if source.startswith(b"\xef\xbb\xbf"):
        source = b"   " + source[3:]
    if language in ("c", "cpp"):
        tree, errors = parse_c(source, language, macros)
        if language == "c" and header and errors:
            other = parse_c(source, "cpp", macros)
            if weight(other[1]) < weight(errors) // 2:
                (tree, errors), language = other, "cpp"
    elif language == "kotlin":
        tree, errors = parse_kotlin(source)
    elif language == "swift":
        tree, errors = parse_swift(source)
    else:
        tree, errors = parse(language, source)
    found = Found(source, language)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    try:
        if language in ("c", "cpp"):
            c.read(found, tree.root_node, header)
        else:
            READERS[language].read(found, tree.root_node)
    finally:
        sys.setrecursionlimit(limit)
    broken = set()
    for start, last, kind in errors:
        found.unsure.append((start, last))
        if kind != "unit":
            broken.update(range(start, last + 1))
    for definition in found.defs:
        if any(start <= definition["line"] <= last for start, last, _ in errors):
            definition["req"] = definition["end_sure"] = False
    return {
        "lang": "typescript" if language == "tsx" else language,
        "defs": sorted(found.defs, key=lambda one: (one["line"], one["start"], one["name"])),
        "unsure": sorted(set(found.unsure)),
        "error_share": len(broken) / (source.count(b"\n") + 1),
    }
