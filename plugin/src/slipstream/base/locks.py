"""An advisory lock that the kernel releases when its holder dies. HOT."""
from __future__ import annotations

import os


class FileLock:
    """Holds <path>.lock, which is never deleted or replaced. LockTimeout; another OSError: it cannot be created."""

    def __init__(self, path: str, timeout_s: float = 5.0):
        self.path, self.timeout_s = path + ".lock", timeout_s

    def __enter__(self) -> None:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
            flock(self._fd, LOCK_EX | LOCK_NB)
        except (ImportError, OSError):  # Windows, or held by somebody else
            from slipstream.base.locks_held import wait_for
            wait_for(self._fd, self.path, self.timeout_s)

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
