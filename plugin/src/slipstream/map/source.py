"""Reads one source file: regular files only, bounded, as UTF-8, with the stamp of what was read (hot)."""
from __future__ import annotations

import os
import stat

MAX_SOURCE_BYTES = 2_000_000
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), *((bom, "utf-16") for bom in UTF_16))


class Unreadable(Exception):
    """Why a file gives no text, in a few words for a person."""


def read_source(path: str, limit: int = MAX_SOURCE_BYTES) -> tuple[bytes, os.stat_result]:
    """Bytes of the regular file at `path` and its state when opened; raises Unreadable."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise Unreadable("no such file" if isinstance(error, FileNotFoundError) else f"unreadable: {error.strerror}") from None
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise Unreadable("a folder: `map` shows it" if stat.S_ISDIR(info.st_mode) else "not a regular file")
        if info.st_size > limit:
            raise Unreadable(f"larger than {limit:,} bytes")
        pieces, left = [], limit + 1
        while left > 0:
            piece = os.read(handle, min(left, info.st_size + 1))
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
        if left <= 0:
            raise Unreadable(f"larger than {limit:,} bytes")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces), info
    except OSError as error:
        raise Unreadable(f"unreadable: {error.strerror}") from None
    finally:
        os.close(handle)


def decode_source(data: bytes) -> bytes:
    """`data` as UTF-8 without a byte order mark, lines kept; Latin-1 where it is not UTF-8; raises Unreadable on NUL."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            if encoding == "utf-8":
                data = data[3:]
                break
            return data.decode(encoding, "replace").lstrip("\ufeff").replace("\0", " ").encode("utf-8", "replace")
    if b"\0" in data:
        raise Unreadable("binary: holds NUL bytes")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1").encode("utf-8")
    return data
