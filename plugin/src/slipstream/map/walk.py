"""Walks the tree: which files are source of this project, which folders to watch, what is left out and why."""
from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Container

from slipstream.base.git import find_git_dirs, run_git
from slipstream.map.ignore import IgnoreRules, load_patterns, outer_rules
from slipstream.map.scanned import SETTLED_NS

GIT_TIMEOUT_S = 60.0
MAX_SKIPPED = 2_000
UNSETTLED = -1  # instead of a folder's mtime: look again next time, it was unreadable or has only just changed
STORE_FOLDER = ".claude/slipstream"
IGNORE_FILE = ".gitignore"

# Folder name -> reason. Left out wherever they stand, tracked or not.
VENDORED = {
    **dict.fromkeys(("node_modules", "bower_components", "jspm_packages", "site-packages", "Pods", "Carthage",
                     ".bundle", "elm-stuff"), "vendored"),
    **dict.fromkeys(("__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".next",
                     ".nuxt", ".svelte-kit", ".turbo", ".vercel", ".cache", ".parcel-cache", ".yarn", ".eggs",
                     "DerivedData", ".terraform", ".dart_tool"), "cache"),
}
# Left out only where no git says what belongs to the project.
BUILD_OUTPUT = frozenset(("dist", "build", "out", "target", "coverage", "bin-debug", ".output"))
# A folder of the first name that holds one of the others.
MARKED = {
    "vendor": ("modules.txt", "autoload.php", "bundle", "composer"),
    "venv": ("pyvenv.cfg",), ".venv": ("pyvenv.cfg",), "env": ("pyvenv.cfg",), ".env": ("pyvenv.cfg",),
}

IsSource = Callable[[str], bool]


class Walk:
    """What one walk found. Paths are relative to the root with forward slashes; folders map to their mtime in ns."""

    __slots__ = ("files", "folders", "skipped", "skipped_count", "watched")

    def __init__(self) -> None:
        self.files: list[str] = []
        self.folders: dict[str, int] = {}
        self.skipped: list[tuple[str, str]] = []
        self.skipped_count = 0
        self.watched: list[str] = []

    def skip(self, path: str, reason: str) -> None:
        """Note that `path` is left out; only the first MAX_SKIPPED are kept by name."""
        self.skipped_count += 1
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append((path, reason))


