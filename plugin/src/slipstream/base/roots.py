"""Two roots: the tree root owns map and index, the store root owns events and memory. HOT: no git process, no pathlib."""
from __future__ import annotations

import os
from os.path import dirname, isdir, islink, join, realpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def find_tree_root(explicit: str | None = None, env: Mapping[str, str] = os.environ, cwd: str | None = None) -> str:
    """Explicit folder, CLAUDE_PROJECT_DIR, git top level, nearest .claude/slipstream below home, current folder."""
    for chosen in (explicit, env.get("CLAUDE_PROJECT_DIR")):
        if chosen and isdir(chosen):
            return realpath(chosen)
    from slipstream.base.worktrees import find_project
    return find_project(cwd)


def find_store_root(tree_root: str) -> str:
    """The main worktree's top level when the git common directory is <top>/.git, else the tree root (submodule, bare)."""
    if isdir(join(tree_root, ".git")):
        return tree_root
    from slipstream.base.worktrees import find_main_root
    return find_main_root(tree_root)


def store_dir(store_root: str) -> str:
    """<root>/.claude/slipstream; OSError when a symlink on the way leaves the root (a clone may carry one)."""
    path = join(store_root, ".claude", "slipstream")
    if (islink(path) or islink(dirname(path))) and not realpath(path).startswith(realpath(store_root) + os.sep):
        raise OSError(f"{path}: a symlink that leaves the project; refused")
    return path
