"""Redacted first, picked out and cut after: what a text says before a secret is what tells that it is one."""
from __future__ import annotations

import json
import os
import unittest

from slipstream.events.append import append_event
from slipstream.events.ingest import record
from slipstream.events.log import read_events
from slipstream.memory.conversations import ingest_transcript, load_conversation
from slipstream.memory.digest import take_digest
from slipstream.memory.facts import add_fact

from tests.folders import FolderCase

WORD, KEY = "hunter2" + "hunter", "aZ3kQ9vT7m" + "Lp2XwR8cYd"


class RedactedFirst(FolderCase):
    def transcript(self, *said: str) -> str:
        path = os.path.join(self.root, "s.jsonl")
        rows = [{"type": "user", "uuid": "u", "timestamp": "2026-11-30T10:00:00.000Z", "message": {"role": "user", "content": "please set it up"}}]
        for number, text in enumerate(said):
            rows.append({"type": "assistant", "uuid": f"a{number}", "timestamp": "2026-11-30T10:00:01.000Z", "message": {
                "id": f"m{number}", "role": "assistant", "model": "x", "content": [
                    {"type": "text", "text": text}, {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}]}})
            rows.append({"type": "user", "uuid": f"r{number}", "timestamp": "2026-11-30T10:00:02.000Z", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": True, "content": f"error: {text}"}]}})
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def test_an_answer_before_its_lines_are_joined(self) -> None:
        ingest_transcript(self.root, "s", self.transcript(f"I decided to use this:\npassword: |\n  {WORD}\nas before."))
        self.assertNotIn(WORD, json.dumps(load_conversation(self.root, "s")))

    def test_a_digest_before_it_picks_words_out(self) -> None:
        path = self.transcript(f"I decided that the API_TOKEN={KEY} stays in createSession().", f"token: '{KEY}' failed in renderTree()")
        digest, fact = take_digest(self.root, "s", transcript_path=path, hint=f"x={'a ' * 300} API_TOKEN={KEY}")
        self.assertIn("createSession", " ".join(digest.decisions))
        for text in (fact.body, json.dumps(digest.to_record())):
            self.assertNotIn(KEY, text)
            self.assertNotIn(KEY[:12], text)

    def test_a_plan_before_it_is_cut(self) -> None:
        step = "x " * 94 + f"API_TOKEN={KEY}"
        for name, asked in (("TodoWrite", {"todos": [{"content": step}]}), ("ExitPlanMode", {"plan": "- " + step}), ("TaskCreate", {"subject": step})):
            record(self.root, {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": name, "tool_input": asked, "tool_use_id": name})
        told = json.dumps(read_events(self.root, "s"))
        self.assertEqual(told.count("API_TOKEN=[redacted:token]"), 3)
        self.assertNotIn(KEY[:5], told)

    def test_a_plan_of_several_lines_reaches_the_redactor(self) -> None:
        step = f"env:\n  - name: DB_PASSWORD\n    value: {WORD}"
        record(self.root, {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "TodoWrite", "tool_input": {"todos": [{"content": step}]}})
        self.assertNotIn(WORD, json.dumps(read_events(self.root, "s")))

    def test_tags_before_commas_cut_them(self) -> None:
        add_fact(self.root, "d", "fact", "b", tags=['{"Key": "API_TOKEN"', f' "Value": "{KEY}"}}'])
        with open(os.path.join(self.root, ".claude", "slipstream", "memory", "MEMORY.md"), encoding="utf-8") as stream:
            self.assertNotIn(KEY, stream.read())

    def test_a_kind(self) -> None:
        append_event(self.root, "s", "main", f"API_TOKEN={KEY}", f"API_TOKEN={KEY}")
        self.assertNotIn(KEY, json.dumps(read_events(self.root, "s")))


if __name__ == "__main__":
    unittest.main()
