"""The one containment check for every path from outside. Security-relevant."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.shown_path import shown_path as shown_path


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
