"""Removes whole event logs of old sessions, after asking: never the live one, never one whose turns are not captured,
never memory."""
from __future__ import annotations

import os
import re
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
_UNFINISHED_STORE = re.compile(r"slipstream\.[0-9a-f]{8}\.tmp")  # as base.new_store names it
LIVE_S = 24 * 3600  # a log written within this time may belong to a session that is still open
PAUSE_S = 365 * 86_400  # nothing written for longer: the project lay still, or a clock was wrong, and no file tells which


def plan_gc(store_root: str, older_than_days: float = 30.0, capture: Callable[[str, str], Any] | None = None,
            now: float | None = None, dry: bool = False) -> dict[str, Any]:
    """{remove: [{session, bytes, modified, why, pending?}], keep: [{session, bytes, why}]}.

    `capture(store_root, session)` is tried first on a log whose turns are not all among the observations, an unfinished one
    included; without it such a log is kept. `dry`: nothing is captured, and what would be is among those to remove, `pending`.
    A pause of over a year counts for nothing: the last log before it is as young as the first after it, older ones by as much.
    """
    later = clock = start = time.time() if now is None else now
    sessions = list_sessions(store_root)
    remove, keep = [], []
    for number, row in enumerate(sessions):
        if later - row["modified"] > PAUSE_S:
            clock -= later - row["modified"]
        later, age = min(later, row["modified"]), clock - row["modified"]
        why, pending = "", {}
        if number == 0:
            why = "the latest session"
        elif row["modified"] > start + LIVE_S:
            why = "dated in the future: a clock is wrong"
        elif age < LIVE_S and clock < start:
            why = "the last before over a year without any, or written when a clock was wrong"
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
        if not os.path.exists(row["path"]):
            continue  # another gc removed it since the sessions were listed
        if why:
            keep.append({**row, "why": why})
        else:
            first = "; its turns are captured first" if pending else ""
            remove.append({**row, **pending, "why": f"{age / 86_400:.0f} days old{first}"})
    return {"remove": remove, "keep": keep}


def remove_logs(store_root: str, rows: list[dict[str, Any]], now: float | None = None) -> int:
    """Deletes the planned logs and what lies beside them, observations never; returns the bytes freed. What keeps it from
    one of them is put into its row as `left`."""
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
                    row["left"] = "written since, or about to be"
                    continue
                freed += os.path.getsize(path)
                os.unlink(path)
                freed += _remove_view(path)
                sweep(path + SPILL_SUFFIX)
        except LockTimeout:
            row["left"] = "another process is at it"
        except FileNotFoundError:
            row["left"] = "another gc removed it first"
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
    """What killed writers left an hour ago or earlier: temporary files in the store, unfinished stores beside it."""
    clock, store, found = time.time() if now is None else now, store_dir(store_root), []
    paths = [os.path.join(place, name) for place, _, names in os.walk(store) for name in names]
    paths = [path for path in paths if path.endswith((".tmp", ".probe"))]
    above = os.path.dirname(store)
    if os.path.isdir(above) and not os.path.islink(above):
        paths += [os.path.join(above, name) for name in os.listdir(above) if _UNFINISHED_STORE.fullmatch(name)]
    for path in paths:
        try:
            info = os.lstat(path)
            if os.path.dirname(path) == above:
                ours = stat.S_ISDIR(info.st_mode) and os.listdir(path) in ([], [".gitignore"])
            else:
                ours = stat.S_ISREG(info.st_mode)
        except OSError:
            continue
        if ours and clock - info.st_mtime > LEFTOVER_AGE_S:
            found.append(path)
    return sorted(found)


def remove_leftover(path: str) -> None:
    """Deletes one that was found. OSError, as when an unfinished store got a file meanwhile: that stays."""
    if not os.path.isdir(path):
        os.unlink(path)
        return
    if os.listdir(path) == [".gitignore"]:
        os.unlink(os.path.join(path, ".gitignore"))
    os.rmdir(path)


def remove_leftovers(store_root: str, now: float | None = None) -> int:
    """Deletes them all; returns how many."""
    count = 0
    for path in find_leftovers(store_root, now):
        try:
            remove_leftover(path)
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
        act = "not removed" if "left" in row else "removed" if done else "would remove"
        why = f"{row['why']}: {row['left']}" if "left" in row else row["why"]
        lines.append(f"{act}  {row['session']}  {row['bytes']:,} bytes, {why}")
    for row in plan["keep"]:
        lines.append(f"kept  {row['session']}  {row['bytes']:,} bytes: {row['why']}")
    total = freed if done else sum(row["bytes"] for row in plan["remove"])
    lines.append(f"{total:,} bytes {'freed' if done else 'to free'}; memory and observations are never touched")
    return "\n".join(lines)
