"""What a finished session must show: hook events, what was recorded against the transcript, what the model saw."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .session import Session

HOOK_LINE = re.compile(
    r"Hooks: (?P<name>.+?) \[(?P<command>.*)\] \(plugin (?P<plugin>[^)@]+)@[^)]*\)"
    r" finished with status (?P<status>-?\d+) \((?P<ms>\d+)ms\)"
)
SERVER_HOOK_LINE = re.compile(r"Hooks: mcp_tool calling (\S+) with")
OUTCOMES = {"post-tool": "done", "tool-failure": "failed"}
KNOWN = {
    "hook_events", "absent_events", "process_hooks", "server_hooks", "mcp_calls", "model_saw", "model_did_not_see",
    "screen", "files", "recorded", "not_recorded", "recorded_is_transcript", "errors_log", "allow_hook_failures", "nothing_recorded",
    "allow_unmatched", "allow_unplayed", "subagent_saw", "first_request_saw",
}  # fmt: skip


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file; lines that are not JSON are left out."""
    found = []
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def process_hook_runs(session: Session) -> list[dict[str, str]]:
    """What the debug log says of every process hook: name, command, plugin, status, ms."""
    return [match.groupdict() for match in HOOK_LINE.finditer(session.debug_text())]


def contains(actual: Any, wanted: Any) -> bool:
    """Every key of `wanted` is in `actual` with an equal value; a string is looked for inside the other."""
    if isinstance(wanted, dict):
        return isinstance(actual, dict) and all(
            key in actual and contains(actual[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, str):
        return isinstance(actual, str) and wanted in actual
    return bool(actual == wanted)


def blocks_of(transcript: Path) -> Iterator[dict[str, Any]]:
    """The content blocks of every message in a transcript."""
    for entry in read_json_lines(transcript):
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                yield block


def transcript_calls(transcripts: Iterable[Path]) -> dict[str, str]:
    """Tool-use id -> "done" or "failed", of every call that was answered."""
    calls = {}
    for transcript in transcripts:
        for block in blocks_of(transcript):
            if block.get("type") == "tool_result":
                calls[str(block.get("tool_use_id"))] = "failed" if block.get("is_error") else "done"
    return calls


def logged_events(session: Session) -> list[dict[str, Any]]:
    """Every event of the project's store, the sessions one after the other."""
    folder = session.store() / "dashboard"
    return [event for path in sorted(folder.glob("*.jsonl")) for event in read_json_lines(path)]


def logged_calls(events: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """(tool-use id, "done" or "failed") of every recorded call, doubles included."""
    calls = []
    for event in events:
        data = event.get("data") or {}
        if event.get("kind") in OUTCOMES and data.get("tool_use_id"):
            calls.append((str(data["tool_use_id"]), OUTCOMES[event["kind"]]))
    return calls


def compare_with_transcript(session: Session) -> list[str]:
    """Calls that only one side knows, that it knows twice, or whose outcome differs."""
    wanted = transcript_calls(session.transcripts())
    found = logged_calls(logged_events(session))
    wrong = [
        "call %s was recorded %d times" % (name, count)
        for name, count in Counter(name for name, _ in found).items()
        if count > 1
    ]
    outcomes = dict(found)
    for name in sorted(set(wanted) | set(outcomes)):
        if wanted.get(name) != outcomes.get(name):
            wrong.append("call %s: transcript %s, log %s" % (name, wanted.get(name), outcomes.get(name)))
    return wrong


def shown_to_model(text: str, bodies: list[str]) -> bool:
    encoded = json.dumps(text, ensure_ascii=False)[1:-1]
    return any(encoded in body for body in bodies)


def check_hooks(session: Session, expect: dict[str, Any]) -> Iterator[str]:
    events = session.hook_inputs()
    for wanted in expect.get("hook_events") or []:
        wanted = {"hook_event_name": wanted} if isinstance(wanted, str) else wanted
        if not any(contains(event, wanted) for event in events):
            yield "no hook event like %s" % json.dumps(wanted)
    for name in expect.get("absent_events") or []:
        if any(event.get("hook_event_name") == name for event in events):
            yield "hook event %s fired and must not" % name
    runs = [run for run in process_hook_runs(session) if run["plugin"] == "slipstream"]
    for wanted in expect.get("process_hooks") or []:
        if not any(run["name"].startswith(wanted) for run in runs):
            yield "no process of the plugin answered %s" % wanted
    if not expect.get("allow_hook_failures"):
        for run in runs:
            if run["status"] != "0":
                yield "hook %(name)s ended with status %(status)s" % run
        for entry in read_json_lines(session.stream):
            if entry.get("subtype") == "hook_response" and entry.get("outcome") not in (None, "success"):
                yield "hook %s: %s %s" % (entry.get("hook_name"), entry.get("outcome"), entry.get("stderr"))
    called = SERVER_HOOK_LINE.findall(session.debug_text())
    if expect.get("server_hooks") and len(called) < expect["server_hooks"]:
        yield "%d hook calls went through the server, not %d" % (len(called), expect["server_hooks"])


def check_model(session: Session, expect: dict[str, Any]) -> Iterator[str]:
    requests = [entry for entry in session.script.log if entry.get("path", "").startswith("/v1/messages")]
    for wanted in expect.get("mcp_calls") or []:
        wanted = dict({"is_error": False}, **({"tool": wanted} if isinstance(wanted, str) else wanted))
        results = [result for entry in requests for result in entry.get("results") or []]
        if not any(contains(result, wanted) for result in results):
            yield "no tool result like %s" % json.dumps(wanted)
    bodies = [json.dumps(entry.get("body") or {}, ensure_ascii=False) for entry in requests]
    for text in expect.get("model_saw") or []:
        if not shown_to_model(text, bodies):
            yield "the model was never shown %r" % text
    for text in expect.get("model_did_not_see") or []:
        if shown_to_model(text, bodies):
            yield "the model was shown %r" % text
    subagents = [json.dumps(e.get("body"), ensure_ascii=False) for e in requests if e.get("agent") == "sub"]
    for text in expect.get("subagent_saw") or []:
        if not shown_to_model(text, subagents):
            yield "the subagent was never shown %r" % text
    first = [json.dumps(e.get("body"), ensure_ascii=False) for e in requests if e.get("agent") == "main"][:1]
    for text in expect.get("first_request_saw") or []:
        if not shown_to_model(text, first):
            yield "the first request does not hold %r" % text
    if not expect.get("allow_unmatched"):
        for entry in requests:
            if entry.get("agent") not in (None, "side") and entry.get("rule") is None:
                yield "a %(agent)s request with %(messages)d messages met no rule" % entry
    if not expect.get("allow_unplayed"):
        for name in session.script.unplayed():
            yield "rule never played: %s" % name


def check_record(session: Session, expect: dict[str, Any]) -> Iterator[str]:
    events = logged_events(session)
    for wanted in expect.get("recorded") or []:
        if not any(contains(event, wanted) for event in events):
            yield "nothing recorded like %s" % json.dumps(wanted)
    if expect.get("nothing_recorded") and events:
        yield "recorded: %s" % json.dumps(events[:3])
    for wanted in expect.get("not_recorded") or []:
        if any(contains(event, wanted) for event in events):
            yield "recorded and must not be: %s" % json.dumps(wanted)
    if expect.get("recorded_is_transcript"):
        yield from compare_with_transcript(session)
    if "errors_log" in expect:
        text = "".join(
            path.read_text(encoding="utf-8", errors="replace") for path in session.root.rglob("*errors.log")
        )
        for wanted in expect["errors_log"]:
            if wanted not in text:
                yield "errors.log does not say %r" % wanted
        if not expect["errors_log"] and text:
            yield "errors.log is not empty: %s" % text[:500]
    for name, text in (expect.get("files") or {}).items():
        path = session.project / name
        held = path.glob("*") if path.is_dir() else [path] if path.exists() else []
        if not any(text in part.read_text(encoding="utf-8", errors="replace") for part in held):
            yield "file %s lacks %r" % (name, text)
    if expect.get("screen"):
        screen = session.screen.read_text(encoding="utf-8") if session.screen.exists() else ""
        squeezed = re.sub(r"\s+", "", screen)
        for wanted in expect["screen"]:
            if re.sub(r"\s+", "", wanted) not in squeezed:
                yield "the screen never showed %r" % wanted


def check(session: Session) -> list[str]:
    """Everything that did not hold, the steps' own failures first."""
    expect = session.scenario.get("expect") or {}
    wrong = list(session.wrong)
    wrong += ["unknown expectation: %s" % key for key in sorted(set(expect) - KNOWN)]
    for part in (check_hooks, check_model, check_record):
        wrong += part(session, expect)
    return wrong


def report(session: Session, wrong: list[str]) -> dict[str, Any]:
    """What happened, as one value; also written to report.json."""
    runs = [run for run in process_hook_runs(session) if run["plugin"] == "slipstream"]
    result = {
        "scenario": session.scenario.get("name"),
        "ok": not wrong,
        "exit_codes": session.exit_codes,
        "events": dict(Counter(str(event.get("hook_event_name")) for event in session.hook_inputs())),
        "recorded": dict(Counter(str(event.get("kind")) for event in logged_events(session))),
        "process_hooks": [{key: run[key] for key in ("name", "status", "ms")} for run in runs],
        "requests": [
            {key: entry.get(key) for key in ("agent", "rule", "messages", "prompt_chars")}
            for entry in session.script.log
            if "agent" in entry
        ],
        "wrong": wrong,
    }
    (session.root / "report.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    return result
