"""What JavaScript and TypeScript define inside values: class bodies, object literals, assignments."""

from __future__ import annotations

from tests.clients.oracle.nodes import children, field, join

FUNCTIONS = ("arrow_function", "function_expression", "function", "generator_function", "generator_function_expression")


def unwrap(v):
    while (
        v is not None
        and v.type
        in ("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "type_assertion")
        and v.named_child_count
    ):
        v = v.named_children[-1] if v.type == "type_assertion" else v.named_children[0]
    return v


class Values:
    """Reads what stands inside values; `statement` comes from the reader of statements."""

    def __init__(self, out):
        self.out = out
        self.exported, self.signatures, self.implementations = set(), [], set()

    def statement(self, c, outer, level, parent, exp, is_default=False):
        raise NotImplementedError

    def class_body(self, b, parent, level):
        for m in children(b):
            if m.type in ("method_definition", "method_signature", "abstract_method_signature"):
                nm = field(m, "name")
                name = self.property_name(nm)
                deco = m
                p = m.prev_named_sibling
                while p is not None and p.type == "decorator":
                    deco = p
                    p = p.prev_named_sibling
                d = self.out.add(
                    name,
                    "method",
                    m,
                    nm,
                    m,
                    "member",
                    parent,
                    req=level != "local" and m.type != "method_signature",
                    exported=not self.has_access(m, "private") and not (name or "").startswith("#"),
                    kinds=("function", "default"),
                )
                if d and deco is not m:
                    d["start"] = deco.start_point[0] + 1
                bd = field(m, "body")
                if bd:
                    self.local(bd, join(parent, name))
            elif m.type in ("public_field_definition", "field_definition"):
                nm = field(m, "name", "property")
                v = unwrap(field(m, "value"))
                name = self.property_name(nm)
                isfn = v is not None and v.type in FUNCTIONS
                self.out.add(
                    name,
                    "method" if isfn else "field",
                    m,
                    nm,
                    m,
                    "member",
                    parent,
                    req=isfn and level != "local",
                    exported=not self.has_access(m, "private"),
                    kinds=("function", "const", "field", "property"),
                )
                if isfn:
                    bd = field(v, "body")
                    if bd:
                        self.local(bd, join(parent, name))
            elif m.type == "class_static_block":
                self.local(m, parent)

    def has_access(self, m, w):
        return any(c.type == "accessibility_modifier" and self.out.text(c) == w for c in m.children)

    def property_name(self, nm):
        if nm is None:
            return None
        s = self.out.text(nm)
        return s[1:-1] if nm.type == "string" else s

    def object_members(self, o, parent):
        for m in children(o):
            if m.type == "method_definition":
                nm = field(m, "name")
                self.out.add(self.property_name(nm), "method", m, nm, m, "member", parent, req=False, kinds=("function",))
                bd = field(m, "body")
                if bd:
                    self.local(bd, parent)
            elif m.type == "pair":
                k, v = field(m, "key"), unwrap(field(m, "value"))
                self.out.add(
                    self.property_name(k),
                    "field",
                    m,
                    k,
                    m,
                    "member",
                    parent,
                    req=False,
                    kinds=("function", "method", "const", "property"),
                )
                if v is not None:
                    self.value(v, parent)
            elif m.type == "shorthand_property_identifier":
                self.out.add(
                    self.out.text(m), "field", m, m, m, "member", parent, req=False, kinds=("const", "function", "default")
                )

    def value(self, v, parent):
        v = unwrap(v)
        if v is None:
            return
        if v.type == "object":
            self.object_members(v, parent)
        elif v.type in FUNCTIONS:
            nm = field(v, "name")
            if nm:
                self.out.add(self.out.text(nm), "function", v, nm, v, "local", parent, req=False)
            b = field(v, "body")
            if b:
                self.local(b, parent) if b.type == "statement_block" else self.value(b, parent)
        elif v.type == "class":
            nm = field(v, "name")
            if nm:
                self.out.add(self.out.text(nm), "class", v, nm, v, "local", parent, req=False)
            b = field(v, "body")
            if b:
                self.class_body(b, parent, "local")
        else:
            for c in children(v):
                self.value(c, parent) if c.type not in ("statement_block",) else self.local(c, parent)

    def local(self, n, parent):
        for c in children(n):
            self.statement(c, c, "local", parent, False)

    def interface_body(self, b, parent):
        for m in children(b):
            if m.type in (
                "method_signature",
                "property_signature",
                "property_identifier",
                "call_signature",
                "construct_signature",
            ):
                nm = field(m, "name")
                if nm:
                    self.out.add(
                        self.property_name(nm),
                        "field",
                        m,
                        nm,
                        m,
                        "member",
                        parent,
                        req=False,
                        kinds=("method", "function", "property", "const"),
                    )
            if m.type in (
                "object_type",
                "union_type",
                "intersection_type",
                "interface_body",
                "parenthesized_type",
                "type_annotation",
                "property_signature",
                "function_type",
                "generic_type",
                "type_arguments",
                "array_type",
                "conditional_type",
            ):
                self.interface_body(m, parent)

    def function_body(self, v, parent):
        b = field(v, "body")
        if b is None:
            return
        self.local(b, parent) if b.type == "statement_block" else self.value(b, parent)

    def assignment(self, e, st, level, parent):
        left, r = field(e, "left"), unwrap(field(e, "right"))
        chain = [left]
        while r is not None and r.type == "assignment_expression":
            chain.append(field(r, "left"))
            r = unwrap(field(r, "right"))
        isfn = r is not None and r.type in FUNCTIONS
        iscls = r is not None and r.type == "class"
        fnname = self.out.text(field(r, "name")) if (isfn or iscls) and field(r, "name") else None
        ch = [self.out.text(q) for q in chain if q is not None]
        is_me = any(c in ("module.exports", "exports") for c in ch)
        primary = True
        if fnname:
            self.out.add(
                fnname,
                "function" if isfn else "class",
                r,
                field(r, "name"),
                r,
                "local",
                parent,
                False,
                False,
                kinds=("method", "class"),
            )
        for q, s in reversed(list(zip(chain, ch))):
            if q.type not in ("member_expression", "identifier", "subscript_expression"):
                continue
            if s in ("module.exports", "exports"):
                if r is not None and r.type == "identifier":
                    self.exported.add((parent, self.out.text(r)))
                if r is not None and r.type == "object":
                    for m in children(r):
                        if m.type == "shorthand_property_identifier":
                            self.exported.add((parent, self.out.text(m)))
                        if m.type == "pair" and field(m, "value") is not None and field(m, "value").type == "identifier":
                            self.exported.add((parent, self.out.text(field(m, "value"))))
                self.out.add(
                    "module.exports",
                    "default",
                    st,
                    q,
                    st,
                    level,
                    parent,
                    True,
                    level == "top" and (isfn or iscls) and primary and len(chain) == 1,
                    kinds=("function", "class", "const"),
                    names=("default", "exports") + ((fnname,) if fnname else ()),
                )
            elif q.type == "member_expression":
                o, p = field(q, "object"), field(q, "property")
                ot, pn = self.out.text(o), self.out.text(p)
                ex = ot in ("exports", "module.exports") or is_me
                if ex and r is not None and r.type == "identifier":
                    self.exported.add((parent, self.out.text(r)))
                is_this = ot.startswith("this")
                found_level = level if ot in ("exports", "module.exports") else "member"
                req = level == "top" and (isfn or iscls) and primary and not is_this
                self.out.add(
                    pn,
                    ("function" if found_level == "top" else "method") if isfn else "class" if iscls else "const",
                    st,
                    p,
                    st,
                    found_level,
                    ot.replace(".prototype", "") if found_level == "member" else parent,
                    ex or not pn.startswith("_"),
                    req,
                    kinds=("function", "method", "const", "field", "property", "class", "component"),
                    names=(s,) + ((fnname,) if fnname else ()),
                )
                if isfn or iscls:
                    primary = False
            elif q.type == "identifier":
                self.out.add(s, "const", st, q, st, level, parent, False, False, kinds=("function", "class"))
        if isfn:
            self.function_body(r, parent)
        elif iscls:
            b = field(r, "body")
            if b:
                self.class_body(b, ch[0], level)
        elif r is not None:
            self.value(r, parent)
