"""Addresses about one session: its state, timeline, events, story; and the list of sessions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.settings import project_title
from slipstream.dashboard import panels
from slipstream.dashboard.budgets import budget_panel
from slipstream.dashboard.live import SessionView
from slipstream.dashboard.query import Fields, number, optional_number
from slipstream.dashboard.story import story_panel
from slipstream.events.log import list_sessions, log_path, view_path

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes

INFO_LIMIT = 60
INFO_SECONDS = 0.6
NOW_WAIT_S, MORE_WAIT_S = 0.2, 0.7  # for a first sight of a long log that is being read; for the rest of it


def view_of(routes: Routes, fields: Fields, wait_s: float = 60.0) -> SessionView:
    """The session that a query names, else the newest, read up to its end. The id becomes a file name in one place only."""
    session = fields.get("session") or newest_session(routes) or "main"
    if len(session) > 400:
        raise SlipstreamError("no such session")
    return routes.hub.catch_up(session, wait_s)


def newest_session(routes: Routes) -> str | None:
    found = list_sessions(routes.store_root)
    return found[0]["session"] if found else None


def make_delta(routes: Routes, view: SessionView, events: list[dict[str, Any]], total: int) -> dict[str, Any]:
    budget = budget_panel(routes.store_root, view, view.fold, routes.transcripts)
    return panels.delta_panel(view, events, total, budget)


def state(routes: Routes, fields: Fields) -> Any:
    """The published folded state, at an event when `at` is given."""
    view = view_of(routes, fields)
    at = optional_number(fields, "at")
    with view.lock:
        return (view.fold if at is None else view.exact_fold_at(at)).state()


def now(routes: Routes, fields: Fields) -> Any:
    """The state that the page shows; of a long log that is still being read, what is known so far (`behind` above 0)."""
    view = view_of(routes, fields, NOW_WAIT_S)
    at = optional_number(fields, "at")
    with view.lock:
        live = at is None or at >= view.last_seq
        fold = view.fold if live else view.fold_at(at)
        return panels.now_panel(view, fold, budget_panel(routes.store_root, view, fold, routes.transcripts))


def timeline(routes: Routes, fields: Fields) -> Any:
    """Columns of the events from position `from` on; of a long log that is still being read, those known so far."""
    first = number(fields, "from", 0, 0, 10**9)
    view = view_of(routes, fields, MORE_WAIT_S if first else NOW_WAIT_S)
    with view.lock:
        return panels.timeline_panel(view, first)


def events(routes: Routes, fields: Fields) -> Any:
    """Events that fit the filters, a page at a time: the first from `from` on, else the last (between `after` and `before`).

    Only their numbers with `only=seq`.
    """
    view = view_of(routes, fields)
    only_seq = fields.get("only") == "seq"
    limit = None if only_seq else number(fields, "limit", 100, 1, 500)
    low, forward = number(fields, "from" if "from" in fields else "after", 0, 0, 10**15), "from" in fields
    text = fields.get("q", "")[:200]
    with view.lock:
        found, more = panels.find_events(
            view,
            text=text,
            file=fields.get("file", "")[:400],
            agent=fields.get("agent", ""),
            tool=fields.get("tool", ""),
            outcome=fields.get("outcome", ""),
            kind=fields.get("kind", ""),
            low=low,
            high=optional_number(fields, "before"),
            limit=limit,
            newest=not forward,
        )
        if only_seq:
            return {"session": view.session, "seqs": [view.seq[index] for index in found]}
        return {"session": view.session, "events": view.rows(found), "more": more}


def event(routes: Routes, fields: Fields) -> Any:
    view = view_of(routes, fields)
    with view.lock:
        return panels.event_panel(view, number(fields, "seq", 0, 0, 10**15))


def moment(routes: Routes, fields: Fields) -> Any:
    view = view_of(routes, fields)
    with view.lock:
        return panels.moment_panel(view, optional_number(fields, "at"))


def story(routes: Routes, fields: Fields) -> Any:
    view = view_of(routes, fields)
    with view.lock:
        return story_panel(view)


def failures(routes: Routes, fields: Fields) -> Any:
    """Published shape: the newest failures of a session, from outcomes, not from words."""
    view = view_of(routes, fields)
    with view.lock:
        found, _ = panels.find_events(view, outcome="failed", limit=100)
        return {
            "session": view.session,
            "failures": [
                {"ts": item["ts"], "source": item["kind"], "agent": item["agent"], "summary": item["label"][:200]}
                for item in reversed([value for value in view.read(found) if value is not None])
            ],
        }


def sessions(routes: Routes, fields: Fields) -> Any:
    """Published list of ids, newest first, and what is known of the first ones (or of those after `after`)."""
    listed = list_sessions(routes.store_root)
    limit = number(fields, "limit", INFO_LIMIT, 1, 200)
    ids = [row["session"] for row in listed]
    start = ids.index(fields["after"]) + 1 if fields.get("after") in ids else 0
    page = listed[start : start + limit]
    deadline = time.monotonic() + INFO_SECONDS
    info = [session_info(routes, row, deadline) for row in page]
    return {
        "sessions": ids,
        "info": info,
        "more": start + limit < len(ids),
        "time": int(time.time() * 1000),
        "project": {"name": project_title(routes.store_root), "root": routes.store_root},
    }


def session_info(routes: Routes, row: dict[str, Any], deadline: float) -> dict[str, Any]:
    """One line about a session; when time is short, what the list itself tells, and the rest at the next request."""
    session, stamp = row["session"], (row["bytes"], row["modified"])
    known = routes.summaries.get(session)
    if known is not None and known[0] == stamp:
        return known[1]
    plain = {"session": session, "lastTs": _iso(row["modified"]), "observations": None, "bytes": row["bytes"], "pending": True}
    followed = session in routes.hub.followed()
    if not followed and time.monotonic() > deadline:
        return {**known[1], "pending": True} if known else plain
    if followed:
        view = routes.hub.catch_up(session, 0.1)
    else:
        view = SessionView(routes.store_root, session, snapshots=False)
        view.refresh()
    with view.lock:
        if not len(view):
            return plain
        info = summarize(routes, view)
        if followed and view.behind():
            return {**info, "pending": True}
    if len(routes.summaries) > 2000:
        routes.summaries.clear()
    routes.summaries[session] = (stamp, info)
    return info


def summarize(routes: Routes, view: SessionView) -> dict[str, Any]:
    fold = view.fold
    figures = panels.figures(fold, len(view))
    inside = fold.inside
    return {
        "session": view.session,
        "lastTs": inside["lastTs"],
        "firstTs": _iso(view.ts[0]),
        "observations": count_observations(routes.store_root, view.session),
        "firstAsk": view.first_ask,
        "turns": figures["prompts"],
        "tools": figures["tools"],
        "failures": figures["failures"],
        "compactions": figures["compactions"],
        "files": len(view.files),
        "tokens": sum(agent["approxTokens"] for agent in inside["agents"].values()),
        "agents": len(inside["agents"]) + inside["droppedAgents"],
        "events": len(view),
        "branch": inside["branch"],
        "status": panels.overall(fold),
    }


def count_observations(store_root: str, session: str) -> int:
    """Lines of a session's observation file, counted as bytes."""
    from slipstream.memory.observations import session_path

    try:
        with open(session_path(store_root, session), "rb") as stream:
            return sum(1 for line in stream if line.strip())
    except OSError:
        return 0


