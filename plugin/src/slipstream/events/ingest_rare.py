"""Payloads of hooks other than a finished, ordinary tool call -> events; and hook fields that arrive as text -> a payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipstream.base.fast_json import loads
from slipstream.events.append import append_event
from slipstream.events.ingest import count_bytes, substance

MAIN = "main"
MAX_STEP_CHARS = 10_000  # the log cuts much shorter, after the redactor: half a secret is not told from a word
_TEXT_FIELDS = frozenset(
    "session_id transcript_path cwd hook_event_name prompt_id prompt tool_name tool_use_id agent_id agent_type source "
    "message notification_type title error error_details last_assistant_message trigger custom_instructions reason "
    "compact_summary agent_transcript_path command_name command_args model permission_mode".split()
)
_KINDS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreToolUse": "pre-tool",
    "PostToolUse": "post-tool",
    "PostToolUseFailure": "tool-failure",
    "PermissionRequest": "permission",
    "PermissionDenied": "permission",
    "Notification": "notification",
    "SubagentStart": "subagent-start",
    "SubagentStop": "subagent-stop",
    "Stop": "stop",
    "StopFailure": "stop",
    "PreCompact": "compact",
    "PostCompact": "compact",
    "SessionEnd": "session-end",
    "TaskCreated": "plan",
    "TaskCompleted": "plan",
}


def decode_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Hook fields as an MCP hook call brings them (all text, objects as JSON, absent as "") -> a payload as a hook's
    standard input has it."""
    payload: dict[str, Any] = {}
    for key, value in fields.items():
        if value in ("", None):
            continue
        if isinstance(value, str) and key not in _TEXT_FIELDS and (value[:1] in '{["-tfn' or value[:1].isdigit()):
            try:
                value = loads(value)
            except (ValueError, RecursionError):
                pass
        payload[key] = value
    return payload


def record_rare(store_root: str, payload: Mapping[str, Any], source: str, tree_root: str, ts: str) -> int | None:
    """See ingest.record. Odd types inside a payload become their text; nothing but the log's own OSError is raised."""
    hook = payload.get("hook_event_name")
    if not isinstance(hook, str) or hook not in _KINDS:
        return None
    kind = _KINDS[hook]
    label, data = _describe(hook, payload, tree_root, store_root)
    agent = _text(payload, "agent_id") or MAIN
    if hook == "SubagentStop" and not payload.get("agent_type"):
        return None  # the one that compaction fires: it worked for the summary, nobody's agent ended
    if hook == "UserPromptSubmit" and "notification" in data:
        kind = "notification"
    known = {"source": source, **data, "agent_type": _text(payload, "agent_type")}
    return append_event(
        store_root,
        _text(payload, "session_id") or MAIN,
        agent,
        kind,
        label,
        {key: value for key, value in known.items() if value not in (None, "", [], {})},
        ts,
    )


def _describe(hook: str, payload: Mapping[str, Any], tree_root: str, store_root: str) -> tuple[str, dict[str, Any]]:
    """(label, data) for one hook's payload."""

    def text(key: str) -> str:
        return _text(payload, key)

    if hook in ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"):
        return _describe_tool(hook, payload, tree_root, store_root)
    if hook == "SessionStart":
        start = text("source") or "startup"
        return f"session started ({start})", {
            "start": start,
            "model": text("model"),
            **_place(tree_root),
            "context_tokens": payload.get("context_tokens"),
        }
    if hook == "UserPromptSubmit":
        prompt, prompt_id = text("prompt"), text("prompt_id")
        if prompt.lstrip().startswith("<task-notification>"):
            import re

            fields = dict(re.findall(r"<([a-z-]+)>([^<]*)</\1>", prompt[:4000]))
            return (
                f"task {fields.get('status', '')}: {fields.get('summary', '')}".strip(),
                {
                    "notification": "task",
                    "agent": fields.get("task-id"),
                    "status": fields.get("status"),
                    "tool_use_id": fields.get("tool-use-id"),
                },
            )
        return prompt.strip() or "(empty prompt)", {
            "prompt_id": prompt_id if len(prompt_id) == 36 and prompt_id.replace("-", "").isalnum() else "",
            "bytes": len(prompt.encode("utf-8", "replace")),
            **_place(tree_root),
        }
    if hook == "Notification":
        return text("message") or "notification", {"notification": text("notification_type"), "title": text("title")}
    if hook == "SubagentStart":
        return text("agent_type") or "subagent", {}
    if hook == "SubagentStop":
        failed = bool(payload.get("error") or payload.get("failed"))
        return (
            f"{text('agent_type') or 'subagent'} {'failed' if failed else 'finished'}",
            {"failed": failed or None, "said": text("last_assistant_message")[:65536]},
        )
    if hook == "Stop":
        waiting = payload.get("background_tasks")
        return "turn finished", {"background": len(waiting) if isinstance(waiting, list) else None}
    if hook == "StopFailure":
        why = text("error_details") or text("last_assistant_message") or text("error")
        return f"turn failed: {why}", {"failed": True, "outcome": "error", "error": text("error")}
    if hook in ("PreCompact", "PostCompact"):
        phase = "start" if hook == "PreCompact" else "done"
        trigger = "manual" if text("trigger") == "manual" else "auto"
        return f"compaction {phase} ({trigger})", {
            "phase": phase,
            "trigger": trigger,
            "instructions": text("custom_instructions"),
            "bytes": len(text("compact_summary").encode("utf-8", "replace")) or None,
        }
    if hook == "SessionEnd":
        return f"session ended ({text('reason') or 'other'})", {"reason": text("reason")}
    subject = text("task_subject") or text("subject") or text("task_description") or "task"
    done = hook == "TaskCompleted"
    return f"{'done' if done else 'task'}: {subject}", {
        "task": {"id": text("task_id"), "subject": subject, "status": "completed" if done else "pending"}
    }


