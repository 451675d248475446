"""Sharing facts with a team through git: the store's .gitignore lets the facts pass, and nothing else."""
from __future__ import annotations

import os

from slipstream.base.files import write_atomic
from slipstream.base.git import run_git
from slipstream.base.store import ensure_store

# Not the digests, which tell of one person's sessions, nor the index, which names them and is rebuilt from the facts.
SHARED_IGNORE = "/*\n!/.gitignore\n!/memory/\n/memory/session-digest-*\n/memory/MEMORY.md\n"


def find_ignore_rule(store_root: str) -> str:
    """The rule of the project that keeps shared facts out of git all the same, as `.gitignore:3 (.claude/)`; "" for none."""
    found = run_git(["check-ignore", "-v", "--no-index", ".claude/slipstream/memory/a-fact.md"], store_root, 2.0)
    rule = (found or b"").decode("utf-8", "replace").partition("\t")[0]
    place, _, pattern = rule.rpartition(":")
    return f"{place} ({pattern})" if place and not pattern.startswith("!") else ""


def find_unshared(store_root: str) -> list[str]:
    """What git tracks of the memory although it is not to be shared, since it was added before the rules left it out."""
    found = run_git(["ls-files", "-z", "-c", "-i", "--exclude-standard", "--", ".claude/slipstream/memory"], store_root, 2.0)
    return (found or b"").decode("utf-8", "replace").split("\0")[:-1]


def share_memory(store_root: str) -> list[str]:
    """Rewrites the ignore file; returns the paths to add to git. Running it again changes nothing."""
    folder = ensure_store(store_root)
    write_atomic(os.path.join(folder, ".gitignore"), SHARED_IGNORE, 0o644, only_if_changed=True)
    return [".claude/slipstream/.gitignore", ".claude/slipstream/memory"]
