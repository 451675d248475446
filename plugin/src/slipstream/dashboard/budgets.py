"""The window as the page shows it: how full, who says so, how long it may last."""

from __future__ import annotations

from typing import Any

from slipstream.context.budget import level_of, load_budget, load_session_usage
from slipstream.context.forecast import forecast
from slipstream.context.windows import resolve_window
from slipstream.events.fold import Fold

MIN_TURNS = 3  # fewer say nothing about the next
SOURCES = {
    "host": "from the host",
    "transcript": "from the transcript",
    "transcript (estimate)": "estimate after a compaction",
    "calibrated": "calibrated by you",
    "estimated": "estimate from bytes read",
    "none": "not known yet",
}


def budget_panel(store_root: str, session: str, fold: Fold, live: bool) -> dict[str, Any]:
    """Window of a session. In replay only the estimate that the fold itself holds: the host's figure is of now."""
    inside = fold._s
    config = load_budget(store_root)
    usage = load_session_usage(store_root, session) if live else None
    estimated = sum(agent["approxTokens"] for agent in inside["agents"].values())
    used: int | None = estimated or None
    source, size = ("estimated" if estimated else "none"), config["targetTokens"]
    if usage is not None:
        source, used = str(usage.get("source") or "host"), usage["usedTokens"]
        said = usage.get("windowTokens")
        size, _ = resolve_window(str(usage.get("model") or ""), used or 0, said if isinstance(said, int) else None)
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
        "compactions": [{"ts": mark["ts"], "seq": mark["seq"], "tokens": None} for mark in inside["compactions"]],
        "config": config,
        "estimated": estimated,
        "cache": usage.get("cache") if usage else None,
    }


def published_budget(store_root: str, session: str, fold: Fold) -> dict[str, Any]:
    """{config, served, estimated, source, level, fraction, forecast} as published."""
    panel = budget_panel(store_root, session, fold, True)
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
