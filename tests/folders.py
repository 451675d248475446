"""A test's own folder."""
from __future__ import annotations

import os
import tempfile
import unittest


class FolderCase(unittest.TestCase):
    """A test with an empty folder, `self.root`, its real path."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)

    def write(self, path: str, text: str | bytes) -> str:
        """Writes a file of the folder, with the folders above it; returns its full path."""
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode())
        return full
