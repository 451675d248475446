"""Two roots: the tree root owns map and index, the store root owns events and memory. HOT: no git process, no pathlib."""
from __future__ import annotations

import os
from os.path import basename, dirname, exists, isdir, isfile, islink, join, realpath


def find_tree_root(explicit: str | None = None, env: dict[str, str] | os._Environ[str] = os.environ,
                   cwd: str | None = None) -> str:
    """Explicit folder, CLAUDE_PROJECT_DIR, git top level, nearest .claude/slipstream below home, current folder."""
    for chosen in (explicit, env.get("CLAUDE_PROJECT_DIR")):
        if chosen and isdir(chosen):
            return realpath(chosen)
    start = realpath(cwd or os.getcwd())
    return _walk_up(start, ".git") or _walk_up(start, join(".claude", "slipstream")) or start


def find_store_root(tree_root: str) -> str:
    """The main worktree's top level when the git common directory is <top>/.git, else the tree root (submodule, bare)."""
    top = _walk_up(tree_root, ".git") or tree_root
    common = join(top, ".git")
    if isfile(common):
        from slipstream.base.worktrees import find_common_dir
        common = find_common_dir(top)
    return dirname(common) if basename(common) == ".git" and isdir(common) else tree_root


def store_dir(store_root: str) -> str:
    """<root>/.claude/slipstream; OSError when a symlink on the way leaves the root (a clone may carry one)."""
    path = join(store_root, ".claude", "slipstream")
    if (islink(path) or islink(dirname(path))) and not realpath(path).startswith(realpath(store_root) + os.sep):
        raise OSError(f"{path}: a symlink that leaves the project; refused")
    return path


def _walk_up(folder: str, mark: str) -> str | None:
    home = realpath(os.path.expanduser("~"))  # never chosen by walking up: a dotfiles checkout is not a project
    while folder != home and not exists(join(folder, mark)):
        folder, child = dirname(folder), folder
        if folder == child:
            return None
    return folder if folder != home else None
