"""Server-sent events: one thread writes to one browser, and gives up on a browser that does not read."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from slipstream.base.json_files import dump_json
from slipstream.dashboard.hub import Hub
from slipstream.dashboard.live import SessionView
from slipstream.dashboard.panels import delta_panel

if TYPE_CHECKING:
    from slipstream.dashboard.server import Handler

HEARTBEAT_S = 15.0
PEEK_S = 2.0
WRITE_TIMEOUT_S = 10.0
RETRY_MS = 1000
STATE_EVERY_S = 0.4
MAX_GAP = 400


def frame(name: str, value: Any, ident: str | None = None) -> bytes:
    lines = "event: %s\n" % name + ("id: %s\n" % ident if ident else "")
    return (lines + "data: %s\n\n" % dump_json(value)).encode("utf-8", "replace")


def page_stream(handler: Handler, hub: Hub, last_id: str) -> None:
    """Deltas of every session, for the page. Ids are `epoch-tick`; what the ring no longer holds becomes a resync."""
    epoch, _, number = last_id.partition("-")
    tick = int(number) if epoch == hub.epoch and number.isascii() and number.isdigit() else -1
    handler.start_stream()
    hello = {"epoch": hub.epoch}
    with hub.ready:
        backlog = hub.since(tick) if tick >= 0 else [] if not last_id else None
        sent = hub.tick
    first = b"retry: %d\n" % RETRY_MS + frame("hello", hello, "%s-%d" % (hub.epoch, sent))
    if backlog is None:
        first += frame("resync", {}, "%s-%d" % (hub.epoch, sent))
    handler.connection.sendall(first + b"".join(item[3] for item in backlog or []))
    _pump(handler, hub, sent, None)


def session_stream(handler: Handler, hub: Hub, view: SessionView, last_id: str) -> None:
    """The published stream of one session: `snapshot`, then `state`; `delta` beside them. Ids are event numbers."""
    handler.start_stream()
    with hub.ready:
        sent = hub.tick
    hub.catch_up(view.session)
    with view.lock:
        last = view.last_seq
        parts = [b"retry: %d\n" % RETRY_MS]
        seen = int(last_id) if last_id.isascii() and last_id.isdigit() else None
        if seen is not None and seen <= last:
            missed = len(view) - view.position(seen + 1)
            if missed > MAX_GAP:
                parts.append(frame("resync", {"session": view.session}, str(last)))
            elif missed:
                rows = view.rows(list(range(len(view) - missed, len(view))))
                parts.append(frame("delta", delta_panel(view, rows, missed, None), str(last)))
        parts.append(frame("snapshot", view.fold.state(), str(last)))
    handler.connection.sendall(b"".join(parts))
    _pump(handler, hub, sent, view.session, last)


def _pump(handler: Handler, hub: Hub, sent: int, session: str | None, last: int = -1) -> None:
    """Writes frames as they come until the browser leaves, is too slow, or the server stops; of one session, or of all."""
    stated, owed, beaten = time.monotonic(), False, time.monotonic()
    while not hub.stopped:
        with hub.ready:
            if hub.tick == sent:
                hub.ready.wait(STATE_EVERY_S if owed else PEEK_S)
            frames = hub.since(sent)
            sent = hub.tick
        if hub.stopped or _has_left(handler):
            return
        if session is None:
            lost = frame("resync", {}, "%s-%d" % (hub.epoch, sent))
            body = lost if frames is None else b"".join(item[3] for item in frames)
        else:
            body = frame("resync", {"session": session}) if frames is None else b""
            owed = owed or frames is None
            for _, name, number, data in frames or ():
                if name == session and (number > last or number < 0):  # below 0: its log begins anew, or is gone
                    body += _with_id(data, number)
                    last, owed = number, True
            if owed and time.monotonic() - stated >= STATE_EVERY_S:
                view = hub.catch_up(session)  # the one that is followed now: it may have been dropped and read again
                with view.lock:
                    body += frame("state", view.fold.state(), str(view.last_seq))
                stated, owed = time.monotonic(), False
        now = time.monotonic()
        if not body and now - beaten >= HEARTBEAT_S:
            body = b": beat\n\n"
        if body:
            beaten = now
            handler.connection.sendall(body)


def _has_left(handler: Handler) -> bool:
    """Whether the browser closed its end: a stream's place is free again within seconds, not at the next write."""
    try:
        handler.connection.settimeout(0)
        return handler.connection.recv(1, socket.MSG_PEEK) == b""
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True
    finally:
        handler.connection.settimeout(WRITE_TIMEOUT_S)


def _with_id(body: bytes, last: int) -> bytes:
    head, _, rest = body.partition(b"\nid: ")
    return head + b"\nid: %d" % last + rest[rest.find(b"\n") :]
