"""An advisory lock that the kernel releases when its holder dies. HOT."""
from __future__ import annotations

import os
import time

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows: the same two calls in msvcrt's terms; closing the file unlocks it
    import msvcrt
    LOCK_EX = LOCK_NB = 0  # type: ignore[misc]

    def flock(fd: int, how: int) -> None:  # type: ignore[misc]
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]


class LockTimeout(OSError):
    """Held by somebody else for longer than we wait. Nothing may be written unlocked."""


class FileLock:
    """Holds <path>.lock, which is never deleted or replaced. LockTimeout; another OSError: it cannot be created."""

    __slots__ = ("_fd", "path", "timeout_s")

    def __init__(self, path: str, timeout_s: float = 5.0):
        self.path, self.timeout_s = path + ".lock", timeout_s

    def __enter__(self) -> FileLock:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        deadline, pause = time.monotonic() + self.timeout_s, 0.0005
        while True:
            try:
                flock(self._fd, LOCK_EX | LOCK_NB)
                return self
            except OSError:
                if time.monotonic() >= deadline:
                    os.close(self._fd)
                    raise LockTimeout(f"{self.path}: held by another process for {self.timeout_s:g} s") from None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.01)

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
