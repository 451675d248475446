"""Start a project's server on a free loopback port for a check, speak HTTP to it, and end it with all it started."""
from __future__ import annotations

import http.client
import os
import shlex
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.engine.processes import GROUP_OPTIONS, end_group

START_LIMIT_S = 60.0
REQUEST_LIMIT_S = 15.0
POLL_S = 0.05


class Answer:
    """Status, headers (all values, lower-case names) and body of one response."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: list[tuple[str, str]], body: str) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name.lower()), "")

    def header_values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name.lower()]


def send(base: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
    """One request; redirects are not followed. SlipstreamError when nothing answers."""
    parts = urlsplit(base)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=REQUEST_LIMIT_S)
    try:
        connection.request(method, parts.path.rstrip("/") + path, body, dict(headers))
        response = connection.getresponse()
        text = response.read(4_000_000).decode("utf-8", "replace")
        return Answer(response.status, [(key.lower(), value) for key, value in response.getheaders()], text)
    except (OSError, http.client.HTTPException) as error:
        raise SlipstreamError("%s %s%s: no answer (%s)" % (method, base, path, error or type(error).__name__)) from None
    finally:
        connection.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(start: str, url: str, extra: Mapping[str, str]) -> Iterator[str]:
    """The base address to speak to: `url` as given, or the server `start` brings up with PORT in its environment."""
    if url:
        yield url
        return
    if not start:
        raise UsageError("neither --start (a command that serves on $PORT) nor --url is given")
    port = free_port()
    env = {**os.environ, **extra, "PORT": str(port), "HOST": "127.0.0.1", "NODE_ENV": "production"}
    words = [word.replace("$PORT", str(port)) for word in shlex.split(start)]
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       **GROUP_OPTIONS)
        except OSError as error:
            raise SlipstreamError("%s cannot be started: %s" % (words[0], error.strerror or error)) from None
        try:
            _wait_for(port, process, start, log.fileno())
            yield "http://127.0.0.1:%d" % port
        finally:
            end_group(process)


def _wait_for(port: int, process: subprocess.Popen[bytes], start: str, log: int) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SlipstreamError("`%s` ended with status %s before it served\n%s" % (start, process.returncode, _tail(log)))
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(POLL_S)
    raise SlipstreamError("`%s` did not listen on 127.0.0.1:%d (the PORT it was given) within %d s\n%s"
                          % (start, port, START_LIMIT_S, _tail(log)))


def _tail(log: int) -> str:
    size = os.lseek(log, 0, os.SEEK_END)
    os.lseek(log, max(0, size - 2000), os.SEEK_SET)
    return os.read(log, 2000).decode("utf-8", "replace").strip()
