"""Addresses about the whole project: memory and its search, map, usage, savings, budget, health."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slipstream.base.errors import SlipstreamError
from slipstream.dashboard import jobs, session_api
from slipstream.dashboard.budgets import published_budget
from slipstream.dashboard.query import Fields, number

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes

GRAPH_FRESH_S = 20.0
USAGE_FRESH_S = 15.0
MAX_FACTS = 400


# ---- memory


def search(routes: Routes, fields: Fields) -> Any:
    """Published {hits}: the one search over everything remembered."""
    from slipstream.memory.search import search_memory

    query = fields.get("q", "").strip()[:400]
    if not query:
        return {"hits": []}
    hits = search_memory(
        routes.store_root,
        query,
        kind=fields.get("kind") or None,
        session=fields.get("session") or None,
        file=fields.get("file") or None,
        since=fields.get("since") or None,
        limit=number(fields, "limit", 20, 1, 100),
    )
    return {"hits": [_with_freshness(routes, hit.to_record()) for hit in hits]}


def search_conversation(routes: Routes, fields: Fields) -> Any:
    return search(routes, {**fields, "kind": "conversation"})


def _with_freshness(routes: Routes, hit: dict[str, Any]) -> dict[str, Any]:
    name = str(hit["id"])
    if name.startswith("fact:"):
        from slipstream.memory.fact_reading import load_facts

        fact = load_facts(routes.store_root).find(name[5:])
        if fact is not None and fact.sources:
            hit["freshness"] = worst_mark(routes, fact.sources)
    return hit


def mark_all(routes: Routes, sources: list[dict[str, str]]) -> list[dict[str, str]]:
    from slipstream.memory.freshness import mark_source

    marked = []
    for source in sources[:20]:
        mark, place = mark_source(routes.tree_root, source)
        marked.append({"mark": mark, "place": place, "file": source.get("file", ""), "lines": source.get("lines", "")})
    return marked


def worst_mark(routes: Routes, sources: list[dict[str, str]]) -> str:
    marks = [item["mark"].split(" ")[0] for item in mark_all(routes, sources)]
    return next((mark for mark in ("gone", "changed", "moved") if mark in marks), "fresh")


def observation(routes: Routes, fields: Fields) -> Any:
    from slipstream.memory.search import find_records

    if not fields[""].isascii() or not fields[""].isdigit():
        raise SlipstreamError("not a number")
    found = find_records(routes.store_root, [int(fields[""][:12])])
    return found[0] if found else None


def item(routes: Routes, fields: Fields) -> Any:
    """The whole text of any hit, by its id."""
    from slipstream.memory.search import show_item

    text = show_item(routes.store_root, fields.get("id", "")[:400])
    return None if text is None else {"id": fields.get("id", ""), "text": text[:200_000]}


def facts(routes: Routes, fields: Fields) -> Any:
    """Every fact with the marks of its sources, newest first; digests apart."""
    from slipstream.memory.fact_index import superseded_names
    from slipstream.memory.fact_reading import load_facts

    store = load_facts(routes.store_root)
    replaced = superseded_names(store.facts)
    rows = sorted(store.facts, key=lambda fact: (fact.updated or fact.created, fact.name), reverse=True)
    shown = []
    for fact in rows[:MAX_FACTS]:
        record = fact.to_record()
        record["body"] = record["body"][:4000]
        record["digest"] = fact.is_digest
        record["marks"] = mark_all(routes, fact.sources)
        record["supersededBy"] = replaced.get(fact.name)
        shown.append(record)
    return {"facts": shown, "total": len(rows)}


def observations(routes: Routes, fields: Fields) -> Any:
    """The newest observations, of one session when one is named."""
    from slipstream.memory.observations import list_files, session_path, tail_records

    limit = number(fields, "limit", 60, 1, 300)
    if fields.get("session"):
        paths = [session_path(routes.store_root, fields["session"][:400])]
    else:
        paths = sorted(list_files(routes.store_root), key=_mtime, reverse=True)[:12]
    rows: list[dict[str, Any]] = []
    for path in paths:
        try:
            rows += tail_records(path)
        except OSError:
            continue
    rows.sort(key=lambda row: (str(row.get("ts")), row.get("id", 0)), reverse=True)
    return {"observations": [{key: value for key, value in row.items() if key != "vector"} for row in rows[:limit]]}


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def lessons(routes: Routes, fields: Fields) -> Any:
    from slipstream.memory.lessons import find_lessons

    stamp = folder_stamp(os.path.join(routes.store_root, ".claude", "slipstream", "observations"))
    minimum, limit = number(fields, "minCount", 3, 2, 100), number(fields, "limit", 12, 1, 50)
    found = routes.cached(
        "lessons %d %d" % (minimum, limit),
        stamp,
        lambda: [lesson.to_record() for lesson in find_lessons(routes.store_root, minimum, limit)],
    )
    return {"lessons": found}


def folder_stamp(folder: str) -> tuple[tuple[str, int, int], ...]:
    try:
        with os.scandir(folder) as entries:
            rows = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in rows))


def forget(routes: Routes, body: dict[str, Any]) -> Any:
    """Forgets facts by name or observations by id; `dryRun` only says which."""
    from slipstream.memory.forget import forget_facts, forget_observations, select_facts

    names, ids = body.get("facts") or [], body.get("observations") or []
    if not all(isinstance(name, str) and name for name in names) or not all(type(number_) is int for number_ in ids):
        raise SlipstreamError("which facts or observations?")
    if not names and not ids:
        raise SlipstreamError("which facts or observations?")
    dry = body.get("dryRun") is not False
    chosen = select_facts(routes.store_root, names=names) if names else []
    return {
        "dryRun": dry,
        "facts": forget_facts(routes.store_root, chosen, "dashboard", dry_run=dry),
        "observations": forget_observations(routes.store_root, ids=ids, dry_run=dry) if ids else [],
    }


def supersede(routes: Routes, body: dict[str, Any]) -> Any:
    """Replaces a fact by a new one that names it."""
    from slipstream.memory.facts import supersede_fact

    name, description, text = (body.get(key) for key in ("name", "description", "body"))
    if not (isinstance(name, str) and name and isinstance(description, str) and description.strip()):
        raise SlipstreamError("a name and a description, please")
    fact = supersede_fact(routes.store_root, name, description.strip(), text if isinstance(text, str) else "")
    return {"name": fact.name}


def resume(routes: Routes, fields: Fields) -> Any:
    """Published {session, hasContext, lastActive, openThread, recentAsks, filesInFlight, suggestedNext}."""
    from slipstream.memory.resume import resume_brief

    brief = resume_brief(routes.store_root)
    thread = brief.get("openThread", "")
    return {
        "session": brief.get("session", ""),
        "hasContext": bool(brief),
        "lastActive": brief.get("lastActive"),
        "openThread": thread,
        "recentAsks": brief.get("recentAsks", []),
        "filesInFlight": brief.get("filesInFlight", []),
        "suggestedNext": "Continue: " + thread if thread else "",
    }


def conversation(routes: Routes, fields: Fields) -> Any:
    from slipstream.memory.conversations import load_conversation

    return load_conversation(routes.store_root, fields.get("session") or session_api.newest_session(routes) or "main")


# ---- map, usage, budget


def codegraph(routes: Routes, fields: Fields) -> Any:
    """Published {nodes, edges} of the imports; made again at most every GRAPH_FRESH_S."""
    stamp = int(time.monotonic() / GRAPH_FRESH_S)
    return routes.cached("graph", stamp, lambda: jobs.run_job("graph", routes.store_root, routes.tree_root))


def usage(routes: Routes, fields: Fields) -> Any:
    """Exact tokens from the host's transcripts, by session, agent, model and day."""
    stamp = int(time.monotonic() / USAGE_FRESH_S)
    return routes.cached("usage", stamp, lambda: jobs.run_job("usage", routes.store_root, routes.tree_root))


