"""Hook payloads to events: substance in labels, bytes from every answer's shape, paths from the tree, odd payloads."""
from __future__ import annotations

import json
import os
import random
import unittest
from typing import Any

from slipstream.events.fold import Fold
from slipstream.events.ingest import count_bytes, record
from slipstream.events.ingest_rare import decode_fields
from slipstream.events.log import list_sessions, read_events

from tests.folders import FolderCase

BASE = {"session_id": "aa4d3a7a-3d40-4449-a6f5-58e0ce5fc81c", "transcript_path": "/home/dev/t.jsonl", "cwd": "/home/dev/project/sub"}
TREE = "/home/dev/project"


def tool(hook: str, name: str, asked: Any, answer: Any = None, **more: Any) -> dict[str, Any]:
    return {**BASE, "hook_event_name": hook, "tool_name": name, "tool_input": asked, "tool_use_id": "toolu_1", "duration_ms": 12,
            **({} if answer is None else {"tool_response": answer}), **more}


class Recording(FolderCase):
    def event(self, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
        before = len(read_events(self.root, str(payload.get("session_id") or "main")))
        self.assertEqual(record(self.root, payload, "hook", TREE, **more), before)
        return read_events(self.root, str(payload.get("session_id") or "main"))[-1]

    def test_labels_tell_what_was_asked(self) -> None:
        for name, asked, label in (
                ("Read", {"file_path": TREE + "/src/a.py"}, "Read src/a.py"), ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts"),
                ("Bash", {"command": "ls -l", "description": "List"}, "Bash ls -l"), ("Grep", {"pattern": "x.*y", "path": "src"}, "Grep x.*y"),
                ("WebFetch", {"url": "https://e.org", "prompt": "p"}, "WebFetch https://e.org"), ("Skill", {"skill": "s"}, "Skill s"),
                ("mcp__plugin_slipstream_slipstream__sp_symbol", {"file": "a.py", "symbol": "f"}, "mcp__plugin_slipstream_slipstream__sp_symbol a.py"),
                ("ListAgents", {}, "ListAgents")):
            found = self.event(tool("PostToolUse", name, asked, "ok"))
            self.assertEqual((found["kind"], found["label"]), ("post-tool", label))
            self.assertEqual(found["data"]["tool"], name)
        self.assertEqual(self.event(tool("PostToolUse", "Edit", {"file_path": TREE + "/src/a.py"}, "ok"))["data"]["file"], "src/a.py")

    def test_data_of_a_finished_call(self) -> None:
        found = self.event(tool("PostToolUse", "Bash", {"command": "x"}, {"stdout": "abc", "stderr": "é", "interrupted": False}, agent_id="a1", agent_type="scout"))
        self.assertEqual(found["agent"], "a1")
        self.assertEqual(found["data"], {"source": "hook", "tool": "Bash", "tool_use_id": "toolu_1", "duration_ms": 12, "agent_type": "scout",
                                         "outcome": "ok", "bytes": 5})

    def test_bytes_of_every_shape(self) -> None:
        for answer, size in (("abc", 3), (None, 0), ({"type": "text", "file": {"content": "12345", "numLines": 1}}, 5), ({"stdout": "ab", "stderr": "c"}, 3),
                             ([{"type": "text", "text": "abcd"}], 4), ({"content": [{"type": "text", "text": "xy"}]}, 2), ("é", 2), ({"stdout": "", "stderr": ""}, 0),
                             ({"filePath": "a", "originalFile": "z" * 9999, "structuredPatch": []}, 0), ("\ud800", 3)):
            self.assertEqual(count_bytes(answer), size, str(answer)[:80])
        self.assertGreater(count_bytes({"odd": 1}), 3)

    def test_failure_keeps_the_error_and_its_exit_status(self) -> None:
        found = self.event(tool("PostToolUseFailure", "Bash", {"command": "false"}, error="Exit code 3\nno such file", is_interrupt=False))
        self.assertEqual(found["kind"], "tool-failure")
        self.assertEqual((found["data"]["outcome"], found["data"]["exit_code"]), ("error", 3))
        self.assertEqual(self.event(tool("PostToolUseFailure", "Bash", {}, error="x", is_interrupt=True))["data"]["outcome"], "interrupted")

    def test_prompts_and_what_only_looks_like_one(self) -> None:
        found = self.event({**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "  fix it  "})
        self.assertEqual((found["kind"], found["label"]), ("user-prompt", "fix it"))
        found = self.event({**BASE, "hook_event_name": "UserPromptSubmit", "prompt":
                            "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Scout is back</summary>"})
        self.assertEqual((found["kind"], found["label"], found["data"]["agent"]), ("notification", "task completed: Scout is back", "a1"))

    def test_agents_plans_and_permissions(self) -> None:
        found = self.event(tool("PostToolUse", "Agent", {"description": "Look", "prompt": "p", "subagent_type": "scout"},
                                {"isAsync": True, "status": "async_launched", "agentId": "a9"}))
        self.assertEqual((found["label"], found["data"]["agent"], found["data"]["outcome"]), ("Agent Look", "a9", "launched"))
        found = self.event(tool("PostToolUse", "TodoWrite", {"todos": [{"content": "one", "status": "completed"}, {"content": "two"}]}, "ok"))
        self.assertEqual((found["data"]["plan"], found["data"]["plan_status"]), (["one", "two"], ["completed", "pending"]))
        found = self.event(tool("PostToolUse", "ExitPlanMode", {"plan": "Plan:\n1. first\n- second\nprose"}, "ok"))
        self.assertEqual(found["data"]["plan"], ["first", "second"])
        found = self.event(tool("PermissionRequest", "Bash", {"command": "rm x"}))
        self.assertEqual((found["kind"], found["label"], found["data"]["outcome"]), ("permission", "Bash rm x", "asked"))

    def test_the_other_hooks(self) -> None:
        for hook, more, kind, label in (
                ("SessionStart", {"source": "resume", "model": "m"}, "session-start", "session started (resume)"),
                ("Stop", {"background_tasks": []}, "stop", "turn finished"), ("StopFailure", {"error": "overloaded"}, "stop", "turn failed: overloaded"),
                ("PreCompact", {"trigger": "auto"}, "compact", "compaction start (auto)"), ("PostCompact", {"trigger": "manual"}, "compact", "compaction done (manual)"),
                ("SessionEnd", {"reason": "clear"}, "session-end", "session ended (clear)"), ("SubagentStart", {"agent_type": "scout"}, "subagent-start", "scout"),
                ("SubagentStop", {"agent_type": "scout"}, "subagent-stop", "scout finished"),
                ("Notification", {"message": "hello", "notification_type": "idle_prompt"}, "notification", "hello"),
                ("TaskCompleted", {"task_id": "3", "task_subject": "tidy"}, "plan", "done: tidy")):
            found = self.event({**BASE, "hook_event_name": hook, **more})
            self.assertEqual((found["kind"], found["label"]), (kind, label))

    def test_nothing_for_what_is_no_event(self) -> None:
        for payload in ({}, {**BASE, "hook_event_name": "PostToolBatch"}, {**BASE, "hook_event_name": 7}, {**BASE, "hook_event_name": "InstructionsLoaded"},
                        {**BASE, "hook_event_name": "SubagentStop", "agent_id": "x", "agent_type": ""}):
            self.assertIsNone(record(self.root, payload))

    def test_text_fields_of_a_tool_hook_become_the_same_event(self) -> None:
        payload = tool("PostToolUse", "Bash", {"command": "ls"}, {"stdout": "abc", "stderr": ""})
        fields = {key: value if isinstance(value, str) else json.dumps(value) for key, value in payload.items()}
        fields["agent_id"] = ""
        one, two = self.event(payload), self.event(decode_fields(fields))
        for key in ("kind", "label", "agent", "data"):
            self.assertEqual(one[key], two[key])
        self.assertEqual(decode_fields({"prompt": "[1, 2]", "session_id": "12", "x": "{bad", "y": ""}), {"prompt": "[1, 2]", "session_id": "12", "x": "{bad"})

    def test_mutated_payloads_never_raise_and_always_fold(self) -> None:
        rng = random.Random(11)
        odd: list[Any] = [None, True, 0, -1.5, "", "x", "\ud800", [], [1], {}, {"a": {"b": []}}, "y" * 3000, {"file_path": 3}, {"todos": "x"}, {"todos": [1, {}]}]
        hooks = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "Notification",
                 "SubagentStart", "SubagentStop", "Stop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd", "TaskCreated", "TaskCompleted"]
        names = ["Bash", "Read", "Agent", "TodoWrite", "ExitPlanMode", "TaskUpdate", "mcp__a__b"]
        for _ in range(1500):
            payload = tool(rng.choice(hooks), rng.choice(names), {"command": "x"}, {"stdout": "y"})
            payload["session_id"] = "s"
            for key in rng.sample(["tool_name", "tool_input", "tool_response", "tool_use_id", "duration_ms", "agent_id", "agent_type", "prompt", "error", "cwd",
                                   "is_interrupt", "message", "trigger", "reason", "source", "background_tasks", "task_id", "last_assistant_message"], rng.randrange(1, 5)):
                payload[key] = rng.choice(odd)
            record(self.root, payload, "hook", rng.choice(["", TREE, self.root]))
        made = Fold()
        for event in read_events(self.root, "s"):
            made.apply(event)
        self.assertEqual([row["session"] for row in list_sessions(self.root)], ["s"])
        self.assertGreater(made.state()["events"], 1300)
        self.assertTrue(os.path.isdir(self.root))


if __name__ == "__main__":
    unittest.main()
