"""Transcripts: folded to asks and first sentences, harvested for this project only, drawn on by the digest."""
from __future__ import annotations

import json
import os
from typing import Any

from slipstream.memory.conversations import ingest_transcript, load_conversation
from slipstream.memory.digest import take_digest
from slipstream.memory.digest_facts import newest_digest
from slipstream.memory.facts import load_facts
from slipstream.memory.harvest import harvest
from slipstream.memory.search import search_memory

from tests.memory import StoreCase


def user(text: Any, **extra: Any) -> dict[str, Any]:
    return {"type": "user", "timestamp": "2026-06-01T10:00:00.000Z", "message": {"role": "user", "content": text}, **extra}


def agent(*blocks: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else {"type": "tool_use", **block} for block in blocks]
    return {"type": "assistant", "timestamp": "2026-06-01T10:00:01.000Z", "message": {"role": "assistant", "content": content}}


def result(call: str, text: str, failed: bool = False) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}])


class Chats(StoreCase):
    def transcript(self, *rows: dict[str, Any], name: str = "t1.jsonl") -> str:
        return self.write(name, "".join(json.dumps({"cwd": self.root, **row}) + "\n" for row in rows))

    def test_the_fold(self) -> None:
        secret = "ghp_" + "a1B2" * 9
        path = self.transcript(
            user("caveat", isMeta=True), user("<command-name>/clear</command-name>"), user("side", isSidechain=True),
            user(f"Fix the walrus with {secret}"),
            agent("I will look first. Then more.", {"id": "1", "name": "Read", "input": {"file_path": self.root + "/src/w.py"}}),
            result("1", "text of the file"), agent("Done: it was upside down."),
            user("<task-notification>x</task-notification>"), user("This session is being continued", isCompactSummary=True))
        self.assertEqual(ingest_transcript(self.root, "t1", path), 1)
        chat = load_conversation(self.root, "t1")
        exchange = chat["exchanges"][0]
        self.assertEqual((exchange["tools"], exchange["files"]), (["Read"], ["src/w.py"]))
        self.assertEqual(exchange["summary"], "I will look first. Used Read.")
        self.assertIn("upside down", exchange["answer"])
        self.assertNotIn(secret, json.dumps(chat))
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(user("And the otter?")) + "\n" + json.dumps(agent("It is fine.")) + "\n" + '{"type":"user","message":{')
        self.assertEqual(ingest_transcript(self.root, "t1", path), 2)
        self.assertEqual(load_conversation(self.root, "t1")["exchanges"][0], exchange)
        self.assertEqual(ingest_transcript(self.root, "t1", path), 2)
        self.assertEqual([hit.id for hit in search_memory(self.root, "otter")], ["chat:t1:1"])

    def test_harvest_takes_this_project_only(self) -> None:
        projects = os.path.join(os.environ["HOME"], ".claude", "projects")
        for folder, name, cwd in (("-a", "mine", self.root), ("-a", "sub", self.root + "/deep"), ("-b", "theirs", "/somewhere/else"),
                                  ("-a-looks-like-mine", "trap", os.path.dirname(self.root))):
            os.makedirs(os.path.join(projects, folder), exist_ok=True)
            with open(os.path.join(projects, folder, name + ".jsonl"), "w", encoding="utf-8") as stream:
                stream.write(json.dumps({**user(f"ask of {name}"), "cwd": cwd}) + "\n" + json.dumps(agent("Answer.")) + "\n")
        self.assertEqual(len(harvest(self.root, dry_run=True).taken), 2)
        self.assertFalse(os.path.exists(os.path.join(self.store, "conversations")))
        report = harvest(self.root)
        self.assertEqual((len(report.taken), report.foreign), (2, 2))
        self.assertEqual(sorted(os.path.basename(path) for path in report.taken), ["mine.jsonl", "sub.jsonl"])
        self.assertEqual(len(harvest(self.root).unchanged), 2)
        self.assertEqual(load_conversation(self.root, "mine")["source"], "claude-code")
        self.assertNotIn("chat:theirs:0", [hit.id for hit in search_memory(self.root, "ask of theirs")])

    def digest_rows(self) -> list[dict[str, Any]]:
        return [
            user("Make the importer fast enough for a million rows"),
            agent("I decided to stream rows instead of loading them, because memory was the limit. Let me look.",
                  {"id": "1", "name": "Read", "input": {"file_path": self.root + "/src/other.py"}}),
            result("1", "x"), agent({"id": "2", "name": "Edit", "input": {"file_path": self.root + "/src/importer.py"}}), result("2", "ok"),
            agent({"id": "3", "name": "Bash", "input": {"command": "pytest -q tests/test_importer.py"}}),
            result("3", "Exit code 1\nE   MemoryError: row 900000\n1 failed, 3 passed in 2.1s", True),
            agent("Raising `BATCH_ROWS` did not work: the buffer in `RowReader.flush` still grows. Next I will cap the buffer."),
            user("go on")]

    def test_the_digest_keeps_what_compaction_loses(self) -> None:
        path = self.transcript(*self.digest_rows())
        digest, fact = take_digest(self.root, "t1", transcript_path=path, tree_root=self.root)
        self.assertIn("Make the importer fast enough", digest.open_task)
        self.assertIn("I decided to stream rows instead of loading them, because memory was the limit.", digest.decisions)
        self.assertEqual(digest.files, ["src/importer.py"])
        self.assertTrue(any("MemoryError: row 900000" in line for line in digest.failed))
        self.assertTrue(any("did not work" in line for line in digest.failed))
        self.assertLessEqual({"BATCH_ROWS", "RowReader.flush"}, set(digest.identifiers))
        self.assertEqual(digest.tests, ["pytest -q tests/test_importer.py: 1 failed, 3 passed in 2.1s"])
        self.assertEqual(digest.next_steps, ["Next I will cap the buffer."])
        self.assertEqual(fact.name, "session-digest-t1")

    def test_earlier_digests_are_kept_linked_and_few(self) -> None:
        path = self.transcript(*self.digest_rows())
        for number in range(8):
            take_digest(self.root, "t1", transcript_path=path, taken_at=f"2026-06-01T1{number}:00:00.000Z")
        take_digest(self.root, "another", taken_at="2026-05-01T00:00:00.000Z", hint="older work")
        held = {fact.name: fact for fact in load_facts(self.root).facts}
        series = sorted(name for name in held if name.startswith("session-digest-t1"))
        self.assertEqual(series, ["session-digest-t1", *(f"session-digest-t1-{n}" for n in (4, 5, 6, 7))])
        self.assertEqual(held["session-digest-t1"].supersedes, ["session-digest-t1-7"])
        newest = newest_digest(self.root)
        assert newest is not None
        self.assertEqual((newest.name, newest.updated), ("session-digest-t1", "2026-06-01T17:00:00.000Z"))
