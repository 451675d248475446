"""A fake Messages API on 127.0.0.1 that plays a scripted conversation.

The real Claude Code client talks to it when ANTHROPIC_BASE_URL points here.
Nothing is forwarded anywhere: every answer comes from the script.

Script (the "script" list of a scenario file): a list of rules.  For every
POST /v1/messages the first rule whose "when" holds and that has uses left is
played.  When none matches, the "default" reply is played and the request is
logged with rule null, so a test can insist that no request went unmatched.

rule = {
  "name":  "free label, shown in the log",
  "when":  {                      # all given conditions must hold
     "agent": "main" | "sub" | "side",  # see classify()
     "last_user_contains": "text",   # in the newest user message (text or tool result)
     "any_user_contains": "text",    # in any user message
     "system_contains": "text",
     "has_tool": "Read",             # offered in "tools"
     "lacks_tool": "Read",
     "model_contains": "haiku",
     "after_tool": "Read"            # newest user message answers a call of this tool
  },
  "times": 1,                     # default 1; 0 means without limit
  "reply": [                      # content blocks
     {"type": "text", "text": "..."},
     {"type": "thinking", "thinking": "..."},
     {"type": "tool_use", "name": "Read", "input": {...}}
  ],
  "usage": {"input_tokens": 10, ...},     # laid over the computed numbers
  "stop_reason": "end_turn",      # default: tool_use when a call is in the reply
  "status": 529, "error_type": "overloaded_error",  # answer an error instead
  "headers": {"retry-after": "1"},
  "delay_s": 0.0
}

Strings in the script may hold ${name} variables, filled from `variables`.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DEFAULT_REPLY = [{"type": "text", "text": "Done."}]
CHARS_PER_TOKEN = 4


def substitute(value: Any, variables: Mapping[str, str]) -> Any:
    """Fill ${name} in every string of a JSON value; unknown names stay as they are."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda m: str(variables.get(m.group(1), m.group(0))), value)
    if isinstance(value, list):
        return [substitute(item, variables) for item in value]
    if isinstance(value, dict):
        return {key: substitute(item, variables) for key, item in value.items()}
    return value


def text_of(content: Any) -> str:
    """All the text of a message's content, tool results included."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            parts.append(block.get("text", ""))
        elif block.get("type") == "tool_result":
            parts.append(text_of(block.get("content")))
    return "\n".join(parts)


def system_text(body: dict[str, Any]) -> str:
    system = body.get("system")
    return system if isinstance(system, str) else text_of(system)


def newest_user(body: dict[str, Any]) -> dict[str, Any]:
    for message in reversed(body.get("messages") or []):
        if message.get("role") == "user":
            return dict(message)
    return {}


def tool_names(body: dict[str, Any]) -> list[str]:
    return [tool.get("name") for tool in body.get("tools") or []]


def calls_by_id(body: dict[str, Any]) -> dict[str, str]:
    """tool_use id -> tool name, over the whole conversation sent."""
    calls: dict[str, str] = {}
    for message in body.get("messages") or []:
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                calls[str(block.get("id"))] = str(block.get("name"))
    return calls


def tool_results(body: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """[(tool name, text, is_error)] that the newest user message carries."""
    calls = calls_by_id(body)
    content = newest_user(body).get("content")
    results = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            name = calls.get(block.get("tool_use_id", ""), "")
            results.append((name, text_of(block.get("content")), bool(block.get("is_error"))))
    return results


def classify(body: dict[str, Any], headers: Mapping[str, str]) -> str:
    """'main' for the session's own thread, 'sub' for a subagent, 'side' for the
    client's own small calls that offer no tools (a title, a summary, a quota probe)."""
    if headers.get("x-claude-code-agent-id"):
        return "sub"
    if not body.get("tools"):
        return "side"
    return "main"


