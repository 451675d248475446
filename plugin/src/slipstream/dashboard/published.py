"""Addresses kept for clients of the published dashboard: digests, graph, report, insights, overviews. No model writes them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from slipstream.base.counts import count_of
from slipstream.base.settings import project_title
from slipstream.dashboard import jobs, panels, project_api, session_api
from slipstream.dashboard.budgets import budget_panel
from slipstream.dashboard.query import Fields
from slipstream.dashboard.story import story_panel
from slipstream.events.log import list_sessions

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes

GRAPH_FILES = 24
CALM = "Nothing has been asked in this session yet."


def names(paths: Iterable[str]) -> str:
    return ", ".join(path.rpartition("/")[2] for path in paths)


def records(routes: Routes) -> list[dict[str, Any]]:
    """Every observation by id; read again when a file of them changed."""
    from slipstream.memory.observations import load_observations

    stamp = project_api.folder_stamp(os.path.join(routes.store_root, ".claude", "slipstream", "observations"))
    found: list[dict[str, Any]] = routes.cached("observations", stamp, lambda: load_observations(routes.store_root))
    return found


def heaviest(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(path for row in rows for path in row["files"])


# ---- one session


def session_digest(routes: Routes, fields: Fields) -> Any:
    """{session, paragraph, stats{prompts, tools, files, exchanges}}."""
    view = session_api.view_of(routes, fields)
    with view.lock:
        lanes, figures, files = story_panel(view)["lanes"], panels.figures(view.fold, len(view)), list(view.files)
        ask = view.first_ask[:110]
    exchanges = project_api.conversation(routes, {**fields, "session": view.session})["turnCount"]
    parts = ["It began with: %s." % ask.rstrip(".")] if ask else [CALM]
    parts += [lane["summary"][:140] + "." for lane in lanes if lane["count"]][:3]
    if figures["prompts"]:
        text = count_of(figures["prompts"], "prompt") + ", " + count_of(len(files), "file")
        parts.append(text + (": " + names(files[:3]) if files else "") + ".")
    stats = {"prompts": figures["prompts"], "tools": figures["tools"], "files": len(files), "exchanges": exchanges}
    return {"session": view.session, "paragraph": " ".join(parts), "stats": stats}


def report(routes: Routes, fields: Fields) -> Any:
    """A session as Markdown to save: summary, files, then each ask with what was done under it."""
    from slipstream.base.clock import now_iso
    from slipstream.dashboard.server import Answer
    from slipstream.events.append import session_file_name
    from slipstream.events.redact import redact_text

    digest = session_digest(routes, fields)
    view = session_api.view_of(routes, fields)
    with view.lock:
        story, files = story_panel(view), list(view.files)
    lines = ["# Session " + view.session, "", "Generated " + now_iso(), "", digest["paragraph"], "", "## Files", ""]
    lines += ["- " + path for path in files[:200]] or ["none"]
    for lane in story["lanes"]:
        heading = " ".join(lane["prompt"].split()) if lane["prompt"] else "Before the first prompt"
        lines += ["", "## " + heading, "", lane["summary"], ""]
        for row in lane["actions"]:
            lines.append("- " + " ".join(row["label"].split()) + (" (failed)" if row["outcome"] == "failed" else ""))
        if lane["more"]:
            lines.append("- and %d more" % lane["more"])
    text = redact_text("\n".join(lines) + "\n", routes.store_root)[0]
    answer = Answer(text.encode("utf-8", "replace"), content_type="application/octet-stream")
    name = session_file_name(view.session)[:8]
    answer.headers.append(("Content-Disposition", 'attachment; filename="%s.md"' % name))
    return answer


def live(routes: Routes, fields: Fields) -> Any:
    view = session_api.view_of(routes, fields)
    with view.lock:
        budget = budget_panel(routes.store_root, view, view.fold, routes.transcripts)
        figures = panels.figures(view.fold, len(view))
        focus = [path for path, _ in Counter(view.files).most_common(3)]
        running = sum(agent["status"] == "running" for agent in view.fold.inside["agents"].values())
    saved = project_api.savings(routes, fields)
    text = "Session %s: %s." % (view.session[:8], count_of(figures["tools"], "tool call"))
    if saved["scopedReads"]:
        text += " Scoped reads spared %s %% of the bytes." % saved["pct"]
    if budget["turnsLeft"] and budget["turnsLeft"] <= 500:
        text += " About %s until the window is to be compacted." % count_of(budget["turnsLeft"], "turn")
    if focus:
        text += " In focus: %s." % names(focus)
    bullets = ["The window is %s." % budget["level"]] if budget["level"] != "unknown" else []
    if budget["level"] in ("warn", "compact"):
        bullets.append("A digest now keeps what matters over the compaction.")
    if saved["savedTokens"]:
        bullets.append("%s saved by scoped reads." % count_of(saved["savedTokens"], "token"))
    if running:
        bullets.append("%s running." % count_of(running, "agent"))
    return {"paragraph": text, "bullets": bullets}


# ---- the project


def graph(routes: Routes, fields: Fields) -> Any:
    """{nodes, edges}: the files that most observations name, and the sessions that touched them."""
    rows = records(routes)
    heavy = heaviest(rows).most_common(GRAPH_FILES)
    kept = dict(heavy)
    edges = Counter((row["session"], path) for row in rows for path in row["files"] if path in kept)
    nodes = [
        {"id": "file:" + path, "kind": "file", "label": "/".join(path.split("/")[-2:]), "weight": weight}
        for path, weight in heavy
    ]
    weights: Counter[str] = Counter()
    for (session, _), weight in edges.items():
        weights[session] += weight
    nodes += [
        {"id": "session:" + name, "kind": "session", "label": name[:8], "weight": weight} for name, weight in weights.items()
    ]
    lines = [
        {"source": "session:" + name, "target": "file:" + path, "weight": weight} for (name, path), weight in edges.items()
    ]
    return {"nodes": nodes, "edges": lines}


def project(routes: Routes, fields: Fields) -> Any:
    rows, saved = records(routes), project_api.savings(routes, fields)
    if not rows:
        return {"paragraph": "No turn of this project has been captured yet.", "bullets": []}
    files = heaviest(rows)
    areas: Counter[str] = Counter()
    for path, touches in files.items():
        areas[os.path.dirname(path) or "."] += touches
    total, sessions = sum(files.values()), len({row["session"] for row in rows})
    average = len(rows) / sessions
    text = "%s in %s, %.1f a session." % (count_of(len(rows), "observation"), count_of(sessions, "session"), average)
    focus = areas.most_common(4)
    if focus and focus[0][1] >= 0.15 * total:
        text += " Most work is in %s, %d %% of what was touched." % (focus[0][0], 100 * focus[0][1] // total)
    if saved["savedTokens"]:
        text += " Scoped reads saved %s." % count_of(saved["savedTokens"], "token")
    bullets = ["Also in %s, touched %s." % (area, count_of(touches, "time")) for area, touches in focus[1:]]
    if files:
        bullets.append("Most touched: %s." % names(path for path, _ in files.most_common(3)))
    return {"paragraph": text, "bullets": [*bullets, "Last capture %s." % rows[-1]["ts"]]}


def journal(routes: Routes, fields: Fields) -> Any:
    """One day (UTC), today unless `date` names another."""
    day = fields.get("date") or time.strftime("%Y-%m-%d", time.gmtime())
    rows = [row for row in records(routes) if str(row["ts"])[:10] == day]
    if not rows:
        return {"paragraph": "Nothing was captured on %s." % day[:10], "bullets": []}
    sessions, files = len({row["session"] for row in rows}), heaviest(rows)
    text = "%s: %s in %s." % (day[:10], count_of(len(rows), "observation"), count_of(sessions, "session"))
    hours = Counter(int(row["ts"][11:13]) for row in rows if str(row["ts"])[11:13].isdecimal())
    busiest = max(range(22), key=lambda hour: sum(hours[hour + step] for step in range(3)))
    bullets = ["Most touched: %s." % names(path for path, _ in files.most_common(3))] if files else []
    return {"paragraph": text, "bullets": [*bullets, "Busiest from %02d:00 to %02d:00 UTC." % (busiest, busiest + 3)]}


def sessions(routes: Routes, fields: Fields) -> Any:
    """Which sessions did far more or far less than the others."""
    counts = Counter(row["session"] for row in records(routes))
    if not counts:
        return {"paragraph": "No session has been captured yet.", "bullets": []}
    average = sum(counts.values()) / len(counts)
    ranked = counts.most_common()
    heavy = [row for row in ranked if row[1] >= 2 * average][:3]
    quiet = [row for row in reversed(ranked) if row[1] <= average / 4][:2]
    bullets = [
        "%s: %s, %.1f times the average." % (name[:8], count_of(count, "observation"), count / average) for name, count in heavy
    ]
    bullets += ["%s was quiet: %s." % (name[:8], count_of(count, "observation")) for name, count in quiet]
    return {
        "paragraph": "%s, %.1f observations each on average." % (count_of(len(counts), "session"), average),
        "bullets": bullets,
    }


def memory_overview(routes: Routes, fields: Fields) -> Any:
    """{summary, digests, durable, lessons, health, counts}."""
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.health import check_memory

    store = load_facts(routes.store_root)
    facts = sorted(store.facts, key=lambda fact: (fact.updated or fact.created, fact.name), reverse=True)
    digests, durable = [fact for fact in facts if fact.is_digest], [fact for fact in facts if not fact.is_digest]
    counts = {"memories": len(facts), "digests": len(digests), "durable": len(durable), "observations": len(records(routes))}
    return {
        "summary": "%s, %s and %s."
        % (count_of(len(durable), "fact"), count_of(len(digests), "digest"), count_of(counts["observations"], "observation")),
        "digests": [
            {
                "name": fact.name,
                "session": fact.extra.get("session", ""),
                "updated": fact.updated or fact.created,
                "excerpt": fact.body[:320],
            }
            for fact in digests[:8]
        ],
        "durable": [
            {"name": fact.name, "description": fact.description, "updated": fact.updated or fact.created}
            for fact in durable[:12]
        ],
        "lessons": project_api.lessons(routes, {"limit": "5"})["lessons"],
        "health": check_memory(routes.store_root, routes.tree_root),
        "counts": counts,
    }


def overview(routes: Routes, fields: Fields) -> Any:
    """{identity, map, narration, summary, recent, counts, savedTokens, savedUsd}; the map is read in a process of its own."""
    stamp = int(time.monotonic() / project_api.GRAPH_FRESH_S)
    known = routes.cached("areas", stamp, lambda: jobs.run_job("areas", routes.store_root, routes.tree_root))
    rows, saved = records(routes), project_api.savings(routes, fields)
    memory = memory_overview(routes, fields)
    counts = {"sessions": len(list_sessions(routes.store_root)), "observations": len(rows)}
    counts["memories"] = memory["counts"]["memories"]
    areas, totals = known.get("areas", []), known.get("totals", {})
    summary = "%s, %s" % (count_of(totals.get("files", 0), "file"), count_of(totals.get("symbols", 0), "symbol"))
    narration = [summary + "."]
    if areas:
        narration.append("The largest area is %s with %s." % (areas[0]["area"], count_of(areas[0]["files"], "file")))
    narration.append(
        memory["summary"] if rows or counts["memories"] else "Nothing is remembered yet: work, and each turn is captured."
    )
    return {
        "identity": {"name": project_title(routes.store_root), **known.get("identity", {"version": "", "description": ""})},
        "map": areas,
        "narration": " ".join(narration),
        "summary": summary,
        "recent": [{"title": row.get("title") or row["kind"], "summary": row["summary"]} for row in reversed(rows[-5:])],
        "counts": counts,
        "savedTokens": saved["savedTokens"],
        "savedUsd": saved["cost"]["usd"],
    }


GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {
    "/api/session-digest": session_digest,
    "/api/report": report,
    "/api/insights/live": live,
    "/api/insights/project": project,
    "/api/insights/journal": journal,
    "/api/insights/sessions": sessions,
    "/api/graph": graph,
    "/api/memory/overview": memory_overview,
    "/api/overview": overview,
}
