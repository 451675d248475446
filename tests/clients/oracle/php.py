"""Definitions of PHP source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, first, holder, join, walk

TYPES = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "trait_declaration": "class",
    "enum_declaration": "enum",
}


def read(out, n, level="top", parent="", in_class=False):
    for c in children(n):
        t = c.type
        nm = field(c, "name")
        if t in TYPES:
            name = out.text(nm)
            out.add(
                name,
                TYPES[t],
                c,
                nm,
                c,
                level,
                parent,
                True,
                level != "local",
                ("type", "interface", "trait") if t != "enum_declaration" else ("class", "type"),
            )
            b = field(c, "body")
            if b:
                read(out, b, level, join(parent, name), True)
        elif t == "function_definition":
            out.add(out.text(nm), "function", c, nm, c, level, parent, True, level != "local")
            b = field(c, "body")
            if b:
                php_local(out, b)
        elif t == "method_declaration":
            ms = " ".join(out.text(k) for k in children(c) if k.type == "visibility_modifier")
            out.add(
                out.text(nm),
                "method",
                c,
                nm,
                c,
                "member",
                parent,
                "private" not in ms and "protected" not in ms,
                level != "local",
                ("function",),
            )
            b = field(c, "body")
            if b:
                php_local(out, b)
        elif t == "const_declaration":
            for e in children(c):
                if e.type == "const_element":
                    q = children(e)[0]
                    out.add(
                        out.text(q),
                        "const",
                        c,
                        q,
                        c,
                        "member" if in_class else level,
                        parent,
                        True,
                        not in_class and level == "top",
                        ("field",),
                    )
        elif t == "property_declaration":
            for e in walk(c, "property_element"):
                q = children(e)[0]
                out.add(
                    out.text(q).lstrip("$"),
                    "field",
                    c,
                    q,
                    c,
                    "member",
                    parent,
                    True,
                    False,
                    ("const", "property", "variable"),
                    (out.text(q),),
                )
        elif t == "enum_case":
            if nm:
                out.add(out.text(nm), "field", c, nm, c, "member", parent, True, False, ("const", "enum"))
        elif t == "namespace_definition":
            if nm:
                out.add(out.text(nm), "module", c, nm, c, level, parent, True, False, ("type", "class"))
            b = field(c, "body")
            if b:
                read(out, b, level, parent)
        elif t in (
            "if_statement",
            "compound_statement",
            "colon_block",
            "else_clause",
            "else_if_clause",
            "declaration_list",
            "enum_declaration_list",
        ):
            read(out, c, level, parent, in_class)
        elif t == "namespace_use_declaration":
            for e in walk(c, "namespace_use_clause"):
                s = out.text(e)
                al = re.split(r"\s+as\s+|\\", s)[-1]
                out.add(
                    al, "alias", e, e, c, level, parent, False, False, ("class", "function", "const", "type", "interface"), (s,)
                )
        elif not in_class:
            php_local(out, c)
            if t == "expression_statement":
                a = first(c, "assignment_expression")
                left = field(a, "left") if a else None
                if left is not None and left.type == "variable_name":
                    out.add(
                        out.text(left).lstrip("$"),
                        "const",
                        c,
                        left,
                        c,
                        level,
                        parent,
                        False,
                        False,
                        ("field", "variable", "function"),
                        (out.text(left),),
                    )
                f = first(c, "function_call_expression")
                if f and out.text(field(f, "function")) == "define":
                    s = list(walk(f, "string", "encapsed_string"))
                    if s:
                        out.add(out.text(s[0])[1:-1], "const", c, s[0], c, level, parent, True, False)


def php_local(out, n):
    for c in walk(
        n,
        "function_definition",
        "class_declaration",
        "interface_declaration",
        "trait_declaration",
        "object_creation_expression",
        "anonymous_class",
        "anonymous_function",
        "arrow_function",
        "assignment_expression",
    ):
        if c.type in ("anonymous_function", "arrow_function"):
            b = field(c, "body")
            if b:
                php_local(out, b)
        elif c.type == "assignment_expression":
            left, r = field(c, "left"), field(c, "right")
            if left is not None and left.type == "variable_name":
                out.add(
                    out.text(left).lstrip("$"),
                    "const",
                    c,
                    left,
                    c,
                    "local",
                    "",
                    False,
                    False,
                    ("field", "variable", "function"),
                    (out.text(left),),
                )
            if r is not None:
                php_local(out, r)
        elif c.type in ("object_creation_expression", "anonymous_class"):
            for k in children(c):
                if k.type == "declaration_list":
                    read(out, k, "local", "(anonymous)", True)
                else:
                    php_local(out, k)
        else:
            read(out, holder(c), "local", "")
