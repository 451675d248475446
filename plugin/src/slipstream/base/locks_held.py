"""Waits for a lock that somebody else holds, and takes any on Windows; loaded by whoever meets one."""
from __future__ import annotations

import os
import time

from slipstream.base.errors import LockTimeout

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:
    from slipstream.base.locks_windows import LOCK_EX, LOCK_NB, flock  # type: ignore[assignment]


def wait_for(fd: int, path: str, timeout_s: float) -> None:
    """Lock the file open as `fd`, tried once at least; after `timeout_s` the lock file `path` is closed: LockTimeout."""
    deadline, pause = time.monotonic() + timeout_s, 0.0005
    while True:
        try:
            return flock(fd, LOCK_EX | LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                os.close(fd)
                raise LockTimeout(f"{path}: another process has held this lock for the {timeout_s:.3g} s that were waited; try "
                                  "again, or end that process (lsof or fuser on this file names it)") from None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)
