"""Addresses kept for clients of the published dashboard: what the project's days and files saw, and who is at work now."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slipstream.base.clock import now_iso
from slipstream.base.instants import parse_iso
from slipstream.dashboard import project_api, session_api
from slipstream.dashboard.published import heaviest, records
from slipstream.dashboard.query import Fields, number
from slipstream.events.log import list_sessions

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes

ACTIVE_S = 180.0
DAY_S = 86_400
MOODS = {
    "typing": "Edit Write MultiEdit NotebookEdit",
    "reading": "Read Grep Glob LS WebFetch WebSearch",
    "running": "Bash BashOutput",
    "delegating": "Task Agent",
}
MOOD_OF = {tool: mood for mood, tools in MOODS.items() for tool in tools.split()}
VERBS = {
    "typing": "edits",
    "reading": "reads",
    "running": "runs",
    "delegating": "delegates",
    "thinking": "thinks",
    "waiting": "waits",
}


def mood_of(agent: dict[str, Any]) -> str:
    """In one word what an agent does, from its state and the first word of its last label."""
    if agent["status"] != "running":
        return "waiting"
    last = agent["activity"][-1]["label"] if agent["activity"] else ""
    return MOOD_OF.get(last.split(" ", 1)[0], "thinking")


def presence(routes: Routes, fields: Fields) -> Any:
    """{session, agents[{id, status, task, mood, verb, lastLabel}]}."""
    view = session_api.view_of(routes, fields)
    with view.lock:
        rows = [
            {
                "id": agent["id"],
                "status": agent["status"],
                "task": agent["task"][:500],
                "mood": mood_of(agent),
                "verb": VERBS[mood_of(agent)],
                "lastLabel": agent["activity"][-1]["label"][:500] if agent["activity"] else "",
            }
            for agent in view.fold.inside["agents"].values()
        ]
    return {"session": view.session, "agents": rows[:300]}


def agents(routes: Routes, fields: Fields) -> Any:
    """{agents[{session, thread, files, tool, ts, active, ageMin, mood, verb}]}: the main agent of each recent session."""
    rows = []
    for session in routes.hub.followed():
        view = routes.hub.catch_up(session, 0.1)
        with view.lock:
            inside = view.fold.inside
            main = inside["agents"].get("main")
            if main is None:
                continue
            calls = [call for call in inside["calls"] if call["agent"] == "main"]
            files = list(dict.fromkeys(str(call["file"]) for call in reversed(calls) if "file" in call))
            age = max(0.0, time.time() - (parse_iso(main["lastTs"]) or 0.0))
            rows.append(
                {
                    "session": session,
                    "thread": main["task"][:120],
                    "files": files[:8],
                    "tool": calls[-1]["tool"] if calls else None,
                    "ts": main["lastTs"],
                    "active": age <= ACTIVE_S,
                    "ageMin": int(age // 60),
                    "mood": mood_of(main),
                    "verb": VERBS[mood_of(main)],
                }
            )
    return {"agents": sorted(rows, key=lambda row: str(row["ts"]), reverse=True)}


def summary(routes: Routes, fields: Fields) -> Any:
    """{version, sessions, observations, memories, savedTokens, scopedReads, optPct, uniqueFiles, driftCount, kinds,
    lastActivity}."""
    from slipstream.build_info import VERSION
    from slipstream.memory.fact_reading import load_facts

    rows, saved = records(routes), project_api.savings(routes, fields)
    logs = list_sessions(routes.store_root)
    return {
        "version": VERSION,
        "sessions": len(logs),
        "observations": len(rows),
        "memories": len(load_facts(routes.store_root).facts),
        "savedTokens": saved["savedTokens"],
        "scopedReads": saved["scopedReads"],
        "optPct": saved["pct"],
        "uniqueFiles": len(heaviest(rows)),
        "driftCount": sum(bool(row.get("drift")) for row in rows),
        "kinds": dict(Counter(str(row["kind"]) for row in rows)),
        "lastActivity": now_iso(logs[0]["modified"]) if logs else None,
    }


def heatmap(routes: Routes, fields: Fields) -> Any:
    """{days, entries[{date, count}]}: observations of each of the last days (UTC), oldest first, quiet days too."""
    days = number(fields, "days", 90, 7, 365)
    counts = Counter(str(row["ts"])[:10] for row in records(routes))
    today = time.time()
    dates = [now_iso(today - back * DAY_S)[:10] for back in range(days - 1, -1, -1)]
    return {"days": days, "entries": [{"date": date, "count": counts[date]} for date in dates]}


def files(routes: Routes, fields: Fields) -> Any:
    """{files[{path, touches, sessions, last}]}: what most observations name."""
    found: dict[str, dict[str, Any]] = {}
    for row in records(routes):
        for path in row["files"]:
            entry = found.setdefault(path, {"path": path, "touches": 0, "sessions": set(), "last": ""})
            entry["touches"] += 1
            entry["sessions"].add(row["session"])
            entry["last"] = max(entry["last"], str(row["ts"]))
    rows = sorted(found.values(), key=lambda entry: (-entry["touches"], entry["path"]))[: number(fields, "limit", 20, 1, 100)]
    return {"files": [{**entry, "sessions": len(entry["sessions"])} for entry in rows]}


def day(routes: Routes, fields: Fields) -> Any:
    """{date, sessions, observations, driftCount, topFiles, kinds, tools, skills, first, last} of a day (UTC), today unless
    `date` names another."""
    date = (fields.get("date") or now_iso())[:10]
    rows = [row for row in records(routes) if str(row["ts"])[:10] == date]
    return {
        "date": date,
        "sessions": sorted({row["session"] for row in rows}),
        "observations": len(rows),
        "driftCount": sum(bool(row.get("drift")) for row in rows),
        "topFiles": [{"path": path, "count": count} for path, count in heaviest(rows).most_common(10)],
        "kinds": dict(Counter(str(row["kind"]) for row in rows)),
        "tools": dict(Counter(row["summary"].split(" ", 1)[0] for row in rows if row["summary"])),
        "skills": dict(Counter(str(row["skill"]) for row in rows if row.get("skill"))),
        "first": min((str(row["ts"]) for row in rows), default=None),
        "last": max((str(row["ts"]) for row in rows), default=None),
    }


GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {
    "/api/presence": presence,
    "/api/agents": agents,
    "/api/project/summary": summary,
    "/api/project/heatmap": heatmap,
    "/api/project/files": files,
    "/api/project/day": day,
}
