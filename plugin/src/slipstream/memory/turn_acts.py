"""What is done and said within a turn: at a prompt, before a large read, in a subagent, after calls, at the turn's end."""
from __future__ import annotations

import os
from typing import Any

from slipstream.memory.lifecycle import SETTLE_S, context_answer, fill_gaps, has_facts, host_transcript, may_inject

TASK_NOTE = "<task-notification>"
BATCH_TAIL_BYTES = 1_000_000  # the calls of one batch were recorded just before it
TOOLS = "mcp__plugin_slipstream_slipstream__"
SUBAGENT_DISCIPLINE = (
    "Keep your context small. Before reading a file whole, find the place: sp_search (symbols and text), sp_outline (a file's "
    "symbols), sp_symbol (one definition, complete), sp_refs (who uses it); their full names begin with " + TOOLS + ". Read "
    "whole files only when they are short or you will change most of them. Answer with conclusions, paths and line numbers, "
    "not with file contents.")
SCOPED_READ = "Cheaper: " + TOOLS + "sp_outline {\"file\": %s}, then " + TOOLS + "sp_symbol {\"file\": %s, \"symbol\": NAME}."


def submit_prompt(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """UserPromptSubmit: what memory knows about this prompt, when it knows something; a task's note is no human's prompt."""
    prompt = str(payload.get("prompt") or "")
    if prompt.lstrip().startswith((TASK_NOTE, "/")) or not has_facts(store_root) or not may_inject(store_root):
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
    from slipstream.base.fast_json import dumps
    from slipstream.context.guard import guard_read
    verdict = guard_read(path, os.stat(path).st_size)
    if verdict["allow"]:
        return ""
    real = os.path.realpath(path)
    inside = real.startswith(tree_root + os.sep)
    told = dumps(real[len(tree_root) + 1:].replace(os.sep, "/") if inside else path)
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
    missing = named - recorded_ids(store_root, session, BATCH_TAIL_BYTES)
    if missing:
        fill_gaps(tree_root, store_root, session, host_transcript(payload), only=missing)
    return ""


def end_turn(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """Stop: the turn becomes an observation, the chat is folded. No nagging."""
    from slipstream.context.status import note_turn
    from slipstream.memory.conversations import try_ingest
    from slipstream.memory.observe import capture
    session, transcript = str(payload["session_id"]), host_transcript(payload)
    capture(store_root, session, tree_root=tree_root, transcript_path=transcript)
    try_ingest(store_root, session, transcript, tree_root)
    note_turn(store_root, session)
    return ""


def prepare_compaction(tree_root: str, store_root: str, payload: dict[str, Any]) -> str:
    """PreCompact: the digest is written before anything is forgotten; its essence, as plain text, goes into the summary."""
    from slipstream.memory.briefing import compact_text
    session, transcript = str(payload["session_id"]), host_transcript(payload)
    fill_gaps(tree_root, store_root, session, transcript, settle_s=SETTLE_S)
    essence = compact_text(store_root, tree_root, session, str(payload.get("trigger") or "auto"), transcript,
                           str(payload.get("custom_instructions") or ""))
    return essence if may_inject(store_root) else ""
