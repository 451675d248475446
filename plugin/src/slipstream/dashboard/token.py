"""Secrets of the dashboard on disk: the running server's bearer token and the key that signs browser sessions.

The token is made anew for every server, so one shown to a stranger on a reused port is worth nothing to him.
The key stays, so that a browser's session outlives a crash or an idle exit; stopping the dashboard removes it.
"""

from __future__ import annotations

import os
import stat

from slipstream.base.files import read_text, write_atomic
from slipstream.base.roots import store_dir
from slipstream.base.store import ensure_private_dir, ensure_store, store_path

SECRET_BYTES = 32
TOKEN_NAME = "server.token"
KEY_NAME = "session.key"


def read_token(store_root: str) -> str | None:
    """The running server's bearer token, or None when there is none that only this user can have written and read."""
    return _read_secret(store_root, TOKEN_NAME)


def new_token(store_root: str) -> str:
    return _write_secret(store_root, TOKEN_NAME)


def ensure_session_key(store_root: str) -> str:
    return _read_secret(store_root, KEY_NAME) or _write_secret(store_root, KEY_NAME)


def remove_secrets(store_root: str) -> None:
    """Ends every browser session and leaves no token behind."""
    for name in (TOKEN_NAME, KEY_NAME):
        try:
            os.unlink(os.path.join(store_dir(store_root), "dashboard", name))
        except OSError:
            pass


def _read_secret(store_root: str, name: str) -> str | None:
    try:
        folder = os.path.join(store_dir(store_root), "dashboard")
        path = os.path.join(folder, name)
        info = os.lstat(path)
        if os.path.islink(folder):
            return None
        if not stat.S_ISREG(info.st_mode):
            return None
        if os.name == "posix" and (info.st_uid != os.getuid() or info.st_mode & 0o077):
            return None  # a file that came with a clone or that others can read is no secret
        secret = read_text(path, 200).strip()
    except Exception:  # a missing or refused file is no secret
        return None
    return secret if len(secret) == SECRET_BYTES * 2 and set(secret) <= set("0123456789abcdef") else None


def _write_secret(store_root: str, name: str) -> str:
    ensure_store(store_root)
    ensure_private_dir(store_path(store_root, "dashboard"))
    secret = os.urandom(SECRET_BYTES).hex()  # the source that the secrets module reads, without importing it
    write_atomic(store_path(store_root, "dashboard", name), secret + "\n", mode=0o600)
    return secret
