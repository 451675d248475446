"""`slipstream.pyz mcp`: the stdio loop around `handle_request`. Loaded at every start of an editor, so it imports little.

File descriptor 1 belongs to the protocol alone: it is moved to a private descriptor and 1 becomes standard error, so a
stray print cannot corrupt the wire; 0 becomes the null device, so no child can eat it.
"""
from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps in enumerations, a tenth of a start
import os
import sys

from slipstream.base.threads import hold_archive, let_threads_import
from slipstream.mcp import protocol
from slipstream.mcp.codec import decode_line, encode_message
from slipstream.mcp.protocol import Connection, handle_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["handle_request", "main"]  # the pure function is this module's interface too
MAX_LINE_BYTES = 32_000_000
CHUNK_BYTES = 65_536
# What a client asks right after the handshake, in this order, and waits for before anything else. They read a few small files,
# which takes less than loading the workers, so these are not loaded for them.
FIRST_LISTS = ("prompts/list", "resources/list")
USAGE = "usage: slipstream mcp [--root DIR]\n"


def main(argv: list[str]) -> int:
    """Serves until the input ends. Exit status 0; 2 for a wrong command line."""
    rest = argv[1:]
    root = None
    if rest[:1] == ["--root"] and len(rest) == 2:
        root = rest[1]
    elif len(rest) == 1 and rest[0].startswith("--root="):
        root = rest[0][len("--root="):]
    elif rest in (["--help"], ["-h"]):
        sys.stdout.write(USAGE + "\nServes the Model Context Protocol on standard input and output.\n")
        return 0
    elif rest:
        sys.stderr.write("slipstream mcp: unknown words: %s\n%s" % (" ".join(rest), USAGE))
        return 2
    if root is not None and not os.path.isdir(root):
        sys.stderr.write("slipstream mcp: --root %s is not a folder\n" % root)
        return 2
    let_threads_import()
    hold_archive()
    # The kernel's own way to end, at once: a handler would run in the main thread, which sits in a read that a signal taken by
    # another thread does not wake. It may have been handed down ignored. Workers end with their input.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    wire = Wire()
    Loop(wire, root).run(wire.lines())
    for module, end in (("slipstream.map.apart", "end_all"), ("slipstream.map.pool", "kill_workers")):
        if module in sys.modules:
            getattr(sys.modules[module], end)()
    return 0


class Wire:
    """The two pipes: lines of bytes in, messages out, one at a time."""

    def __init__(self) -> None:
        import _thread
        self._input, self._output = os.dup(0), os.dup(1)
        if os.name == "posix":  # a host may hand us its own non-blocking pipes
            os.set_blocking(self._input, True)
            os.set_blocking(self._output, True)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(null, 1)
            os.dup2(null, 2)
        os.close(null)
        sys.stdout = sys.stderr or open(1, "w", encoding="utf-8", closefd=False)
        self._lock = _thread.allocate_lock()

    def lines(self) -> Iterator[bytes | None]:
        """Each line read, the last one also without its newline; None for one beyond MAX_LINE_BYTES."""
        held: list[bytes] = []
        size = 0
        while True:
            chunk = os.read(self._input, CHUNK_BYTES)
            pieces = chunk.split(b"\n")
            for index, piece in enumerate(pieces):
                size += len(piece)
                if size <= MAX_LINE_BYTES:
                    held.append(piece)
                else:
                    held.clear()
                if index < len(pieces) - 1 or not chunk:
                    yield b"".join(held) if size <= MAX_LINE_BYTES else None
                    held, size = [], 0
            if not chunk:
                return

    def send(self, message: Any) -> None:
        left = memoryview(encode_message(message))
        with self._lock:
            while left:
                left = left[os.write(self._output, left):]


class Loop:
    """Reads lines in order; answers at once what needs no disk, hands the rest to workers (module `jobs`)."""

    def __init__(self, wire: Wire, root: str | None):
        self.wire = wire
        self.connection = Connection(root, wire.send)
        self._workers: Any = None

    def run(self, lines: Iterator[bytes | None]) -> None:
        try:
            for line in lines:
                try:
                    self.take(line)
                except OSError:
                    raise
                except Exception:  # a bug; the loop never dies
                    protocol.log_bug("mcp loop")
        except OSError:
            pass  # the client is gone: nobody is left to answer
        try:
            self.finish()
        except OSError:
            pass

    def take(self, line: bytes | None) -> None:
        """Serves one line. Raises OSError only when the client no longer reads."""
        if line is not None and not line.strip():
            return
        try:
            if line is None:
                raise ValueError("longer than %d bytes" % MAX_LINE_BYTES)
            message = decode_line(line)
        except Exception as error:  # ValueError; RecursionError and MemoryError where the client wants to see them
            self.wire.send(self._parse_error(error))
            return
        connection = self.connection
        if self._is_slow(message):
            workers = self.workers()
            if workers is not None:
                workers.submit(message, protocol.open_request(message, connection) if isinstance(message, dict) else None)
                return
        answer = handle_request(message, connection)
        if answer is not None:
            self.wire.send(answer)
            method = message.get("method") if isinstance(message, dict) else None
            if method == "initialize" and "result" in answer:
                self._after_initialize()
            elif method == FIRST_LISTS[-1]:
                self.workers()  # the client has what it waited for: what the first hooks need can load

    def workers(self) -> Any:
        """None where they cannot be loaded, from a pyz that is torn or gone: what comes is then answered here."""
        if self._workers is None:
            try:
                from slipstream.mcp.jobs import Workers
                self._workers = Workers(self.connection, self.wire.send)
            except (ImportError, OSError, EOFError):
                protocol.log_bug("mcp workers")
        return self._workers

    def finish(self) -> None:
        """At the end of input: what was read is answered, running work is cut after a second."""
        if self._workers is not None:
            self._workers.finish()
        for request in self.connection.listening:
            self.wire.send({"jsonrpc": "2.0", "id": request.id, "result": protocol.end_listening(request)})

    def _is_slow(self, message: Any) -> bool:
        if isinstance(message, list):
            return bool(message) and self.connection.legacy_version == protocol.BATCH_VERSION
        if self._workers is None and isinstance(message, dict) and message.get("method") in FIRST_LISTS:
            return False
        return (isinstance(message, dict) and message.get("method") in protocol.SLOW_METHODS
                and message.get("jsonrpc") == "2.0" and protocol.is_request_id(message.get("id")))

    def _after_initialize(self) -> None:
        """Where no hooks feed the log, this server does; decided once, from the environment."""
        env = os.environ
        switches = (env.get("SLIPSTREAM_MCP_EMIT"), env.get("SLIPSTREAM_DASHBOARD"))
        if "1" not in switches and (env.get("SLIPSTREAM_MODE") == "plugin" or switches == ("0", "0")):
            return  # as the plugin's manifest has it
        if self.workers() is not None:
            self.workers().feed()

    def _parse_error(self, error: BaseException) -> dict[str, Any]:
        answer = protocol.error_response(None, protocol.PARSE_ERROR, "not a line of JSON: %s" % error)
        if self.connection.saw_modern and self.connection.legacy_version is None:
            del answer["id"]  # the modern era leaves an unknown id out
        return answer
