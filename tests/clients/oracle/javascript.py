"""Definitions of JavaScript, TypeScript and TSX source."""

from __future__ import annotations

from tests.clients.oracle.javascript_values import FUNCTIONS, Values, unwrap
from tests.clients.oracle.nodes import children, field, first, has_token, join


class Statements(Values):
    """Reads statements, at the top level and inside functions."""

    def statement(self, c, outer, level, parent, exp, is_default=False):
        t = c.type
        req = level == "top"
        if t == "export_statement":
            is_def = has_token(c, "default")
            d = field(c, "declaration") or field(c, "value")
            if d is not None:
                self.statement(d, c, level, parent, True, is_def)
            ec = first(c, "export_clause")
            src = field(c, "source")
            if ec:
                for s in children(ec):
                    if s.type != "export_specifier":
                        continue
                    nm, al = field(s, "name"), field(s, "alias")
                    if src is None:
                        self.exported.add((parent, self.out.text(nm)))
                    a = al or nm
                    self.out.add(
                        self.out.text(a),
                        "const",
                        s,
                        a,
                        c,
                        level,
                        parent,
                        req=False,
                        kinds=("function", "class", "type", "interface", "enum", "default", "component", "reexport"),
                        names=(self.out.text(nm),),
                    )
            ns = first(c, "namespace_export")
            if ns:
                self.out.add(
                    self.out.text(children(ns)[0]),
                    "const",
                    c,
                    ns,
                    c,
                    level,
                    parent,
                    req=False,
                    kinds=("type", "default", "reexport"),
                )
            if d is None and not ec:  # export = x
                k = [z for z in children(c) if z.type not in ("string", "namespace_export", "decorator")]
                if k:
                    self.out.add(
                        "default",
                        "default",
                        c,
                        k[-1],
                        c,
                        level,
                        parent,
                        req=False,
                        names=("module.exports", self.out.text(k[-1])),
                    )
            return None
        if t == "ambient_declaration":
            for k in children(c):
                self.statement(k, outer if outer is not c else c, level, parent, True, is_default)
            return None
        if t in ("function_declaration", "generator_function_declaration", "function_signature"):
            nm = field(c, "name")
            name = self.out.text(nm) if nm else "default"
            d = self.out.add(
                name,
                "function" if nm else "default",
                c,
                nm or c,
                outer,
                level,
                parent,
                exp,
                req,
                kinds=("component", "default", "function"),
                names=("default",) if is_default else (),
            )
            if d and t == "function_signature":
                self.signatures.append((parent, name, d))
            elif d:
                self.implementations.add((parent, name))
            b = field(c, "body")
            if b:
                self.local(b, join(parent, name))
            return None
        if t in ("class_declaration", "abstract_class_declaration", "class"):
            nm = field(c, "name")
            name = self.out.text(nm) if nm else "default"
            self.out.add(
                name,
                "class" if nm else "default",
                c,
                nm or c,
                outer,
                level,
                parent,
                exp,
                req,
                kinds=("component", "default", "class"),
                names=("default",) if is_default else (),
            )
            b = field(c, "body")
            if b:
                self.class_body(b, join(parent, name), level)
            return None
        if t == "interface_declaration":
            nm = field(c, "name")
            self.out.add(self.out.text(nm), "interface", c, nm, outer, level, parent, exp, req, kinds=("type", "default"))
            b = field(c, "body")
            if b:
                self.interface_body(b, join(parent, self.out.text(nm)))
            return None
        if t == "type_alias_declaration":
            nm = field(c, "name")
            self.out.add(self.out.text(nm), "type", c, nm, outer, level, parent, exp, req)
            v = field(c, "value")
            if v is not None:
                self.interface_body(v, join(parent, self.out.text(nm)))
            return None
        if t == "enum_declaration":
            nm = field(c, "name")
            self.out.add(self.out.text(nm), "enum", c, nm, outer, level, parent, exp, req, kinds=("const",))
            b = field(c, "body")
            for m in children(b) if b else ():
                k = field(m, "name") or (m if m.type in ("property_identifier", "string") else None)
                if k:
                    self.out.add(
                        self.property_name(k),
                        "field",
                        m,
                        k,
                        m,
                        "member",
                        join(parent, self.out.text(nm)),
                        req=False,
                        kinds=("const", "enum"),
                    )
            return None
        if t in ("internal_module", "module"):
            nm = field(c, "name")
            name = self.out.text(nm).strip("\"'") if nm else ""
            self.out.add(name, "module", c, nm, outer, level, parent, exp, False, kinds=("type", "class", "const"))
            b = field(c, "body")
            for k in children(b) if b else ():
                self.statement(k, k, level, join(parent, name), exp)
            return None
        if t == "expression_statement" and first(c, "internal_module"):
            return self.statement(first(c, "internal_module"), outer, level, parent, exp)
        if t in ("lexical_declaration", "variable_declaration"):
            ds = [k for k in children(c) if k.type == "variable_declarator"]
            for k in ds:
                nm, v = field(k, "name"), unwrap(field(k, "value"))
                o = outer if len(ds) == 1 else k
                if nm is not None and nm.type == "identifier":
                    name = self.out.text(nm)
                    isfn = v is not None and v.type in FUNCTIONS
                    iscls = v is not None and v.type == "class"
                    kind = "function" if isfn else "class" if iscls else "const"
                    self.out.add(
                        name,
                        kind,
                        k,
                        nm,
                        o,
                        level,
                        parent,
                        exp,
                        req and (isfn or iscls or exp),
                        kinds=("const", "component", "type") if not isfn else ("const", "component"),
                    )
                    d = self.out.defs[-1]
                    if not (isfn or iscls):
                        d["_cst"] = True
                    if v is not None:
                        if iscls:
                            b = field(v, "body")
                            if b:
                                self.class_body(b, join(parent, name), level)
                        elif v.type == "assignment_expression":
                            self.assignment(v, c, level, parent)
                        else:
                            self.value(v, join(parent, name)) if not isfn else self.function_body(v, join(parent, name))
                elif nm is not None:
                    self.pattern(nm, o, level, parent, exp)
                    if v is not None:
                        self.value(v, parent)
            return None
        if t == "expression_statement":
            e = c.named_children[0] if c.named_child_count else None
            e = unwrap(e)
            if e is not None and e.type == "assignment_expression":
                self.assignment(e, c, level, parent)
                return None
            if e is not None:
                self.value(e, parent)
            return None
        if is_default:  # export default <expr>
            v = unwrap(c)
            if v.type == "identifier":
                self.exported.add((parent, self.out.text(v)))
                self.out.add(
                    "default",
                    "default",
                    outer,
                    c,
                    outer,
                    level,
                    parent,
                    True,
                    False,
                    names=(self.out.text(v),),
                    kinds=("function", "class", "const", "component", "type", "interface", "enum"),
                )
            else:
                nm = field(v, "name") if v.type in FUNCTIONS + ("class",) else None
                self.out.add(
                    "default",
                    "default",
                    outer,
                    c,
                    outer,
                    level,
                    parent,
                    True,
                    req,
                    names=(self.out.text(nm),) if nm else (),
                    kinds=("function", "class", "const", "component"),
                )
                if v.type in FUNCTIONS:
                    self.function_body(v, parent)
                elif v.type == "class":
                    b = field(v, "body")
                    if b:
                        self.class_body(b, join(parent, "default"), level)
                else:
                    self.value(v, parent)
            return None
        if (
            t == "statement_block"
            or t.endswith("_statement")
            or t in ("else_clause", "switch_body", "switch_case", "switch_default", "catch_clause", "finally_clause")
        ):
            for k in children(c):
                if (
                    k.type
                    in (
                        "statement_block",
                        "else_clause",
                        "switch_body",
                        "switch_case",
                        "switch_default",
                        "catch_clause",
                        "finally_clause",
                    )
                    or k.type.endswith("_declaration")
                    or k.type.endswith("_statement")
                ):
                    # block-scoped: optional
                    self.statement(k, k, "local", parent, False)
                else:
                    self.value(k, parent)
        return None

    def pattern(self, p, o, level, parent, exp):
        if p.type in ("shorthand_property_identifier_pattern", "identifier"):
            self.out.add(
                self.out.text(p),
                "const",
                p,
                p,
                o,
                level,
                parent,
                exp,
                False,
                kinds=("function", "component", "class", "type"),
            )
        else:
            for q in children(p):
                self.pattern(q, o, level, parent, exp)


def read(out, root):
    reader = Statements(out)
    for c in children(root):
        reader.statement(c, c, "top", "", False)
    for d in out.defs:
        if (d["parent"], d["name"]) in reader.exported and d["level"] == "top" and "reexport" not in d["kinds"]:
            d["exported"] = True
            if d.get("_cst") and d["kind"] == "const":
                d["req"] = True
        d.pop("_cst", None)
    seen = set()
    for p, name, d in reader.signatures:  # overload reader.signatures: one definition is required
        if (p, name) in reader.implementations or (p, name) in seen:
            d["req"] = False
        seen.add((p, name))
