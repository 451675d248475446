"""Tools that hosts call through `mcp_tool` hooks and that tools/list does not show: name -> the function that serves it.

A function takes (tree root, store root, payload, source) and returns the text of the answer: "" or a hook's JSON output.
What it has to record is on disk when it returns. What it raises goes to the errors log, and the host hears an empty
success, because a failed hook prints a line into somebody's terminal.
"""
from __future__ import annotations

from typing import Any

# name -> (module under slipstream, function)
HIDDEN_TOOLS: dict[str, tuple[str, str]] = {
    "sp_hook": ("memory.lifecycle", "answer_event"),
}
SOURCE = "mcp_tool"  # how the event came, as the log records it

WARM_DELAY_S, REST_DELAY_S, PAUSE_S = 0.045, 0.25, 0.01

# What a session's first hooks load, in the order of need; a server that has hooks loads it before they come. Then the rest.
WARM_MODULES = ("events.ingest_rare", "events.repair", "memory.lifecycle", "memory.turn_acts", "base.settings",
                "memory.briefing")
LATER_MODULES = ("events.backfill", "events.redact", "memory.observe", "memory.conversations", "context.status")


def warm_up(root: str) -> None:
    """After a moment, in which the lists are answered that the host waits for before a session's first turn.

    Each module takes some milliseconds in which no other thread runs, so what no early hook needs comes by and by.
    """
    import time
    time.sleep(WARM_DELAY_S)
    for name in WARM_MODULES:
        __import__("slipstream." + name)
    time.sleep(REST_DELAY_S)
    for name in LATER_MODULES:
        __import__("slipstream." + name)
        time.sleep(PAUSE_S)
    from slipstream.base.roots import find_store_root
    from slipstream.events.redact import redact_text
    # compiles the common patterns and the project's own
    redact_text("curl -H 'Authorization: Bearer abc' https://a:b@c/?token=d", find_store_root(root))


def call_hidden(name: str, arguments: Any, root: str) -> str:
    """Runs a hidden tool and returns the text of its answer. Never raises."""
    module_name, function_name = HIDDEN_TOOLS[name]
    store_root = None
    try:
        from slipstream.base.roots import find_store_root
        store_root = find_store_root(root)
        from slipstream.events.ingest_rare import decode_fields
        module = __import__("slipstream." + module_name, fromlist=[function_name])
        payload = decode_fields(arguments if isinstance(arguments, dict) else {})
        answer = getattr(module, function_name)(root, store_root, payload, SOURCE)
        return answer if isinstance(answer, str) else ""
    except Exception as error:
        try:
            from slipstream.base.errorlog import log_error
            log_error(store_root, "hidden tool " + name, error)
        except Exception:
            pass  # where an update took the pyz away, the log of errors may not load either
        return ""
