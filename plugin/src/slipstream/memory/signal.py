"""What the agent is working on right now: branch, changed and untracked files, recent commits, the prompt."""
from __future__ import annotations

import os

from slipstream.base.git import find_git_dirs, read_head, run_git

MAX_CHANGED_FILES = 40
_RECENT_COMMITS = 5
_REFLOG_TAIL_BYTES = 8192


class Signal:
    __slots__ = ("branch", "changed_files", "commits", "prompt")

    def __init__(self, branch: str = "", changed_files: list[str] | None = None, prompt: str = "",
                 commits: list[str] | None = None):
        self.branch, self.changed_files, self.prompt, self.commits = branch, changed_files or [], prompt, commits or []


def read_signal(tree_root: str, prompt: str = "", timeout_s: float = 1.0) -> Signal:
    """One git process (`status`); the branch and the last commits' subjects come from git's own files."""
    branch = read_head(tree_root)[0] or ""
    changed: list[str] = []
    output = run_git(["status", "--porcelain", "-z", "--untracked-files=normal", "--", "."], tree_root, timeout_s) or b""
    fields = output.decode("utf-8", "replace").split("\0")
    index = 0
    while index < len(fields) and len(changed) < MAX_CHANGED_FILES:
        entry = fields[index]
        if len(entry) > 3:
            changed.append(entry[3:].rstrip("/"))
            index += entry[0] in "RC"  # the old name follows a rename
        index += 1
    return Signal(branch, [path for path in changed if not path.startswith(".claude/")], prompt, recent_commits(tree_root))


def recent_commits(tree_root: str) -> list[str]:
    """Subjects of the last commits made here, newest first, from the reflog."""
    dirs = find_git_dirs(tree_root)
    if dirs is None:
        return []
    try:
        with open(os.path.join(dirs[0], "logs", "HEAD"), "rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, end - _REFLOG_TAIL_BYTES))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return []
    subjects: list[str] = []
    for line in reversed(lines):
        action, colon, subject = line.partition("\t")[2].partition(": ")
        if colon and action.startswith("commit") and subject not in subjects:
            subjects.append(subject)
            if len(subjects) == _RECENT_COMMITS:
                break
    return subjects
