"""Recorded runs made into fixtures: no path of this machine, no long text, one file for each kind of event."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .session import HERE, RECORDER, Session

LONGEST_CHARS = 600
KIND_FIELDS = ("source", "trigger", "reason", "notification_type")


def path_cleaner(session: Session) -> Callable[[str], str]:
    """A function that replaces this machine's paths by those of an imaginary developer."""

    def slug(path: Path) -> str:
        return re.sub(r"[^A-Za-z0-9]", "-", str(path))

    pairs = [
        (str(session.project), "/home/dev/project"),
        (slug(session.project), "-home-dev-project"),
        (str(session.home), "/home/dev"),
        (str(session.plugin), "/home/dev/plugins/slipstream"),
        (str(RECORDER), "/home/dev/plugins/recorder"),
        (str(session.root), "/home/dev/lab"),
        (str(HERE), "/home/dev/lab"),
        ("/tmp/claude-%d" % os.getuid(), "/tmp/claude-1000"),
    ]

    def clean(text: str) -> str:
        for old, new in pairs:
            text = text.replace(old, new)
        return re.sub(r"OS Version: Linux [^\\\"]+", "OS Version: Linux 6.1.0", text)

    return clean


def shorten(value: Any) -> Any:
    """Clip every long string of a JSON value."""
    if isinstance(value, str) and len(value) > LONGEST_CHARS:
        return value[:LONGEST_CHARS] + "[cut %d characters]" % (len(value) - LONGEST_CHARS)
    if isinstance(value, list):
        return [shorten(item) for item in value]
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    return value


def fixture_name(event: dict[str, Any]) -> str:
    """A file name that says which kind of which event this is."""
    name = str(event.get("hook_event_name", "unknown"))
    parts = [name]
    if event.get("tool_name"):
        parts.append(re.sub(r"[^A-Za-z0-9_]+", "_", str(event["tool_name"])))
    parts += [str(event[key]) for key in KIND_FIELDS if isinstance(event.get(key), str) and len(event[key]) < 30]
    if event.get("agent_id") and not name.startswith("Subagent"):
        parts.append("in_subagent")
    if name == "SubagentStop" and not event.get("agent_type"):
        parts.append("of_compaction")
    if name == "UserPromptSubmit" and "<task-notification>" in str(event.get("prompt")):
        parts.append("task_notification")
    return "-".join(parts) + ".json"


def write_fixtures(session: Session, target: Path) -> list[str]:
    """Names of the fixtures written; a file that is there stays as it is."""
    target.mkdir(parents=True, exist_ok=True)
    clean, written = path_cleaner(session), []
    for event in session.hook_inputs():
        path = target / fixture_name(event)
        if not path.exists():
            text = clean(json.dumps(shorten(event), indent=1, ensure_ascii=False))
            path.write_text(text + "\n", encoding="utf-8")
            written.append(path.name)
    return written
