"""Memory, tested on real stores in temporary folders. `HOME` points at an empty one, so that no host's notes are read."""
from __future__ import annotations

import os
import shutil
import tempfile
import unittest

from slipstream.events.append import append_event
from slipstream.memory.search import close_catalogs


class StoreCase(unittest.TestCase):
    """`self.root` is a project without git and without a store."""

    def setUp(self) -> None:
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="slipstream-test-"))
        self.addCleanup(shutil.rmtree, self.root, True)
        self.addCleanup(close_catalogs)
        home = os.path.join(self.root, "home")
        os.mkdir(home)
        held = {key: os.environ.get(key) for key in ("HOME", "CLAUDE_CONFIG_DIR", "USERPROFILE")}
        self.addCleanup(lambda: [os.environ.__setitem__(key, value) if value is not None else os.environ.pop(key, None)
                                 for key, value in held.items()])
        os.environ.pop("CLAUDE_CONFIG_DIR", None)
        os.environ["HOME"] = os.environ["USERPROFILE"] = home
        self.root = os.path.join(self.root, "project")
        os.mkdir(self.root)

    @property
    def store(self) -> str:
        return os.path.join(self.root, ".claude", "slipstream")

    def turn(self, prompt: str, *tools: str, session: str = "s1", stop: bool = True) -> None:
        """One turn's events: a prompt, tool calls as `Edit a.py`, the stop."""
        append_event(self.root, session, "main", "user-prompt", prompt[:200], {"prompt": prompt})
        for tool in tools:
            append_event(self.root, session, "main", "post-tool", tool, {"tool": tool.split(" ")[0]})
        if stop:
            append_event(self.root, session, "main", "stop", "turn finished")

    def write(self, path: str, text: str | bytes) -> str:
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode("utf-8"))
        return full
