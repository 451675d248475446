"""What happens at each turning point of a session, whichever way the host tells of it: recorded first, answered second."""
from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from slipstream.base.errorlog import log_error
from slipstream.base.roots import store_dir
from slipstream.base.settings import setting
from slipstream.base.tokens import approx_text_tokens
from slipstream.events.append import session_file_name
from slipstream.events.ingest import record

SESSION_END_BUDGET_S = 0.7  # the host gives all hooks of the end 1.5 s together
TASK_NOTE = "<task-notification>"
LAST_LINE_BYTES = 8192
BATCH_TAIL_BYTES = 1_000_000  # the calls of one batch were recorded just before it
TOOLS = "mcp__plugin_slipstream_slipstream__"
MAP_HINT = ("Read less: sp_map shows the project, sp_search finds a symbol or text, sp_outline lists a file's symbols, "
            "sp_symbol gives one definition whole. Use them before reading a file whole.")
DASHBOARD_HINT = "The person can watch this session at %s (tell them only when they ask)."
SUBAGENT_DISCIPLINE = (
    "Keep your context small. Before reading a file whole, find the place: sp_search (symbols and text), sp_outline (a file's "
    "symbols), sp_symbol (one definition, complete), sp_refs (who uses it); their full names begin with " + TOOLS + ". Read "
    "whole files only when they are short or you will change most of them. Answer with conclusions, paths and line numbers, "
    "not with file contents.")
SCOPED_READ = "Cheaper: " + TOOLS + "sp_outline {\"file\": %s}, then " + TOOLS + "sp_symbol {\"file\": %s, \"symbol\": NAME}."


def answer_event(tree_root: str, store_root: str, payload: dict[str, Any], source: str) -> str:
    """Records the event (`source` says by which way it came) and returns what the host is to be told; "" for nothing.

    Never raises: a part that fails is one line in errors.log, and the parts after it still run.
    """
    name = str(payload.get("hook_event_name") or "")
    if name != "PreToolUse":  # the finished call tells the same and how it ended
        _attempt(store_root, f"record {name}", lambda: record(store_root, payload, source, tree_root))
    act = ANSWERS.get(name)
    if act is None or not payload.get("session_id"):
        return ""
    return _attempt(store_root, f"answer {name}", lambda: act(tree_root, store_root, payload)) or ""


