"""Definitions of Go source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, has_token, walk


def read(out, root):
    def up(s):
        return s[:1].isupper()
    for c in children(root):
        if c.type == "function_declaration":
            nm = field(c, "name")
            out.add(out.text(nm), "function", c, nm, exported=up(out.text(nm)))
            go_local(out, field(c, "body"))
        elif c.type == "method_declaration":
            nm = field(c, "name")
            r = field(c, "receiver")
            m = re.search(r"([A-Za-z_]\w*)\s*(\[[^\]]*\])?\s*\)\s*$", out.text(r)) if r else None
            out.add(
                out.text(nm),
                "method",
                c,
                nm,
                level="member",
                parent=m.group(1) if m else "",
                exported=up(out.text(nm)),
                kinds=("function",),
            )
            go_local(out, field(c, "body"))
        else:
            go_decl(out, c, "top")


def go_decl(out, c, level):
    def up(s):
        return s[:1].isupper()
    if c.type == "type_declaration":
        specs = [s for s in children(c) if s.type in ("type_spec", "type_alias")]
        for s in specs:
            nm, ty = field(s, "name"), field(s, "type")
            k = {"struct_type": "class", "interface_type": "interface"}.get(ty.type if ty else "", "type")
            o = c if len(specs) == 1 and not has_token(c, "(") else s
            out.add(
                out.text(nm),
                k,
                s,
                nm,
                o,
                level,
                exported=up(out.text(nm)),
                req=level == "top",
                kinds=("type", "class", "interface", "enum"),
            )
            for m in walk(ty, "field_declaration", "method_elem", "method_spec") if ty else ():
                for q in m.children_by_field_name("name"):
                    out.add(
                        out.text(q), "field", m, q, m, "member", out.text(nm), req=False, kinds=("method", "function", "const")
                    )
    elif c.type in ("const_declaration", "var_declaration"):
        specs = list(walk(c, "const_spec", "var_spec"))
        for s in specs:
            for nm in s.children_by_field_name("name"):
                if nm.type != "identifier":
                    continue
                o = c if len(specs) == 1 and not has_token(c, "(") else s
                out.add(
                    out.text(nm),
                    "const",
                    s,
                    nm,
                    o,
                    level,
                    exported=up(out.text(nm)),
                    req=level == "top" and up(out.text(nm)),
                    kinds=("field", "type", "enum", "function"),
                )
    elif c.type in ("block", "statement_list"):
        for k in children(c):
            go_decl(out, k, level)


def go_local(out, b):
    if b is None:
        return
    for k in children(b):
        go_decl(out, k, "local")
