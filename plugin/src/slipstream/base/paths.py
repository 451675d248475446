"""The one containment check for every path from outside, and the one way to show a path as text. Security-relevant."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError


def resolve_inside(root: str, path: str) -> str:
    """Absolute real path of `path` (taken relative to `root`); SlipstreamError when it leaves the root, by .. or by symlink."""
    if "\0" in path:
        raise SlipstreamError("a path cannot hold a NUL byte")
    base = os.path.realpath(root)
    full = os.path.realpath(os.path.join(base, path))
    if full != base and not full.startswith(base.rstrip(os.sep) + os.sep):
        raise SlipstreamError(f"outside the project ({base})", path)
    return full


def relative_path(root: str, path: str) -> str:
    """`path` relative to `root`, with forward slashes, as every store writes it."""
    return os.path.relpath(path, root).replace(os.sep, "/")


def shown_path(path: str) -> str:
    r"""`path` itself when it is plain; else with what cannot be printed (control and direction characters, line ends, odd
    spaces, bytes that are no UTF-8) and the backslash written as escapes: `\n`, `\x1b`, `\u202e`. JSON keeps the true name."""
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(one if one.isprintable() and one != "\\" else one.encode("unicode_escape").decode() for one in path)
