"""Tests of the MCP server: messages without a process, and the process with real pipes."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import Any

from tests import PROGRAM

LIFETIME_S = 120.0
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"


def modern_meta(version: str = "2026-07-28", **more: Any) -> dict[str, Any]:
    return {META_VERSION: version, META_CAPABILITIES: {}, META_CLIENT: {"name": "a-client", "version": "1"}, **more}


def message(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def initialize(version: str = "2025-11-25", request_id: Any = 0) -> dict[str, Any]:
    return message("initialize", request_id, protocolVersion=version, capabilities={},
                   clientInfo={"name": "Test Client", "version": "1"})


def environment(**more: str) -> dict[str, str]:
    """A process environment in which no setting of the machine's own reaches the server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLIPSTREAM_", "CLAUDE"))}
    return {**kept, "SLIPSTREAM_DASHBOARD": "0", "SLIPSTREAM_MODE": "plugin", **more}


class Server:
    """A running server on real pipes, in a folder of its own unless given one."""

    def __init__(self, root: str | None = None, env: dict[str, str] | None = None, program: str = PROGRAM) -> None:
        self._folder = tempfile.TemporaryDirectory() if root is None else None
        self.root = os.path.realpath(root or (self._folder.name if self._folder else ""))
        self.process = subprocess.Popen([sys.executable, "-I", "-S", program, "mcp", "--root", self.root],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=env or environment())
        self._limit = threading.Timer(LIFETIME_S, self.process.kill)  # a server that does not answer fails, it never hangs
        self._limit.daemon = True
        self._limit.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *unused: object) -> None:
        self._limit.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        if self._folder:
            self._folder.cleanup()

    def send(self, *messages: Any) -> None:
        assert self.process.stdin
        for one in messages:
            raw = one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n"
            self.process.stdin.write(raw)
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, one: dict[str, Any]) -> Any:
        """Sends a request and returns its answer, leaving out what arrives for others."""
        self.send(one)
        while True:
            answer = self.receive()
            if answer is None or answer.get("id") == one["id"]:
                return answer

    def close(self) -> tuple[list[Any], str, int]:
        """Ends the input: (the messages still to come, standard error, exit status)."""
        out, err = self.process.communicate(timeout=60)
        return [json.loads(line) for line in out.splitlines()], err.decode(), self.process.returncode
