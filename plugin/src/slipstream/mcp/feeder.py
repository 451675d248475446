"""The event log where no hooks exist: in other editors this server is the one that knows what the agent did.

Gated as published: SLIPSTREAM_MODE, then signs of Claude Code; SLIPSTREAM_MCP_EMIT and SLIPSTREAM_DASHBOARD decide
their half alone. Everything here runs in a worker, after the answer's text is known, and never fails a call.
"""
from __future__ import annotations

import os
import threading
import time

from slipstream.base.clock import now_iso
from slipstream.mcp.protocol import Connection, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from slipstream.mcp.calls import Call

IDLE_S = 600.0  # a turn without a call for so long is over
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def find_mode(root: str, client: str, env: Any = os.environ) -> tuple[str, str]:
    """("plugin" or "mcp-only", reason). A folder .claude/hooks says something only when Claude Code is the client."""
    chosen = env.get("SLIPSTREAM_MODE")
    if chosen in ("plugin", "mcp-only"):
        return chosen, "SLIPSTREAM_MODE"
    for name in ("CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_SESSION"):
        if env.get(name):
            return "plugin", name
    if client.startswith("claude-code") and os.path.isdir(os.path.join(root, ".claude", "hooks")):
        return "plugin", ".claude/hooks marker"
    return "mcp-only", "no Claude Code signals"


def is_on(variable: str, mode: str, env: Any = os.environ) -> bool:
    value = env.get(variable)
    return value == "1" if value in ("0", "1") else mode == "mcp-only"


def session_id(request: Request, connection: Connection) -> str:
    """The client's name and five base-36 digits, drawn once a connection: `cursor-ide-k3f9z`."""
    return _session_of(request.client, connection)


def _session_of(client: str, connection: Connection) -> str:
    suffix = connection.cache.get("session_suffix")
    if suffix is None:  # not the time: an editor starts several servers in one millisecond, and calls come in several threads
        digits = "".join(_DIGITS[byte % 36] for byte in os.urandom(5))
        suffix = connection.cache.setdefault("session_suffix", digits)
    from slipstream.events.append import is_suspect
    if is_suspect(client):
        from slipstream.events.redact import redact_text
        client = redact_text(client)[0]
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in client.lower()).split()
    return "%s-%s" % ("-".join(words)[:60].strip("-") or "mcp", suffix)


class Feed:
    """The open turns of one connection: (store root, session) -> time of the last call."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.turns: dict[tuple[str, str], float] = {}
        self.started: set[tuple[str, str]] = set()
        self.watched = False


def start_session(connection: Connection) -> None:
    """After `initialize`: the session's first event, and the dashboard, each where its gate is open."""
    from slipstream.mcp.roots import default_root
    root = default_root(connection)
    _start(connection, root, connection.client, _session_of(connection.client, connection))


def note_call(call: Call, name: str, arguments: dict[str, Any], text: str) -> None:
    """One event for one successful call, in the store of the call's own root; none where the host's hooks tell of it."""
    if "host_session" in call.connection.cache:
        return
    _start(call.connection, call.root, call.request.client, call.session)
    if not is_on("SLIPSTREAM_MCP_EMIT", find_mode(call.root, call.request.client)[0]):
        return
    store_root, feed, now = call.store_root, _feed(call.connection), time.time()
    key = (store_root, call.session)
    with feed.lock:
        last = feed.turns.get(key)
        feed.turns[key] = now
        watch, feed.watched = not feed.watched, True
    if last is not None and now - last >= IDLE_S:
        _append(store_root, call.session, "stop", "turn ended: idle", ts=now_iso(last))
    from slipstream.events.ingest import substance
    data: dict[str, Any] = {"bytes": len(text.encode("utf-8", "surrogatepass")), "source": "mcp", "tool": name}
    if arguments.get("file"):
        data["file"] = arguments["file"]
    _append(store_root, call.session, "post-tool", ("%s %s" % (name, substance(arguments)[1])).strip(), data)
    if watch:
        threading.Thread(target=_watch, args=(feed,), name="mcp-idle", daemon=True).start()


def end_session(connection: Connection) -> None:
    """At the end of input: open turns are closed, so that memory has them."""
    feed = connection.cache.get("feed")
    if feed is not None:
        _close(feed, 0.0)


def _start(connection: Connection, root: str, client: str, session: str) -> None:
    from slipstream.base.roots import find_store_root
    store_root, feed = find_store_root(root), _feed(connection)
    mode, reason = find_mode(root, client)
    with feed.lock:  # held while appending, so that no call's event comes before it
        if (store_root, session) in feed.started:
            return
        feed.started.add((store_root, session))
        if is_on("SLIPSTREAM_MCP_EMIT", mode):
            _append(store_root, session, "session-start", "mcp session: %s (%s)" % (session, reason), {"source": "mcp"})
    if is_on("SLIPSTREAM_DASHBOARD", mode):
        from slipstream.dashboard.launch import ensure_started
        ensure_started(store_root, root)


def _feed(connection: Connection) -> Feed:
    feed = connection.cache.setdefault("feed", Feed())
    assert isinstance(feed, Feed)
    return feed


def _append(store_root: str, session: str, kind: str, label: str, data: dict[str, Any] | None = None,
            ts: str = "") -> None:
    from slipstream.events.append import append_event
    try:
        append_event(store_root, session, "main", kind, label, data, ts)
    except OSError as error:  # a store that cannot be written
        from slipstream.events.errorlog import log_error
        log_error(store_root, "mcp " + kind, error)


def _close(feed: Feed, idle_s: float) -> None:
    """Ends each turn that has been idle for so long, and turns its events into observations."""
    now = time.time()
    with feed.lock:
        over = [(*key, last) for key, last in feed.turns.items() if now - last >= idle_s]
        for store_root, session, _ in over:
            del feed.turns[(store_root, session)]
    for store_root, session, last in over:
        try:
            _append(store_root, session, "stop", "turn ended: idle" if idle_s else "turn ended: the editor closed",
                    ts=now_iso(last))
            from slipstream.memory.observe import capture
            capture(store_root, session)
        except Exception:
            from slipstream.mcp.jobs import log_exception
            log_exception("end of turn")


def _watch(feed: Feed) -> None:
    while True:
        time.sleep(IDLE_S / 4)
        _close(feed, IDLE_S)
