"""What happens at each turning point of a session, whichever way the host tells of it: recorded first, answered second."""
from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from slipstream.base.errorlog import log_error
from slipstream.events.ingest import record


def answer_event(tree_root: str, store_root: str, payload: dict[str, Any], source: str) -> str:
    """Records the event (`source` says by which way it came) and returns what the host is to be told; "" for nothing.

    Never raises: a part that fails is one line in errors.log, and the parts after it still run.
    """
    name = str(payload.get("hook_event_name") or "")
    try:
        record(store_root, payload, source)
    except Exception as error:
        log_error(store_root, f"record {name}", error)
    act = ANSWERS.get(name)
    if act is None:
        return ""
    try:
        return act(tree_root, store_root, payload)
    except Exception as error:
        log_error(store_root, f"answer {name}", error)
        return ""


def context_answer(name: str, text: str) -> str:
    """The host's JSON that adds `text` to the agent's context; "" when there is none."""
    if not text:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}, separators=(",", ":"))


Act = Callable[[str, str, dict[str, Any]], str]
ANSWERS: dict[str, Act] = {}