def _describe_tool(hook: str, payload: Mapping[str, Any], tree_root: str, store_root: str) -> tuple[str, dict[str, Any]]:
    tool = _text(payload, "tool_name") or "tool"
    asked = payload.get("tool_input")
    asked = asked if isinstance(asked, dict) else {}
    key, what = substance(asked, (tree_root, store_root, _text(payload, "cwd")))
    answer = payload.get("tool_response")
    data: dict[str, Any] = {
        "tool": tool,
        "tool_use_id": _text(payload, "tool_use_id"),
        "duration_ms": _number(payload.get("duration_ms")),
        "file": what if key in ("file_path", "notebook_path") else "",
    }
    if hook == "PostToolUse":
        answered = answer if isinstance(answer, dict) else {}
        data.update(bytes=count_bytes(answer), outcome="interrupted" if answered.get("interrupted") is True else "ok")
        if tool in ("Agent", "Task"):
            what = str(asked.get("description") or what)
            data.update(
                agent=answered.get("agentId") or answered.get("agent_id"),
                subagent_type=asked.get("subagent_type"),
                outcome="launched" if answered.get("status") == "async_launched" else "ok",
            )
        data.update(_plan(tool, asked))
    elif hook == "PostToolUseFailure":
        data.update(
            outcome="interrupted" if payload.get("is_interrupt") in (True, "true") else "error",
            error=_text(payload, "error")[:65536],
            bytes=len(_text(payload, "error").encode("utf-8", "replace")),
        )
        words = data["error"][:40].split(None, 3)
        if words[:2] == ["Exit", "code"] and words[2:] and words[2].isdecimal():
            data["exit_code"] = int(words[2])
    elif hook == "PermissionRequest":
        data["outcome"] = "asked"
    elif hook == "PermissionDenied":
        data.update(outcome="denied", error=_text(payload, "reason"))
    return f"{tool} {what}".rstrip(), data


def _plan(tool: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The plan a tool call sets (`plan`, with `plan_status` beside it) or the one task it changes (`task`)."""
    if tool == "TodoWrite" and isinstance(asked.get("todos"), list):
        todos = [todo for todo in asked["todos"] if isinstance(todo, dict)][:100]
        return {
            "plan": [str(todo.get("content") or todo.get("activeForm") or "")[:MAX_STEP_CHARS] for todo in todos],
            "plan_status": [str(todo.get("status") or "pending") for todo in todos],
        }
    if tool == "ExitPlanMode" and isinstance(asked.get("plan"), str):
        import re

        steps = re.findall(r"(?m)^\s*(?:[-*]|\d+[.)])\s+(.+)$", asked["plan"])[:100]
        return {"plan": [step.strip()[:MAX_STEP_CHARS] for step in steps]}
    if tool in ("TaskCreate", "TaskUpdate"):
        return {
            "task": {
                "id": str(asked.get("taskId") or ""),
                "subject": str(asked.get("subject") or asked.get("description") or "")[:MAX_STEP_CHARS],
                "status": str(asked.get("status") or ("pending" if tool == "TaskCreate" else "")),
            }
        }
    return {}


def _place(tree_root: str) -> dict[str, str]:
    from slipstream.base.git import read_place

    return read_place(tree_root) if tree_root else {}


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
