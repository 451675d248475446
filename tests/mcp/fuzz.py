"""Generated lines for the server, and what each must be answered with. Used by the core suite and by tests/bench."""
from __future__ import annotations

import json
import os
import random
from collections import Counter
from typing import Any

from slipstream.mcp.protocol import load_table

from tests.mcp import META_CAPABILITIES, META_CLIENT, META_VERSION

METHODS = ["initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list",
           "resources/read", "resources/templates/list", "server/discover", "subscriptions/listen", "logging/setLevel",
           "completion/complete", "notifications/initialized", "nope", "", "tools/call\0", "__init__"]
# The tools that start a process of their own are left to other tests.
TOOLS = ["sp_map", "sp_symbol", "sp_lines", "sp_outline", "sp_search", "sp_refs", "sp_mindmap", "sp_remember", "sp_recall",
         "sp_forget", "sp_search_memory", "sp_timeline", "sp_observations", "sp_lessons", "sp_savings", "sp_budget",
         "sp_digest", "sp_resume", "sp_hook", "sp_nope"]
NAMES = ["root", "file", "symbol", "query", "limit", "start", "end", "fact", "name", "ids", "around", "type", "tags", "kind",
         "since", "path", "budget", "offset", "format", "hook_event_name", "session_id", "tool_input", "a.b", "\ud800"]


class Maker:
    """A stream of lines from one seed. `expected` counts the answers by id; `free` holds ids that may go unanswered."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.expected: Counter[Any] = Counter()
        self.free: set[Any] = set()
        self.unknown = 0  # answers without an id
        self._count = 0
        self._batches = False  # whether the last handshake allows batches

    def line(self) -> bytes:
        """The next line, without its newline; the expectation is updated."""
        shape = self.random.random()
        message = self._message()
        raw = json.dumps(message, ensure_ascii=self.random.random() < 0.5).encode("utf-8", "surrogatepass")
        if shape < 0.12:
            raw = self._damage(raw)
        elif shape < 0.14:
            raw = self.random.choice([b"null", b"1", b"true", b'"x"', b"[]", b"{}", b"[[]]", b"-", b"\xff\xfe", b"NaN",
                                      b"[" * self.random.randrange(1, 3000), b'{"a":' * self.random.randrange(1, 3000),
                                      b'"' + b"y" * self.random.randrange(1, 50_000) + b'"', b"1e999", b"9" * 5000])
        elif shape < 0.18:
            raw = json.dumps([self._message() for _ in range(self.random.randrange(4))]).encode()
        raw = raw.replace(b"\n", b" ")
        self._expect(raw)
        return raw

    def _message(self) -> Any:
        choose = self.random
        self._count += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": choose.choice([self._count, str(self._count)]),
                                   "method": choose.choice(METHODS)}
        if choose.random() < 0.4:
            message["method"] = "tools/call"
        if choose.random() < 0.1:
            message["id"] = choose.choice([None, 1.5, True, [], {}, "dup", 7, -1, "", 10**30, "\ud800"])
        if choose.random() < 0.1:
            del message[choose.choice(list(message))]
        if choose.random() < 0.05:
            message[choose.choice(["jsonrpc", "method", "params"])] = self._value(2)
        if choose.random() < 0.9:
            message["params"] = self._params(message.get("method"))
        if choose.random() < 0.06:
            return {"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": choose.choice([self._count - 1, str(self._count - 2), None, "dup", 7, []])}}
        if choose.random() < 0.02:
            return {"jsonrpc": "2.0", "id": choose.choice([1, "slipstream-1", None]),
                    choose.choice(["result", "error"]): self._value(2)}
        return message

    def _params(self, method: Any) -> Any:
        choose = self.random
        params: Any = {}
        if method == "tools/call":
            params["name"] = choose.choice(TOOLS)
            params["arguments"] = {choose.choice(NAMES): self._value(2) for _ in range(choose.randrange(4))}
            if choose.random() < 0.5:
                params["arguments"] = self._fitting(params["name"])
        elif method == "initialize":
            params.update(protocolVersion=choose.choice(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "x", 1]),
                          capabilities=choose.choice([{}, {"roots": {}}, None, 3]), clientInfo=self._value(2))
        elif method == "resources/read":
            params["uri"] = choose.choice(["slipstream://map", "slipstream://memory/\ud800", "slipstream://memory/%00", "slipstream://memory/..", "slipstream://observation/1", "x", 3])
        elif method == "subscriptions/listen":
            params["notifications"] = choose.choice([{}, {"toolsListChanged": True}, 1])
        elif method == "prompts/get":
            params["name"] = self._value(1)
        if choose.random() < 0.25:
            params["_meta"] = {META_VERSION: choose.choice(["2026-07-28", "2025-06-18", "", 1, None]),
                               META_CAPABILITIES: choose.choice([{}, {}, {}, None, []]), META_CLIENT: self._value(2)}
        elif choose.random() < 0.2:
            params["_meta"] = choose.choice([{"progressToken": self._value(1)}, [], None, 1])
        return params if choose.random() < 0.95 else self._value(2)

    def _fitting(self, tool: str) -> dict[str, Any]:
        """Arguments that mostly fit the tool's schema, so that its work is reached."""
        choose = self.random
        schema = next((one["inputSchema"] for one in load_table()["tools"] if one["name"] == tool), {"properties": {}})
        found: dict[str, Any] = {}
        for name, rule in schema["properties"].items():
            if name not in schema.get("required", ()) and choose.random() < 0.7:
                continue
            kinds = rule.get("type", "string")
            kind = kinds if isinstance(kinds, str) else choose.choice(kinds)
            if "enum" in rule:
                found[name] = choose.choice([*rule["enum"], "nope"])
            elif kind == "integer":
                found[name] = choose.choice([rule.get("minimum", 0), rule.get("maximum", 3), 1, 2, 7, -1])
            elif kind == "array":
                found[name] = [choose.choice(["a", "a.py", "a.py:1-2", 1, "#1", "fact:x"]) for _ in range(choose.randrange(3))]
            elif kind == "boolean":
                found[name] = choose.random() < 0.5
            else:
                found[name] = choose.choice(["a.py", "f", "C.m", "f, C", "x", "../x", "", "src", "1", "2020-01-01", "é世界 word",
                                             "*", "[", "a b c d", "x" * 5000, "\n", "password = 'hunter2hunter2'", "b.bin"])
        return found

    def _value(self, depth: int) -> Any:
        choose = self.random
        if depth and choose.random() < 0.4:
            if choose.random() < 0.5:
                return [self._value(depth - 1) for _ in range(choose.randrange(3))]
            return {choose.choice(NAMES): self._value(depth - 1) for _ in range(choose.randrange(3))}
        return choose.choice([None, True, False, 0, 1, -1, 3.5, 1e300, 10**25, "", "x", "../..", "/etc", "a\0b", "é世界",
                              "\ud800", "x" * 300, "{\"a\":1}", "%s%d{}", "2020-01-01"])

    def _damage(self, raw: bytes) -> bytes:
        choose = self.random
        where = choose.randrange(len(raw))
        return choose.choice([raw[:where], raw[where:], raw[:where] + bytes([choose.randrange(256)]) + raw[where + 1:],
                              raw + raw, b"\xef\xbb\xbf" + raw, raw[:where] + b"\0" + raw[where:]])

    def _expect(self, raw: bytes) -> None:
        if not raw.strip():
            return
        try:
            message = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            self.unknown += 1
            return
        if isinstance(message, list):
            if self._batches and message:
                for one in message:
                    self._expect_one(one, batch=True)
            else:
                self.unknown += 1
        else:
            self._expect_one(message)

    def _expect_one(self, message: Any, batch: bool = False) -> None:
        if not isinstance(message, dict):
            self.unknown += 1
            return
        request_id, method = message.get("id"), message.get("method")
        if "method" not in message and ("result" in message or "error" in message):
            return
        if "id" not in message and isinstance(method, str):
            params = message.get("params")
            if method == "notifications/cancelled" and isinstance(params, dict) and is_id(params.get("requestId")):
                self.free.add(key(params["requestId"]))
            return
        if not is_id(request_id):
            self.unknown += 1
            return
        self.expected[key(request_id)] += 1
        params = message.get("params", {})
        if (method == "initialize" and message.get("jsonrpc") == "2.0" and isinstance(params, dict) and not batch
                and isinstance(params.get("_meta", {}), dict)
                and not {META_VERSION, META_CAPABILITIES} & set(params.get("_meta", {}))):
            self._batches = params.get("protocolVersion") == "2025-03-26"


