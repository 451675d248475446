"""The host's transcript as a chat: asks of a person, the agent's words, tool calls and their results; all else left out."""
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from slipstream.base.files import open_regular
from slipstream.base.json_files import MAX_JSON_LINE_BYTES, iter_lines
from slipstream.memory.outcome import tool_outcome

ASK, TEXT, TOOL, RESULT = "ask", "text", "tool", "result"
# Starts of user records that no person typed: commands, reminders, background news.
_NOT_A_PERSON = ("<command-", "<local-command-", "<system-reminder>", "<task-notification>", "<bash-", "Caveat:",
                 "<user-prompt-submit-hook>", "[Request interrupted", "This session is being continued from a previous")


class Entry:
    """`kind` ask or text: `text`. tool: `name`, `data` its input, `call` its id. result: `text`, `call`, `failed`."""

    __slots__ = ("branch", "call", "data", "failed", "kind", "message", "name", "text", "ts")

    def __init__(self, kind: str, ts: str, text: str = "", name: str = "", data: Any = None, call: str = "",
                 failed: bool = False, branch: str = "", message: str = ""):
        self.kind, self.ts, self.text, self.name, self.data = kind, ts, text, name, data
        self.call, self.failed, self.branch, self.message = call, failed, branch, message


def iter_entries(path: str, offset: int = 0) -> Iterator[tuple[int, Entry]]:
    """(offset after the line, entry) from a whole line's start on. Side chains, meta and summary records are skipped.

    A line is parsed only when it can be a message; an unfinished last line is left for the next reader. OSError as open's.
    """
    for end, line in iter_lines(path, offset):
        if b'"message"' not in line:
            continue
        try:
            record = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        for entry in parse_record(record) if isinstance(record, dict) else ():
            yield end, entry


def parse_record(record: dict[str, Any]) -> list[Entry]:
    """The entries of one transcript line; [] for whatever is not part of the main chat."""
    if record.get("type") not in ("user", "assistant") or record.get("isSidechain") or record.get("isMeta") \
            or record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
        return []
    message = record.get("message")
    if not isinstance(message, dict):
        return []
    ts, branch = str(record.get("timestamp") or ""), str(record.get("gitBranch") or "")
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    found, texts = [], []
    for block in blocks:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind == "tool_use" and isinstance(block.get("name"), str):
            found.append(Entry(TOOL, ts, name=block["name"], data=block.get("input"), call=str(block.get("id") or ""),
                               branch=branch))
        elif kind == "tool_result":
            found.append(Entry(RESULT, ts, text=result_text(block.get("content")), call=str(block.get("tool_use_id") or ""),
                               failed=bool(block.get("is_error"))))
    text = "\n".join(texts).strip()
    if record["type"] == "assistant":
        return ([Entry(TEXT, ts, text=text, branch=branch, message=str(message.get("id") or ""))] if text else []) + found
    if text and is_ask(text) and not _from_system(record):
        found.append(Entry(ASK, ts, text=strip_reminders(text), branch=branch))
    return found


def is_ask(text: str) -> bool:
    """Whether a person could have typed this."""
    return bool(text.strip()) and not text.lstrip().startswith(_NOT_A_PERSON)


def strip_reminders(text: str) -> str:
    while True:
        start = text.find("<system-reminder>")
        end = text.find("</system-reminder>", start)
        if start < 0 or end < 0:
            return text.strip()
        text = text[:start] + text[end + len("</system-reminder>"):]


def result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(item["text"] for item in content if isinstance(item, dict) and isinstance(item.get("text"), str))
    return ""


def tail_start(path: str, limit_bytes: int) -> int:
    """Offset of the first whole line within the last `limit_bytes` of a file; 0 when the file is smaller or missing."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            if end <= limit_bytes:
                return 0
            stream.seek(end - limit_bytes)
            stream.readline(MAX_JSON_LINE_BYTES)
            return stream.tell()
    except OSError:
        return 0


def _from_system(record: dict[str, Any]) -> bool:
    origin = record.get("origin")
    return record.get("turnOrigin") == "task_notification" \
        or (isinstance(origin, dict) and origin.get("kind") == "task-notification")


def transcript_outcomes(path: str, calls: set[str], tail_bytes: int = 2_000_000) -> dict[str, dict[str, Any]]:
    """{tool call's id: tests run, lines added and removed} for those of `calls` that the transcript's tail tells of."""
    found: dict[str, dict[str, Any]] = {}
    try:
        stream = os.fdopen(open_regular(path), "rb")
    except OSError:
        return {}
    with stream:
        stream.seek(tail_start(path, tail_bytes))
        for line in stream:
            if b'"tool_result"' not in line or not line.endswith(b"\n"):
                continue
            try:
                record = json.loads(line.decode("utf-8", "replace"))
                blocks = record["message"]["content"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            for block in blocks if isinstance(blocks, list) else []:
                if isinstance(block, dict) and block.get("tool_use_id") in calls:
                    text = result_text(block.get("content"))
                    outcome = tool_outcome(record.get("toolUseResult"), text)
                    if outcome:
                        found[block["tool_use_id"]] = outcome
    return found
