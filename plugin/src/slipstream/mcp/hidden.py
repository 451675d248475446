"""Tools that hosts call through `mcp_tool` hooks and that tools/list does not show: name -> the function that serves it.

A function takes (tree root, store root, payload, source) and returns the text of the answer: "" or a hook's JSON output.
What it has to record is on disk when it returns. What it raises goes to the errors log, and the host hears an empty
success, because a failed hook prints a line into somebody's terminal.
"""
from __future__ import annotations

import json
from typing import Any

# name -> (module under slipstream, function)
HIDDEN_TOOLS: dict[str, tuple[str, str]] = {
    "sp_hook": ("memory.lifecycle", "answer_event"),
}
SOURCE = "mcp_tool"  # how the event came, as the log records it
# Placeholders of a hook's `input` arrive as text: "" when absent, an object or a list as compact JSON.
_STRUCTURED = ("tool_input", "tool_response", "tool_calls", "mcp_server", "background_tasks", "session_crons")
_NUMBERS = ("duration_ms",)
_FLAGS = ("stop_hook_active", "is_interrupt")


def decode_payload(arguments: dict[str, Any]) -> dict[str, Any]:
    """A hook's arguments as the event's own fields: absent ones dropped, objects parsed, numbers and flags typed.

    Names with dots (`effort.level`) become nested objects, as the event has them. Nothing is refused.
    """
    payload: dict[str, Any] = {}
    for name, value in arguments.items():
        if value in ("", None):
            continue
        if isinstance(value, str):
            value = _decode(name, value)
        target = payload
        *outer, last = name.split(".")
        for part in outer:
            inner = target.setdefault(part, {})
            if not isinstance(inner, dict):
                break
            target = inner
        else:
            target[last] = value
    return payload


def call_hidden(name: str, arguments: Any, root: str) -> str:
    """Runs a hidden tool and returns the text of its answer. Never raises."""
    module_name, function_name = HIDDEN_TOOLS[name]
    store_root = None
    try:
        from slipstream.base.roots import find_store_root
        store_root = find_store_root(root)
        module = __import__("slipstream." + module_name, fromlist=[function_name])
        payload = decode_payload(arguments if isinstance(arguments, dict) else {})
        answer = getattr(module, function_name)(root, store_root, payload, SOURCE)
        return answer if isinstance(answer, str) else ""
    except Exception as error:
        from slipstream.base.errorlog import log_error
        log_error(store_root, "hidden tool " + name, error)
        return ""


def _decode(name: str, value: str) -> Any:
    if name in _STRUCTURED and value[:1] in "{[":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    if name in _NUMBERS:
        try:
            return int(value)
        except ValueError:
            return value
    if name in _FLAGS:
        return value == "true"
    return value
