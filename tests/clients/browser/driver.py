"""What the clients of both browsers share: the connection, a call and its answer, waiting, pictures, the end of the process."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from typing import Any, Callable


class Driver:
    """A browser process with a profile of its own, spoken to over one WebSocket. Subclasses start it and set `socket`."""

    process: subprocess.Popen[bytes]
    socket: WebSocket

    def __init__(self) -> None:
        self.profile = tempfile.mkdtemp(prefix="slipstream-browser-")
        self._next = 0

    def ask(self, method: str, params: dict[str, Any], **extra: Any) -> Any:
        """The result of a command; events that come before it are handed to `take_event`."""
        self._next += 1
        wanted = self._next
        self.socket.send(json.dumps({"id": wanted, "method": method, "params": params, **extra}))
        while True:
            answer = json.loads(self.socket.receive(60))
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise AssertionError("%s: %s" % (method, answer.get("message") or answer["error"]))
                return answer["result"]
            self.take_event(answer)

    def take_event(self, message: dict[str, Any]) -> None:
        pass

    def end(self, method: str) -> None:
        """Asks the browser to end with a command of its protocol, ends it otherwise, and removes its profile."""
        try:
            self.ask(method, {})
        except (AssertionError, OSError):
            pass
        self.socket.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def wait_for(run: Callable[[str], Any], script: str, seconds: float, pause: Callable[[], None], told: Callable[[], str]) -> Any:
    """The value of an expression in a page once it is true; AssertionError with what `told` says when it never is."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            value = run(script)
        except AssertionError:
            value = None
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("never true: %s\n%s" % (script, told()))
        pause()


def save_picture(path: str, data: str) -> None:
    with open(path, "wb") as stream:
        stream.write(base64.b64decode(data))


class WebSocket:
    """Client side of RFC 6455 for one trusted peer on the loopback interface."""

    def __init__(self, where: tuple[int, str]) -> None:
        port, path = where
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        key = base64.b64encode(os.urandom(16)).decode("ascii")
        lines = ["GET %s HTTP/1.1" % path, "Host: 127.0.0.1:%d" % port, "Upgrade: websocket", "Connection: Upgrade"]
        lines += ["Sec-WebSocket-Key: " + key, "Sec-WebSocket-Version: 13", "", ""]
        self.socket.sendall("\r\n".join(lines).encode("ascii"))
        self._buffer = b""
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self.socket.recv(65536)
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        assert b" 101 " in head.split(b"\r\n")[0], head
        self._partial = b""

    def send(self, text: str) -> None:
        data, mask = text.encode("utf-8"), os.urandom(4)
        size = len(data)
        head = b"\x81" + (bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        padded = int.from_bytes(data, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big") if size else 0
        self.socket.settimeout(30)
        self.socket.sendall(head + mask + padded.to_bytes(size, "big"))

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            chunk = self.socket.recv(1 << 20)
            if not chunk:
                raise ConnectionError("the browser went away")
            self._buffer += chunk
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def receive(self, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while True:
            if not self._buffer:
                first = self._take(2, deadline)
            else:
                first = self._take(2, time.monotonic() + 30)
            deadline = max(deadline, time.monotonic() + 30)
            size = first[1] & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._take(2, deadline))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8, deadline))[0]
            data = self._take(size, deadline)
            if first[0] & 0x0F in (0, 1, 2):
                self._partial += data
                if first[0] & 0x80:
                    whole, self._partial = self._partial, b""
                    return whole.decode("utf-8", "replace")
            elif first[0] & 0x0F == 8:
                raise ConnectionError("the browser closed the connection")

    def close(self) -> None:
        self.socket.close()
