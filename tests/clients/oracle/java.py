"""Definitions of Java source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, first, holder, join, walk

TYPES = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "class",
    "annotation_type_declaration": "interface",
}


def read(out, n, level="top", parent="", iface=False):
    for c in children(n):
        mods = first(c, "modifiers")
        ms = out.text(mods) if mods else ""
        pub = bool(re.search(r"\bpublic\b", ms)) or iface
        if c.type in TYPES:
            nm = field(c, "name")
            name = out.text(nm)
            out.add(
                name,
                TYPES[c.type],
                c,
                nm,
                c,
                level,
                parent,
                pub,
                level != "local",
                ("class", "type", "interface") if TYPES[c.type] != "enum" else ("class", "type"),
            )
            b = field(c, "body")
            if b:
                read(
                    out,
                    b,
                    "member" if level != "local" else "local",
                    join(parent, name),
                    c.type in ("interface_declaration", "annotation_type_declaration"),
                )
            if c.type == "enum_declaration" and b:
                pass
        elif c.type in ("method_declaration", "constructor_declaration", "compact_constructor_declaration"):
            nm = field(c, "name")
            out.add(
                out.text(nm),
                "method",
                c,
                nm,
                c,
                "member" if level != "local" else "local",
                parent,
                pub,
                level != "local",
                ("function",),
            )
            b = field(c, "body")
            if b:
                java_local(out, b, join(parent, out.text(nm)))
        elif c.type in ("field_declaration", "constant_declaration"):
            for v in children(c):
                if v.type == "variable_declarator":
                    nm = field(v, "name")
                    out.add(out.text(nm), "field", c, nm, c, "member", parent, pub, False, ("const", "type", "function"))
                    q = field(v, "value")
                    if q:
                        java_local(out, q, parent)
        elif c.type == "annotation_type_element_declaration":
            nm = field(c, "name")
            out.add(out.text(nm), "method", c, nm, c, "member", parent, True, False, ("function", "field"))
        elif c.type == "enum_constant":
            nm = field(c, "name")
            out.add(out.text(nm), "field", c, nm, c, "member", parent, True, False, ("const", "enum", "class"))
            b = field(c, "body")
            if b:
                read(out, b, "local", join(parent, out.text(nm)))
        elif c.type in ("enum_body_declarations", "class_body", "interface_body", "enum_body"):
            read(out, c, level, parent, iface)
        elif c.type in ("static_initializer", "block"):
            java_local(out, c, parent)


def java_local(out, b, parent):
    for c in walk(b, "class_body", "class_declaration", "interface_declaration", "enum_declaration", "record_declaration"):
        if c.type == "class_body":
            read(out, c, "local", parent)
        else:
            read(out, holder(c), "local", parent)
