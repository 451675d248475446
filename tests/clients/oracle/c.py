"""Definitions of C and C++ source."""

from __future__ import annotations

import re

from tests.clients.oracle.nodes import children, field, first, holder, join, walk


def declared_name(out, d):
    """(name node, is_function, qualifier) of a declarator."""
    fn = False
    fptr = False
    while d is not None:
        t = d.type
        if t == "function_declarator":
            inner = field(d, "declarator")
            fptr = False
            if inner is not None and inner.type == "parenthesized_declarator" and first(inner, "pointer_declarator"):
                fptr = True
            fn = True
            d = inner
        elif t in ("pointer_declarator", "array_declarator", "init_declarator", "attributed_declarator"):
            d = field(d, "declarator") or (children(d)[0] if children(d) else None)
        elif t in ("reference_declarator", "parenthesized_declarator", "variadic_declarator"):
            d = children(d)[-1] if children(d) else None
        elif t in ("identifier", "field_identifier", "type_identifier", "operator_name", "destructor_name", "primitive_type"):
            return d, fn and not fptr, ""
        elif t in ("qualified_identifier", "template_function", "template_type", "template_method", "dependent_name"):
            q = ""
            while d is not None and d.type in (
                "qualified_identifier",
                "template_function",
                "template_type",
                "template_method",
                "dependent_name",
            ):
                if d.type == "qualified_identifier":
                    s = field(d, "scope")
                    if s is not None:
                        q = join(q, re.sub(r"<.*", "", out.text(s), flags=re.S))
                d = field(d, "name") or (children(d)[0] if children(d) else None)
            if d is None:
                return None, fn, q
            return d, fn and not fptr, q
        elif t == "operator_cast":
            return d, True, ""
        elif t == "structured_binding_declarator":
            return None, False, ""
        else:
            return None, fn, ""
    return None, fn, ""


def read(out, n, hdr, level="top", parent="", cls=False, hidden=False, outer0=None):
    cpp = out.lang == "cpp"
    for c in children(n):
        t = c.type
        outer = outer0 or c
        if t == "function_definition":
            d, fn, q = declared_name(out, field(c, "declarator"))
            if d is None or not fn:
                continue
            cast = d.type == "operator_cast"
            raw = out.text(d) if not cast else re.sub(r"\s*\(\s*\).*$", "", out.text(d), flags=re.S)
            name = re.sub(r"\s+", " ", raw).strip()
            mem = cls or bool(q)
            static = any(k.type == "storage_class_specifier" and out.text(k) == "static" for k in children(c))
            b = field(c, "body")
            special = b is None  # = default / = delete
            al = {name.replace("operator ", "operator"), re.sub(r"^operator(?=\W)", "operator ", name)}
            # macro call mistaken for a function: no return type, all caps
            fake = not cpp and field(c, "type") is None
            fake = fake or (re.fullmatch(r"[A-Z][A-Z0-9_]+", name) is not None)
            if not field(c, "type") and cpp and not mem and not q:
                fake = True
            out.add(
                name,
                "method" if mem else "function",
                c,
                d,
                outer,
                "member" if mem else level,
                q.split(".")[-1] if q else parent,
                exported=not hidden and (mem or not static),
                req=level != "local" and not cast and not special and not fake,
                kinds=("function", "method", "macro"),
                names=al,
            )
            if fake:
                out.unsure.append((c.start_point[0] + 1, c.end_point[0] + 1))
            # types declared in the return type, local types in the body
            ty = field(c, "type")
            if ty is not None:
                type_specifier(out, ty, c, outer, hdr, level, parent, cls, hidden)
            if b is not None:
                for s in walk(
                    b,
                    "struct_specifier",
                    "class_specifier",
                    "enum_specifier",
                    "union_specifier",
                    "type_definition",
                    "alias_declaration",
                    "lambda_expression",
                    "preproc_def",
                    "preproc_function_def",
                ):
                    c_local(out, s)
        elif t in ("declaration", "field_declaration"):
            ty = field(c, "type")
            if ty is not None:
                type_specifier(out, ty, c, outer, hdr, level, parent, cls, hidden)
            for d0 in c.children_by_field_name("declarator"):
                d, fn, q = declared_name(out, d0)
                if d is None:
                    continue
                name = re.sub(
                    r"\s+",
                    " ",
                    out.text(d) if d.type != "operator_cast" else re.sub(r"\s*\(\s*\).*$", "", out.text(d), flags=re.S),
                ).strip()
                al = {name.replace("operator ", "operator"), re.sub(r"^operator(?=\W)", "operator ", name)}
                out.add(
                    name,
                    ("method" if cls else "function") if fn else ("field" if cls else "const"),
                    c,
                    d,
                    outer,
                    "member" if cls else level,
                    parent,
                    not hidden,
                    False,
                    kinds=("function", "method", "prototype", "const", "field", "type", "class", "enum", "interface"),
                    names=al,
                )
        elif t == "type_definition":
            ty = field(c, "type")
            got = set()
            if ty is not None:
                got = type_specifier(out, ty, c, outer, hdr, level, parent, cls, hidden)
            for d0 in c.children_by_field_name("declarator"):
                d, fn, q = declared_name(out, d0)
                if d is None:
                    continue
                name = out.text(d)
                body = (
                    ty is not None
                    and ty.type in ("struct_specifier", "union_specifier", "class_specifier", "enum_specifier")
                    and field(ty, "body") is not None
                )
                anon = body and field(ty, "name") is None
                k = "type"
                if anon:
                    k = "enum" if ty.type == "enum_specifier" else "class"
                out.add(
                    name,
                    k,
                    c,
                    d,
                    outer,
                    "member" if cls else level,
                    parent,
                    hdr and not hidden,
                    level != "local" and not cls and name not in got,
                    kinds=("type", "class", "enum", "function", "interface"),
                )
        elif t == "alias_declaration":
            nm = field(c, "name")
            out.add(
                out.text(nm),
                "type",
                c,
                nm,
                outer,
                "member" if cls else level,
                parent,
                not hidden,
                level == "top" and not cls,
                kinds=("class",),
            )
        elif t in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
            type_specifier(out, c, c, outer, hdr, level, parent, cls, hidden)
        elif t == "namespace_definition":
            nm = field(c, "name")
            name = out.text(nm) if nm else ""
            if nm:
                out.add(
                    name,
                    "module",
                    c,
                    nm,
                    c,
                    level,
                    parent,
                    not hidden,
                    False,
                    kinds=("type", "class", "const"),
                    names=(name.split("::")[-1],),
                )
            b = field(c, "body")
            if b:
                read(out, b, hdr, level, join(parent, name), False, hidden or not nm)
        elif t == "template_declaration":
            read(out, c, hdr, level, parent, cls, hidden, outer0 or c)
        elif t == "concept_definition":
            nm = field(c, "name")
            if nm:
                out.add(
                    out.text(nm), "type", c, nm, outer, level, parent, not hidden, False, kinds=("const", "interface", "class")
                )
        elif t == "friend_declaration":
            read(out, c, hdr, "local" if level == "local" else level, parent, cls, hidden)
        elif t in ("preproc_def", "preproc_function_def"):
            nm = field(c, "name")
            if nm:
                out.add(out.text(nm), "macro", c, nm, c, level, parent, True, False, kinds=("const", "function", "type"))
        elif (
            t == "preproc_if"
            and field(c, "condition") is not None
            and out.text(field(c, "condition")).strip() in ("0", "false", "FALSE")
        ):
            alt = field(c, "alternative")
            n0 = len(out.defs)
            dead = [k for k in c.named_children if alt is None or k.id != alt.id]
            read(out, holder(*dead), hdr, "local", parent, cls, hidden)
            for d in out.defs[n0:]:
                d["req"] = False
            last_row = alt.start_point[0] if alt is not None else c.end_point[0]
            out.unsure.append((c.start_point[0] + 1, last_row + 1))
            if alt is not None:
                read(out, alt, hdr, level, parent, cls, hidden)
        elif t in (
            "preproc_if",
            "preproc_ifdef",
            "preproc_else",
            "preproc_elif",
            "preproc_elifdef",
            "linkage_specification",
            "declaration_list",
            "field_declaration_list",
            "ERROR",
            "labeled_statement",
            "attributed_statement",
        ):
            read(out, c, hdr, level, parent, cls, hidden, outer0 if t == "ERROR" else None)
        elif t == "compound_statement" and level == "top":
            out.unsure.append((c.start_point[0] + 1, c.end_point[0] + 1))
            read(out, c, hdr, "local", parent, cls, hidden)
        elif t == "expression_statement" and level == "top":
            out.unsure.append((c.start_point[0] + 1, c.end_point[0] + 1))


