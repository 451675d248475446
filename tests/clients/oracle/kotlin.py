"""Definitions of Kotlin source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, first, has_token, holder, join, keyword, walk


def read(out, n, level="top", parent="", iface=False):
    for c in children(n):
        t = c.type
        mods = first(c, "modifiers")
        ms = " ".join(out.text(k) for k in children(mods) if k.type != "annotation") if mods else ""
        vis = not re.search(r"\b(private|internal)\b", ms)
        lv = level
        if t in ("class_declaration", "object_declaration", "companion_object"):
            nm = first(c, "type_identifier", "simple_identifier")
            k = "class"
            if has_token(c, "interface"):
                k = "interface"
            if has_token(c, "enum") or re.search(r"\benum\b", ms):
                k = "enum"
            name = out.text(nm) if nm else "Companion"
            out.add(
                name,
                k,
                c,
                nm or keyword(c, "object") or c,
                c,
                lv,
                parent,
                vis,
                bool(nm) and lv != "local" and t != "companion_object",
                ("class", "type", "object", "interface"),
                ("companion object", "companion"),
            )
            b = first(c, "class_body", "enum_class_body")
            if b is None and first(c, "delegation_specifier"):
                # "class A : B by f(x) { ... }": the grammar takes the class body for a lambda of f
                for lambda_ in walk(c, "lambda_literal"):
                    if lambda_.end_byte == c.end_byte:
                        b = first(lambda_, "statements")
            if b:
                read(out, b, "member" if lv != "local" else "local", join(parent, name) if t != "companion_object" else parent)
            pc = first(c, "primary_constructor")
            for p in walk(pc, "class_parameter") if pc else ():
                q = first(p, "simple_identifier")
                if q:
                    out.add(
                        out.text(q), "field", p, q, p, "member", join(parent, name), True, False, ("const", "property", "type")
                    )
        elif t == "function_declaration":
            nm = None
            for k in c.named_children:
                if k.type == "simple_identifier":
                    nm = k
                    break
                if k.type == "function_value_parameters":
                    break
            if nm is None:
                continue
            out.add(
                out.text(nm),
                "method" if lv == "member" else "function",
                c,
                nm,
                c,
                lv,
                parent,
                vis,
                lv != "local",
                ("function", "method", "component"),
            )
            b = first(c, "function_body")
            if b:
                kt_local(out, b)
        elif t == "secondary_constructor" and prev_is_bare_class(c):
            # the grammar ends the class before an annotated primary constructor on its own line
            out.unsure.append((c.start_point[0] + 1, c.end_point[0] + 1))
            for d in out.defs[-3:]:
                if d["kind"] == "class":
                    d["end_sure"] = False
                    d["ends"] = []
        elif t == "secondary_constructor":
            k = keyword(c, "constructor")
            out.add("constructor", "method", c, k or c, c, "member", parent, vis, False, ("function",))
        elif t == "property_declaration":
            v = first(c, "variable_declaration")
            if v:
                nm = first(v, "simple_identifier")
                cst = bool(re.search(r"\bconst\b", ms))
                out.add(
                    out.text(nm),
                    "const" if lv == "top" else "field",
                    c,
                    nm,
                    c,
                    lv,
                    parent,
                    vis,
                    lv == "top" and cst and vis,
                    ("field", "property", "const", "type", "function", "variable"),
                )
            for k in children(c):
                if k.type not in ("modifiers", "variable_declaration"):
                    kt_local(out, k)
        elif t == "type_alias":
            nm = first(c, "type_identifier", "simple_identifier")
            if nm:
                out.add(out.text(nm), "type", c, nm, c, lv, parent, vis, lv != "local")
        elif t == "enum_entry":
            nm = first(c, "simple_identifier")
            if nm:
                out.add(out.text(nm), "field", c, nm, c, "member", parent, True, False, ("const", "enum"))
            b = first(c, "class_body")
            if b:
                read(out, b, "local", parent)
        elif t in (
            "anonymous_initializer",
            "statements",
            "getter",
            "setter",
            "call_expression",
            "infix_expression",
            "assignment",
            "prefix_expression",
            "if_expression",
        ):
            kt_local(out, c)


def prev_is_bare_class(c):
    p = c.prev_named_sibling
    while p is not None and p.type in ("comment", "line_comment", "multiline_comment"):
        p = p.prev_named_sibling
    return (
        p is not None
        and p.type == "class_declaration"
        and first(p, "class_body", "enum_class_body") is None
        and c.start_point[0] - p.end_point[0] <= 3
    )


def kt_local(out, n):
    for c in walk(
        n, "class_declaration", "object_declaration", "function_declaration", "object_literal", "property_declaration"
    ):
        if c.type == "object_literal":
            b = first(c, "class_body")
            if b:
                read(out, b, "local", "")
        else:
            read(out, holder(c), "local", "")
