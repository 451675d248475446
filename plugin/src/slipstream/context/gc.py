"""Removes whole event logs of old sessions, after asking: never the live one, never one whose turns are not captured,
never memory."""
from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from typing import Any

from slipstream.base.errors import LockTimeout, SlipstreamError
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.events.append import session_file_name
from slipstream.events.log import LogReader, list_sessions, view_path
from slipstream.events.repair import SPILL_SUFFIX, count_waiting, sweep

LEFTOVER_AGE_S = 3600.0  # nobody is an hour over one file
LIVE_S = 24 * 3600  # a log written within this time may belong to a session that is still open


def plan_gc(store_root: str, older_than_days: float = 30.0, capture: Callable[[str, str], Any] | None = None,
            now: float | None = None, dry: bool = False) -> dict[str, Any]:
    """{remove: [{session, bytes, modified, why, pending?}], keep: [{session, bytes, why}]}.

    `capture(store_root, session)` is tried first on a log whose turns are not all among the observations, an unfinished one
    included; without it such a log is kept. `dry`: nothing is captured, and what would be is among those to remove, `pending`.
    """
    clock = time.time() if now is None else now
    sessions = list_sessions(store_root)
    remove, keep = [], []
    for number, row in enumerate(sessions):
        age = clock - row["modified"]
        why, pending = "", {}
        if number == 0:
            why = "the latest session"
        elif age < LIVE_S:
            why = "written within a day: perhaps still open"
        elif age < older_than_days * 86_400:
            why = f"younger than {older_than_days:g} days"
        elif not is_captured(store_root, row["session"], row["path"]):
            if capture is not None and not dry:
                capture(store_root, row["session"])
            if dry:
                pending = {"pending": True}
            elif capture is None or not is_captured(store_root, row["session"], row["path"]):
                why = "its turns are not among the observations yet"
        if why:
            keep.append({**row, "why": why})
        else:
            first = "; its turns are captured first" if pending else ""
            remove.append({**row, **pending, "why": f"{age / 86_400:.0f} days old{first}"})
    return {"remove": remove, "keep": keep}


def remove_logs(store_root: str, rows: list[dict[str, Any]], now: float | None = None) -> int:
    """Deletes the planned logs and what lies beside them, observations never; returns the bytes freed."""
    clock, freed = time.time() if now is None else now, 0
    for row in rows:
        path = row["path"]
        if row.get("pending"):
            continue
        if os.path.dirname(path) != os.path.join(store_dir(store_root), "dashboard") or os.path.islink(path):
            raise SlipstreamError("not an event log of this store", path)
        try:
            with FileLock(path, 1.0):
                if clock - os.stat(path).st_mtime < LIVE_S or count_waiting(path):
                    continue  # written since it was planned, or about to be
                freed += os.path.getsize(path)
                os.unlink(path)
                freed += _remove_view(path)
                sweep(path + SPILL_SUFFIX)
        except (LockTimeout, FileNotFoundError):
            continue
    return freed


def _remove_view(log: str) -> int:
    path = view_path(log)
    try:
        size = os.lstat(path).st_size
        os.unlink(path)
    except OSError:
        return 0
    return size


def find_leftovers(store_root: str, now: float | None = None) -> list[str]:
    """Temporary files in the store that killed writers left an hour ago or earlier."""
    clock, found = time.time() if now is None else now, []
    for place, _, names in os.walk(store_dir(store_root)):
        for name in names:
            path = os.path.join(place, name)
            try:
                info = os.lstat(path)
            except OSError:
                continue
            if name.endswith((".tmp", ".probe")) and stat.S_ISREG(info.st_mode) and clock - info.st_mtime > LEFTOVER_AGE_S:
                found.append(path)
    return sorted(found)


def remove_leftovers(store_root: str, now: float | None = None) -> int:
    """Deletes them; returns how many."""
    count = 0
    for path in find_leftovers(store_root, now):
        try:
            os.unlink(path)
            count += 1
        except OSError:
            continue
    return count


def is_captured(store_root: str, session: str, path: str) -> bool:
    """Whether all that makes a turn in a log is among the observations: their cursor stands at the last of it or beyond."""
    cursor = os.path.join(store_dir(store_root), "observations", session_file_name(session) + ".cursor")
    try:
        with open(cursor, encoding="ascii") as stream:
            seen = int(stream.read(32).strip() or -1)
    except (OSError, ValueError):
        seen = -1
    last = -1
    try:
        for _, event in LogReader(path).read_with_offsets():
            if event["kind"] in ("user-prompt", "post-tool", "tool-failure"):
                last = event["seq"]
    except OSError:
        return False
    return seen >= last


def render_gc(plan: dict[str, Any], done: bool, freed: int = 0) -> str:
    lines = []
    for row in plan["remove"]:
        lines.append(f"{'removed' if done else 'would remove'}  {row['session']}  {row['bytes']:,} bytes, {row['why']}")
    for row in plan["keep"]:
        lines.append(f"kept  {row['session']}  {row['bytes']:,} bytes: {row['why']}")
    total = freed if done else sum(row["bytes"] for row in plan["remove"])
    lines.append(f"{total:,} bytes {'freed' if done else 'to free'}; memory and observations are never touched")
    return "\n".join(lines)
