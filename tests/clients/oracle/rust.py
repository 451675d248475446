"""Definitions of Rust source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, first, join, walk


def read(out, n, level="top", parent="", ctx="", test=False):
    attr = None
    for c in children(n):
        if c.type == "attribute_item":
            attr = attr or c
            continue
        if c.type in ("line_comment", "block_comment"):
            continue
        item(out, c, attr, level, parent, ctx, test)
        attr = None


def item(out, c, a, level, parent, ctx, test):
    vis = first(c, "visibility_modifier")
    pub = vis is not None and out.text(vis) == "pub"
    is_test = test
    if a is not None:
        p = c.prev_named_sibling
        txt = ""
        while p is not None and p.type in ("attribute_item", "line_comment", "block_comment"):
            if p.type == "attribute_item":
                txt += out.text(p)
            p = p.prev_named_sibling
        if re.search(r"\bcfg\(\s*(all\()?\s*test\b", txt):
            is_test = True
    nm = field(c, "name")

    def put(kind, req=True, kinds=(), found_level=None, exported=None):
        d = out.add(
            out.text(nm),
            kind,
            c,
            nm,
            c,
            found_level or level,
            parent,
            pub if exported is None else exported,
            req and level != "local" and not is_test,
            kinds,
        )
        if d and a is not None:
            d["start"] = a.start_point[0] + 1

    t = c.type
    if t in ("function_item", "function_signature_item"):
        mem = ctx in ("impl", "trait", "implfor")
        put(
            "method" if mem else "function",
            ctx != "extern",
            ("function", "method") if mem else (),
            "member" if mem else level,
            True if ctx in ("trait", "implfor") else None,
        )
        b = field(c, "body")
        if b:
            read(out, b, "local", join(parent, out.text(nm)))
    elif t == "struct_item" or t == "union_item":
        put("class", kinds=("type",))
        rust_fields(out, c, out.text(nm))
    elif t == "enum_item":
        put("enum", kinds=("type", "class"))
        rust_fields(out, c, out.text(nm))
    elif t == "trait_item":
        put("interface", kinds=("type", "class"))
        b = field(c, "body")
        if b:
            read(out, b, level, join(parent, out.text(nm)), "trait", is_test)
    elif t in ("type_item", "associated_type"):
        put("type", ctx == "")
    elif t in ("const_item", "static_item"):
        put("const", pub and ctx == "")
    elif t == "macro_definition":
        put("macro", False, ("function", "const", "type"))
    elif t == "mod_item":
        put("module", False, ("type", "class", "const"))
        b = field(c, "body")
        if b:
            read(out, b, level, join(parent, out.text(nm)), "", is_test)
    elif t == "impl_item":
        ty, tr = field(c, "type"), field(c, "trait")
        base = re.sub(r"<.*", "", out.text(ty), flags=re.S).split("::")[-1].strip("&* ") if ty else ""
        d = out.add(
            base,
            "impl",
            c,
            ty,
            c,
            level,
            parent,
            False,
            False,
            kinds=("class", "type", "interface", "module"),
            names=(out.text(ty), out.text(c).split("{")[0].strip()[:200], "impl " + base) if ty else (),
        )
        if d and a is not None:
            d["start"] = a.start_point[0] + 1
        b = field(c, "body")
        if b:
            read(out, b, level, base, "implfor" if tr else "impl", is_test)
    elif t == "foreign_mod_item":
        b = field(c, "body")
        if b:
            read(out, b, level, parent, "extern", is_test)
    elif t in ("macro_invocation", "expression_statement", "let_declaration") or level == "local":
        rust_unsure(out, c, level)


def rust_unsure(out, c, level):
    if level == "local":
        for b in walk(c, "block", "declaration_list"):
            read(out, b, "local")
    for m in walk(c, "macro_invocation"):
        if m.end_point[0] > m.start_point[0]:
            out.unsure.append((m.start_point[0] + 1, m.end_point[0] + 1))


def rust_fields(out, c, parent):
    for m in walk(c, "field_declaration", "enum_variant"):
        q = field(m, "name")
        if q:
            out.add(out.text(q), "field", m, q, m, "member", parent, req=False, kinds=("const", "enum", "enumerator"))