def export(routes: Routes, fields: Fields) -> Any:
    """A session as a file to save: form=html or form=zip."""
    from slipstream.dashboard.export import export_html, export_zip
    from slipstream.dashboard.server import Answer
    from slipstream.events.append import session_file_name

    session = fields.get("session") or newest_session(routes) or ""
    if not os.path.isfile(log_path(routes.store_root, session[:400] or "main")):
        return None
    form = fields.get("form", "html")
    if form not in ("html", "zip"):
        raise SlipstreamError("form is html or zip")
    data = export_html(routes.store_root, session) if form == "html" else export_zip(routes.store_root, session)
    # Named as plain bytes, so that the browser saves the page and never opens it beside this one's origin.
    answer = Answer(data, content_type="application/octet-stream")
    answer.headers.append(("Content-Disposition", 'attachment; filename="%s.%s"' % (session_file_name(session), form)))
    return answer


def remove_session(routes: Routes, body: dict[str, Any]) -> Any:
    """Removes a session's event log, what is derived from it and its observations; `dryRun` says what would go.

    `keeps` says in either case what is known of the session elsewhere and stays.
    """
    from slipstream.memory.observations import session_path

    session = body.get("session")
    if not isinstance(session, str) or not session or len(session) > 400:
        raise SlipstreamError("which session?")
    log, memory = log_path(routes.store_root, session), session_path(routes.store_root, session)
    paths = [log, view_path(log), memory, memory[: -len(".jsonl")] + ".cursor"]
    paths += _files_of(log + ".spill")
    found = [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]
    sizes = {os.path.relpath(path, routes.store_root).replace(os.sep, "/"): os.path.getsize(path) for path in found}
    keeps = kept_elsewhere(routes, session)
    if body.get("dryRun"):
        return {"session": session, "wouldRemove": sizes, "keeps": keeps}
    for path in found:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass  # a running server drops views on its own
        except OSError as error:
            raise SlipstreamError("could not be removed: %s" % error.strerror, path) from None
    routes.views.drop(session)
    routes.summaries.pop(session, None)
    routes.hub.send("sessions", session, -1, {"session": session, "removed": True})
    return {"session": session, "removed": sizes, "keeps": keeps}


def _files_of(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)] if not os.path.islink(folder) else []
    except OSError:
        return []


def kept_elsewhere(routes: Routes, session: str) -> list[str]:
    """What a removal leaves: the conversation, facts that came of the session, the host's own transcript."""
    from slipstream.memory.conversations import conversation_path
    from slipstream.memory.fact_reading import load_facts

    keeps = []
    path = conversation_path(routes.store_root, session)
    if os.path.isfile(path):
        keeps.append("its conversation, " + os.path.relpath(path, routes.store_root).replace(os.sep, "/"))
    facts = [fact.name for fact in load_facts(routes.store_root).facts if fact.extra.get("session") == session]
    if facts:
        keeps.append("what memory took from it: " + ", ".join(facts[:5]) + (" and more" if len(facts) > 5 else ""))
    return [*keeps, "the host's own transcript, and with it the tokens under Usage"]


def _iso(seconds: float) -> str:
    from slipstream.base.clock import now_iso

    return now_iso(seconds)


GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {
    "/api/state": state,
    "/api/now": now,
    "/api/timeline": timeline,
    "/api/events": events,
    "/api/event": event,
    "/api/moment": moment,
    "/api/story": story,
    "/api/failures": failures,
    "/api/sessions": sessions,
    "/api/export": export,
}
POST_ROUTES: dict[str, Callable[[Routes, dict[str, Any]], Any]] = {"/api/sessions/remove": remove_session}
