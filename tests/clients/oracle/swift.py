"""Definitions of Swift source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, first, holder, join, keyword, walk


def read(out, n, level="top", parent=""):
    for c in children(n):
        t = c.type
        mods = first(c, "modifiers")
        ms = out.text(mods) if mods else ""
        vis = not re.search(r"\b(private|fileprivate)\b(?!\s*\(set\))", ms)
        nm = field(c, "name")
        if t == "class_declaration":
            dk = field(c, "declaration_kind")
            dk = out.text(dk) if dk else "class"
            if nm is None:
                continue
            name = out.text(nm)
            ext = dk == "extension"
            k = "enum" if dk == "enum" else "class"
            out.add(
                re.split(r"[<\s]", name)[0],
                "extension" if ext else k,
                c,
                nm,
                c,
                level,
                parent,
                vis,
                not ext and level != "local",
                ("class", "type", "struct", "interface") + (("enum", "module") if ext else ()),
                (name, name.split(".")[-1], "extension " + name),
            )
            b = field(c, "body")
            if b:
                read(out, b, "member" if level != "local" else "local", join(parent, name))
        elif t == "protocol_declaration":
            out.add(out.text(nm), "interface", c, nm, c, level, parent, vis, level != "local", ("class", "type", "protocol"))
            b = field(c, "body")
            if b:
                read(out, b, "member", join(parent, out.text(nm)))
        elif t in ("function_declaration",):
            if nm is None:
                continue
            op = not re.match(r"[`A-Za-z_]", out.text(nm))
            out.add(
                out.text(nm),
                "method" if level == "member" else "function",
                c,
                nm,
                c,
                level,
                parent,
                vis,
                level != "local" and not op,
                ("function", "method", "component"),
                (out.text(nm).strip("`"),),
            )
            b = field(c, "body")
            if b:
                sw_local(out, b)
        elif t == "protocol_function_declaration":
            if nm:
                out.add(out.text(nm), "method", c, nm, c, level, parent, vis, False, ("function",))
        elif t in ("init_declaration", "deinit_declaration", "subscript_declaration"):
            w = {"init_declaration": "init", "deinit_declaration": "deinit", "subscript_declaration": "subscript"}[t]
            k = keyword(c, w) or c
            out.add(
                w,
                "method",
                c,
                k,
                c,
                level,
                parent,
                vis,
                level != "local" and w == "init" and field(c, "body") is not None,
                ("function",),
                (w + "?",),
            )
            b = field(c, "body")
            if b:
                sw_local(out, b)
        elif t in ("typealias_declaration", "associatedtype_declaration"):
            if nm:
                out.add(out.text(nm), "type", c, nm, c, level, parent, vis, level == "top", ("class",))
        elif t in ("property_declaration", "protocol_property_declaration"):
            for p in c.children_by_field_name("name") or ():
                q = next(walk(p, "simple_identifier"), None)
                if q:
                    out.add(
                        out.text(q),
                        "const" if level == "top" else "field",
                        c,
                        q,
                        c,
                        level,
                        parent,
                        vis,
                        False,
                        ("field", "property", "const", "type", "function", "variable"),
                    )
            for k in children(c):
                if k.type not in ("modifiers", "pattern", "type_annotation"):
                    sw_local(out, k)
        elif t == "enum_entry":
            for q in c.children_by_field_name("name"):
                out.add(out.text(q), "field", c, q, c, "member", parent, True, False, ("const", "enum"))
        elif t == "macro_declaration" or t == "operator_declaration":
            q = next(walk(c, "simple_identifier"), None)
            if q:
                out.add(out.text(q), "macro", c, q, c, level, parent, vis, False, ("function",))
        elif level == "top" and t not in ("comment", "multiline_comment", "import_declaration", "modifiers", "attribute"):
            sw_local(out, c)


def sw_local(out, n):
    for c in walk(n, "class_declaration", "protocol_declaration", "function_declaration", "property_declaration"):
        read(out, holder(c), "local", "")
