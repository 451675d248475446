"""One payload of a hook -> one event, the same from every surface. HOT: finished tool calls; ingest_rare.py has the rest."""
from __future__ import annotations

import os

from slipstream.base.fast_json import dumps
from slipstream.events.append import append_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ASKED = "file_path notebook_path command pattern query url description skill file symbol path prompt name around fact".split()
RARE = ("Agent", "Task", "TodoWrite", "TaskCreate", "TaskUpdate", "ExitPlanMode")  # start an agent or change the plan


def record(store_root: str, payload: dict[str, Any], source: str = "hook", tree_root: str = "", ts: str = "") -> int | None:
    """The event's number (-1: it waits beside the log); None when the payload is worth no event. OSError: not recorded."""
    tool, asked, answer = payload.get("tool_name"), payload.get("tool_input"), payload.get("tool_response")
    if payload.get("hook_event_name") != "PostToolUse" or type(asked) is not dict or type(tool) is not str or tool in RARE:
        from slipstream.events.ingest_rare import record_rare
        return record_rare(store_root, payload, source, tree_root, ts)
    key, what = substance(asked, (tree_root, store_root, payload.get("cwd")))
    data = {"source": source, "tool": tool, **{key: payload.get(key) for key in ("tool_use_id", "duration_ms", "agent_type")},
            "outcome": "interrupted" if type(answer) is dict and answer.get("interrupted") is True else "ok",
            "bytes": count_bytes(answer), "file": what if key in ASKED[:2] else None}
    data = {key: value for key, value in data.items() if value not in (None, "")}
    session, agent = (str(payload.get(key) or "main") for key in ("session_id", "agent_id"))
    return append_event(store_root, session, agent, "post-tool", (tool + " " + what).rstrip(), data, ts)


def substance(asked: dict[str, Any], roots: tuple[Any, ...] = ()) -> tuple[str, str]:
    """(key, text) of what a tool was asked for; a path inside one of the roots is told from there."""
    key, what = next(((key, asked[key]) for key in ASKED if asked.get(key) and type(asked[key]) is str), ("", ""))
    root = next((root for root in roots if key in ASKED[:2] and root and what.startswith(str(root) + os.sep)), None)
    return key, what if root is None else what[len(root) + 1:].replace(os.sep, "/")


def count_bytes(answer: object) -> int:
    """Bytes of a tool's answer as the model sees it, from each shape that hosts send."""
    if type(answer) is dict:
        inner = answer["file"] if type(answer.get("file")) is dict else answer
        text = inner.get("structuredPatch", inner.get("content"))
        if text is not None or "stdout" in answer:
            answer = text if text is not None else str(answer["stdout"]) + str(answer.get("stderr", ""))
    if type(answer) is list:
        answer = "".join(str(part["text"]) if type(part) is dict and "text" in part else dumps(part) for part in answer)
    return len((answer if type(answer) is str else "" if answer is None else dumps(answer)).encode("utf-8", "surrogatepass"))
