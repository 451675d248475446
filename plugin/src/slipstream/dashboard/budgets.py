"""The window as the page shows it: how full, who says so, how long it may last."""

from __future__ import annotations

import os
import time
from typing import Any

from slipstream.context.budget import level_of, load_budget, load_session_usage
from slipstream.context.forecast import forecast
from slipstream.context.transcript import Occupancy, read_occupancy
from slipstream.context.usage_report import project_folders
from slipstream.context.windows import resolve_window
from slipstream.dashboard.live import SessionView
from slipstream.events.append import session_file_name
from slipstream.events.fold import Fold

MIN_TURNS = 3  # fewer say nothing about the next
LOOK_AGAIN_S = 1.5
FOLDERS_FRESH_S = 60.0
SOURCES = {
    "host": "from the host",
    "transcript": "from the transcript",
    "transcript (estimate)": "estimate after a compaction",
    "calibrated": "calibrated by you",
    "estimated": "estimate from bytes read",
    "none": "not known yet",
}


class Transcripts:
    """The newest reply's occupancy from the host's transcript of a session; looked at again only when the file changed."""

    def __init__(self, store_root: str, tree_root: str) -> None:
        self._roots = [store_root, tree_root]
        self._folders: tuple[float, list[str]] = (-1e9, [])
        self._seen: dict[str, tuple[float, Any, Occupancy | None]] = {}

    def occupancy(self, session: str) -> Occupancy | None:
        now = time.monotonic()
        looked, stamp, found = self._seen.get(session, (-1e9, None, None))
        if now - looked < LOOK_AGAIN_S:
            return found
        if now - self._folders[0] > FOLDERS_FRESH_S:
            self._folders = (now, project_folders(self._roots))
        for folder in self._folders[1]:
            path = os.path.join(folder, session_file_name(session) + ".jsonl")
            try:
                stat = os.stat(path)
            except OSError:
                continue
            fresh = (path, stat.st_size, stat.st_mtime_ns)
            if fresh != stamp:
                stamp, found = fresh, read_occupancy(path)
            break
        if len(self._seen) > 200:
            self._seen.clear()
        self._seen[session] = (now, stamp, found)
        return found


def cache_health(seen: Occupancy | None) -> dict[str, Any] | None:
    """{hitRatio}: what part of the newest prompt came from the cache; None where nothing tells."""
    if seen is None or not seen.tokens:
        return None
    prompt = seen.input_tokens + seen.cache_creation_tokens + seen.cache_read_tokens
    return {"hitRatio": seen.cache_read_tokens / prompt} if prompt else None


def budget_panel(store_root: str, view: SessionView, fold: Fold, transcripts: Transcripts | None = None) -> dict[str, Any]:
    """Window of a session. In replay only an estimate: the host's and the transcript's figures are of now.

    The estimate is what tools served to the main agent since its window was last emptied.
    """
    session, live = view.session, fold is view.fold
    seen = transcripts.occupancy(session) if live and transcripts is not None else None
    inside = fold.inside
    config = load_budget(store_root)
    usage = load_session_usage(store_root, session) if live else None
    estimated, marks = view.window_estimate(fold)
    at = {mark["seq"]: mark["ts"] for mark in inside["compactions"]}
    used: int | None = estimated or None
    source, size = ("estimated" if estimated else "none"), config["targetTokens"]
    if usage is not None:
        source, used = str(usage.get("source") or "host"), usage["usedTokens"]
        said = usage.get("windowTokens")
        size, _ = resolve_window(str(usage.get("model") or ""), used or 0, said if isinstance(said, int) else None)
    elif seen is not None:
        source, used = "transcript (estimate)" if seen.estimate else "transcript", seen.tokens
        size, _ = resolve_window(seen.model, used or 0, None)
    elif live and config.get("actualTokens"):
        source, used = "calibrated", config["actualTokens"]
    history = fold.step_history()
    ahead = None
    if used is not None and len(inside["steps"]) >= MIN_TURNS and any(history):
        ahead = forecast(history, used, int(size * config["compactPct"] / 100 + 0.5))
    return {
        "used": used,
        "size": size,
        "source": source,
        "sourceText": SOURCES.get(source, source),
        "level": "unknown" if used is None else level_of(used, size, config["warnPct"], config["compactPct"]),
        "warn": config["warnPct"] / 100,
        "compact": config["compactPct"] / 100,
        "turnsLeft": ahead and ahead["stepsUntilCompact"],
        "perTurn": ahead and ahead["avgStepTokens"],
        "compactions": [{"ts": at[seq], "seq": seq, "tokens": tokens} for seq, tokens in marks if seq in at],
        "config": config,
        "estimated": estimated,
        "cache": cache_health(seen),
    }


def published_budget(store_root: str, view: SessionView, transcripts: Transcripts | None) -> dict[str, Any]:
    """{config, served, estimated, source, level, fraction, forecast} as published."""
    fold = view.fold
    panel = budget_panel(store_root, view, fold, transcripts)
    used = panel["used"] or 0
    return {
        "config": panel["config"],
        "served": used,
        "estimated": panel["estimated"],
        "source": "actual" if panel["source"] not in ("estimated", "none") else "estimated",
        "level": "ok" if panel["level"] == "unknown" else panel["level"],
        "fraction": used / panel["size"],
        "forecast": forecast(fold.step_history(), used, int(panel["size"] * panel["compact"] + 0.5)),
    }
