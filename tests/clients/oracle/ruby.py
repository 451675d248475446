"""Definitions of Ruby source."""

from __future__ import annotations

from tests.clients.oracle.nodes import children, field, holder, join, walk


def read(out, n, level="top", parent="", in_block=False, in_class=False):
    for c in children(n):
        t = c.type
        if t in ("class", "module"):
            nm = field(c, "name")
            name = out.text(nm)
            out.add(
                name,
                "class",
                c,
                nm,
                c,
                ("member" if in_class else level),
                parent,
                True,
                level != "local" and not in_block,
                ("type", "module", "interface"),
                (name.split("::")[-1],),
            )
            b = field(c, "body")
            if b:
                read(out, b, level, join(parent, name), in_block, True)
        elif t == "singleton_class":
            b = field(c, "body")
            if b:
                read(out, b, level, parent, in_block, True)
        elif t in ("method", "singleton_method"):
            nm = field(c, "name")
            name = out.text(nm)
            o = field(c, "object")
            odd = o is not None and o.type not in ("self", "constant", "scope_resolution")
            mem = in_class or bool(parent)
            out.add(
                name,
                "method" if mem or t == "singleton_method" else "function",
                c,
                nm,
                c,
                "member" if mem else level,
                parent,
                not name.startswith("_"),
                level != "local" and not in_block and not odd,
                ("function", "method"),
                ((out.text(o) + "." + name, "self." + name) if o else ()),
            )
            b = field(c, "body")
            for k in walk(c, "method", "singleton_method", "class", "module") if b else ():
                if k.id != c.id:
                    pass
            if b:
                ruby_any(out, b, parent)
        elif t == "assignment":
            left, r = field(c, "left"), field(c, "right")
            if left is not None and left.type in ("constant", "scope_resolution"):
                out.add(
                    out.text(left),
                    "const",
                    c,
                    left,
                    c,
                    "member" if in_class else level,
                    parent,
                    True,
                    False,
                    ("class", "type", "field"),
                    (out.text(left).split("::")[-1],),
                )
            if r is not None:
                ruby_any(out, r, parent, in_class)
        elif t == "call" or t == "command_call":
            m = field(c, "method")
            args = field(c, "arguments")
            mn = out.text(m) if m else ""
            if args is not None:
                for a in children(args):
                    if a.type == "simple_symbol":
                        s = out.text(a)[1:]
                        out.add(
                            s,
                            "field",
                            c,
                            a,
                            c,
                            "member",
                            parent,
                            True,
                            False,
                            ("method", "function", "property", "const"),
                            (s + "=",),
                        )
                    if a.type in ("method", "singleton_method"):  # private def foo
                        read(out, holder(a), level, parent, in_block, in_class)
                    elif a.type == "string" and mn in ("define_method", "alias_method", "attr_accessor"):
                        out.add(out.text(a)[1:-1], "method", c, a, c, "member", parent, True, False, ("function",))
                    else:
                        ruby_any(out, a, parent, in_class)
            b = field(c, "block")
            if b:
                read(out, field(b, "body") or b, level, parent, True, in_class)
            r = field(c, "receiver")
            if r is not None:
                ruby_any(out, r, parent, in_class)
        elif t == "alias":
            q = field(c, "name")
            if q:
                out.add(out.text(q).lstrip(":"), "method", c, q, c, "member", parent, True, False, ("function", "alias"))
        elif t in (
            "if",
            "unless",
            "else",
            "elsif",
            "then",
            "begin",
            "rescue",
            "ensure",
            "body_statement",
            "block_body",
            "if_modifier",
            "unless_modifier",
            "case",
            "when",
            "do",
            "parenthesized_statements",
            "while",
            "until",
            "for",
        ):
            read(out, c, level, parent, in_block, in_class)
        else:
            ruby_any(out, c, parent, in_class)


def ruby_any(out, n, parent, in_class=False):
    """Definitions in odd places (bodies, arguments): optional."""
    for c in walk(n, "method", "singleton_method", "class", "module", "singleton_class", "call", "assignment"):
        read(out, holder(c), "local", parent, True, in_class)
