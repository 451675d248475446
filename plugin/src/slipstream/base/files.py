"""Files that hold state: replaced atomically, and read without following a planted symlink."""
from __future__ import annotations

import errno
import os
import stat

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a FIFO must not wait for its writer
BINARY = getattr(os, "O_BINARY", 0)


def open_regular(path: str) -> int:
    """A file descriptor for reading a regular file; OSError for anything else, a symlink included."""
    fd = os.open(path, os.O_RDONLY | NOFOLLOW | _NONBLOCK | BINARY | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def read_bytes(path: str, limit: int | None = None) -> bytes:
    with os.fdopen(open_regular(path), "rb") as stream:
        return stream.read() if limit is None else stream.read(limit)


def read_text(path: str, limit: int | None = None) -> str:
    """Text as UTF-8: a BOM dropped, bad bytes replaced, line ends kept."""
    return read_bytes(path, limit).decode("utf-8", "replace").removeprefix("\ufeff")


def write_atomic(path: str, data: str | bytes | list[bytes | memoryview], mode: int = 0o600,
                 only_if_changed: bool = False) -> bool:
    """Replaces `path` as a whole, with text, bytes or pieces of them; a reader or a crash sees the old bytes or the new.

    False when `only_if_changed` and the bytes are already there. OSError leaves the old file as it was.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if only_if_changed:
        try:
            if read_bytes(path) == raw:
                return False
        except OSError:
            pass
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, mode)
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.writelines(raw if isinstance(raw, list) else [raw])
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True