def savings(routes: Routes, fields: Fields) -> Any:
    from slipstream.context.savings import load_savings, savings_cost, summarize_savings

    summary = summarize_savings(load_savings(routes.store_root))
    return {**summary, "cost": savings_cost(summary["savedTokens"])}


def budget(routes: Routes, fields: Fields) -> Any:
    view = session_api.view_of(routes, fields)
    with view.lock:
        return published_budget(routes.store_root, view, routes.transcripts)


def set_budget(routes: Routes, body: dict[str, Any]) -> Any:
    """Merges the published fields and returns {config}."""
    from slipstream.context.budget import save_budget

    known = {key: body[key] for key in ("targetTokens", "warnPct", "compactPct", "actualTokens") if key in body}
    if not known:
        raise SlipstreamError("nothing to change: targetTokens, warnPct, compactPct or actualTokens")
    return {"config": save_budget(routes.store_root, **known)}


GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {
    "/api/search": search,
    "/api/search/conversation": search_conversation,
    "/api/observation/*": observation,
    "/api/observations": observations,
    "/api/item": item,
    "/api/facts": facts,
    "/api/project/lessons": lessons,
    "/api/resume": resume,
    "/api/conversation": conversation,
    "/api/codegraph": codegraph,
    "/api/usage": usage,
    "/api/savings": savings,
    "/api/budget": budget,
}
POST_ROUTES: dict[str, Callable[[Routes, dict[str, Any]], Any]] = {
    "/api/budget": set_budget,
    "/api/memory/forget": forget,
    "/api/memory/supersede": supersede,
}
