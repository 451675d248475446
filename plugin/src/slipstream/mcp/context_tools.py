"""Tools over the context window: budget, savings, and the dashboard that shows both."""
from __future__ import annotations

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from slipstream.mcp.calls import Call

PRIVACY = "It listens on this machine only; what it shows never leaves it."


def sp_budget(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.context.budget import budget_report, estimate_report, load_budget
    window = arguments.get("windowTokens")
    if arguments.get("bytesRead") is not None or arguments.get("actualTokens") is not None:
        budget = load_budget(call.store_root)
        return _render(estimate_report(arguments.get("bytesRead") or 0, arguments.get("actualTokens"),
                                       window or budget["targetTokens"], budget["warnPct"], budget["compactPct"]),
                       budget["warnPct"], budget["compactPct"], [])
    session, transcript = call.host_session()
    report = budget_report(call.store_root, session, transcript)
    window = window or report["windowTokens"]
    where = "source: %s%s; window: %s" % (report["source"], ", session " + report["session"] if report["session"] else "",
                                          "given" if arguments.get("windowTokens") else report["windowSource"])
    if report["tokens"] is None:
        return "level=unknown approxTokens=- target=%d used=-%% (warn %g%%, compact %g%%)\n%s\n%s" % (
            window, report["warnPct"], report["compactPct"],
            "nothing tells how full the window is yet; ask again after the next reply", where)
    lines = [where]
    if report["source"] == "estimated":
        lines[0] += "; this counts only what tools returned"
    if report["forecast"]:
        lines.append("about %s until %g%%" % (count_of(report["forecast"]["stepsUntilCompact"], "turn"), report["compactPct"]))
    return _render(estimate_report(0, report["tokens"], window, report["warnPct"], report["compactPct"]),
                   report["warnPct"], report["compactPct"], lines)


def _render(report: dict[str, Any], warn: float, compact: float, more: list[str]) -> str:
    lines = ["level=%s approxTokens=%d target=%d used=%d%% (warn %g%%, compact %g%%)" % (
        report["level"], report["approxTokens"], report["windowTokens"], int(report["usedFraction"] * 100 + 0.5), warn,
        compact), report["advice"], *more]
    if report.get("recommendation"):
        lines.append("recommendation: " + report["recommendation"])
    return "\n".join(lines)


def sp_savings(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.context.savings import load_savings, render_savings, summarize_savings
    return render_savings(summarize_savings(load_savings(call.store_root)))


def sp_dashboard(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.dashboard.launch import page_settings, start
    if not page_settings(call.store_root)[0]:
        return "The dashboard is switched off (dashboard.json or SLIPSTREAM_DASHBOARD)."
    try:
        address, started = start(call.store_root, call.root)
    except OSError as error:
        raise SlipstreamError("the dashboard could not be started: %s" % error) from None
    from slipstream.engine.places import page_command
    state = "started" if started else "already running"
    return "Live dashboard: %s (%s)\n%s\nA browser that has no session there gets one by: %s" % (
        address, state, PRIVACY, page_command(call.root))
