"""Macros of C and C++ that hide code from a grammar: found in every `#define`, blanked at the same length so lines hold."""

from __future__ import annotations

import re

BEFORE_NAME = re.compile(rb'(?<![\w.>:#"])([A-Z][A-Z0-9]*_[A-Z0-9_]+)(\s*\((?:[^()\n]|\([^()\n]*\))*\))?(?=[ \t]+[A-Za-z_:~])')
OWN_LINE = re.compile(rb"(?m)^[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:[ \t]*\((?:[^()\n]|\([^()\n]*\))*\))?[ \t]*$")
AFTER_PARAMETERS = re.compile(rb"(?<=\))([ \t]+)([A-Z][A-Z0-9]*_[A-Z0-9_]+)(\s*\((?:[^()\n]|\([^()\n]*\))*\))?(?=\s*[{;])")


def blank(m):
    return re.sub(rb"[^\n]", b" ", m.group(0))


def blank_macros(src, mode, pat=None):
    """Blank attribute-like macros, same length, so rows and columns stay put."""
    out = []
    cont = False
    for ln in src.split(b"\n"):
        st = ln.lstrip()
        if cont or st.startswith(b"#"):
            cont = ln.rstrip().endswith(b"\\")
            out.append(ln)
            continue
        cont = False
        if pat is not None:
            ln = pat.sub(blank, ln)
        if mode >= 1:
            ln = OWN_LINE.sub(blank, ln)
            ln = AFTER_PARAMETERS.sub(blank, ln)
        if mode >= 2:
            ln = BEFORE_NAME.sub(blank, ln)
        out.append(ln)
    return b"\n".join(out)


DEF = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\([^)\n]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)")
TOKEN = re.compile(
    rb"""\s+|\b(?:inline|constexpr|consteval|constinit|static|noexcept|explicit|const|virtual|override|final|volatile|restrict|register|__inline__|__inline|__forceinline|__restrict__|__restrict|__extension__|__cdecl|__stdcall|_Noreturn|noreturn|thread_local|__thread|typename)\b(?:\s*\([^()]*\))?|(?:__attribute__|__declspec|alignas|_Pragma|__pragma|static_assert)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[\[[^\]]*\]\]|extern\s*"C(?:\+\+)?"|(?:inline\s+)?namespace\s*[\w:]*\s*\{|\bextern\b|[{};]"""
)


def only_attributes(b):
    """True when a macro body is empty or made of specifiers, attributes and scope openers only."""
    if len(b) > 300:
        return False
    i = 0
    while i < len(b):
        m = TOKEN.match(b, i)
        if not m or m.end() == i:
            return False
        i = m.end()
    return True


def scan_macros(sources):
    """Names of macros that expand to nothing, to attributes or specifiers, or to a namespace opening: safe to blank."""
    found = {}
    for src in sources:
        for m in DEF.finditer(src):
            body = re.sub(rb"\\\r?\n", b" ", m.group(3))
            body = re.sub(rb"/\*.*?\*/|//.*", b"", body, flags=re.S).strip()
            found.setdefault(m.group(1), []).append((m.group(2), body))
    ok = set()
    for i in range(2):
        pat = (
            re.compile(rb"\b(?:" + b"|".join(sorted(map(re.escape, ok), key=len, reverse=True)) + rb")\b(\s*\([^()]*\))?")
            if ok
            else None
        )
        for name, vs in found.items():
            if name in ok or len(name) < 4 or not re.search(rb"[A-Z_]", name):
                continue
            for _args, b in vs:
                if len(b) <= 300 and only_attributes(pat.sub(b"", b) if pat and i else b):
                    ok.add(name)
                    break
    return ok


def macro_pattern(ok):
    if not ok:
        return None
    return re.compile(
        rb'(?<![\w."])(?:'
        + b"|".join(sorted(map(re.escape, ok), key=len, reverse=True))
        + rb")\b([ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?"
    )
