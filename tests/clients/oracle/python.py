"""Definitions of Python source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, first, join


def read(out, n, level="top", parent="", in_class=False):
    for c in children(n):
        outer = c
        if c.type == "decorated_definition":
            c = field(c, "definition") or c
        if c.type == "function_definition":
            nm = field(c, "name")
            name = out.text(nm)
            found_level = "member" if in_class else level
            out.add(
                name,
                "method" if in_class else "function",
                c,
                nm,
                outer,
                found_level,
                parent,
                exported=not name.startswith("_"),
                req=level != "local",
                kinds=("function", "method") if in_class else (),
            )
            b = field(c, "body")
            if b:
                read(out, b, "local", join(parent, name))
        elif c.type == "class_definition":
            nm = field(c, "name")
            name = out.text(nm)
            out.add(
                name,
                "class",
                c,
                nm,
                outer,
                "member" if in_class else level,
                parent,
                exported=not name.startswith("_"),
                req=level != "local",
                kinds=("enum", "interface", "type"),
            )
            b = field(c, "body")
            if b:
                read(out, b, level, join(parent, name), True)
        elif c.type == "type_alias_statement":
            left = field(c, "left")
            if left:
                out.add(
                    re.split(r"[\[\s]", out.text(left))[0],
                    "type",
                    c,
                    left,
                    outer,
                    level,
                    parent,
                    req=level == "top" and not in_class,
                    kinds=("const",),
                )
        elif c.type in ("expression_statement", "assignment"):
            a = c if c.type == "assignment" else first(c, "assignment")
            if a is None:
                continue
            while a is not None and a.type == "assignment":
                left = field(a, "left")
                tg = []
                if left is not None:
                    tg = (
                        [left]
                        if left.type == "identifier"
                        else [k for k in children(left) if k.type == "identifier"]
                        if left.type in ("pattern_list", "tuple_pattern")
                        else []
                    )
                for i in tg:
                    name = out.text(i)
                    up = (
                        bool(re.fullmatch(r"[A-Z][A-Z0-9_]*", name))
                        and left.type == "identifier"
                        and field(a, "right") is not None
                    )
                    out.add(
                        name,
                        "const",
                        c,
                        i,
                        c,
                        "member" if in_class else level,
                        parent,
                        exported=not name.startswith("_"),
                        req=up and level == "top" and not in_class,
                        kinds=("type", "class", "function", "enum", "field"),
                    )
                r = field(a, "right")
                a = r if r is not None and r.type == "assignment" else None
        elif c.type in (
            "if_statement",
            "elif_clause",
            "else_clause",
            "try_statement",
            "except_clause",
            "except_group_clause",
            "finally_clause",
            "with_statement",
            "block",
            "for_statement",
            "while_statement",
            "match_statement",
            "case_clause",
        ):
            read(out, c, level, parent, in_class)
