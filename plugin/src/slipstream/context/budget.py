"""The token budget: budget.json as published, a session's true occupancy beside it, levels, advice; sources always named."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.json_files import read_object
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.base.tokens import approx_tokens
from slipstream.context.forecast import forecast
from slipstream.context.transcript import Occupancy, read_occupancy
from slipstream.context.windows import resolve_window
from slipstream.events.append import session_file_name

DEFAULT_TARGET_TOKENS, DEFAULT_WARN_PCT, DEFAULT_COMPACT_PCT, MIN_TARGET_TOKENS = 200_000, 60, 85, 1000
MAX_FILE_BYTES = 1_000_000
USAGE_LIFETIME_S = 12 * 3600  # a figure of a session that has ended says nothing about the next


def _number(value: Any) -> float | None:
    """A number that can be reckoned with: none is infinite, no number, or an integer too long to become a float."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and -1e15 < value < 1e15 else None


def sanitize_budget(values: dict[str, Any]) -> dict[str, int]:
    """Published fields only, each repaired: a bad value becomes its default, thresholds stay in order."""
    target, warn, compact = (_number(values.get(key)) for key in ("targetTokens", "warnPct", "compactPct"))
    budget = {
        "targetTokens": max(MIN_TARGET_TOKENS, _round(target)) if target else DEFAULT_TARGET_TOKENS,
        "warnPct": min(99, max(1, _round(warn))) if warn is not None else DEFAULT_WARN_PCT,
        "compactPct": min(100, max(1, _round(compact))) if compact is not None else DEFAULT_COMPACT_PCT,
    }
    if budget["compactPct"] <= budget["warnPct"]:
        budget["compactPct"] = min(100, budget["warnPct"] + 5)
    actual = _number(values.get("actualTokens"))
    if actual is not None and actual >= 0:
        budget["actualTokens"] = _round(actual)
    return budget


def load_budget(store_root: str) -> dict[str, int]:
    """budget.json repaired; the defaults where it is absent or damaged."""
    return sanitize_budget(read_object(os.path.join(store_dir(store_root), "budget.json"), MAX_FILE_BYTES))


def save_budget(store_root: str, **changes: Any) -> dict[str, int]:
    """Changes some fields (`actualTokens=None` forgets the calibration) and returns the whole, repaired."""
    for key, value in changes.items():
        if value is not None and _number(value) is None:
            raise SlipstreamError(f"{key}: not a number: {value!r}")
    path = store_path(store_root, "budget.json")
    with FileLock(path):
        budget = sanitize_budget({**read_object(path, MAX_FILE_BYTES), **changes})
        write_atomic(path, json.dumps(budget, indent=2) + "\n", only_if_changed=True)
    from slipstream.context.status import update_status

    update_status(store_root, **{key: budget[key] for key in ("targetTokens", "warnPct", "compactPct")})
    return budget


def level_of(tokens: float, window: int, warn_pct: float = DEFAULT_WARN_PCT, compact_pct: float = DEFAULT_COMPACT_PCT) -> str:
    used = tokens * 100 / window if window > 0 else 0
    return "ok" if used < warn_pct else "warn" if used < compact_pct else "compact"


def estimate_report(
    bytes_read: int = 0,
    approx: int | None = None,
    window: int = DEFAULT_TARGET_TOKENS,
    warn_pct: float = DEFAULT_WARN_PCT,
    compact_pct: float = DEFAULT_COMPACT_PCT,
) -> dict[str, Any]:
    """The published report for some bytes or tokens: level, capped fraction, advice and, above `ok`, a recommendation."""
    tokens = approx_tokens(bytes_read) if approx is None else approx
    level = level_of(tokens, window, warn_pct, compact_pct)
    percent = int(tokens * 100 / window + 0.5) if window > 0 else 0
    advice = {
        "ok": "plenty of room",
        "warn": "prefer symbols and line ranges over whole files; write down what must survive",
        "compact": "save the state of the work with sp_digest before the window is compacted",
    }[level]
    report = {
        "approxTokens": tokens,
        "windowTokens": window,
        "usedFraction": min(1.0, tokens / window) if window > 0 else 0.0,
        "comfortTokens": int(window * warn_pct / 100 + 0.5),
        "level": level,
        "advice": advice,
    }
    if level != "ok":
        report["recommendation"] = f"budget {percent}%, call sp_digest" + (" now" if level == "compact" else "")
    return report


# ---- usage of one session


def usage_path(store_root: str, session: str) -> str:
    return os.path.join(store_dir(store_root), "context", session_file_name(session) + ".json")


