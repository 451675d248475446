"""The fold from events to observations: one record a turn, what was asked, what was done and what came of it."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.text import split_identifier
from slipstream.memory.outcome import clip, first_error_line

SUMMARY_CHARS, REQUEST_CHARS, FILES_SHOWN, TOOLS_SHOWN, MAX_TAGS = 160, 400, 12, 6, 16
MAX_FILES = 200
MAX_COMMANDS = 8
# First bucket with a word of the tool's name wins; order and words as published, but matched as whole words.
_BUCKETS = (
    ("edit", frozenset("edit write notebook multiedit create".split())),
    ("command", frozenset("bash powershell shell run exec".split())),
    ("search", frozenset("grep glob search find refs".split())),
    ("read", frozenset("read cat open view symbol lines outline slice".split())),
)
_NOTE_TOOLS = frozenset(["todowrite", "toolsearch", "websearch"])
_GENERIC_PARTS = frozenset("src lib app index test tests spec".split())
_PATH_LIKE = re.compile(r"^(?!\w+://)[^\s<>\"'|*?{}()$]+$")
_NOTIFICATION = re.compile(r"<summary>(.*?)</summary>", re.S)


def tool_bucket(tool: str) -> str:
    name = tool.rsplit("__", 1)[-1]
    if name.lower() in _NOTE_TOOLS or tool.lower() in _NOTE_TOOLS:
        return "note"
    parts = set(split_identifier(name)) | {name.lower()}
    if name.lower().startswith("notebookread"):
        return "read"
    return next((bucket for bucket, known in _BUCKETS if parts & known), "note")


def concept_stems(files: Iterable[str]) -> list[str]:
    """Published topic words of paths: segments without extension, split on punctuation, longer than two characters."""
    found: dict[str, None] = {}
    for path in files:
        for segment in re.split(r"[/\\]", path):
            plain = re.sub(r"\.[A-Za-z0-9]+$", "", segment).lower()
            for part in re.split(r"[^a-z0-9]+", plain):
                if len(part) > 2 and part not in _GENERIC_PARTS:
                    found[part] = None
    return list(found)


def is_turn_end(event: dict[str, Any]) -> bool:
    """A `stop` of the main agent; the published hook also wrote one at compaction, which ends nothing."""
    return event.get("kind") == "stop" and (event.get("agent") or "main") == "main" \
        and not str(event.get("label", "")).startswith("compaction (")


class Turn:
    """What has been seen since the last flush."""

    def __init__(self, root: str):
        self.root = root
        self.prompt = self.started = self.last = self.branch = self.worktree = ""
        self.files: dict[str, None] = {}
        self.tools: dict[str, int] = {}
        self.buckets: dict[str, int] = {}
        self.agents: dict[str, None] = {}
        self.commands: list[dict[str, Any]] = []
        self.activity = self.added = self.removed = self.failed = 0
        self.error = self.tests = ""

    def has_content(self) -> bool:
        return bool(self.prompt) or self.activity > 0

    def note(self, text: str, ts: str) -> None:
        """A background task's news: it belongs to the turn it comes in, and names one that nobody asked for."""
        self.activity += 1
        self.prompt = self.prompt or text
        self.last = ts

    def add_tool(self, event: dict[str, Any], failed: bool, known: dict[str, Any]) -> None:
        label, data = str(event.get("label", "")), event.get("data")
        data = {**data, **known} if isinstance(data, dict) else known
        tool, _, target = label.strip().partition(" ")
        tool = str(data.get("tool") or tool)
        self.activity += 1
        if not tool:
            return
        self.tools[tool] = self.tools.get(tool, 0) + 1
        bucket = tool_bucket(tool)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1
        agent = str(event.get("agent") or "main")
        if agent != "main":
            self.agents[agent] = None
        file = data.get("file") or data.get("path")
        file = file if isinstance(file, str) else target.strip() if bucket in ("edit", "read") or (_looks_like_path(target) \
            and bucket == "note") else ""
        if file and any(mark in file for mark in "/\\.") and "://" not in file and len(self.files) < MAX_FILES:
            self.files[relative_to(self.root, file)] = None
        self._add_outcome(bucket, target.strip(), data, failed)

    def _add_outcome(self, bucket: str, target: str, data: dict[str, Any], failed: bool) -> None:
        error = data.get("error") if isinstance(data.get("error"), str) else ""
        status = data.get("exit_code", data.get("exitStatus"))
        status = status if isinstance(status, int) and not isinstance(status, bool) else None
        error = first_error_line(error.partition("\n")[2] or error) if error else ""
        failed = (failed or bool(error) or bool(status)) and data.get("outcome") != "interrupted"
        command = data.get("command") if isinstance(data.get("command"), str) else target if bucket == "command" else ""
        if command:
            entry: dict[str, Any] = {"command": clip(command, 200)}
            if status is not None:
                entry["exitStatus"] = status
            if error:
                entry["error"] = clip(error, 200)
            self.commands = [*self.commands[-(MAX_COMMANDS - 1):], entry]
        if failed:
            self.failed += 1
            self.error = self.error or clip(error or f"exit status {status}" if error or status else "", 200)
        if isinstance(data.get("tests"), str) and data["tests"]:
            self.tests = clip(data["tests"], 120)
        for key in ("added", "removed"):
            if isinstance(data.get(key), int) and not isinstance(data[key], bool):
                setattr(self, key, getattr(self, key) + data[key])

    def to_record(self, record_id: int, session: str, through_seq: int) -> dict[str, Any]:
        """The published fields in their order, then ours; the vector is added by the writer, last."""
        tools = sorted(self.tools.items(), key=lambda item: -item[1])
        tool_list = ", ".join(name if count < 2 else f"{name}×{count}" for name, count in tools[:TOOLS_SHOWN])
        kind = next((bucket for bucket, _ in _BUCKETS_BY_RANK if self.buckets.get(bucket)), "prompt" if self.prompt else "note")
        files = list(self.files)
        counted = f" ({count_of(len(files), 'file')})" if files else ""
        result = self._result()
        room = SUMMARY_CHARS - (len(tool_list) + len(counted) + len(result) + 6 if result else 0)
        head = f"{clip(self.prompt, max(60, room))} — {tool_list or 'no tools'}" if self.prompt else \
            f"{kind}: {tool_list}" if tool_list else f"{kind}: no tools"
        detail = [f"Request: {clip(self.prompt, REQUEST_CHARS)}"] if self.prompt else []
        if tool_list:
            detail.append(f"Tools: {tool_list}")
        if files:
            detail += ["Files:", *(f"  - {path}" for path in files[:FILES_SHOWN])]
        detail += self._outcome_lines()
        record: dict[str, Any] = {
            "id": record_id, "session": session, "ts": self.last or self.started or "1970-01-01T00:00:00.000Z", "kind": kind,
            "summary": clip(head + counted + result, SUMMARY_CHARS), "detail": "\n".join(detail), "files": files,
            "tags": [kind, *concept_stems(files), *(name.lower() for name in self.tools)][:MAX_TAGS]}
        for key, value in (("branch", self.branch), ("worktree", self.worktree), ("agents", list(self.agents)),
                           ("commands", self.commands),
                           ("failed", self.failed), ("error", self.error), ("tests", self.tests),
                           ("added", self.added), ("removed", self.removed)):
            if value:
                record[key] = value
        record["throughSeq"] = through_seq
        return record

    def _result(self) -> str:
        if self.tests:
            return f"; {clip(self.tests, 40)}"
        return f"; failed: {clip(self.error, 40)}" if self.error else f"; {self.failed} failed" if self.failed else ""

    def _outcome_lines(self) -> list[str]:
        lines = []
        if self.commands:
            lines.append("Commands:")
            for entry in self.commands:
                status = f" -> exit {entry['exitStatus']}" if "exitStatus" in entry else ""
                lines.append(f"  - {entry['command']}{status}{': ' + entry['error'] if 'error' in entry else ''}")
        if self.tests:
            lines.append(f"Tests: {self.tests}")
        if self.error and not self.commands:
            lines.append(f"Error: {self.error}")
        if self.added or self.removed:
            lines.append(f"Lines: +{self.added} -{self.removed}")
        if self.agents:
            lines.append(f"Agents: {', '.join(self.agents)}")
        return lines


