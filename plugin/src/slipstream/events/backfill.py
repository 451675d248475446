"""Calls that the host's transcript knows and the log does not are appended, so that nothing is lost silently.

Security-relevant: the transcript is the one path that a caller may name, and only where the host keeps transcripts.
"""
from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from slipstream.base.fast_json import dumps, loads
from slipstream.base.files import open_regular, write_atomic
from slipstream.base.json_files import read_object
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.events.append import session_file_name
from slipstream.events.ingest import record

SOURCE = "transcript"
CURSOR_FOLDER = "backfill"
BUDGET_S = 2.0
_ID_MARK, _ID_BYTES = b'"tool_use_id":"', 200


def accept_transcript(path: str, session: str, env: Mapping[str, str] = os.environ) -> str | None:
    """The real path, when it is a regular file under the host's projects folder that belongs to `session`; else None.

    A session's transcript is <session>.jsonl; a subagent's lies in <session>/subagents/.
    """
    if not path or not session:
        return None
    config = env.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    projects = os.path.realpath(os.path.join(config, "projects"))
    real = os.path.realpath(path)
    if not real.startswith(projects + os.sep) or not real.endswith(".jsonl"):
        return None
    folder = os.path.dirname(real)
    own = os.path.basename(real) == session + ".jsonl"
    if not own and not (os.path.basename(folder) == "subagents" and os.path.basename(os.path.dirname(folder)) == session):
        return None
    try:
        return real if stat.S_ISREG(os.lstat(real).st_mode) else None
    except OSError:
        return None


def backfill(store_root: str, session: str, transcript: str, budget_s: float = BUDGET_S, tree_root: str = "",
             only: Collection[str] | None = None, settle_s: float = 0.0) -> int:
    """Appends what the transcript and its subagents' files know and the log does not; the number of calls appended.

    `transcript` was accepted before. Reads on from where the last call stopped; stops when the time is up, and goes on
    from there the next time. Left for later: calls not in `only`, and those answered less than `settle_s` ago, whose
    own event may still be on its way.
    """
    deadline = time.monotonic() + budget_s
    cursor_path = store_path(store_root, CURSOR_FOLDER, session_file_name(session) + ".json")
    with FileLock(cursor_path, budget_s):  # two at once would each append what both miss
        cursors = read_object(cursor_path, 8_000_000)
        known = recorded_ids(store_root, session)
        added = 0
        for name, path, agent in _transcript_files(transcript):
            offset = cursors.get(name, 0)
            size = os.stat(path).st_size
            if not isinstance(offset, int) or not 0 <= offset <= size:
                offset = 0
            left = False
            for call, after in answered_calls(path, offset, deadline):
                if call["tool_use_id"] not in known:
                    if (only is not None and call["tool_use_id"] not in only) or _is_fresh(call["timestamp"], settle_s):
                        left = True
                        continue
                    known.add(call["tool_use_id"])
                    who = {"session_id": session, "agent_id": agent} if agent else {"session_id": session}
                    record(store_root, {**who, **call}, SOURCE, tree_root, str(call["timestamp"] or ""))
                    added += 1
                if not left:
                    cursors[name] = after
            if time.monotonic() > deadline:
                break
        write_atomic(cursor_path, dumps(cursors), only_if_changed=True)
        return added


def _is_fresh(timestamp: Any, settle_s: float) -> bool:
    if not settle_s:
        return False
    from slipstream.base.instants import parse_iso
    at = parse_iso(timestamp) if isinstance(timestamp, str) else None
    return at is not None and 0 <= time.time() - at < settle_s


def recorded_ids(store_root: str, session: str, tail_bytes: int | None = None) -> set[str]:
    """Tool-use ids of the finished calls in the log (or in its last `tail_bytes`) and of those that wait beside it."""
    path = os.path.join(store_dir(store_root), "dashboard", session_file_name(session) + ".jsonl")
    try:
        # the log last: what a writer takes in meanwhile is met there
        paths = [*(os.path.join(path + ".spill", name) for name in os.listdir(path + ".spill")), path]
    except OSError:
        paths = [path]
    found: set[str] = set()
    for path in paths:
        try:
            fd = open_regular(path)
        except OSError:
            continue
        with os.fdopen(fd, "rb") as log:
            if tail_bytes is not None:
                log.seek(max(0, os.fstat(fd).st_size - tail_bytes))
            for line in log:
                if b'"kind":"post-tool"' in line or b'"kind":"tool-failure"' in line:
                    for part in line.split(_ID_MARK)[1:]:
                        name, end, _ = part.partition(b'"')
                        if end and 0 < len(name) <= _ID_BYTES and b"\\" not in name:
                            found.add(name.decode("ascii", "replace"))
                            break
    return found


def answered_calls(path: str, offset: int, deadline: float) -> Iterator[tuple[dict[str, Any], int]]:
    """(the call as a hook's payload, where to read on) for each answered call after `offset`.

    Where to read on is before the first call that has no answer yet, so that its name and input are met again.
    """
    open_calls: dict[str, tuple[int, dict[str, Any]]] = {}
    with os.fdopen(open_regular(path), "rb") as stream:
        stream.seek(offset)
        at = offset
        for line in stream:
            start, at = at, at + len(line)
            if not line.endswith(b"\n") or time.monotonic() > deadline:
                return
            if b'"tool_use"' not in line and b'"tool_result"' not in line:
                continue
            entry = _object(line)
            for block in _blocks(entry):
                if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                    open_calls[block["id"]] = (start, block)
                elif block.get("type") == "tool_result" and block.get("tool_use_id") in open_calls:
                    use = open_calls.pop(block["tool_use_id"])[1]
                    yield _payload(use, block, entry), min([began for began, _ in open_calls.values()] or [at])


def _payload(use: dict[str, Any], result: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    failed = bool(result.get("is_error"))
    content = result.get("content")
    payload = {"hook_event_name": "PostToolUseFailure" if failed else "PostToolUse", "tool_name": use.get("name"),
               "tool_input": use.get("input") or {}, "tool_use_id": use["id"], "timestamp": entry.get("timestamp")}
    if failed:
        payload["error"] = content if isinstance(content, str) else _text(content)
    else:
        payload["tool_response"] = content
    return payload


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text") or "") for block in blocks if isinstance(block, dict))


def _blocks(entry: dict[str, Any]) -> list[dict[str, Any]]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _transcript_files(transcript: str) -> Iterator[tuple[str, str, str]]:
    """(name of its cursor, path, agent's id) of the transcript and of its subagents' ones."""
    yield "", transcript, ""
    folder = os.path.join(transcript[: -len(".jsonl")], "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith("agent-") and name.endswith(".jsonl") and not os.path.islink(path):
            yield name, path, name[len("agent-"): -len(".jsonl")]
