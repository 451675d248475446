"""Earlier Claude Code transcripts of this project, told by the `cwd` in their records, taken into the chats."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import open_regular, write_atomic
from slipstream.base.json_files import MAX_JSON_LINE_BYTES, dump_json, load_json
from slipstream.base.locks import FileLock
from slipstream.base.roots import find_store_root, find_tree_root
from slipstream.base.store import store_path
from slipstream.memory.conversations import ingest_transcript

SOURCE = "claude-code"
_HEAD_LINES = 40
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


class Harvest:
    """`taken`, `unchanged`: paths; `foreign`: how many of other projects; `skipped`: [(path, reason)]."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.unchanged: list[str] = []
        self.foreign = 0
        self.skipped: list[tuple[str, str]] = []

    def to_record(self) -> dict[str, Any]:
        return {"taken": self.taken, "unchanged": self.unchanged, "foreign": self.foreign,
                "skipped": [{"path": path, "reason": reason} for path, reason in self.skipped]}


def harvest(store_root: str, since: float | None = None, dry_run: bool = False, env: Mapping[str, str] = os.environ) -> Harvest:
    """Folds new and grown transcripts of this project. `since` (seconds) leaves out files last changed before it."""
    report = Harvest()
    state_path = store_path(store_root, "harvest-state.json")
    with FileLock(state_path):
        try:
            state = load_json(state_path) or {}
        except (SlipstreamError, OSError):
            state = {}
        for path, info in _transcripts(env):
            if since is not None and info.st_mtime < since:
                continue
            held = state.get(path)
            stamp = {"mtimeMs": int(info.st_mtime * 1000), "size": info.st_size}
            if isinstance(held, dict) and all(held.get(key) == value for key, value in stamp.items()):
                report.unchanged.append(path)
                continue
            cwd = transcript_cwd(path)
            if cwd is None:
                report.skipped.append((path, "no cwd in its first records"))
                continue
            if not belongs(store_root, cwd):
                report.foreign += 1
                continue
            if dry_run:
                report.taken.append(path)
                continue
            try:
                count = ingest_transcript(store_root, os.path.basename(path)[:-len(".jsonl")], path, cwd, SOURCE)
            except (OSError, SlipstreamError) as error:
                report.skipped.append((path, str(error)))
                continue
            if count:
                report.taken.append(path)
            else:
                report.skipped.append((path, "no chat in it"))
            state[path] = {**stamp, "at": now_iso()}
        if not dry_run and (report.taken or report.skipped):
            write_atomic(state_path, dump_json(state))
    return report


def belongs(store_root: str, cwd: str) -> bool:
    """Whether a folder is in the project (a linked worktree counts as its main one); one that is gone is told by its path."""
    here = os.path.realpath(store_root)
    if os.path.isdir(cwd):
        return os.path.realpath(find_store_root(find_tree_root(env={}, cwd=cwd))) == here
    return os.path.normpath(cwd) == here or os.path.normpath(cwd).startswith(here + os.sep)


def transcript_cwd(path: str) -> str | None:
    """The first `cwd` among a transcript's first records."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            for _ in range(_HEAD_LINES):
                line = stream.readline(MAX_JSON_LINE_BYTES)
                if not line:
                    return None
                match = _CWD.search(line)
                if match:
                    value = json.loads(match.group(1))
                    return value if isinstance(value, str) else None
    except (OSError, ValueError):
        pass
    return None


def _transcripts(env: Mapping[str, str]) -> Iterator[tuple[str, os.stat_result]]:
    home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    folder = os.path.join(home, "projects")
    try:
        projects = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for project in projects:
        try:
            entries = sorted(os.scandir(project), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                yield entry.path, entry.stat(follow_symlinks=False)


def render_harvest(report: Harvest, dry_run: bool = False) -> str:
    verb = "would take" if dry_run else "took"
    lines = [f"{verb} {count_of(len(report.taken), 'transcript')}, {len(report.unchanged)} unchanged, "
             f"{report.foreign} of other projects, {len(report.skipped)} skipped"]
    lines += [f"  {path}: {reason}" for path, reason in report.skipped[:20]]
    return "\n".join(lines)
