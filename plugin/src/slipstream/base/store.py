"""The project's private folder, .claude/slipstream: made 0700 with its own .gitignore. Security-relevant."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.roots import store_dir


def ensure_store(store_root: str) -> str:
    """The store's folder, made on first use. SlipstreamError when a symlink on the way leaves the project."""
    try:
        folder = store_dir(store_root)
    except OSError as error:
        raise SlipstreamError(str(error)) from None
    if not os.path.isdir(folder):
        from slipstream.base.new_store import make_store
        make_store(folder)
    return folder


def ensure_private_dir(path: str) -> str:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise SlipstreamError("is not a folder", path) from None
    return path


def store_path(store_root: str, *parts: str) -> str:
    """Path of a file in the store, its folder made. No folder on the way and not the file itself may be a symlink."""
    path = ensure_store(store_root)
    for index, part in enumerate(parts):
        if part in ("", ".", "..") or "/" in part or os.sep in part or "\0" in part:
            raise SlipstreamError(f"not a file name: {part!r}")
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise SlipstreamError("a symlink inside the store; refused", path)
        if index < len(parts) - 1:
            ensure_private_dir(path)
    return path
