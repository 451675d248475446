"""The window as the page shows it: how full, who says so, how long it may last."""

from __future__ import annotations

from typing import Any

from slipstream.events.fold import Fold

WINDOW = 200_000


def budget_panel(store_root: str, session: str, fold: Fold, live: bool) -> dict[str, Any] | None:
    """Window of a session. In replay only the estimate that the fold itself holds: the host's figure is of now."""
    inside = fold._s
    used = sum(agent["approxTokens"] for agent in inside["agents"].values())
    return {
        "used": used,
        "size": WINDOW,
        "source": "estimated",
        "sourceText": "estimate from bytes read",
        "level": "ok" if used < 0.6 * WINDOW else "warn" if used < 0.85 * WINDOW else "compact",
        "warn": 0.6,
        "compact": 0.85,
        "turnsLeft": None,
        "perTurn": None,
        "compactions": [{"ts": mark["ts"], "seq": mark["seq"], "tokens": None} for mark in inside["compactions"]],
        "config": {"targetTokens": WINDOW, "warnPct": 60, "compactPct": 85},
    }
