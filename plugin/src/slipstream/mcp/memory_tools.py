"""Tools over memory: facts, one search over everything remembered, observations, lessons, digests."""
from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager

from slipstream.base.errors import SlipstreamError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from slipstream.mcp.calls import Call


_turn = threading.Lock()
_LEAST_WAIT_S = 0.25  # for whoever comes last of very many


@contextmanager
def _writing(call: Call) -> Iterator[float]:
    """Calls that come together wait here in order, not each for the store's own lock; one cancelled meanwhile writes none.

    Gives the seconds that are left to wait for that lock: time spent here counts, so a stranger's lock makes none wait longer.
    """
    from slipstream.memory.fact_reading import LOCK_WAIT_S
    deadline = time.monotonic() + LOCK_WAIT_S
    with _turn:
        call.check()
        yield max(_LEAST_WAIT_S, deadline - time.monotonic())


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# ---- facts


def sp_remember(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.base.git import read_place
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.facts import add_fact, get_fact, update_fact
    from slipstream.memory.freshness import cite
    store_root, fact, name = call.store_root, arguments["fact"], arguments.get("name")
    sources = [cite(call.root, place) for place in arguments.get("files") or ()] or None
    held = load_facts(store_root).find(name) if name and not arguments.get("supersedes") else None
    if held is not None:
        same = held.description == _first_line(held.body)  # it was never described apart, so it follows the text
        description = arguments.get("description") or (_first_line(fact) if same else None)
        with _writing(call) as wait_s:
            saved = update_fact(store_root, held.name, wait_s=wait_s, description=description, body=fact,
                                type=arguments.get("type"), tags=arguments.get("tags"), sources=sources)
        return 'updated "%s" (%s)' % (saved.name, saved.type)
    replaced = [get_fact(store_root, arguments["supersedes"]).name] if arguments.get("supersedes") else []
    place = read_place(call.root)
    with _writing(call) as wait_s:
        saved = add_fact(store_root, arguments.get("description") or _first_line(fact), arguments.get("type") or "decision",
                         fact, name=name, tags=arguments.get("tags") or (), sources=sources or (), place=place,
                         supersedes=replaced, update=not replaced, wait_s=wait_s)
    return 'remembered "%s" (%s)%s' % (saved.name, saved.type, ', in place of "%s"' % replaced[0] if replaced else "")


def _first_line(fact: str) -> str:
    line = fact.strip().split("\n")[0]
    return line if len(line) <= 300 else line[:300].rsplit(" ", 1)[0]


def sp_recall(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.briefing import render_facts
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.recall import current_facts, rank_by_text
    from slipstream.memory.search import show_item
    limit, query = arguments["limit"], arguments["query"]
    store = load_facts(call.store_root)
    found = rank_by_text(current_facts(store.facts, digests=True), query, limit + 1)
    if arguments.get("format") == "json":
        return to_json([fact.to_record() for fact in found[:limit]])
    if not found:
        return show_item(call.store_root, "fact:" + query.strip(), call.root) or "no matching memories"
    text = render_facts(call.store_root, call.root, found[:limit], store)
    return text + ("\n\n... more match; ask with a larger limit" if len(found) > limit else "")


def sp_forget(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.facts import prune_fact
    name = arguments["name"].strip()
    with _writing(call) as wait_s:
        gone = prune_fact(call.store_root, name, wait_s)
    return 'forgot "%s"' % name if gone else 'no memory named "%s"' % name


def read_fact(name: str, call: Call) -> str | None:
    from slipstream.memory.briefing import render_facts
    from slipstream.memory.fact_reading import load_facts
    store = load_facts(call.store_root)
    fact = store.find(name)
    return None if fact is None else render_facts(call.store_root, call.root, [fact], store)


# ---- search in three layers


def sp_search_memory(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.freshness import as_recorded
    from slipstream.memory.search import render_hits, search_memory
    _capture_open(call)
    start, limit = arguments.get("offset") or 0, arguments["limit"]
    file = arguments.get("file")
    hits = search_memory(call.store_root, arguments["query"], arguments.get("kind"), arguments.get("session"),
                         arguments.get("branch"), file and as_recorded(call.root, file, call.root),
                         arguments.get("since"), start + limit + 1)
    page = hits[start:start + limit]
    if arguments.get("format") == "json":
        return to_json([hit.to_record() for hit in page])
    if not page and start:
        return "no more than %d" % len(hits)
    more = "\n... more: offset=%d" % (start + limit) if len(hits) > start + limit else ""
    return render_hits(page) + more


def sp_timeline(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.search import render_timeline, timeline
    _capture_open(call)
    return render_timeline(timeline(call.store_root, arguments["around"], arguments["window"], arguments.get("session")))


def sp_observations(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.model import is_number
    from slipstream.memory.search import find_records, show_item, show_records
    _capture_open(call)
    ids = [str(one).strip().lstrip("#") for one in arguments["ids"]]
    numbers = [int(one) for one in ids if is_number(one)]
    others = [one for one in ids if not is_number(one)]
    records = find_records(call.store_root, numbers)
    shown = [text for text in (show_item(call.store_root, one, call.root) for one in others) if text]
    if arguments.get("format") == "json":
        return to_json([{key: value for key, value in record.items() if key != "vector"} for record in records])
    if not shown:
        return show_records(call.store_root, records)
    return "\n\n---\n\n".join([show_records(call.store_root, records)] * bool(records) + shown)


def read_observation(number: int, call: Call) -> str | None:
    from slipstream.memory.search import show_item
    return show_item(call.store_root, str(number))


def sp_lessons(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.lessons import find_lessons, render_lessons
    _capture_open(call)
    return render_lessons(find_lessons(call.store_root, arguments["minCount"], arguments["limit"]))


def _capture_open(call: Call) -> None:
    """Where no hooks close turns: those that have ended, by a stop or by lying idle, become observations first."""
    from slipstream.mcp.feeder import IDLE_S, find_mode
    if find_mode(call.root, call.request.client)[0] != "mcp-only":
        return
    from slipstream.events.log import list_sessions, log_path
    from slipstream.memory.observe import capture
    seen = call.connection.cache.setdefault("captured", {})
    for row in list_sessions(call.store_root):
        try:
            changed = os.stat(log_path(call.store_root, row["session"])).st_mtime
            idle = time.time() - changed >= IDLE_S
            if seen.get((call.store_root, row["session"])) != (changed, idle):
                capture(call.store_root, row["session"], idle, call.root)
                seen[(call.store_root, row["session"])] = (changed, idle)
        except (OSError, SlipstreamError):
            continue  # what is remembered already can still be searched


# ---- digests


def sp_digest(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.digest import digest_result, take_digest
    session, transcript = call.host_session()
    asked = arguments.get("session")
    digest, fact = take_digest(call.store_root, asked or session, arguments["trigger"],
                               transcript if asked in (None, "", session) else None, arguments.get("openTaskHint") or "",
                               call.root, may_be_empty=False)
    return to_json(digest_result(digest, fact))


def sp_resume(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.memory.resume import resume_result
    return to_json(resume_result(call.store_root))
