"""What slipstream asks git: branch, commit and worktree by reading files; anything else through one bounded process."""
from __future__ import annotations

import os

from slipstream.base.worktrees import first_line

# What git tells its hooks about the repository they run for (git rev-parse --local-env-vars, without the configuration):
# with these set it would answer for that repository and its index, whatever `-C` says.
_REPOSITORY_NAMES = frozenset((
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_REPLACE_REF_BASE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_INTERNAL_SUPER_PREFIX"))


def find_git_dirs(tree_root: str) -> tuple[str, str] | None:
    """(git directory, common directory) of the checkout that holds `tree_root`; None outside one."""
    folder = tree_root
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.isdir(entry):
            return entry, entry
        if os.path.isfile(entry):
            git_dir = os.path.normpath(os.path.join(folder, first_line(entry).partition("gitdir:")[2].strip()))
            shared = first_line(os.path.join(git_dir, "commondir"))
            return git_dir, os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def read_head(tree_root: str) -> tuple[str | None, str | None]:
    """(branch, commit). Branch is None on a detached head; commit is None where there is none yet."""
    dirs = find_git_dirs(tree_root)
    if dirs is None:
        return None, None
    git_dir, common = dirs
    head = first_line(os.path.join(git_dir, "HEAD"))
    if not head.startswith("ref:"):
        return None, head or None
    ref = head[4:].strip()
    branch = ref.removeprefix("refs/heads/")
    for base in (git_dir, common):
        commit = first_line(os.path.join(base, *ref.split("/")))
        if commit:
            return branch, commit
    try:
        with open(os.path.join(common, "packed-refs"), encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if line.rstrip("\n").endswith(" " + ref):
                    return branch, line.split(" ", 1)[0]
    except OSError:
        pass
    return branch, None


def worktree_name(tree_root: str) -> str | None:
    """Name of the linked worktree; None in the main one and outside git."""
    dirs = find_git_dirs(tree_root)
    if dirs is None or dirs[0] == dirs[1]:
        return None
    return os.path.basename(dirs[0])


def read_place(tree_root: str) -> dict[str, str]:
    """Where a record is made: `branch` and, in a linked worktree, `worktree`; what is not known is left out."""
    try:
        place = {"branch": read_head(tree_root)[0], "worktree": worktree_name(tree_root)}
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in place.items() if value}


def run_git(args: list[str], cwd: str, timeout_s: float = 10.0) -> bytes | None:
    """Standard output of one git command; None when git is absent, fails or takes too long."""
    env = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_NAMES}
    env.update({"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"})
    command = ["git", "-C", cwd, "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *args]
    if hasattr(os, "posix_spawnp"):
        return _spawn(command, env, timeout_s)
    import subprocess
    try:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _spawn(command: list[str], env: dict[str, str], timeout_s: float) -> bytes | None:
    """The same without `subprocess`, whose import costs more than a start of Python; a session's start asks git once."""
    import select
    import time
    reader, writer = os.pipe()
    try:
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, writer, 1),
                   (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
        try:
            pid = os.posix_spawnp(command[0], command, env, file_actions=actions)
        except OSError:
            return None
        finally:
            os.close(writer)
        deadline = time.monotonic() + timeout_s
        pieces: list[bytes] = []
        while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = os.read(reader, 65_536)
            if not piece:
                return b"".join(pieces) if os.waitpid(pid, 0)[1] == 0 else None
            pieces.append(piece)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        return None
    finally:
        os.close(reader)