class Walker:
    """Walks below `root`; `is_source` judges a path by its name."""

    def __init__(self, root: str, is_source: IsSource) -> None:
        self.root = root
        self.is_source = is_source
        self.now = time.time_ns()
        self.git_dirs = find_git_dirs(root)
        self.asks_git = True
        self.rules, self.prefix = outer_rules(root, self.git_dirs, os.path.expanduser("~"))

    def walk(self, ask_git: bool) -> Walk:
        """The whole tree; `ask_git` lets git's own list decide where there is one."""
        found = Walk()
        self._walk_below("", self.rules, found)
        listed = self._list_git([]) if ask_git and self.git_dirs else None
        if listed:
            self._merge_git(found, listed, {})
        found.files.sort()
        return found

    def walk_folders(self, folders: list[str], known: dict[str, int], files: Container[str], ask_git: bool) -> Walk:
        """What is new in `folders`, which have changed, and below them.

        `known` are the folders and `files` the files found before; git is asked only about files it has not judged yet.
        """
        found = Walk()
        for folder in sorted(folders):
            if folder not in found.folders:
                self._walk_below(folder, self._rules_above(folder), found, known)
        found.files[:] = [path for path in found.files if path not in files]
        if ask_git and self.git_dirs and found.files:
            listed = self._list_git(folders)
            if listed is not None:
                self._merge_git(found, listed, known)
                found.files[:] = [path for path in found.files if path not in files]
        return found

    def _rules_above(self, folder: str) -> IgnoreRules:
        rules = self.rules
        pieces = folder.split("/") if folder else []
        for i in range(len(pieces)):
            above = "/".join(pieces[:i])
            patterns = load_patterns(os.path.join(self.root, above, IGNORE_FILE))
            rules = rules.below((self.prefix + os.fsencode(above)).rstrip(b"/"), patterns)
        return rules

    def _walk_below(self, start: str, rules: IgnoreRules, found: Walk, known: dict[str, int] | None = None) -> None:
        pending = [(start, rules)]
        while pending:
            folder, rules = pending.pop()
            full = os.path.join(self.root, folder) if folder else self.root
            try:
                mtime = os.stat(full).st_mtime_ns
                with os.scandir(full) as scan:
                    entries = list(scan)
            except OSError as error:
                found.folders[folder] = UNSETTLED
                found.skip((folder or ".") + "/", f"unreadable: {error.strerror}")
                continue
            found.folders[folder] = mtime if mtime + SETTLED_NS < self.now else UNSETTLED
            before = folder + "/" if folder else ""
            ignore = next((entry for entry in entries if entry.name == IGNORE_FILE), None)
            if ignore is not None:
                if not (ignore.is_file(follow_symlinks=False) or ignore.is_symlink() or ignore.is_dir(follow_symlinks=False)):
                    self.asks_git = False  # a FIFO: git would wait for its writer
                found.watched.append(before + IGNORE_FILE)
                rules = rules.below((self.prefix + os.fsencode(folder)).rstrip(b"/"),
                                    load_patterns(os.path.join(full, IGNORE_FILE)))
            for entry in entries:
                name = entry.name
                path = before + name
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    is_file = not is_folder and entry.is_file(follow_symlinks=False)
                except OSError:
                    continue
                if is_folder:
                    if known is not None and path in known:
                        continue
                    if self._enters(name, path, entry.path, rules, found):
                        pending.append((path, rules))
                elif self.is_source(path) and not rules.is_ignored(self.prefix + os.fsencode(path), False):
                    if is_file:
                        found.files.append(path)
                    else:
                        found.skip(path, "symbolic link" if entry.is_symlink() else "not a regular file")

    def _enters(self, name: str, path: str, full: str, rules: IgnoreRules, found: Walk) -> bool:
        if name == ".git" or path == STORE_FOLDER:
            return False
        has_git = self.git_dirs is not None
        reason = find_folder_reason(name, full, has_git)
        if reason is None and os.path.lexists(os.path.join(full, ".git")):
            if has_git:
                reason = "nested repository"
            elif os.path.isfile(os.path.join(full, ".git")):
                reason = "worktree of another repository"
        if rules.is_ignored(self.prefix + os.fsencode(path), True):
            return False
        if reason is not None:
            found.skip(path + "/", reason)
        return reason is None

    def _list_git(self, folders: list[str]) -> set[str] | None:
        if not self.asks_git:
            return None
        args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        if folders and "" not in folders:
            args += ["--", *(":(literal)" + folder for folder in folders)]
        answer = run_git(args, self.root, GIT_TIMEOUT_S)
        return {os.fsdecode(path) for path in answer.split(b"\0") if path} if answer is not None else None

    def _is_root_ignored(self) -> bool:
        """Whether a repository around the root ignores it as a whole, and so has nothing to say of what is in it."""
        return bool(self.prefix) and bool(run_git(["check-ignore", "--no-index", "."], self.root, GIT_TIMEOUT_S))

    def _merge_git(self, found: Walk, listed: set[str], known: dict[str, int]) -> None:
        """Keep of the walk what git lists, and add what git tracks inside folders it otherwise ignores. `known`: as before."""
        walked = set(found.files)
        kept = walked & listed
        if not kept and walked and self._is_root_ignored():
            return
        tops = {path[:-1] for path, _ in found.skipped if path.endswith("/")}
        for path in listed - walked:
            if not self.is_source(path):
                continue
            folders = path.split("/")[:-1]
            above = ["/".join(folders[:i + 1]) for i in range(len(folders))]
            if any(folder in tops for folder in above) or path.startswith(STORE_FOLDER):
                continue
            try:
                info = os.lstat(os.path.join(self.root, path))
                if not stat.S_ISREG(info.st_mode):
                    continue
                for folder in above:
                    if folder not in found.folders and folder not in known:
                        state = os.lstat(os.path.join(self.root, folder))
                        if not stat.S_ISDIR(state.st_mode) or find_folder_reason(
                                os.path.basename(folder), os.path.join(self.root, folder), True):
                            raise OSError
                        found.folders[folder] = state.st_mtime_ns
            except OSError:
                continue
            kept.add(path)
        found.files[:] = sorted(kept)


def find_folder_reason(name: str, path: str, has_git: bool) -> str | None:
    """Why the folder `name` at the absolute `path` is not walked, or None."""
    if name in VENDORED:
        return VENDORED[name]
    if name in MARKED:
        if any(os.path.exists(os.path.join(path, mark)) for mark in MARKED[name]):
            return "vendored"
        return None
    if not has_git and name in BUILD_OUTPUT:
        return "build output"
    return None
