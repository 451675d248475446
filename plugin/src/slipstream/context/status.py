"""status.json: the few figures the status line shows, kept by the writers so that rendering it costs one small read."""

from __future__ import annotations

import json
import os
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.json_files import read_object
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path

NAME = "status.json"
# Keys: memoryCount, observationCount, optimizationPct, targetTokens, warnPct, compactPct, windowTokens (the host's, latest
# session), turns (session -> approximate tokens of its last turns), activeSkill. An absent one is unknown.
MAX_SESSIONS, MAX_TURNS, TURN_BYTES = 8, 5, 1_000_000


def load_status(store_root: str) -> dict[str, Any]:
    """The figures as they were left; {} when absent or damaged."""
    return read_object(os.path.join(store_dir(store_root), NAME), 65_536)


def update_status(store_root: str, **figures: Any) -> None:
    """Sets some figures (None removes one), silent when it cannot; for turning points of a session, never for every event."""
    try:
        path = store_path(store_root, NAME)
        with FileLock(path, 1.0):
            old = load_status(store_root)
            new = {key: value for key, value in {**old, **figures}.items() if value is not None}
            if new != old:
                write_atomic(path, json.dumps(new, separators=(",", ":")))
    except (OSError, SlipstreamError):  # LockTimeout is an OSError
        return


def rebuild_status(store_root: str) -> dict[str, Any]:
    """Counts everything anew, writes it and returns it. For a store whose status.json is absent."""
    from slipstream.context.budget import load_budget
    from slipstream.context.savings import load_savings, summarize_savings

    budget = load_budget(store_root)
    figures: dict[str, Any] = {
        **_counts(store_root),
        "optimizationPct": summarize_savings(load_savings(store_root))["pct"],
        **{key: budget[key] for key in ("targetTokens", "warnPct", "compactPct")},
    }
    if os.path.isdir(store_dir(store_root)):
        update_status(store_root, **figures)
    return {**load_status(store_root), **figures}


def note_facts(store_root: str) -> None:
    """After a change to the facts: their count, where the figures are kept; an absent status.json is left to be made whole."""
    if load_status(store_root):
        update_status(store_root, memoryCount=_count_facts(store_root))


def note_turn(store_root: str, session: str) -> None:
    """At the end of a turn: the counts, this session's turns, and the skill that was at work."""
    tokens, skill = read_turn(store_root, session)
    turns = load_status(store_root).get("turns")
    turns = {key: row for key, row in turns.items() if isinstance(row, list)} if isinstance(turns, dict) else {}
    own = [*turns.pop(session, []), *([tokens] if tokens is not None else [])]
    turns[session] = own[-MAX_TURNS:]
    while len(turns) > MAX_SESSIONS:
        del turns[next(iter(turns))]
    update_status(store_root, **_counts(store_root), turns=turns, activeSkill=skill or None)


def read_turn(store_root: str, session: str) -> tuple[int | None, str]:
    """(approximate tokens that tools served, the last skill called) in the last finished turn, from the log's tail; None when
    none ends there."""
    from slipstream.base.files import open_regular
    from slipstream.base.tokens import approx_tokens
    from slipstream.events.log import log_path, parse_event

    try:
        with os.fdopen(open_regular(log_path(store_root, session)), "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - TURN_BYTES))
            lines = stream.read().split(b"\n")
    except OSError:
        return None, ""
    total, finished, skill = 0, False, ""
    for line in reversed(lines[1:] if size > TURN_BYTES else lines):
        event = parse_event(line) if b'"stop"' in line or b'"post-tool"' in line else None
        if event is None:
            continue
        if event["kind"] == "stop" and event["agent"] == "main":
            if finished:
                break
            finished = True
        elif event["kind"] == "post-tool" and finished:
            data = event.get("data", {})
            nbytes = data.get("bytes")
            if data.get("tool") == "Skill":
                skill = skill or event["label"].partition(" ")[2].rpartition(":")[2]
            total += approx_tokens(nbytes) if isinstance(nbytes, int) and nbytes > 0 else 0
    return total if finished else None, skill


def _counts(store_root: str) -> dict[str, int]:
    logs = os.path.join(store_dir(store_root), "observations")
    return {
        "memoryCount": _count_facts(store_root),
        "observationCount": sum(_count_lines(os.path.join(logs, name)) for name in _names(logs) if name.endswith(".jsonl")),
    }


def _count_facts(store_root: str) -> int:
    folder = os.path.join(store_dir(store_root), "memory")
    return sum(name.endswith(".md") and name != "MEMORY.md" for name in _names(folder))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder) if not os.path.islink(folder) else []
    except OSError:
        return []


def _count_lines(path: str) -> int:
    if os.path.islink(path):
        return 0
    try:
        with open(path, "rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(1_048_576), b""))
    except OSError:
        return 0
