"""Small trees for the map's tests, made in a temporary folder."""
from __future__ import annotations

import os

from tests.folders import FolderCase


class TreeCase(FolderCase):
    """A test with an empty project folder, `self.root`."""

    def write(self, path: str, text: str | bytes, age_s: int = 60) -> str:
        """Writes a file, last modified `age_s` ago; returns its full path."""
        full = super().write(path, text)
        info = os.stat(full)
        os.utime(full, ns=(info.st_atime_ns, info.st_mtime_ns - age_s * 1_000_000_000))
        return full
