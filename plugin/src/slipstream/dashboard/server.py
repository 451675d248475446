"""The loopback HTTP server: reads a request under limits, refuses what policy refuses, and asks the routes for the rest."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from slipstream.base.errors import SlipstreamError
from slipstream.base.json_files import dump_json
from slipstream.dashboard.auth import Gate
from slipstream.dashboard.policy import (
    ALLOWED_METHODS,
    MAX_HEAD_BYTES,
    SECURITY_HEADERS,
    Head,
    Refusal,
    allowed_hosts,
    body_length,
    check_head,
    parse_head,
)
from slipstream.dashboard.static import load_static

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes

HEAD_TIMEOUT_S = 10.0
IDLE_TIMEOUT_S = 20.0
WRITE_TIMEOUT_S = 10.0
MAX_CONNECTIONS = 160
MAX_QUERY_FIELDS = 24
REASONS = {
    200: "OK",
    204: "No Content",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    411: "Length Required",
    413: "Content Too Large",
    414: "URI Too Long",
    415: "Unsupported Media Type",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class Answer:
    """What a route gives back: a value for JSON, or bytes with their type."""

    __slots__ = ("body", "content_type", "headers", "status")

    def __init__(self, value: Any = None, status: int = 200, content_type: str = "application/json; charset=utf-8") -> None:
        self.status = status
        self.content_type = content_type
        self.body = value if isinstance(value, bytes) else dump_json(value).encode("utf-8", "replace")
        self.headers: list[tuple[str, str]] = []


class Server(ThreadingHTTPServer):
    """One listening socket on 127.0.0.1, a thread per connection, at most MAX_CONNECTIONS of them."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False
    request_queue_size = 64

    def __init__(self, listener: socket.socket, gate: Gate, extra_hosts: tuple[str, ...] = ()) -> None:
        # The base class would make a socket of its own and look its name up; ours is bound and listens already.
        super().__init__(listener.getsockname()[:2], Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_name, self.server_port = listener.getsockname()[:2]
        self.gate = gate
        self.hosts = allowed_hosts(self.server_port, extra_hosts)
        self.static = load_static()
        self.routes: Routes
        self.last_request = time.monotonic()
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system gives no more threads
            self._slots.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is a bug of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """One connection: requests one after another until it is idle for too long or something is wrong."""

    server: Server
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        self.connection: socket.socket = self.request
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""

    def finish(self) -> None:
        pass

    def handle(self) -> None:
        self.close_connection = False
        while not self.close_connection:
            self.close_connection = True
            try:
                self._handle_one()
            except (ConnectionError, socket.timeout, TimeoutError):
                return

    def _handle_one(self) -> None:
        raw = self._read_head()
        if raw is None:
            return
        if isinstance(raw, Refusal):
            self.refuse(raw)
            return
        head = parse_head(raw)
        refusal = head if isinstance(head, Refusal) else check_head(head, self.server.hosts)
        if refusal is not None or isinstance(head, Refusal):
            self.refuse(refusal or Refusal(400, "Bad request."))
            return
        self.server.last_request = time.monotonic()
        body: Any = None
        if head.method == "POST":
            raw_body = self._read_body(body_length(head) or 0)
            try:
                body = json.loads(raw_body.decode("utf-8"))
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                self.refuse(Refusal(400, "The body must be a JSON object."))
                return
        self.close_connection = (head.value("connection") or "").lower() == "close"
        self._answer(head, body)

    def _answer(self, head: Head, body: Any) -> None:
        path, _, query = head.target.partition("?")
        if not path.startswith("/api/"):
            found = self.server.static.get(path)
            if head.method == "POST":
                self.refuse(Refusal(405, "Method not allowed."))
            elif found is None:
                self.refuse(Refusal(404, "Not found."))
            else:
                self.send(200, found[1], found[0], head_only=head.method == "HEAD")
            return
        try:
            fields = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS))
            answer = self.server.routes.answer(self, head, path, fields, body)
        except SlipstreamError as error:
            answer = Answer({"error": str(error)}, 400)
        except ValueError:
            answer = Answer({"error": "A parameter could not be read."}, 400)
        except ConnectionError:
            raise
        except Exception as error:
            traceback.print_exc()
            answer = Answer({"error": "The server failed: %s." % type(error).__name__}, 500)
        if answer is not None:
            if answer.status in (401, 403, 503):
                self.close_connection = True
            self.send(answer.status, answer.body, answer.content_type, answer.headers, head.method == "HEAD")

    def _read_head(self) -> bytes | Refusal | None:
        """Bytes up to the blank line; None when the peer left or stayed idle. The deadline is for the whole head."""
        deadline = time.monotonic() + (HEAD_TIMEOUT_S if self._buffer else IDLE_TIMEOUT_S)
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if 0 <= end <= MAX_HEAD_BYTES:
                head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
                return head
            if len(self._buffer) > MAX_HEAD_BYTES:
                return Refusal(431, "The request is too large.")
            left = deadline - time.monotonic()
            if left <= 0:
                return Refusal(408, "The request took too long.") if self._buffer else None
            self.connection.settimeout(left)
            started = bool(self._buffer)
            try:
                chunk = self.connection.recv(65536)
            except (socket.timeout, TimeoutError):
                continue
            if not chunk:
                return None
            self._buffer += chunk
            if not started:
                deadline = time.monotonic() + HEAD_TIMEOUT_S

    def _read_body(self, length: int) -> bytes:
        deadline = time.monotonic() + HEAD_TIMEOUT_S
        while len(self._buffer) < length:
            self.connection.settimeout(max(0.001, deadline - time.monotonic()))
            chunk = self.connection.recv(65536)
            if not chunk:
                raise ConnectionError("the body ended early")
            self._buffer += chunk
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return body

    def refuse(self, refusal: Refusal) -> None:
        """An answer without data; the connection ends, since what follows on it may be anything."""
        self.close_connection = True
        extra = [("Allow", ", ".join(ALLOWED_METHODS))] if refusal.status == 405 else []
        self.send(refusal.status, (refusal.reason + "\n").encode("utf-8"), "text/plain; charset=utf-8", extra)

    def send(
        self,
        status: int,
        body: bytes,
        content_type: str,
        extra: list[tuple[str, str]] | None = None,
        head_only: bool = False,
    ) -> None:
        fields = list(SECURITY_HEADERS) + (extra or [])
        if status != 204:
            fields += [("Content-Type", content_type), ("Content-Length", str(len(body)))]
        if self.close_connection:
            fields.append(("Connection", "close"))
        self.connection.settimeout(WRITE_TIMEOUT_S)
        self.connection.sendall(render_head(status, fields) + (b"" if head_only or status == 204 else body))

    def start_stream(self) -> None:
        """The head of an event stream: no length, the connection is its own end."""
        self.close_connection = True
        fields = [*SECURITY_HEADERS, ("Content-Type", "text/event-stream; charset=utf-8"), ("Connection", "close")]
        self.connection.settimeout(WRITE_TIMEOUT_S)
        self.connection.sendall(render_head(200, fields))


def render_head(status: int, fields: list[tuple[str, str]]) -> bytes:
    lines = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, "OK"))]
    lines += ["%s: %s" % field for field in fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