def make_tree(root: str) -> None:
    """What the generated calls find."""
    with open(os.path.join(root, "a.py"), "w", encoding="utf-8") as stream:
        stream.write("def f():\n    return 1\n\n\nclass C:\n    def m(self):\n        return f()\n")
    with open(os.path.join(root, "b.bin"), "wb") as stream:
        stream.write(bytes(range(256)))


def is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def key(request_id: Any) -> tuple[str, Any]:
    return type(request_id).__name__, request_id


def check(maker: Maker, lines: list[bytes]) -> list[str]:
    """What is wrong with the server's output, given everything it was sent; [] when all is well."""
    problems, got, unknown = [], Counter[Any](), 0
    for line in lines:
        try:
            parsed = json.loads(line.decode("utf-8"))
        except ValueError:
            problems.append("not JSON on the wire: %r" % line[:200])
            continue
        for one in parsed if isinstance(parsed, list) else [parsed]:
            if one.get("jsonrpc") != "2.0":
                problems.append("not JSON-RPC: %r" % line[:200])
            elif "method" in one:  # a notification, or our own request
                continue
            elif one.get("id") is None:
                unknown += 1
            else:
                got[key(one["id"])] += 1
    for one, count in (maker.expected | got).items():
        if got[one] != maker.expected[one] and not (one in maker.free and got[one] < maker.expected[one]):
            problems.append("id %r: %d answers for %d requests" % (one, got[one], maker.expected[one]))
        del count
    if unknown != maker.unknown:
        problems.append("%d answers without id for %d broken messages" % (unknown, maker.unknown))
    return problems


def _refuse(name: str) -> None:
    raise ValueError(name)
