"""Calls that only the transcript knows are appended once, from a file that is really the host's."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from slipstream.base.clock import now_iso
from slipstream.base.files import open_regular
from slipstream.events import repair
from slipstream.events.append import append_event
from slipstream.events.backfill import accept_transcript, backfill, recorded_ids
from slipstream.events.log import log_path

RECORDED = Path(__file__).parents[1] / "hooks" / "recorded"
SESSION = "aa4d3a7a-3d40-4449-a6f5-58e0ce5fc81c"
AGENT = "af46301413733b32a"


class Backfill(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = os.path.realpath(folder.name)
        self.root = os.path.join(self.base, "project")
        os.makedirs(self.root)
        self.projects = Path(self.base, "config", "projects", "-home-dev-project")
        self.projects.mkdir(parents=True)
        self.transcript = self.projects / (SESSION + ".jsonl")
        shutil.copy(RECORDED / "transcript-main.jsonl", self.transcript)
        self.env = {"CLAUDE_CONFIG_DIR": os.path.join(self.base, "config")}

    def accept(self, path: object, session: str = SESSION) -> str | None:
        return accept_transcript(str(path), session, self.env)

    def logged(self) -> list[dict[str, Any]]:
        path = Path(self.root, ".claude", "slipstream", "dashboard", SESSION + ".jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def test_what_is_missing_is_appended_once(self) -> None:
        nested = self.projects / SESSION / "subagents"
        nested.mkdir(parents=True)
        shutil.copy(RECORDED / "transcript-subagent.jsonl", nested / f"agent-{AGENT}.jsonl")
        wanted = {}
        for path in (self.transcript, nested / f"agent-{AGENT}.jsonl"):
            for line in path.read_text().splitlines():
                content = (json.loads(line).get("message") or {}).get("content")
                for block in content if isinstance(content, list) else []:
                    if block.get("type") == "tool_result":
                        wanted[block["tool_use_id"]] = "tool-failure" if block.get("is_error") else "post-tool"
        first = next(iter(wanted))
        append_event(self.root, SESSION, "main", wanted[first], "known", {"tool_use_id": first})
        accepted = self.accept(self.transcript)
        assert accepted is not None
        self.assertEqual(backfill(self.root, SESSION, accepted), len(wanted) - 1)
        self.assertEqual({event["data"]["tool_use_id"]: event["kind"] for event in self.logged()}, wanted)
        self.assertEqual({event["data"].get("source") for event in self.logged()[1:]}, {"transcript"})
        self.assertIn(AGENT, {event["agent"] for event in self.logged()})
        self.assertEqual(backfill(self.root, SESSION, accepted), 0)
        self.assertEqual(recorded_ids(self.root, SESSION), set(wanted))

    def test_what_waits_and_is_taken_in_just_then_is_known(self) -> None:
        append_event(self.root, SESSION, "main", "post-tool", "Read", {"tool_use_id": "t1"})
        path = log_path(self.root, SESSION)
        with open(path, encoding="ascii") as log:
            line = "{" + log.read().partition(",")[2].strip()
        for turn in (1, 2):  # a writer comes before the first file is opened, or before the second
            repair.spill(path, line.replace("t1", "t2"))
            opened: list[str] = []

            def open_after_a_writer(name: str, turn: int = turn, opened: list[str] = opened) -> int:
                opened.append(name)
                if len(opened) == turn:
                    repair.drain(path)
                return open_regular(name)

            with self.subTest(turn), mock.patch("slipstream.events.backfill.open_regular", open_after_a_writer):
                self.assertEqual(recorded_ids(self.root, SESSION), {"t1", "t2"})
            with open(path, "rb+") as log:
                log.truncate(len(log.readline()))

    def test_a_call_without_its_answer_waits(self) -> None:
        use = {"message": {"content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}]}}
        answer = {"message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}}
        self.transcript.write_text(json.dumps(use) + "\n" + json.dumps({"type": "system"}) + "\n")
        path = str(self.transcript)
        self.assertEqual(backfill(self.root, SESSION, path), 0)
        with self.transcript.open("a") as out:
            out.write(json.dumps(answer))  # torn: no line end yet
        self.assertEqual(backfill(self.root, SESSION, path), 0)
        with self.transcript.open("a") as out:
            out.write("\nnot json\n")
        self.assertEqual(backfill(self.root, SESSION, path), 1)
        self.assertEqual([event["label"] for event in self.logged()], ["Read /a"])

    def test_what_may_still_come_by_itself_is_left_for_later(self) -> None:
        now = now_iso()
        lines: list[dict[str, Any]] = []
        for name in ("t1", "t2"):
            lines += [{"message": {"content": [{"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": name}}]}},
                      {"timestamp": now, "message": {"content": [{"type": "tool_result", "tool_use_id": name, "content": "x"}]}}]
        self.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
        path = str(self.transcript)
        self.assertEqual(backfill(self.root, SESSION, path, settle_s=60), 0)
        self.assertEqual(backfill(self.root, SESSION, path, only={"t2"}), 1)
        self.assertEqual(backfill(self.root, SESSION, path), 1)
        self.assertEqual([event["data"]["tool_use_id"] for event in self.logged()], ["t2", "t1"])
        self.assertEqual(self.logged()[0]["ts"], now)

    def test_time_is_bounded_and_the_rest_comes_later(self) -> None:
        started = time.process_time()
        backfill(self.root, SESSION, str(self.transcript), budget_s=0.0)
        self.assertLess(time.process_time() - started, 5)
        backfill(self.root, SESSION, str(self.transcript))
        self.assertTrue(self.logged())

    def test_only_the_hosts_own_file_of_this_session_is_read(self) -> None:
        self.assertEqual(self.accept(self.transcript), str(self.transcript))
        other = self.projects / "other.jsonl"
        shutil.copy(self.transcript, other)
        outside = Path(self.base, SESSION + ".jsonl")
        shutil.copy(self.transcript, outside)
        link = self.projects / "sub" / (SESSION + ".jsonl")
        link.parent.mkdir()
        link.symlink_to(outside)
        pipe = self.projects / "pipe" / (SESSION + ".jsonl")
        pipe.parent.mkdir()
        if hasattr(os, "mkfifo"):
            os.mkfifo(pipe)
        nested = self.projects / SESSION / "subagents" / "agent-1.jsonl"
        nested.parent.mkdir(parents=True)
        nested.write_text("")
        self.assertEqual(self.accept(nested), str(nested))
        for path in (other, outside, link, pipe, self.projects, "", "/etc/passwd", self.projects / "none.jsonl",
                     f"{self.projects}/../../../{SESSION}.jsonl", self.projects / "x" / (SESSION + ".jsonl")):
            with self.subTest(path=path):
                self.assertIsNone(self.accept(path))
        self.assertIsNone(self.accept(self.transcript, ""))


if __name__ == "__main__":
    unittest.main()
