"""The project of a folder inside it, and where a linked worktree or a submodule keeps its repository; loaded only there."""
from __future__ import annotations

import os
from os.path import basename, dirname, exists, isdir, isfile, join, realpath


def find_project(cwd: str | None) -> str:
    """The git top level above a folder (the current one where it is none), else the nearest store, else the folder."""
    start = realpath(cwd if cwd and isdir(cwd) else os.getcwd())
    return _walk_up(start, ".git") or _walk_up(start, join(".claude", "slipstream")) or start


def find_main_root(tree_root: str) -> str:
    """roots.find_store_root where the tree root itself holds no folder .git."""
    top = _walk_up(tree_root, ".git") or tree_root
    common = join(top, ".git")
    if isfile(common):
        common = find_common_dir(top)
    return dirname(common) if basename(common) == ".git" and isdir(common) else tree_root


def find_common_dir(top: str) -> str:
    """The git common directory of the folder `top`, whose .git is a file."""
    git_dir = join(top, first_line(join(top, ".git")).partition("gitdir:")[2].strip())
    return realpath(join(git_dir, first_line(join(git_dir, "commondir")) or "."))


def first_line(path: str) -> str:
    """The first line of one of git's small files, without its end; empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.readline(4096).strip()
    except OSError:
        return ""


def _walk_up(folder: str, mark: str) -> str | None:
    home = realpath(os.path.expanduser("~"))  # never chosen by walking up: a dotfiles checkout is not a project
    while folder != home and not exists(join(folder, mark)):
        folder, child = dirname(folder), folder
        if folder == child:
            return None
    return folder if folder != home else None
