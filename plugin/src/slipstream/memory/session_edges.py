"""The two ends of a session: what was missed is filled in, the agent is told where things stand, the last turn is kept."""
from __future__ import annotations

import os
from typing import Any

from slipstream.base.roots import store_dir
from slipstream.base.tokens import approx_text_tokens
from slipstream.events.append import session_file_name
from slipstream.memory.lifecycle import SETTLE_S, attempt, context_answer, fill_gaps, host_transcript, may_inject

SESSION_END_BUDGET_S = 0.7  # the host gives all hooks of the end 1.5 s together
LAST_LINE_BYTES = 8192
MAP_HINT = ("Read less: sp_map shows the project, sp_search finds a symbol or text, sp_outline lists a file's symbols, "
            "sp_symbol gives one definition whole. Use them before reading a file whole.")
DASHBOARD_HINT = "The person can watch this session at %s (tell them only when they ask)."


def start_session(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """SessionStart: the gaps of the session before (of this one, when it goes on) are filled, then the context is given."""
    session, source = str(payload["session_id"]), str(payload.get("source") or "startup")
    if source in ("resume", "compact", "fork"):
        fill_gaps(tree_root, store_root, session, host_transcript(payload), settle_s=SETTLE_S if source == "compact" else 0.0)
    else:
        folder = os.path.dirname(str(payload.get("transcript_path")))
        attempt(store_root, "last session", lambda: _finish_last(tree_root, store_root, session, folder))
    if not may_inject(store_root):
        return ""
    hints = [MAP_HINT]
    if payload.get("dashboard_address"):
        hints.append(DASHBOARD_HINT % payload["dashboard_address"])
    end = "\n\n".join(hints)
    memory = attempt(store_root, "brief", lambda: _memory_text(tree_root, store_root, session, source, end))
    return context_answer("SessionStart", "\n\n".join(part for part in (memory, end) if part))


def end_session(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """SessionEnd: the transcript is compared with the log a last time, and what is open becomes an observation."""
    session = str(payload["session_id"])
    fill_gaps(tree_root, store_root, session, host_transcript(payload), budget_s=SESSION_END_BUDGET_S)
    if not _is_captured(store_root, session):
        from slipstream.memory.observe import capture
        capture(store_root, session, flush_open=True, tree_root=tree_root)
    return ""


def _memory_text(tree_root: str, store_root: str, session: str, source: str, end: str) -> str:
    store = store_dir(store_root)
    if not any(os.path.isdir(os.path.join(store, name)) for name in ("memory", "observations")):
        return ""  # a project without a past: nothing is loaded for it
    from slipstream.memory.briefing import SESSION_START_TOKENS, session_start_text
    room = SESSION_START_TOKENS - approx_text_tokens(end) - 2
    return session_start_text(store_root, tree_root, source, session, budget_tokens=room)


def _finish_last(tree_root: str, store_root: str, session: str, transcripts: str) -> None:
    """The newest other session of this store, when its end was never recorded; its transcript lies beside this one's.

    What waits beside any log comes in.
    """
    from slipstream.events.repair import SPILL_SUFFIX, absorb
    own = session_file_name(session) + ".jsonl"
    folder = os.path.join(store_dir(store_root), "dashboard")
    try:
        for name in os.listdir(folder):
            if name.endswith(".jsonl" + SPILL_SUFFIX):
                absorb(os.path.join(folder, name[: -len(SPILL_SUFFIX)]))
        with os.scandir(folder) as entries:
            logs = [(log.stat().st_mtime, log.name) for log in entries if log.name.endswith(".jsonl") and log.name != own]
    except OSError:
        return
    if not logs or _has_ended(os.path.join(folder, max(logs)[1])):
        return
    from slipstream.events.backfill import accept_transcript
    from slipstream.memory.observe import capture
    last = max(logs)[1][: -len(".jsonl")]
    fill_gaps(tree_root, store_root, last, accept_transcript(os.path.join(transcripts, last + ".jsonl"), last))
    capture(store_root, last, tree_root=tree_root)


def _has_ended(log_path: str) -> bool:
    """Whether the last thing recorded is the session's end, which has done all this already."""
    return b'"kind":"session-end"' in _last_line(log_path)


def _is_captured(store_root: str, session: str) -> bool:
    """Whether the end is the only event that is in no observation yet: the last turn's end has done the work."""
    name, store = session_file_name(session), store_dir(store_root)
    last = _last_line(os.path.join(store, "dashboard", name + ".jsonl"))
    number = last.partition(b",")[0].partition(b":")[2]
    try:
        with open(os.path.join(store, "observations", name + ".cursor"), "rb") as cursor:
            return b'"kind":"session-end"' in last and int(cursor.read(32)) >= int(number) - 1
    except (OSError, ValueError):
        return False


def _last_line(path: str) -> bytes:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - LAST_LINE_BYTES))
            return log.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return b""
