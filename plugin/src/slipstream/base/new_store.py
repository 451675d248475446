"""Makes the project's private folder, once. Security-relevant: there is never a store that git would take in."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError

IGNORE_ALL = "/*\n"


def make_store(folder: str) -> None:
    """Make `folder` with its `.gitignore` beside its place and move it there when it is whole, whatever ends us before."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    made = f"{folder}.{os.urandom(4).hex()}.tmp"
    rules = os.path.join(made, ".gitignore")
    try:
        os.mkdir(made, 0o700)
        with open(os.open(rules, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(IGNORE_ALL)
        os.rename(made, folder)
    except OSError as error:
        for remove, path in ((os.unlink, rules), (os.rmdir, made)):
            if os.path.lexists(path):
                remove(path)
        if not os.path.isdir(folder):  # nor made by somebody else meanwhile
            raise SlipstreamError("is not a folder", folder) if os.path.lexists(folder) else error from None
