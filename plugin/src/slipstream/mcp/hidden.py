"""Tools that hosts call through `mcp_tool` hooks and that tools/list does not show: name -> the function that serves it.

A function takes (tree root, store root, payload, source) and returns the text of the answer: "" or a hook's JSON output.
What it has to record is on disk when it returns. What it raises goes to the errors log, and the host hears an empty
success, because a failed hook prints a line into somebody's terminal.
"""
from __future__ import annotations

from typing import Any, Callable

# name -> (module under slipstream, function)
HIDDEN_TOOLS: dict[str, tuple[str, str]] = {
    "sp_hook": ("memory.lifecycle", "answer_event"),
}
SOURCE = "mcp_tool"  # how the event came, as the log records it

WAIT_S, PAUSE_S, MAX_WAIT_S = 0.002, 0.004, 0.5

# What a session's hooks load, each after what it imports, so that no step takes long: of the first prompt, of the first
# prompt where there are facts, of the first calls and the turn's end.
FIRST = "mcp.calls memory.lifecycle events.ingest_rare base.errors base.store events.repair base.git memory.turn_acts"
FACTS = ("re base.text base.files base.settings memory.model memory.fact_index memory.fact_reading memory.digest_facts "
         "memory.authors memory.signal memory.recall json memory.recent memory.resume memory.shown memory.briefing")
LATER = ("base.files events.backfill re events.patterns base.lazy_pattern events.assignments events.spans events.redact json "
         "events.names events.log memory.embed memory.observations memory.recent memory.outcome memory.transcript base.text "
         "memory.turns memory.observe context.status memory.conversations")


def warm_up(root: str, is_busy: Callable[[], bool]) -> None:
    """Loads what hooks will need before they come, a module at a time, and only while nobody waits for an answer."""
    _load(FIRST, is_busy)
    from slipstream.base.roots import find_store_root
    from slipstream.memory.lifecycle import has_facts
    store_root = find_store_root(root)
    if has_facts(store_root):
        _load(FACTS, is_busy)
    _load(LATER, is_busy)
    from slipstream.events.redact import redact_text
    # compiles the common patterns and the project's own
    redact_text("curl -H 'Authorization: Bearer abc' https://a:b@c/?token=d", store_root)


def _load(names: str, is_busy: Callable[[], bool]) -> None:
    import time
    for name in names.split():
        deadline = time.monotonic() + MAX_WAIT_S
        time.sleep(PAUSE_S)
        while is_busy() and time.monotonic() < deadline:  # no other thread runs while a module is compiled
            time.sleep(WAIT_S)
        __import__("slipstream." + name if "." in name else name)


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
            from slipstream.events.errorlog import log_error
            log_error(store_root, "hidden tool " + name, error)
        except Exception:
            pass  # where an update took the pyz away, the log of errors may not load either
        return ""
