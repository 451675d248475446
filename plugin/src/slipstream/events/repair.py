"""The rare cases of an append: no folder yet, an empty, torn or foreign log, a lock held too long, events that waited
beside the log."""

from __future__ import annotations

import os
import time
from typing import IO

from slipstream.base.errors import LockTimeout, SlipstreamError
from slipstream.base.fast_json import loads
from slipstream.base.files import read_bytes
from slipstream.base.locks import FileLock
from slipstream.base.store import store_path
from slipstream.events.append import FLAGS, LOCK_TIMEOUT_S

SPILL_SUFFIX = ".spill"
_WINDOW_BYTES = 262_144
UNFINISHED_S = 600.0


def append_slowly(store_root: str, path: str, line: str, error: Exception) -> int:
    """After a first try failed: makes the folders and tries again, or lets the event wait when the lock is held.

    An OSError that neither helps against is raised again.
    """
    if isinstance(error, LockTimeout):
        return spill(path, line)
    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
        raise error
    try:
        store_path(store_root, "dashboard", os.path.basename(path))
    except SlipstreamError as refused:
        raise OSError(str(refused)) from None
    try:
        with FileLock(path, LOCK_TIMEOUT_S), os.fdopen(os.open(path, FLAGS, 0o600), "rb+", 0) as log:
            return prepare(log, path, line)
    except LockTimeout:
        return spill(path, line)


def prepare(log: IO[bytes], path: str, line: str | None) -> int:
    """Appends below whatever the log ends with; first closes a torn line and takes in what waited. The lock is held."""
    end = log.seek(0, os.SEEK_END)
    log.seek(max(0, end - 1))
    torn = end > 0 and log.read(1) != b"\n"
    seq = _last_seq(log, end) + 1
    waiting = _waiting(path)
    recent = b""
    if waiting:
        log.seek(max(0, end - _WINDOW_BYTES))
        recent = log.read(_WINDOW_BYTES)
    raw = b"\n" if torn else b""
    for name in waiting:
        text = _spilled(name)
        if text and b"," + text[1:] + b"\n" not in recent:  # else taken in by a writer that was killed before it could unlink
            raw += b'{"seq":%d,%s\n' % (seq, text[1:])
            seq += 1
    if line is not None:
        raw += b'{"seq":%d,%s\n' % (seq, line[1:].encode("ascii"))
    if log.write(raw) != len(raw):
        log.truncate(end)
        raise OSError(f"{path}: no room for an event")
    for name in waiting:
        try:
            os.unlink(name)
        except OSError:
            pass  # a folder that was put there, or one that a reader holds open on Windows; the event itself is in the log
    try:
        os.rmdir(path + SPILL_SUFFIX)
    except FileNotFoundError:
        pass
    except OSError:
        sweep(path + SPILL_SUFFIX)  # somebody has just put another in, or was killed while at it
    return seq


def spill(path: str, line: str) -> int:
    """Keeps an event in a file of its own in <log>.spill until a writer gets the lock. Returns -1."""
    folder = path + SPILL_SUFFIX
    name = os.path.join(folder, "%020d-%d-%s" % (time.time_ns(), os.getpid(), os.urandom(4).hex()))
    for attempt in range(8):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if os.path.islink(folder):
                raise OSError(f"{folder}: a symlink inside the store; refused") from None
        try:
            fd = os.open(name + ".tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            break
        except FileNotFoundError:  # a writer has just emptied the folder and removed it
            if attempt == 7:
                raise
    try:
        raw = line.encode("ascii")
        if os.write(fd, raw) < len(raw):
            raise OSError(f"{name}: no room for an event")
    except OSError:
        os.unlink(name + ".tmp")
        raise
    finally:
        os.close(fd)
    os.replace(name + ".tmp", name)
    return -1


def absorb(path: str) -> int:
    """For readers: takes in what waits beside a log, unless somebody holds the lock still or nothing can be written here.

    So an event is read where it stands in the log, under the number that it keeps; returns how many came in. Never raises.
    """
    try:
        return drain(path, 0.0) if os.path.isdir(path + SPILL_SUFFIX) else 0
    except OSError:
        return 0


def drain(path: str, timeout_s: float | None = None) -> int:
    """Takes in what waits beside a log although no new event comes; returns how many. LockTimeout, OSError."""
    if not _waiting(path):
        return 0
    wait_s = LOCK_TIMEOUT_S if timeout_s is None else timeout_s
    with FileLock(path, wait_s), os.fdopen(os.open(path, FLAGS, 0o600), "rb+", 0) as log:
        names = _waiting(path)  # another reader may have been here first
        if names:
            prepare(log, path, None)
    return len(names)


def count_waiting(path: str) -> int:
    return len(_waiting(path))


def sweep(folder: str) -> None:
    """Removes the unfinished files of writers that were killed, so that the folder can go."""
    try:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.endswith(".tmp") and time.time() - os.lstat(path).st_mtime > UNFINISHED_S:
                os.unlink(path)
        os.rmdir(folder)
    except OSError:
        pass


def _waiting(path: str) -> list[str]:
    folder = path + SPILL_SUFFIX
    if os.path.islink(folder):
        return []
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.endswith(".tmp")]
    except OSError:
        return []


def _spilled(name: str) -> bytes:
    """A waiting event's line, or nothing when the file is not one."""
    try:
        text = read_bytes(name, 1_000_000)
        return text if isinstance(loads(text.decode()), dict) and text.startswith(b"{") and b"\n" not in text else b""
    except (OSError, ValueError):
        return b""


def _last_seq(log: IO[bytes], end: int) -> int:
    """The number of the last line that is an event, -1 without one; reads backwards in growing windows."""
    window = 65_536
    while end:
        start = max(0, end - window)
        log.seek(start)
        lines = log.read(end - start).split(b"\n")
        for line in reversed(lines if not start else lines[1:]):
            try:
                seq = loads(line.decode("utf-8").removeprefix("\ufeff"))["seq"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            if isinstance(seq, int) and not isinstance(seq, bool) and seq >= 0:
                return seq
        if not start:
            break
        window *= 8
    return -1
