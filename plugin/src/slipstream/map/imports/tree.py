"""The project's paths as resolvers ask for them: exact, by folder, by suffix; and small project files read once."""
from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Iterable

from slipstream.map.source import Unreadable, decode_source, read_source

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

MAX_PROJECT_FILE_BYTES = 1_000_000
Read = Callable[[str], "str | None"]

_UNEVEN = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")  # nothing, `.` or `..` between slashes
_JSON_NOISE = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.S)


class Tree:
    """Relative paths with forward slashes; `read` gives a small project file's text or None (also for files not mapped)."""

    def __init__(self, paths: Iterable[str], read: Read):
        self.paths = frozenset(paths)
        self.read = read
        self._folders: dict[str, list[str]] | None = None
        self._names: dict[str, list[str]] | None = None
        self._json: dict[str, Any] = {}

    @property
    def folders(self) -> dict[str, list[str]]:
        """Folder -> its files, sorted; `` is the root. Folders that hold only folders are there with an empty list."""
        if self._folders is None:
            folders: dict[str, list[str]] = {"": []}
            for path in sorted(self.paths):
                folder = path.rpartition("/")[0]
                if folder in folders:
                    folders[folder].append(path)
                    continue
                folders[folder] = [path]
                while folder:
                    folder = folder.rpartition("/")[0]
                    if folder in folders:
                        break
                    folders[folder] = []
            self._folders = folders
        return self._folders

    def with_suffix(self, suffix: str) -> list[str]:
        """Files whose path is `suffix` or ends in `/suffix`, shortest first."""
        if self._names is None:
            self._names = {}
            for path in sorted(self.paths, key=lambda path: (path.count("/"), path)):
                self._names.setdefault(posixpath.basename(path), []).append(path)
        found = self._names.get(posixpath.basename(suffix), [])
        return [path for path in found if path == suffix or path.endswith("/" + suffix)]

    def json(self, path: str) -> dict[str, Any]:
        """A project file as an object, comments and trailing commas allowed; {} when absent or damaged."""
        if path not in self._json:
            value: Any = None
            text = self.read(path)
            if text is not None:
                for candidate in (text, _JSON_NOISE.sub(lambda found: found.group(1) or "", text)):
                    try:
                        value = json.loads(candidate.removeprefix("\ufeff"))
                        break
                    except (ValueError, RecursionError):
                        continue
            self._json[path] = value if isinstance(value, dict) else {}
        found: dict[str, Any] = self._json[path]
        return found

    def named(self, name: str) -> list[str]:
        """Folders that hold a project file of that name, whether or not the map lists it, deepest last."""
        return [folder for folder in sorted(self.folders, key=lambda folder: (folder.count("/"), folder))
                if join(folder, name) in self.paths or self.read(join(folder, name)) is not None]


def project_reader(root: str, seen: set[str] | None = None) -> Read:
    """Reads small project files (package.json and such) for the resolver, never a linked one; `seen` takes their paths."""
    def read(path: str) -> str | None:
        if path.startswith(("/", "..")):
            return None
        try:
            data, _ = read_source(os.path.join(root, path), MAX_PROJECT_FILE_BYTES)
            if seen is not None:
                seen.add(path)
            return decode_source(data).decode("utf-8", "replace")
        except Unreadable:
            return None
    return read


def join(*parts: str) -> str:
    """Path from parts, normalised; `` for the root itself, `..` in front where it leaves the tree."""
    path = "/".join(filter(None, parts))
    if not _UNEVEN.search(path):
        return path
    path = posixpath.normpath(posixpath.join(*parts))
    return "" if path == "." else path


def ancestors(folder: str) -> list[str]:
    """The folder itself, then each one above it, the root (``) last."""
    found = [folder]
    while folder:
        folder = posixpath.dirname(folder)
        found.append(folder)
    return found
