"""Every recorded event through the hook process, whole and damaged: a valid answer, status 0, nothing on standard error."""
from __future__ import annotations

import json
import os
import random
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from tests.hooks.events import HookCase, context_of, mutate, recorded_events, why_invalid
from tests.test_house import find_python

CI = bool(os.environ.get("CI"))  # where time is short the same is done on a smaller scale
MUTATED_IN_PROCESS, MUTATED_AS_PROCESS = (10_000, 200) if CI else (1_500, 30)
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13") if CI else ()
RECORDED_KINDS = {
    "SessionStart": "session-start", "UserPromptSubmit": "user-prompt", "PostToolUse": "post-tool",
    "PostToolUseFailure": "tool-failure", "PermissionRequest": "permission", "Notification": "notification",
    "SubagentStart": "subagent-start", "SubagentStop": "subagent-stop", "Stop": "stop", "StopFailure": "stop",
    "PreCompact": "compact", "PostCompact": "compact", "SessionEnd": "session-end"}


class Recorded(HookCase):
    def test_each_event_as_a_process_on_each_python(self) -> None:
        pythons = {sys.executable, *filter(None, map(find_python, PYTHONS))}
        jobs = [(name, event, python) for name, event in recorded_events().items() for python in sorted(pythons)]
        with ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda job: self.process(job[1]["hook_event_name"], json.dumps(job[1]).encode(), job[2]), jobs)
            for (name, event, python), done in zip(jobs, results):
                with self.subTest(name, python=python):
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertIsNone(why_invalid(event["hook_event_name"], done.stdout))
        late = "not done after"  # a machine under load meets the hook's own deadline; the answer was valid all the same
        self.assertEqual([line for line in self.errors().split("\n") if line and late not in line], [])

    def test_what_is_recorded_of_each(self) -> None:
        for name, event in recorded_events().items():
            before = len(self.events())
            answer = self.in_process(event["hook_event_name"], json.dumps(event).encode())
            new = self.events()[before:]
            with self.subTest(name):
                self.assertIsNone(why_invalid(event["hook_event_name"], answer))
                wanted = RECORDED_KINDS.get(event["hook_event_name"])
                if "task_notification" in name:
                    wanted = "notification"
                if "of_compaction" in name or wanted is None:
                    continue  # nobody's agent ended; and a batch records only what nobody told of
                self.assertIn(wanted, {item["kind"] for item in self.events() if item["session"] == event["session_id"]}, new)
        self.assertEqual(self.errors(), "")

    def test_an_unknown_event_and_an_empty_one_are_harmless(self) -> None:
        for verb, raw in (("future-event", b'{"session_id": "s"}'), ("stop", b""), ("post-tool-use", b"{}")):
            done = self.process(verb, raw)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))


class Mutated(HookCase):
    def test_in_process(self) -> None:
        rng, events = random.Random(7), list(recorded_events().values())
        # the answers that read more than the event itself take longer; one in ten of the runs is theirs
        light = [event for event in events if event["hook_event_name"] not in ("SessionStart", "PreCompact", "SessionEnd", "Stop")]
        for number in range(MUTATED_IN_PROCESS):
            event = rng.choice(events if number % 10 == 0 else light)
            raw = mutate(event, rng)
            answer = self.in_process(event["hook_event_name"], raw)
            why = why_invalid(event["hook_event_name"], answer)
            if why:
                self.fail(f"{why} for {raw[:2000]!r}")
            if number % 500 == 499:
                self.forget()
        self.assertNotIn("Traceback", self.errors())

    def forget(self) -> None:
        for folder, _, names in os.walk(self.store):
            for name in names:
                if name.endswith((".jsonl", ".spill")):
                    os.unlink(os.path.join(folder, name))

    def test_as_processes(self) -> None:
        rng, events = random.Random(11), list(recorded_events().values())
        jobs = [(event["hook_event_name"], mutate(event, rng)) for event in rng.choices(events, k=MUTATED_AS_PROCESS)]
        with ThreadPoolExecutor(2) as pool:
            for (name, raw), done in zip(jobs, pool.map(lambda job: self.process(*job), jobs)):
                self.assertEqual((done.returncode, done.stderr), (0, b""), raw[:500])
                self.assertIsNone(why_invalid(name, done.stdout), raw[:500])


class Answers(HookCase):
    def send(self, event_name: str, **fields: object) -> str:
        payload = {"hook_event_name": event_name, "session_id": "s-1", "cwd": self.root, **fields}
        return context_of(self.in_process(event_name, json.dumps(payload).encode()))

    def test_a_large_whole_read_gets_the_cheaper_call(self) -> None:
        path = os.path.join(self.root, "big.py")
        with open(path, "w", encoding="utf-8") as out:
            out.write("x = 1\n" * 4000)
        advice = self.send("PreToolUse", tool_name="Read", tool_input={"file_path": path})
        self.assertIn('sp_outline {"file": "big.py"}', advice)
        self.assertEqual(self.send("PreToolUse", tool_name="Read", tool_input={"file_path": path, "limit": 50}), "")
        self.assertEqual(self.send("PreToolUse", tool_name="Read", tool_input={"file_path": path + ".none"}), "")
        self.assertEqual(self.events(), [])  # the finished call is what is recorded

    def test_the_switch(self) -> None:
        self.assertIn("sp_symbol", self.send("SubagentStart", agent_id="a", agent_type="x"))
        self.env["SLIPSTREAM_INJECT"] = "0"
        self.assertEqual(self.send("SubagentStart", agent_id="a", agent_type="x"), "")
        self.assertEqual(self.send("SessionStart", source="startup"), "")
        del self.env["SLIPSTREAM_INJECT"]
        with open(os.path.join(self.store, "settings.json"), "w", encoding="utf-8") as out:
            out.write('{"inject": false}')
        self.assertEqual(self.send("SessionStart", source="startup"), "")
        self.assertEqual([event["kind"] for event in self.events()], ["subagent-start"] * 2 + ["session-start"] * 2)

    def test_ceilings_and_no_repetition(self) -> None:
        from slipstream.base.tokens import approx_text_tokens
        from slipstream.memory.facts import add_fact
        with_store = self.send("SessionStart", source="startup")
        self.assertLessEqual(approx_text_tokens(with_store), 800)
        for number in range(60):
            add_fact(self.root, f"The billing invoice rounding rule number {number}", body="It is half even. " * 20,
                     name=f"rounding-{number}")
        for source in ("startup", "resume", "clear", "compact", "fork"):
            text = self.send("SessionStart", source=source)
            self.assertLessEqual(approx_text_tokens(text), 800, source)
            self.assertEqual(text, self.send("SessionStart", source=source))  # the same store, the same bytes
        prompt = "what is the billing invoice rounding rule"
        first = self.send("UserPromptSubmit", prompt=prompt)
        self.assertLessEqual(approx_text_tokens(first), 300)
        second = self.send("UserPromptSubmit", prompt=prompt)
        given = {word for word in first.split() if word.startswith("rounding-")}
        self.assertFalse(given & set(second.split()), (first, second))
        self.assertEqual(self.send("UserPromptSubmit", prompt="<task-notification>billing invoice rounding</task-notification>"), "")
        self.assertLessEqual(approx_text_tokens(self.send("SubagentStart", agent_id="a")), 150)


if __name__ == "__main__":
    unittest.main()
