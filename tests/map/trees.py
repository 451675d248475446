"""Small trees for the map's tests, made in a temporary folder."""
from __future__ import annotations

import os
import tempfile
import unittest


class TreeCase(unittest.TestCase):
    """A test with an empty project folder, `self.root`."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)

    def write(self, path: str, text: str | bytes, age_s: int = 60) -> str:
        """Writes a file, last modified `age_s` ago; returns its full path."""
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode())
        info = os.stat(full)
        os.utime(full, ns=(info.st_atime_ns, info.st_mtime_ns - age_s * 1_000_000_000))
        return full