_BUCKETS_BY_RANK = (("edit", 0), ("command", 1), ("search", 2), ("read", 3))


def fold_turns(events: Iterable[dict[str, Any]], start_id: int, root: str = "", flush_open: bool = False,
               outcomes: dict[str, dict[str, Any]] | None = None) -> tuple[list[dict[str, Any]], int]:
    """(observations without their vector, consumed through seq: -1 when nothing was). Pure: no clock, no disk.

    A turn ends at the next prompt, at the main agent's `stop` or at the session's end; an open one is left for later unless
    `flush_open`. `outcomes` adds to an event what its tool call, by id, is known to have come to.
    """
    records: list[dict[str, Any]] = []
    turn, consumed, session, last_seq = Turn(root), -1, "", -1
    for event in events:
        seq, kind, ts = int(event.get("seq", last_seq + 1)), event.get("kind"), str(event.get("ts", ""))
        session, last_seq = session or str(event.get("session", "")), seq
        data = event.get("data")
        if isinstance(data, dict) and isinstance(data.get("branch"), str):
            turn.branch, turn.worktree = data["branch"], str(data.get("worktree") or "")
        if kind == "user-prompt":
            text = prompt_text(event)
            if text.startswith("<task-notification"):  # the host's own message: it opens no turn of a person
                turn.note(_notification(text), ts)
                continue
            if turn.has_content():
                consumed = seq - 1
                records.append(turn.to_record(start_id + len(records), session, consumed))
                turn = _next(turn, root)
            turn.prompt, turn.started, turn.last = text, ts, ts
        elif kind in ("post-tool", "tool-failure"):
            call = str(data.get("tool_use_id") or "") if isinstance(data, dict) else ""
            turn.add_tool(event, kind == "tool-failure", (outcomes or {}).get(call, {}))
            turn.last = ts
        elif kind == "session-end" or is_turn_end(event):
            turn.last = ts
            consumed = seq
            if turn.has_content():
                records.append(turn.to_record(start_id + len(records), session, seq))
            turn = _next(turn, root)
        elif kind == "session-start":
            turn.started = turn.started or ts
            if not turn.has_content():
                consumed = seq
        elif kind == "notification" and isinstance(data, dict) and data.get("notification") == "task":
            turn.note("task notification: " + str(event.get("label", "")), ts)
        elif kind in ("pre-tool", "subagent-start", "subagent-stop"):
            turn.activity += 1
            turn.last = ts
    if flush_open and turn.has_content():
        consumed = last_seq
        records.append(turn.to_record(start_id + len(records), session, last_seq))
    return records, consumed


def prompt_text(event: dict[str, Any]) -> str:
    data = event.get("data")
    full = data.get("prompt") if isinstance(data, dict) else None
    return full if isinstance(full, str) and full.strip() else str(event.get("label", ""))


def relative_to(root: str, path: str) -> str:
    """A path inside the project relative to it, forward slashes; any other path as it was given."""
    if root and path.startswith(root) and path[len(root):len(root) + 1] in ("/", "\\"):
        return path[len(root) + 1:].replace("\\", "/") or path
    return path.removeprefix("./")


def _looks_like_path(target: str) -> bool:
    return bool(_PATH_LIKE.match(target.strip())) and ("/" in target or "." in target)


def _notification(text: str) -> str:
    match = _NOTIFICATION.search(text)
    return "task notification: " + (match.group(1).strip() if match else "a background task")


def _next(turn: Turn, root: str) -> Turn:
    fresh = Turn(root)
    fresh.branch, fresh.worktree = turn.branch, turn.worktree
    return fresh
