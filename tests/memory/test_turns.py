"""Turns of our own: outcomes, agents, compaction, resumed sessions, paths."""
from __future__ import annotations

import json
import os
from typing import Any

from slipstream.events.append import append_event
from slipstream.memory.embed import embed
from slipstream.memory.observations import load_observations
from slipstream.memory.observe import capture
from slipstream.memory.turns import fold_turns, tool_bucket

from tests.memory import StoreCase


def events(*rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    """(kind, label[, data[, agent]]) -> events."""
    return [{"seq": seq, "ts": f"2026-06-01T10:00:{seq:02d}.000Z", "session": "s", "kind": row[0], "label": row[1],
             "data": row[2] if len(row) > 2 else {}, "agent": row[3] if len(row) > 3 else "main"} for seq, row in enumerate(rows)]


class Fold(StoreCase):
    def test_outcome(self) -> None:
        records, _ = fold_turns(events(
            ("user-prompt", "make the tests pass"), ("post-tool", "Edit a.py", {"added": 3, "removed": 1, "file": "a.py"}),
            ("tool-failure", "Bash pytest -q", {"exit_code": 1, "error": "Exit code 1\ncollecting\nE  AssertionError: 1 != 2"}),
            ("post-tool", "Bash pytest -q", {"tests": "4 passed in 0.1s"}), ("stop", "turn finished")), 1)
        record = records[0]
        self.assertEqual((record["failed"], record["added"], record["removed"], record["tests"]), (1, 3, 1, "4 passed in 0.1s"))
        self.assertEqual(record["commands"][0], {"command": "pytest -q", "exitStatus": 1, "error": "E AssertionError: 1 != 2"})
        self.assertIn("4 passed", record["summary"])
        self.assertIn("pytest -q -> exit 1: E AssertionError: 1 != 2", record["detail"])

    def test_subagents_and_compaction_do_not_close_the_turn(self) -> None:
        records, consumed = fold_turns(events(
            ("user-prompt", "look around"), ("subagent-start", "scout"), ("post-tool", "Read b.py", {}, "a1"),
            ("subagent-stop", "scout", {}, "a1"), ("compact", "compaction start (auto)"), ("stop", "compaction (auto): saved digest x"),
            ("stop", "turn finished", {}, "a1"), ("post-tool", "Grep thing"), ("stop", "turn finished")), 1)
        self.assertEqual(len(records), 1)
        self.assertEqual((records[0]["kind"], records[0]["files"], records[0]["agents"], consumed), ("search", ["b.py"], ["a1"], 8))

    def test_a_session_start_in_mid_turn_keeps_the_turn(self) -> None:
        records, consumed = fold_turns(events(("user-prompt", "long work"), ("post-tool", "Edit a.py"), ("session-start", "resumed")), 1)
        self.assertEqual((records, consumed), ([], -1))
        records, _ = fold_turns(events(("user-prompt", "long work"), ("post-tool", "Edit a.py"), ("session-start", "resumed"),
                                       ("session-end", "session ended (other)")), 1)
        self.assertEqual(records[0]["files"], ["a.py"])

    def test_paths_are_relative_and_addresses_are_no_files(self) -> None:
        records, _ = fold_turns(events(
            ("user-prompt", "x y"), ("post-tool", "Edit /p/src/a.py"), ("post-tool", "Read /elsewhere/b.py"),
            ("post-tool", "WebFetch https://e.x/y.html"), ("post-tool", "Bash cat src/c.py"), ("post-tool", "Grep foo.bar"),
            ("stop", "done")), 1, "/p")
        self.assertEqual(records[0]["files"], ["src/a.py", "/elsewhere/b.py"])

    def test_buckets_go_by_whole_words(self) -> None:
        self.assertEqual([tool_bucket(name) for name in ("MultiEdit", "NotebookRead", "mcp__x__open_thread", "mcp__x__thread", "sp_symbol",
                                                         "TodoWrite", "PowerShell")],
                         ["edit", "read", "read", "note", "read", "note", "command"])

    def test_a_background_task_is_not_the_person(self) -> None:
        records, _ = fold_turns(events(("user-prompt", "start a scout"), ("stop", "turn finished"),
                                       ("user-prompt", "<task-notification><summary>Agent \"Scout\" finished</summary></task-notification>"),
                                       ("stop", "turn finished")), 1)
        self.assertEqual(records[1]["summary"], "task notification: Agent \"Scout\" finished — no tools")


class Records(StoreCase):
    def test_secrets_never_reach_the_record_or_its_vector(self) -> None:
        secret = "ghp_" + "a1B2" * 9
        self.turn(f"use the token {secret} to deploy", "Edit a.py")
        record = capture(self.root, "s1")[0]
        self.assertNotIn(secret, json.dumps(record))
        self.assertEqual(record["vector"], embed(f"{record['summary']}\n{record['detail']}\n{' '.join(record['tags'])}"))

    def test_a_cursor_beyond_the_log_is_ignored(self) -> None:
        self.turn("one two", "Edit a.py")
        self.write(".claude/slipstream/observations/s1.cursor", "9999")
        self.assertEqual([record["id"] for record in capture(self.root, "s1")], [1])

    def test_a_torn_last_record_is_written_again_once(self) -> None:
        self.turn("one two", "Edit a.py")
        capture(self.root, "s1")
        path = os.path.join(self.store, "observations", "s1.jsonl")
        with open(path, "rb") as stream:
            whole = stream.read()
        for cut in (len(whole) - 1, len(whole) // 2, 1):
            for name in (".counter", "s1.cursor", ".recent.json"):
                if os.path.exists(os.path.join(self.store, "observations", name)):
                    os.unlink(os.path.join(self.store, "observations", name))
            with open(path, "wb") as stream:
                stream.write(whole[:cut])
            capture(self.root, "s1")
            self.assertEqual([record["id"] for record in load_observations(self.root)], [1], cut)

    def test_the_transcript_adds_tests_and_lines(self) -> None:
        append_event(self.root, "s1", "main", "user-prompt", "test it please")
        append_event(self.root, "s1", "main", "post-tool", "Bash pytest", {"tool": "Bash", "tool_use_id": "t1"})
        append_event(self.root, "s1", "main", "post-tool", "Edit a.py", {"tool": "Edit", "tool_use_id": "t2", "file": "a.py"})
        append_event(self.root, "s1", "main", "stop", "turn finished")
        rows = [{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "..\n3 passed in 0.2s"}]}},
                {"type": "user", "toolUseResult": {"structuredPatch": [{"lines": ["+a", "+b", "-c", " d"]}]},
                 "message": {"content": [{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}]}}]
        path = self.write("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        record = capture(self.root, "s1", transcript_path=path)[0]
        self.assertEqual((record["tests"], record["added"], record["removed"]), ("3 passed in 0.2s", 2, 1))
