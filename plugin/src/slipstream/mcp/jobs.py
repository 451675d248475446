"""The server's workers: requests that touch the disk run in threads, so that nothing read later waits for them.

Two lanes: hook calls of the host have their own, so that no number of slow maps holds them up. Loaded at the first
request that needs it, not at the start.
"""
from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
import time
from typing import Any, Callable

from slipstream.mcp.protocol import (
    HOOK_TOOLS,
    Connection,
    Request,
    error_response,
    handle_batch,
    handle_request,
    is_request_id,
    needs_answer,
    run_after,
)

MAX_WORKERS = 8  # a lane; threads are made on demand
EXIT_GRACE_S = 1.0
HOOK_GRACE_S = 2.5  # an event waits a second for a held lock and then has to be put beside the log, or it is lost
PROGRESS_EVERY_S = 1.0
SWITCH_S = 0.0005  # how long a computing thread may keep the others waiting (Python's own 5 ms shows in every ping)
# A full collection over an index of 5,000 files holds every thread up for 30 ms, and finds nothing: the data has no cycles.
GC_THRESHOLDS = (2_000, 10, 1_000)
CUT_TEXT = "stopped: the client closed the input before this was done"


class Lane:
    """Threads that take work from one queue; one is added when all are busy, up to MAX_WORKERS."""

    def __init__(self, name: str) -> None:
        import _queue
        self.name = name
        self._queue: Any = _queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unfinished = self._threads = 0

    def put(self, work: Callable[[], None]) -> None:
        with self._lock:
            self._unfinished += 1
            start = self._threads < min(self._unfinished, MAX_WORKERS)
            if start:
                self._threads += 1
        self._queue.put(work)
        if start:
            _thread.start_new_thread(self._run, ())  # `threading` waits for it to run, and so for what it computes

    def _run(self) -> None:
        while True:
            work = self._queue.get()
            try:
                work()
            except Exception:  # a bug; the lane goes on
                log_exception("mcp " + self.name)
            with self._lock:
                self._unfinished -= 1


class Job:
    """One message being served."""

    __slots__ = ("answered", "message", "request", "started")

    def __init__(self, message: Any, request: Request | None):
        self.message, self.request, self.started = message, request, time.monotonic()
        self.answered = False


class Workers:
    """Runs messages of one connection and sends their answers."""

    def __init__(self, connection: Connection, send: Callable[[Any], None]) -> None:
        self.connection = connection
        self._send = send
        self._lanes = {name: Lane(name) for name in ("tools", "hooks")}
        self._changed = threading.Condition()
        self._open: dict[int, Job] = {}
        self._count = 0
        self._ticking = False
        sys.setswitchinterval(SWITCH_S)
        gc.set_threshold(*GC_THRESHOLDS)
        if os.environ.get("SLIPSTREAM_MODE") == "plugin":  # hooks will call: nobody waits for what the first one needs
            self._lanes["hooks"].put(self._warm_up)

    def submit(self, message: Any, request: Request | None) -> None:
        """Queues one message; its request, if it is a single one, is registered already."""
        lane = self._lanes["hooks" if _is_hook_call(message) else "tools"]
        with self._changed:
            self._count += 1
            number = self._count
            self._open[number] = Job(message, request)
            if request and _progress_token(message) is not None and not self._ticking:
                self._ticking = True
                threading.Thread(target=self._tick, name="mcp-progress", daemon=True).start()
        lane.put(lambda: self._serve(number, message, request))

    def _warm_up(self) -> None:
        from slipstream.mcp.hidden import warm_up
        from slipstream.mcp.roots import default_root
        warm_up(default_root(self.connection), lambda: bool(self._open))

    def feed(self) -> None:
        """Starts the session's log, in a worker, after `initialize` was answered."""
        from slipstream.mcp.feeder import start_session
        self._lanes["hooks"].put(lambda: start_session(self.connection))

    def finish(self) -> None:
        """Waits for the open work, at most EXIT_GRACE_S, or HOOK_GRACE_S for what hooks record; what is then still running
        is answered as cut."""
        started = time.monotonic()
        with self._changed:
            while self._open:
                grace = HOOK_GRACE_S if any(_is_hook_call(job.message) for job in self._open.values()) else EXIT_GRACE_S
                if not self._changed.wait(max(0.0, started + grace - time.monotonic())):
                    break
            left, self._open = self._open, {}
            for job in left.values():
                if not job.answered:
                    job.answered = True
                    self._send_cut(job)
        if "feed" in self.connection.cache:
            from slipstream.mcp.feeder import end_session
            end_session(self.connection)

    def _serve(self, number: int, message: Any, request: Request | None) -> None:
        answer: Any
        try:
            if isinstance(message, list):  # the loop has seen that batches are allowed; that may have changed since
                answer = handle_batch(message, self.connection)
            else:
                answer = handle_request(message, self.connection, request)
        except BaseException as error:  # a bug in the server itself; the request still gets its answer
            answer = None if request is None else error_response(request.id, -32603, repr(error))
        with self._changed:
            job = self._open.get(number)
            if job is not None and not job.answered:  # else the end of input has answered it
                job.answered = True
                if answer is not None:
                    try:
                        self._send(answer)
                    except OSError:
                        pass  # the reader notices the same
        if request is not None:
            run_after(request)
        with self._changed:
            self._open.pop(number, None)
            self._changed.notify_all()

    def _send_cut(self, job: Job) -> None:
        if job.request is None:
            answers = [_cut(part["id"] if is_request_id(part.get("id")) else None) if isinstance(part, dict) else _cut(None)
                       for part in job.message if needs_answer(part)]
            if answers:
                self._send(answers)
        elif not job.request.cancelled:
            self._send(_cut(job.request.id))

    def _tick(self) -> None:
        """Tells clients that asked for it that long work goes on: a number that grows, once a second."""
        while True:
            time.sleep(PROGRESS_EVERY_S)
            now = time.monotonic()
            with self._changed:
                waiting = [(job.request, job.started) for job in self._open.values() if job.request and not job.answered
                           and not job.request.cancelled and job.request.progress_token is not None]
                if not self._open:
                    self._ticking = False
                    return
                for request, started in waiting:  # under the lock: none after its request's answer
                    if now - started >= PROGRESS_EVERY_S:
                        try:
                            self._send(_progress(request, now - started))
                        except OSError:
                            return


def log_exception(where: str) -> None:
    """The traceback on standard error, which hosts keep in their logs; never on the wire."""
    import traceback
    sys.stderr.write("slipstream %s:\n%s" % (where, traceback.format_exc()))


def _progress_token(message: Any) -> Any:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _progress(request: Request, seconds: float) -> dict[str, Any]:
    """`progress` is the seconds gone, which always grows; what was done is in the message."""
    params = {"progressToken": request.progress_token, "progress": round(seconds, 1)}
    if request.progress:
        params["message"] = "%d of %d files" % request.progress
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def _is_hook_call(message: Any) -> bool:
    params = message.get("params") if isinstance(message, dict) else None
    name = params.get("name") if isinstance(params, dict) else None
    return isinstance(name, str) and name in HOOK_TOOLS


def _cut(request_id: Any) -> dict[str, Any]:
    return error_response(request_id, -32603, CUT_TEXT)