def estimate_tokens(body: dict[str, Any]) -> int:
    kept = {key: body.get(key) for key in ("system", "messages", "tools")}
    return max(1, len(json.dumps(kept)) // CHARS_PER_TOKEN)


class Script:
    """The rules, how often each was played, and the log of every request."""

    def __init__(
        self,
        rules: list[dict[str, Any]],
        default: dict[str, Any] | None,
        variables: Mapping[str, str],
        log_path: Path | None,
    ) -> None:
        self.variables = dict(variables)
        self.rules: list[dict[str, Any]] = substitute(rules, self.variables)
        self.default: dict[str, Any] = substitute(default or {"reply": DEFAULT_REPLY}, self.variables)
        self.used = [0] * len(self.rules)
        self.lock = threading.Lock()
        self.log: list[dict[str, Any]] = []
        self.log_path = log_path

    @staticmethod
    def holds(when: dict[str, Any], body: dict[str, Any], agent: str) -> bool:
        newest = newest_user(body)
        names = tool_names(body)
        checks: dict[str, Callable[[Any], bool]] = {
            "agent": lambda want: agent == want,
            "last_user_contains": lambda want: want in text_of(newest.get("content")),
            "any_user_contains": lambda want: any(
                want in text_of(m.get("content"))
                for m in body.get("messages") or []
                if m.get("role") == "user"
            ),
            "system_contains": lambda want: want in system_text(body),
            "has_tool": lambda want: want in names,
            "lacks_tool": lambda want: want not in names,
            "model_contains": lambda want: want in str(body.get("model")),
            "after_tool": lambda want: any(name == want for name, _, _ in tool_results(body)),
        }
        unknown = set(when) - set(checks)
        if unknown:
            raise ValueError("unknown condition in a rule: %s" % ", ".join(sorted(unknown)))
        return all(checks[key](want) for key, want in when.items())

    def choose(self, body: dict[str, Any], agent: str) -> tuple[int | None, dict[str, Any]]:
        with self.lock:
            for index, rule in enumerate(self.rules):
                limit = rule.get("times", 1)
                if limit and self.used[index] >= limit:
                    continue
                if self.holds(rule.get("when") or {}, body, agent):
                    self.used[index] += 1
                    return index, rule
        return None, self.default

    def unplayed(self) -> list[str]:
        return [
            rule.get("name") or "rule %d" % index
            for index, rule in enumerate(self.rules)
            if not self.used[index] and not rule.get("optional")
        ]

    def record(self, entry: dict[str, Any]) -> None:
        with self.lock:
            self.log.append(entry)
            if self.log_path:
                with self.log_path.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(entry) + "\n")


