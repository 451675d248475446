"""A real dashboard in a process of its own, for a temporary project, and raw requests to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import tempfile
import time
from typing import Any
from unittest import mock

from slipstream.base.errors import SlipstreamError
from slipstream.dashboard import launch
from slipstream.events.append import append_event

from tests.waiting import wait_until


def write_transcript(config: str, root: str, session: str) -> None:
    """What the host writes of a session: one reply, 46,000 tokens of it from the cache."""
    folder = os.path.join(config, "projects", re.sub(r"[^A-Za-z0-9]", "-", root))
    os.makedirs(folder, exist_ok=True)
    usage = {"input_tokens": 1000, "cache_creation_input_tokens": 3000, "cache_read_input_tokens": 46000, "output_tokens": 500}
    message = {"id": "m1", "model": "claude-sonnet-5", "role": "assistant", "type": "message", "content": [], "usage": usage}
    line = {"type": "assistant", "cwd": root, "isSidechain": False, "timestamp": "2026-06-01T10:00:00.000Z",
            "requestId": "r1", "sessionId": session, "uuid": "u1", "message": message}
    with open(os.path.join(folder, session + ".jsonl"), "w", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


class Reply:
    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if len(lines[0].split(" ")) > 1 else 0
        self.fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]

    def value(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key == name), None)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Project:
    """A temporary project with its dashboard; stopped and removed at the end."""

    def __init__(self, start: bool = True, config: bool = False) -> None:
        """config: with a folder of the host's transcripts of its own, `self.config`; else the dashboard reads this user's."""
        self.config = tempfile.mkdtemp(prefix="slipstream-config-") if config else ""
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="slipstream-dash-"))
        self.port = 0
        self.cookie = ""
        if start:
            self.start()

    def start(self) -> None:
        with mock.patch.dict(os.environ, {"CLAUDE_CONFIG_DIR": self.config} if self.config else {}):
            address, _ = launch.start(self.root, self.root, wait_s=20.0)
        self.port = int(address.rstrip("/").rpartition(":")[2])

    def close(self) -> None:
        launch.stop(self.root)
        shutil.rmtree(self.root, ignore_errors=True)
        if self.config:
            shutil.rmtree(self.config)

    @property
    def host(self) -> str:
        return "127.0.0.1:%d" % self.port

    @property
    def origin(self) -> str:
        return "http://" + self.host

    def emit(self, kind: str, label: str = "", session: str = "s1", agent: str = "main", ts: str | None = None, **data: Any) -> int:
        return append_event(self.root, session, agent, kind, label, data or None, ts)

    def raw(self, data: bytes, seconds: float = 10.0) -> Reply:
        """The answer to raw bytes on a connection of its own."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as link:
            link.settimeout(seconds)
            try:
                link.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            chunks = []
            while True:
                try:
                    chunk = link.recv(65536)
                except ConnectionResetError:
                    break
                if not chunk:
                    break
                chunks.append(chunk)
        return Reply(b"".join(chunks))

    def ask(self, method: str, target: str, fields: dict[str, str] | None = None, body: bytes = b"") -> Reply:
        """One request with the right Host unless `fields` has another; a None-like empty value leaves the field out."""
        lines = {"Host": self.host, "Connection": "close", **(fields or {})}
        head = "%s %s HTTP/1.1\r\n" % (method, target) + "".join("%s: %s\r\n" % item for item in lines.items() if item[1])
        return self.raw(head.encode("latin-1") + b"\r\n" + body)

    def get(self, target: str, **fields: str) -> Reply:
        """A GET with the browser session."""
        return self.ask("GET", target, {"Cookie": self.sign_in(), **fields})

    def post(self, target: str, value: Any, **changes: str) -> Reply:
        """A POST as the page sends it; `changes` replace or (empty) remove header fields."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode("utf-8")
        fields = {"Cookie": self.sign_in(), "Origin": self.origin, "Content-Type": "application/json", "X-Slipstream": "1"}
        fields["Content-Length"] = str(len(body))
        fields.update({name.replace("_", "-"): text for name, text in changes.items()})
        return self.ask("POST", target, fields, body)

    def sign_in(self) -> str:
        if not self.cookie:
            reply = self.redeem(wait_until(self._code))
            assert reply.status == 200, reply.body
            self.cookie = (reply.value("set-cookie") or "").partition(";")[0]
        return self.cookie

    def _code(self) -> str | None:
        try:
            return launch.one_time_code(self.root)
        except SlipstreamError:
            return None  # the probe waits for 0.3 s, which a loaded machine may not keep

    def redeem(self, code: str) -> Reply:
        body = json.dumps({"code": code}).encode("ascii")
        fields = {"Origin": self.origin, "Content-Type": "application/json", "X-Slipstream": "1"}
        return self.ask("POST", "/api/session", {**fields, "Content-Length": str(len(body))}, body)

    def bearer(self) -> str:
        with open(os.path.join(self.root, ".claude", "slipstream", "dashboard", "server.token"), encoding="ascii") as stream:
            return "Bearer " + stream.read().strip()


class Stream:
    """An event stream, frame by frame."""

    def __init__(self, project: Project, target: str, **fields: str) -> None:
        self.link = socket.create_connection(("127.0.0.1", project.port), 10)
        lines = {"Host": project.host, "Cookie": project.sign_in(), **{name.replace("_", "-"): text for name, text in fields.items()}}
        head = "GET %s HTTP/1.1\r\n" % target + "".join("%s: %s\r\n" % item for item in lines.items())
        self.link.sendall(head.encode("ascii") + b"\r\n")
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._more(10)
        head_bytes, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        self.status = int(head_bytes.split(b" ")[1])
        self.head = head_bytes.decode("latin-1")

    def _more(self, seconds: float) -> None:
        self.link.settimeout(seconds)
        chunk = self.link.recv(1 << 20)
        if not chunk:
            raise EOFError
        self.buffer += chunk

    def frame(self, name: str | None = None, seconds: float = 10.0) -> dict[str, Any]:
        """The next frame {event, id, data}, or the next of one name."""
        deadline = time.monotonic() + seconds
        while True:
            while b"\n\n" not in self.buffer:
                self._more(max(0.01, deadline - time.monotonic()))
            block, _, self.buffer = self.buffer.partition(b"\n\n")
            found: dict[str, Any] = {}
            for line in block.decode("utf-8").split("\n"):
                key, _, value = line.partition(": ")
                found[key] = value
            if "event" in found and name in (None, found["event"]):
                found["data"] = json.loads(found["data"])
                return found

    def close(self) -> None:
        self.link.close()