def load_session_usage(store_root: str, session: str, now: float | None = None) -> dict[str, Any] | None:
    """{usedTokens (None: unknown until the next reply), windowTokens?, source, time}; None when absent or over 12 hours old."""
    found = read_object(usage_path(store_root, session), MAX_FILE_BYTES)
    at = _number(found.get("time"))
    if at is None or not -300 <= (time.time() if now is None else now) - at <= USAGE_LIFETIME_S:
        return None
    used = _number(found.get("usedTokens"))
    return {**found, "usedTokens": None if used is None or used < 0 else int(used)}


def budget_report(
    store_root: str, session: str | None = None, transcript_path: str | None = None, now: float | None = None
) -> dict[str, Any]:
    """Everything about the window of a session (the latest one by default).

    {session, tokens (None: unknown), source (host, transcript, calibrated, estimated, none), windowTokens, windowSource,
    targetTokens, warnPct, compactPct, fraction, level, model, forecast, estimatedTokens, recommendation?}. Thresholds are
    shares of the window that the host or the transcript tells; of the target where only an estimate is known.
    """
    from slipstream.events.log import list_sessions

    budget = load_budget(store_root)
    if session is None:
        sessions = list_sessions(store_root)
        session = sessions[0]["session"] if sessions else ""
    tokens, source, model, window, said_window = None, "none", "", None, None
    usage = load_session_usage(store_root, session, now) if session else None
    if usage is not None:
        said_window = int(_number(usage.get("windowTokens")) or 0) or None
        tokens, source, model = usage["usedTokens"], str(usage.get("source") or "host"), str(usage.get("model") or "")
    seen: Occupancy | None = read_occupancy(transcript_path) if transcript_path else None
    if seen is not None and (usage is None or source != "host"):
        tokens, source, model = seen.tokens, "transcript (estimate)" if seen.estimate else "transcript", seen.model or model
    estimated, history = _estimate(store_root, session)
    if source == "none":
        if budget.get("actualTokens"):
            tokens, source = budget["actualTokens"], "calibrated"
        elif estimated:
            tokens, source = estimated, "estimated"
    if source in ("host", "transcript", "transcript (estimate)"):
        window, window_source = resolve_window(model, tokens or 0, said_window)
    else:
        kept = "targetTokens" in read_object(os.path.join(store_dir(store_root), "budget.json"), MAX_FILE_BYTES)
        window, window_source = budget["targetTokens"], "budget.json" if kept else "default"
    report: dict[str, Any] = {
        "session": session,
        "tokens": tokens,
        "source": source,
        "windowTokens": window,
        "windowSource": window_source,
        "model": model,
        **{key: budget[key] for key in ("targetTokens", "warnPct", "compactPct")},
        "estimatedTokens": estimated,
        "fraction": None,
        "level": "unknown",
        "forecast": None,
    }
    if tokens is not None:
        level = level_of(tokens, window, budget["warnPct"], budget["compactPct"])
        report.update(fraction=tokens / window, level=level)
        if history:
            report["forecast"] = forecast(history, tokens, int(window * budget["compactPct"] / 100 + 0.5))
        if level != "ok":
            report["recommendation"] = f"budget {int(tokens * 100 / window + 0.5)}%, call sp_digest" + (
                " now" if level == "compact" else ""
            )
    return report


def render_budget(report: dict[str, Any]) -> str:
    tokens, window = report["tokens"], report["windowTokens"]
    if tokens is None:
        why = (
            "after a compaction, until the next reply" if report["source"].startswith("transcript") else "nothing recorded yet"
        )
        lines = [f"context: - of {window:,} tokens ({why})"]
    else:
        mark = "about " if report["source"] in ("estimated", "transcript (estimate)") else ""
        lines = [
            f"context: {mark}{tokens:,} of {window:,} tokens, {tokens * 100 / window:.0f}% ({report['level']}); "
            f"source: {report['source']}"
        ]
    lines.append(
        f"window: {window:,} ({report['windowSource']}); warn at {report['warnPct']}%, compact at {report['compactPct']}%"
    )
    if report["forecast"]:
        ahead = report["forecast"]
        lines.append(
            f"forecast: about {count_of(ahead['stepsUntilCompact'], 'turn')} until the compact threshold "
            f"(approximately {ahead['avgStepTokens']:,} tokens a turn)"
        )
    if report.get("recommendation"):
        lines.append(report["recommendation"])
    return "\n".join(lines)


def _estimate(store_root: str, session: str) -> tuple[int, list[int]]:
    """(approximate tokens that tools served, tokens per turn) of a session's log."""
    if not session:
        return 0, []
    from slipstream.events.fold import Fold
    from slipstream.events.log import LogReader, log_path

    fold = Fold(session)
    try:
        for _, event in LogReader(log_path(store_root, session)).read_with_offsets():
            fold.apply(event)
    except OSError:
        return 0, []
    return sum(agent["approxTokens"] for agent in fold.state()["agents"]), fold.step_history()


def _round(value: float) -> int:
    return int(value + 0.5)
