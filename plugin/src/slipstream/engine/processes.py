"""Ending what was started: a process and every child it left, so that neither a gate nor a check leaves a server behind."""
from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

GRACE_S = 3.0
# A group of its own, so that the children can be ended with it.
GROUP_OPTIONS: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask the process and its group to end, then make them; returns when the process is reaped and the group gone."""
    if os.name != "posix":
        if process.poll() is None:
            process.kill()
            process.wait(GRACE_S)
        return
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
        except (ProcessLookupError, PermissionError):
            return
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue
