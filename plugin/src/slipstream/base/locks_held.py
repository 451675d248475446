"""Waits for a lock that somebody else holds; loaded by whoever meets one."""
from __future__ import annotations

import os
import time
from collections.abc import Callable

from slipstream.base.locks import LockTimeout


def wait_for(take: Callable[[], None], fd: int, path: str, timeout_s: float) -> None:
    """Try `take` until it raises no OSError; after `timeout_s` the lock file `path`, open as `fd`, is closed: LockTimeout."""
    deadline, pause = time.monotonic() + timeout_s, 0.0005
    while time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)
        try:
            return take()
        except OSError:
            pass
    os.close(fd)
    raise LockTimeout(f"{path}: held by another process for {timeout_s:g} s")
