"""The one way to show a path as text. Security-relevant, and loaded by every search."""
from __future__ import annotations


def shown_path(path: str) -> str:
    r"""`path` itself when it is plain; else with what cannot be printed (control and direction characters, line ends, odd
    spaces, bytes that are no UTF-8) and the backslash written as escapes: `\n`, `\x1b`, `\u202e`. JSON keeps the true name."""
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(one if one.isprintable() and one != "\\" else one.encode("unicode_escape").decode() for one in path)