def start_session(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """SessionStart: the gaps of the session before (of this one, when it goes on) are filled, then the context is given."""
    session, source = str(payload["session_id"]), str(payload.get("source") or "startup")
    if source in ("resume", "compact", "fork"):
        _attempt(store_root, "backfill", lambda: _fill(tree_root, store_root, session, _transcript(payload)))
    else:
        folder = os.path.dirname(str(payload.get("transcript_path")))
        _attempt(store_root, "backfill", lambda: _fill_last(tree_root, store_root, session, folder))
    if not may_inject(store_root):
        return ""
    from slipstream.memory.briefing import SESSION_START_TOKENS, session_start_text
    hints = [MAP_HINT]
    if payload.get("dashboard_address"):
        hints.append(DASHBOARD_HINT % payload["dashboard_address"])
    end = "\n\n".join(hints)
    room = SESSION_START_TOKENS - approx_text_tokens(end) - 2
    memory = _attempt(store_root, "brief", lambda: session_start_text(store_root, tree_root, source, session,
                                                                      budget_tokens=room))
    return context_answer("SessionStart", "\n\n".join(part for part in (memory, end) if part))


def submit_prompt(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """UserPromptSubmit: what memory knows about this prompt, when it knows something; a task's note is no human's prompt."""
    prompt = str(payload.get("prompt") or "")
    if prompt.lstrip().startswith((TASK_NOTE, "/")) or not may_inject(store_root):
        return ""
    from slipstream.memory.briefing import prompt_text
    return context_answer("UserPromptSubmit", prompt_text(store_root, tree_root, prompt, str(payload["session_id"])))


def advise_read(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """PreToolUse(Read): for a large whole-file read the exact cheaper call. Advice only; never a decision."""
    asked = payload.get("tool_input")
    if payload.get("tool_name") != "Read" or not isinstance(asked, dict) or asked.get("offset") or asked.get("limit"):
        return ""
    path = asked.get("file_path")
    if not isinstance(path, str) or not may_inject(store_root):
        return ""
    from slipstream.context.guard import guard_read
    verdict = guard_read(path, os.stat(path).st_size)
    if verdict["allow"]:
        return ""
    real = os.path.realpath(path)
    inside = real.startswith(tree_root + os.sep)
    told = json.dumps(real[len(tree_root) + 1:].replace(os.sep, "/") if inside else path)
    cheaper = SCOPED_READ % (told, told) if inside else "Cheaper: Read with offset and limit, or search it first."
    return context_answer("PreToolUse", f"The whole file is about {verdict['approxTokens']} tokens. {cheaper}")


def start_subagent(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """SubagentStart: the discipline, short; a subagent knows nothing of what its caller was told."""
    if not may_inject(store_root):
        return ""
    return context_answer("SubagentStart", SUBAGENT_DISCIPLINE)


def check_batch(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """PostToolBatch, the ledger: calls that no event told of (refused, unknown to the host, lost) are looked up now.

    The batch does not say how a call ended; the transcript does. What it does not hold yet is found the next time.
    """
    from slipstream.events.backfill import recorded_ids
    calls, session = payload.get("tool_calls"), str(payload["session_id"])
    named = {call.get("tool_use_id") for call in calls if isinstance(call, dict)} if isinstance(calls, list) else set()
    if named - recorded_ids(store_root, session, BATCH_TAIL_BYTES):
        _fill(tree_root, store_root, session, _transcript(payload))
    return ""


def end_turn(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """Stop: the turn becomes an observation, the chat is folded. No nagging."""
    from slipstream.memory.conversations import try_ingest
    from slipstream.memory.observe import capture
    session, transcript = str(payload["session_id"]), _transcript(payload)
    capture(store_root, session, tree_root=tree_root, transcript_path=transcript)
    try_ingest(store_root, session, transcript, tree_root)
    return ""


def prepare_compaction(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """PreCompact: the digest is written before anything is forgotten; its essence, as plain text, goes into the summary."""
    from slipstream.memory.briefing import compact_text
    session, transcript = str(payload["session_id"]), _transcript(payload)
    _attempt(store_root, "backfill", lambda: _fill(tree_root, store_root, session, transcript))
    essence = compact_text(store_root, tree_root, session, str(payload.get("trigger") or "auto"), transcript,
                           str(payload.get("custom_instructions") or ""))
    return essence if may_inject(store_root) else ""


def end_session(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """SessionEnd: the transcript is compared with the log a last time, and what is open becomes an observation."""
    from slipstream.memory.observe import capture
    session = str(payload["session_id"])
    _attempt(store_root, "backfill", lambda: _fill(tree_root, store_root, session, _transcript(payload), SESSION_END_BUDGET_S))
    capture(store_root, session, flush_open=True, tree_root=tree_root)
    return ""


def may_inject(store_root: str) -> bool:
    """Whether context may be given here: the setting `inject`, in the project's settings or as SLIPSTREAM_INJECT=0."""
    return bool(setting(store_root, "inject"))


def context_answer(name: str, text: str) -> str:
    """The host's JSON that adds `text` to the agent's context; "" when there is none."""
    if not text:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}, separators=(",", ":"))


def _transcript(payload: dict[str, Any]) -> str | None:
    from slipstream.events.backfill import accept_transcript
    return accept_transcript(str(payload.get("transcript_path") or ""), str(payload["session_id"]))


def _fill(tree_root: str, store_root: str, session: str, transcript: str | None, budget_s: float = 2.0) -> None:
    if transcript:
        from slipstream.events.backfill import backfill
        backfill(store_root, session, transcript, budget_s, tree_root)


def _fill_last(tree_root: str, store_root: str, session: str, transcripts: str) -> None:
    """The same for the newest other session of this store, whose transcript lies beside this one's."""
    own = session_file_name(session) + ".jsonl"
    try:
        with os.scandir(os.path.join(store_dir(store_root), "dashboard")) as entries:
            logs = [(log.stat().st_mtime, log.name) for log in entries if log.name.endswith(".jsonl") and log.name != own]
    except OSError:
        return
    if logs:
        last = max(logs)[1][: -len(".jsonl")]
        if _has_ended(os.path.join(store_dir(store_root), "dashboard", last + ".jsonl")):
            return
        from slipstream.events.backfill import accept_transcript
        from slipstream.memory.observe import capture
        _fill(tree_root, store_root, last, accept_transcript(os.path.join(transcripts, last + ".jsonl"), last))
        capture(store_root, last, tree_root=tree_root)


def _has_ended(log_path: str) -> bool:
    """Whether the last thing recorded is the session's end, which has done all this already."""
    with open(log_path, "rb") as log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - LAST_LINE_BYTES))
        return b'"kind":"session-end"' in log.read().rstrip(b"\n").rpartition(b"\n")[2]


def _attempt(store_root: str, where: str, act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:
        log_error(store_root, where, error)
        return None


ANSWERS: dict[str, Callable[[str, str, dict[str, Any]], str]] = {
    "SessionStart": start_session, "UserPromptSubmit": submit_prompt, "PreToolUse": advise_read,
    "SubagentStart": start_subagent, "PostToolBatch": check_batch, "Stop": end_turn, "PreCompact": prepare_compaction,
    "SessionEnd": end_session,
}
