"""The interactive client on a pseudo-terminal; keeps everything it drew, as plain text."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from typing import Any

ANSI = re.compile(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[PX^_].*?\x1b\\|[@-Z\\-_])")
KEY_GAP_S = 0.01
ENTER_GAP_S = 0.3


class Terminal:
    """One client process on a pseudo-terminal of 40 rows and 120 columns."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: str) -> None:
        self.text = ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read(self, seconds: float) -> bool:
        """Read what comes within `seconds`; False when the client has gone."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if not ready:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError as error:
                if error.errno == errno.EIO:
                    return False
                raise
            if not data:
                return False
            self.text += ANSI.sub("", data.decode("utf-8", "replace"))
        return True

    def wait_for(self, wanted: str, timeout_s: float, since: int = 0) -> bool:
        """Spaces are ignored: the screen is drawn with cursor moves instead of spaces."""
        squeezed = re.sub(r"\s+", "", wanted)
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            alive = self.read(0.3)
            if squeezed in re.sub(r"\s+", "", self.text[since:]):
                return True
            if not alive:
                return False
        return False

    def type(self, text: str, enter: bool = True) -> None:
        """Type letter by letter, as the client treats a long burst as a paste."""
        for letter in text:
            os.write(self.master, letter.encode())
            time.sleep(KEY_GAP_S)
        self.read(ENTER_GAP_S)
        if enter:
            os.write(self.master, b"\r")

    def close(self, timeout_s: float) -> int:
        """Wait for the client to leave and end it when it does not; its exit status."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            try:
                self.read(0.2)
            except OSError:
                pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.master)
                return os.waitstatus_to_exitcode(status)
        for sign in (signal.SIGTERM, signal.SIGKILL):
            os.kill(self.pid, sign)
            self.read(1)
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
        os.close(self.master)
        return 124


def play(actions: list[dict[str, Any]], terminal: Terminal) -> str | None:
    """Carry out {"wait"}, {"type"}, {"keys"} and {"pause_s"} actions; what never showed, or None."""
    for action in actions:
        since = len(terminal.text)
        if "type" in action:
            terminal.type(action["type"], action.get("enter", True))
        if "keys" in action:
            os.write(terminal.master, action["keys"].encode())
        if "pause_s" in action:
            terminal.read(action["pause_s"])
        if "wait" in action:
            start = 0 if action.get("anywhere") or "type" not in action else since
            if not terminal.wait_for(action["wait"], action.get("timeout_s", 30), start):
                return "the screen never showed %r" % action["wait"]
    return None
