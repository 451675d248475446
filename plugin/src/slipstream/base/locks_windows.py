"""fcntl's calls for a lock in the terms of Windows; closing the file unlocks it."""
from __future__ import annotations

import msvcrt

LOCK_EX = LOCK_NB = 0


def flock(fd: int, how: int) -> None:
    """Lock the file's first byte, or OSError."""
    msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
