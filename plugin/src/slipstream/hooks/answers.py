"""The events that are answered and not only recorded. What they do is the domain's; here is what only a process sees to."""
from __future__ import annotations

import os
import time
from typing import Any

from slipstream.memory.lifecycle import answer_event, attempt

# The host's own limits are 10 s and, for all hooks of a session's end, 1.5 s; ours are below them.
DEADLINES_S = {"SessionStart": 6.0, "SessionEnd": 1.1, "PreToolUse": 2.0}
DEADLINE_S = 3.0


def answer(tree_root: str, store_root: str, payload: dict[str, Any]) -> bytes:
    """The bytes for standard output: empty, or one JSON object, or plain text where the event takes that."""
    name = str(payload.get("hook_event_name"))
    _watch(store_root, name, DEADLINES_S.get(name, DEADLINE_S))
    if name == "SessionStart" and payload.get("source") != "compact":
        # The host names the model in an interactive session only: elsewhere nobody is there to look at a browser.
        address = _dashboard_address(tree_root, store_root, bool(payload.get("model")) and payload.get("source") == "startup")
        payload = {**payload, "dashboard_address": address}
    return answer_event(tree_root, store_root, payload, "hook").encode("utf-8", "replace")


def _watch(store_root: str, name: str, seconds: float) -> None:
    """Ends the process, silently and with status 0, when its time is up: the host's action goes on without us."""
    import _thread

    def end() -> None:
        time.sleep(seconds)
        from slipstream.events.errorlog import log_error
        log_error(store_root, name, TimeoutError(f"not done after {seconds:g} s; the session goes on without it"))
        os._exit(0)

    _thread.start_new_thread(end, ())


def _dashboard_address(tree_root: str, store_root: str, may_open: bool) -> str:
    if os.environ.get("SLIPSTREAM_DASHBOARD") == "0":
        return ""  # the switch of a whole session; those in files are the dashboard's own business

    def start() -> str | None:
        from slipstream.dashboard.launch import ensure_started
        return ensure_started(store_root, tree_root, may_open)
    return attempt(store_root, "dashboard", start) or ""