def build_message(body: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
    """The full (non-streaming) answer for a request."""
    blocks = []
    for template in rule.get("reply") or DEFAULT_REPLY:
        block: dict[str, Any] = dict(template)
        if block.get("type") == "tool_use":
            block.setdefault("id", "toolu_fake_" + uuid.uuid4().hex[:18])
            block.setdefault("input", {})
        if block.get("type") == "thinking":
            block.setdefault("signature", "ZmFrZQ==")
        blocks.append(block)
    wants_tool = any(block["type"] == "tool_use" for block in blocks)
    prompt_tokens = estimate_tokens(body)
    usage: dict[str, Any] = {
        "input_tokens": 12,
        "cache_creation_input_tokens": prompt_tokens // 10,
        "cache_read_input_tokens": prompt_tokens - prompt_tokens // 10,
        "cache_creation": {
            "ephemeral_5m_input_tokens": prompt_tokens // 10,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": max(1, len(json.dumps(blocks)) // CHARS_PER_TOKEN),
        "service_tier": "standard",
    }
    usage.update(rule.get("usage") or {})
    return {
        "id": "msg_fake_" + uuid.uuid4().hex[:18],
        "type": "message",
        "role": "assistant",
        "model": body.get("model") or "fake-model",
        "content": blocks,
        "stop_reason": rule.get("stop_reason") or ("tool_use" if wants_tool else "end_turn"),
        "stop_sequence": None,
        "usage": usage,
    }


def pieces(text: str, size: int = 48) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def stream_events(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The answer as server-sent events: (event name, data) pairs."""
    usage = message["usage"]
    opening = dict(message, content=[], stop_reason=None, usage=dict(usage, output_tokens=1))
    yield "message_start", {"type": "message_start", "message": opening}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(message["content"]):
        kind = block["type"]
        if kind == "text":
            start: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
        elif kind == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif kind == "tool_use":
            start = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            encoded = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces(encoded)]
        else:
            start, deltas = block, []
        yield "content_block_start", {
            "type": "content_block_start",
            "index": index,
            "content_block": start,
        }
        for delta in deltas:
            yield "content_block_delta", {
                "type": "content_block_delta",
                "index": index,
                "delta": delta,
            }
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
        "usage": usage,
    }
    yield "message_stop", {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "FakeMessages/1"

    server: FakeMessagesServer

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the script has its own log."""

    def send_json(self, status: int, payload: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", "req_fake_" + uuid.uuid4().hex[:12])
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("request-id", "req_fake_" + uuid.uuid4().hex[:12])
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in stream_events(message):
            self.wfile.write(("event: %s\ndata: %s\n\n" % (name, json.dumps(data))).encode())
            self.wfile.flush()
        self.close_connection = True

    def read_body(self) -> dict[str, Any]:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length) if length else b""
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def do_HEAD(self) -> None:
        self.send_json(200, {})

    def do_GET(self) -> None:
        script = self.server.script
        path = self.path.split("?")[0]
        script.record({"at": time.time(), "method": "GET", "path": self.path})
        if path == "/v1/models":
            self.send_json(200, {"data": [], "has_more": False, "first_id": None, "last_id": None})
        elif path == "/":
            self.send_json(200, {"fake": True})
        else:
            self.send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": path}})

    def do_POST(self) -> None:
        script = self.server.script
        body = self.read_body()
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            script.record({"at": time.time(), "method": "POST", "path": self.path})
            self.send_json(200, {"input_tokens": estimate_tokens(body)})
            return
        if path != "/v1/messages":
            script.record({"at": time.time(), "method": "POST", "path": self.path, "body": body})
            self.send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": path}})
            return
        self.answer_message(script, body)

    def answer_message(self, script: Script, body: dict[str, Any]) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        agent = classify(body, headers)
        index, rule = script.choose(body, agent)
        if rule.get("delay_s"):
            time.sleep(rule["delay_s"])
        entry = {
            "at": time.time(),
            "method": "POST",
            "path": self.path,
            "agent": agent,
            "rule": None if index is None else rule.get("name") or "rule %d" % index,
            "model": body.get("model"),
            "stream": bool(body.get("stream")),
            "messages": len(body.get("messages") or []),
            "tools": tool_names(body),
            "prompt_chars": len(json.dumps(body)),
            "results": [
                {"tool": name, "chars": len(text), "is_error": bad, "text": text[:2000]}
                for name, text, bad in tool_results(body)
            ],
            "calls": [
                {"tool": block["name"], "input": block.get("input", {})}
                for block in rule.get("reply") or []
                if block.get("type") == "tool_use"
            ],
            "body": body,
        }
        script.record(entry)
        if rule.get("status"):
            kind = rule.get("error_type") or "api_error"
            payload = {"type": "error", "error": {"type": kind, "message": rule.get("message") or kind}}
            self.send_json(rule["status"], payload, rule.get("headers"))
            return
        message = build_message(body, rule)
        if body.get("stream"):
            self.send_stream(message)
        else:
            self.send_json(200, message)


class FakeMessagesServer(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script

    @property
    def url(self) -> str:
        return "http://127.0.0.1:%d" % self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up mid-answer is normal here; anything else is shown."""
        error = sys.exc_info()[1]
        if not isinstance(error, (BrokenPipeError, ConnectionResetError)):
            super().handle_error(request, client_address)


def serve_in_thread(script: Script) -> FakeMessagesServer:
    server = FakeMessagesServer(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    return server

