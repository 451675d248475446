"""Recorded events of the host, a project to play them in, and what counts as a valid answer."""
from __future__ import annotations

import copy
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from tests import PROGRAM, ROOT

RECORDED = Path(__file__).parent / "recorded"
PLUGIN = os.path.join(ROOT, "plugin")
_FILE = os.path.join(PLUGIN, "hooks", "hooks.json")
HOOKS = {"file": _FILE, "pyz": os.path.join(PLUGIN, "slipstream.pyz"), "code": json.loads(Path(_FILE).read_text(encoding="utf-8"))[
    "hooks"]["SessionEnd"][0]["hooks"][0]["args"][3]}  # the lines with which a process starts
TAKES_CONTEXT = {"SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart"}
LIMIT_CHARS = 10_000  # the host replaces a longer text by a preview


def recorded_events() -> dict[str, dict[str, Any]]:
    """Name -> the JSON the host sent."""
    events = {}
    for path in sorted(RECORDED.glob("*.json")):
        event = json.loads(path.read_text(encoding="utf-8"))
        if "hook_event_name" in event:
            events[path.stem] = event
    return events


def verb_of(event_name: str) -> str:
    """PostToolUse -> post-tool-use."""
    return "".join("-" + c.lower() if c.isupper() else c for c in event_name).lstrip("-")


def why_invalid(event_name: str, answer: bytes) -> str | None:
    """What the host would not take in a hook's standard output; None when it is fine."""
    text = answer.decode("utf-8")
    if not text:
        return None
    if event_name == "PreCompact":
        return None if len(text) <= LIMIT_CHARS and not text.startswith("{") else "not a short plain text"
    try:
        value = json.loads(text)
    except ValueError:
        return f"not JSON: {text[:200]!r}"
    if set(value) != {"hookSpecificOutput"}:
        return f"keys {sorted(value)}"
    own = value["hookSpecificOutput"]
    if set(own) != {"hookEventName", "additionalContext"} or own["hookEventName"] != event_name:
        return f"hookSpecificOutput {own}"
    if event_name not in TAKES_CONTEXT:
        return f"{event_name} takes no context"
    return None if 0 < len(own["additionalContext"]) <= LIMIT_CHARS else "empty or too long"


def context_of(answer: bytes | str) -> str:
    """The text an answer adds to the agent's context."""
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


def mutate(event: dict[str, Any], rng: random.Random) -> bytes:
    """The event with something wrong: fields gone or of another type, hostile values, torn or invalid bytes."""
    values = ["", None, 0, -1, True, [], {}, [[]], {"a": {"b": []}}, "\ud800", "\x00", "../../etc", "x" * 5000, 1e308, "é\u202e"]
    changed = json.loads(json.dumps(event))
    for _ in range(rng.randint(1, 4)):
        holder: Any = changed
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(holder[key], (dict, list)) and holder[key] and rng.random() < 0.6:
                holder = holder[key]
                continue
            if rng.random() < 0.3:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(rng.choice(values))
            break
    raw = json.dumps(changed, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")
    kind = rng.random()
    if kind < 0.1:
        return raw[:rng.randint(0, len(raw))]
    if kind < 0.15:
        at = rng.randint(0, len(raw))
        return raw[:at] + bytes(rng.choices(range(256), k=5)) + raw[at:]
    if kind < 0.18:
        return rng.choice([b"", b"null", b"[]", b"3", b'"x"', b"[" * 50_000, raw + raw, b"\xef\xbb\xbf" + raw])
    return raw


class HookCase(unittest.TestCase):
    """A project of its own, without a dashboard and with a HOME of its own, and a host that sends it events."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True) if sys.version_info >= (3, 10) else \
            tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = os.path.realpath(folder.name)
        self.root, self.home, temporary = (os.path.join(self.base, name) for name in ("project", "home", "tmp"))
        for path in (self.root, self.home, temporary):
            os.makedirs(path)
        self.store = os.path.join(self.root, ".claude", "slipstream")
        self.env = {"PATH": os.environ.get("PATH", ""), "HOME": self.home, "CLAUDE_PROJECT_DIR": self.root,
                    "SLIPSTREAM_DASHBOARD": "0", "TMPDIR": temporary, "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")}

    def in_process(self, event_name: str, raw: bytes) -> bytes:
        """What `hook EVENT` prints; the interpreter is this one."""
        from slipstream.hooks.dispatch import main

        class Stream:
            def __init__(self, data: bytes = b"") -> None:
                self.buffer = io.BytesIO(data)

        out = Stream()
        with mock.patch.dict(os.environ, self.env, clear=True), mock.patch("sys.stdin", Stream(raw)), \
                mock.patch("sys.stdout", out), mock.patch("slipstream.hooks.answers._watch"):
            self.assertEqual(main(["hook", verb_of(event_name)]), 0)
        return out.buffer.getvalue()

    def process(self, event_name: str, raw: bytes, python: str = sys.executable, **extra: str) -> subprocess.CompletedProcess[bytes]:
        env = {**self.env, **extra}
        return subprocess.run([python, "-I", "-S", PROGRAM, "hook", verb_of(event_name)], input=raw, capture_output=True,
                              env={key: value for key, value in env.items() if value}, timeout=60, check=False, cwd=self.base)

    def events(self) -> list[dict[str, Any]]:
        """All that was recorded, in the order of the files' names."""
        found = []
        folder = Path(self.store, "dashboard")
        for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else []:
            found += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return found

    def errors(self) -> str:
        paths = [*Path(self.base).rglob("*errors.log")]
        return "".join(path.read_text(encoding="utf-8") for path in paths)
