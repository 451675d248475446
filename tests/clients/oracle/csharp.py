"""Definitions of C# source."""

from __future__ import annotations

from tests.clients.oracle.nodes import children, field, first, join, walk

TYPES = {
    "class_declaration": "class",
    "struct_declaration": "class",
    "record_declaration": "class",
    "record_struct_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
}


def read(out, n, level="top", parent="", iface=False):
    for c in children(n):
        t = c.type
        ms = " ".join(out.text(k) for k in children(c) if k.type == "modifier")
        pub = "public" in ms or "protected" in ms or iface
        nm = field(c, "name")
        if t in TYPES:
            if nm is None:
                continue
            name = out.text(nm)
            out.add(
                name,
                TYPES[t],
                c,
                nm,
                c,
                level,
                parent,
                pub,
                level != "local",
                ("class", "type", "interface") if TYPES[t] != "enum" else ("class", "type"),
            )
            b = field(c, "body")
            if b:
                if TYPES[t] == "enum":
                    for e in walk(b, "enum_member_declaration"):
                        q = field(e, "name")
                        if q:
                            out.add(out.text(q), "field", e, q, e, "member", join(parent, name), True, False, ("const", "enum"))
                else:
                    read(out, b, "member", join(parent, name), t == "interface_declaration")
        elif t == "delegate_declaration":
            out.add(out.text(nm), "type", c, nm, c, level, parent, pub, True, ("function", "method", "class", "interface"))
        elif t in ("method_declaration", "constructor_declaration"):
            out.add(out.text(nm), "method", c, nm, c, "member", parent, pub, True, ("function",))
            cs_local(out, c)
        elif t == "destructor_declaration":
            out.add("~" + out.text(nm), "method", c, nm, c, "member", parent, False, False, ("function",), (out.text(nm),))
        elif t in ("operator_declaration", "conversion_operator_declaration", "indexer_declaration"):
            o = field(c, "operator") or field(c, "type") or c
            out.add(
                "operator" if t != "indexer_declaration" else "this",
                "method",
                c,
                o,
                c,
                "member",
                parent,
                pub,
                False,
                ("function", "property"),
                (out.text(o), "operator " + out.text(o), "operator" + out.text(o), "this"),
            )
        elif t in ("property_declaration", "event_declaration"):
            if nm:
                out.add(
                    out.text(nm),
                    "property",
                    c,
                    nm,
                    c,
                    "member",
                    parent,
                    pub,
                    False,
                    ("field", "const", "method", "function", "type"),
                )
        elif t in ("field_declaration", "event_field_declaration"):
            for v in walk(c, "variable_declarator"):
                q = field(v, "name") or first(v, "identifier")
                if q:
                    out.add(
                        out.text(q), "field", c, q, c, "member", parent, pub, False, ("const", "property", "method", "type")
                    )
        elif t == "namespace_declaration":
            if nm:
                out.add(out.text(nm), "module", c, nm, c, level, parent, True, False, ("type", "class"))
            b = field(c, "body")
            if b:
                read(out, b, level, parent)
        elif t == "file_scoped_namespace_declaration":
            if nm:
                out.add(out.text(nm), "module", c, nm, c, level, parent, True, False, ("type", "class"))
            read(out, c, level, parent)
        elif t in ("preproc_if", "preproc_else", "preproc_elif", "declaration_list", "preproc_if_in_top_level"):
            read(out, c, level, parent, iface)
        elif t == "using_directive":
            if nm:
                out.add(out.text(nm), "alias", c, nm, c, level, parent, False, False, ("type", "class"))
        elif t == "global_statement":
            for f in walk(c, "local_function_statement"):
                q = field(f, "name")
                if q:
                    out.add(out.text(q), "function", f, q, f, "local", parent, False, False, ("method",))


def cs_local(out, c):
    for f in walk(c, "local_function_statement"):
        q = field(f, "name")
        if q:
            out.add(out.text(q), "function", f, q, f, "local", "", False, False, ("method",))
        cs_local_children(out, f)


def cs_local_children(out, f):
    for k in children(f):
        cs_local(out, k)
