"""Where a linked worktree or a submodule keeps its repository; loaded only there."""
from __future__ import annotations

from os.path import join, realpath


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