def type_specifier(out, ty, decl, outer, hdr, level, parent, cls, hidden):
    got = set()
    if ty.type not in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
        return got
    b, nm = field(ty, "body"), field(ty, "name")
    if b is None:
        if nm is not None:
            out.add(
                last(out, nm),
                "type",
                ty,
                nm,
                outer,
                level,
                parent,
                False,
                False,
                kinds=("class", "enum"),
                names=(out.text(nm),),
            )
        return got
    k = "enum" if ty.type == "enum_specifier" else "class"
    name = last(out, nm) if nm is not None else ""
    if nm is not None:
        got.add(name)
        out.add(
            name,
            k,
            ty,
            nm,
            outer,
            "member" if cls else level,
            parent,
            (hdr or out.lang == "cpp") and not hidden,
            level != "local",
            kinds=("type", "class") if k == "class" else ("type",),
            names=(out.text(nm), re.sub(r"\s+", "", out.text(nm))),
        )
    if k == "enum":
        for e in walk(b, "enumerator"):
            q = field(e, "name")
            if q:
                out.add(out.text(q), "field", e, q, e, "member", name, True, False, kinds=("const", "enumerator"))
    else:
        read(out, b, hdr, level, join(parent, name), True, hidden or (not nm and False))
    return got


def last(out, nm):
    d = nm
    while d.type in ("qualified_identifier", "template_type"):
        k = field(d, "name")
        if k is None:
            break
        d = k
    return out.text(d)


def c_local(out, s):
    if s.type == "lambda_expression":
        return
    nm = field(s, "name") or None
    if s.type == "type_definition":
        for d0 in s.children_by_field_name("declarator"):
            d, _, _ = declared_name(out, d0)
            if d:
                out.add(out.text(d), "type", s, d, s, "local", "", False, False, kinds=("class", "enum"))
        ty = field(s, "type")
        if ty is not None:
            c_local(out, ty)
        return
    if nm is not None:
        out.add(
            last(out, nm), "class", s, nm, s, "local", "", False, False, kinds=("enum", "type", "macro", "const", "function")
        )
    b = field(s, "body")
    if b is not None and s.type != "enum_specifier":
        read(out, b, False, "local", last(out, nm) if nm else "", True)
    elif b is not None:
        for e in walk(b, "enumerator"):
            q = field(e, "name")
            if q:
                out.add(out.text(q), "field", e, q, e, "local", "", False, False, kinds=("const",))
