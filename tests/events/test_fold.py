"""The fold: published states, then what ours knows beyond: agents as a tree, waiting, failures, plan, calls, bounded memory."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any

from slipstream.events.fold import MAX_ACTIVITY, MAX_AGENTS, MAX_CALLS, Fold

from tests import SOURCE

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "states.json")


def event(seq: int, kind: str, label: str = "x", agent: str = "main", **data: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"seq": seq, "ts": "2026-06-01T10:%02d:%02d.000Z" % (seq // 60 % 60, seq % 60), "session": "s",
                            "agent": agent, "kind": kind, "label": label}
    if data:
        made["data"] = data
    return made


def fold(*events: dict[str, Any]) -> Fold:
    made = Fold()
    for one in events:
        made.apply(one)
    return made


def agent_of(made: Fold, name: str = "main") -> dict[str, Any]:
    return next(agent for agent in made.state()["agents"] if agent["id"] == name)


class Published(unittest.TestCase):
    def test_states_are_reproduced(self) -> None:
        """Every published field has the published value; ours stand beside them."""
        with open(DATA, encoding="utf-8") as stream:
            cases = json.load(stream)
        self.assertEqual(len(cases), 6)
        for case in cases:
            found = fold(*case["events"]).state()
            agents = case["state"].pop("agents")
            for key, value in case["state"].items():
                self.assertEqual(found[key], value, (case["name"], key))
            self.assertEqual([agent["id"] for agent in found["agents"]], [agent["id"] for agent in agents])
            for ours, theirs in zip(found["agents"], agents):
                for key, value in theirs.items():
                    self.assertEqual(ours[key], value, (case["name"], theirs["id"], key))

    def test_the_documented_replay_example(self) -> None:
        found = fold(event(0, "session-start"), event(1, "user-prompt"), event(2, "pre-tool"), event(3, "post-tool", bytes=42_000),
                     event(4, "subagent-stop", agent="worker"), event(5, "stop")).state()
        main, worker = found["agents"]
        self.assertEqual((len(found["agents"]), found["events"], found["approxTokens"]), (2, 6, 11_667))
        self.assertEqual((main["status"], main["toolCalls"], worker["status"]), ("waiting", 1, "done"))


class Agents(unittest.TestCase):
    def test_tree_by_the_call_that_started_the_child_in_either_order(self) -> None:
        for order in ((0, 1), (1, 0)):
            events = [event(0, "post-tool", "Agent Look around", tool="Agent", agent="child"), event(0, "subagent-start", "scout", "child", agent_type="scout")]
            events[0]["data"]["agent"], events[0]["agent"] = "child", "boss"
            made = fold(event(0, "user-prompt"), *({**events[at], "seq": number + 1} for number, at in enumerate(order)))
            child = agent_of(made, "child")
            self.assertEqual((child["parent"], child["type"]), ("boss", "scout"))
        self.assertIsNone(agent_of(made)["parent"])

    def test_waits_for_a_permission_until_the_agent_moves_on(self) -> None:
        ask = event(5, "permission", "Bash rm x", tool="Bash", outcome="asked")
        made = fold(event(0, "user-prompt"), ask)
        main = agent_of(made)
        self.assertEqual((main["status"], main["waitingFor"], main["waitingSince"]), ("waiting", "Bash rm x", ask["ts"]))
        made.apply(event(6, "post-tool", "Read y", tool="Read", duration_ms=3000))  # began before: runs beside
        self.assertEqual(agent_of(made)["status"], "waiting")
        made.apply(event(7, "post-tool", "Bash rm x", tool="Bash", duration_ms=2500))
        self.assertEqual((agent_of(made)["status"], agent_of(made)["waitingFor"]), ("running", None))

    def test_a_call_begun_later_shows_that_the_wait_is_over(self) -> None:
        made = fold(event(0, "user-prompt"), event(5, "permission", "Bash rm x", outcome="asked"), event(20, "post-tool", "Read z", duration_ms=100))
        self.assertEqual(agent_of(made)["status"], "running")

    def test_notifications(self) -> None:
        made = fold(event(0, "stop"), event(1, "notification", "task completed", notification="task"))
        self.assertEqual(agent_of(made)["status"], "running")
        made.apply(event(2, "notification", "needs you", notification="permission_prompt"))
        self.assertEqual((agent_of(made)["status"], agent_of(made)["waitingFor"]), ("waiting", "needs you"))

    def test_failures_and_the_end_of_a_session(self) -> None:
        made = fold(event(0, "tool-failure", "Bash false", tool="Bash", outcome="error", duration_ms=9, tool_use_id="t1"),
                    event(1, "subagent-stop", "w failed", "w", failed=True), event(2, "post-tool", "Read", "v"), event(3, "session-end"))
        state = made.state()
        self.assertEqual([agent["status"] for agent in state["agents"]], ["done", "failed", "done"])
        self.assertEqual((state["failures"], state["calls"][0]["outcome"], state["tools"]["Bash"]["failures"]), (1, "error", 1))
        self.assertEqual((state["endedAt"], state["lastTs"]), (event(3, "x")["ts"], event(3, "x")["ts"]))


class Whole(unittest.TestCase):
    def test_calls_count_once_with_or_without_a_pre_tool_event(self) -> None:
        made = fold(event(0, "pre-tool", "Read a", tool="Read", tool_use_id="1"), event(1, "post-tool", "Read a", tool="Read", tool_use_id="1", duration_ms=5),
                    event(2, "post-tool", "Read b", tool="Read", tool_use_id="2", duration_ms=7, file="b", bytes=36))
        state = made.state()
        self.assertEqual(agent_of(made)["toolCalls"], 2)
        self.assertEqual(state["tools"]["Read"], {"calls": 2, "failures": 0, "duration_ms": 12, "bytes": 36})
        self.assertEqual(state["calls"][1]["file"], "b")

    def test_plan_from_lists_and_from_single_tasks(self) -> None:
        made = fold(event(0, "post-tool", plan=["a", "b"], plan_status=["completed", "pending"]))
        self.assertEqual(made.state()["planItems"][0], {"text": "a", "status": "completed"})
        made.apply(event(1, "plan", task={"id": "7", "subject": "c", "status": "pending"}))
        made.apply(event(2, "plan", task={"id": "7", "subject": "", "status": "completed"}))
        made.apply(event(3, "plan", task={"id": "", "subject": "a", "status": "deleted"}))
        self.assertEqual(made.state()["plan"], ["b", "c"])
        self.assertEqual(made.state()["planItems"][1]["status"], "completed")

    def test_a_compaction_ends_no_turn(self) -> None:
        made = fold(event(0, "user-prompt"), event(1, "post-tool", bytes=3600), event(2, "compact", phase="start", trigger="auto"),
                    event(3, "compact", phase="done", trigger="auto"), event(4, "post-tool", bytes=3600), event(5, "stop"))
        state = made.state()
        self.assertEqual(state["steps"], [2000])
        self.assertEqual((state["compactionCount"], len(state["compactions"])), (1, 1))
        self.assertIsNotNone(state["compactions"][0]["endedAt"])

    def test_unknown_kinds_are_counted_and_shown(self) -> None:
        made = fold(event(0, "weird"), event(1, "weird"), event(2, "agent"), event(3, "stop"))
        self.assertEqual(made.state()["unknown"], {"weird": 2, "agent": 1})
        self.assertEqual(len(agent_of(made)["activity"]), 4)

    def test_hostile_data_is_never_fatal(self) -> None:
        made = Fold()
        odd: list[Any] = [None, True, -1, 1.5, "x", [], {}, [None], {"id": 1}]
        kinds = ("session-start", "user-prompt", "pre-tool", "post-tool", "subagent-start", "subagent-stop", "stop", "tool-failure",
                 "permission", "notification", "compact", "session-end", "plan", "other")
        seq = 0
        for kind in kinds:
            for value in odd:
                made.apply({**event(seq, kind), "ts": "not a time", "data": dict.fromkeys(
                    ("bytes", "duration_ms", "tool", "tool_use_id", "agent", "plan", "plan_status", "task", "failed", "phase", "outcome",
                     "notification", "agent_type", "branch", "model", "redacted", "file"), value)})
                seq += 1
        self.assertEqual(made.state()["events"], seq)

    def test_goes_on_from_a_dump(self) -> None:
        events = [event(number, kind, agent=f"a{number % 3}", bytes=100, tool_use_id=str(number))
                  for number, kind in enumerate(["user-prompt", "pre-tool", "post-tool", "permission", "stop"] * 40)]
        whole = fold(*events)
        half = Fold.load(fold(*events[:77]).dump())
        for one in events:  # what was folded before is ignored
            half.apply(one)
        self.assertEqual(half.state(), whole.state())

    def test_everything_kept_is_bounded(self) -> None:
        made = Fold()
        for number in range(3000):
            made.apply(event(2 * number, "post-tool", "Bash " + "x" * 400, f"agent{number}", tool=f"tool{number}", bytes=10, tool_use_id=str(number)))
            made.apply(event(2 * number + 1, "subagent-stop", "done", f"agent{number}"))
        state = made.state()
        self.assertLessEqual(len(state["agents"]), MAX_AGENTS + 1)
        self.assertLessEqual(len(state["calls"]), MAX_CALLS)
        self.assertEqual(state["droppedAgents"] + len(state["agents"]), 3000)
        one = Fold()
        for number in range(2000):
            one.apply(event(number, "post-tool", tool="Read"))
        self.assertEqual(len(agent_of(one)["activity"]), MAX_ACTIVITY)

    def test_ten_thousand_agents_are_not_searched(self) -> None:
        """Counts what is walked over beyond the bound: nothing while all run, what goes once when they have ended."""
        steps = [0]

        class Counted(dict[str, Any]):
            def _count(self, entries: Any) -> Any:
                for entry in entries:
                    steps[0] += 1
                    yield entry

            def __iter__(self) -> Any:
                return self._count(super().__iter__())

            def items(self) -> Any:
                return self._count(super().items())

            def values(self) -> Any:
                return self._count(super().values())

        made, number = Fold(), 0
        made.inside["agents"], made.inside["ended"] = Counted(), Counted()
        for _ in range(10_000):
            made.apply(event(number, "subagent-start", "look", f"agent{number}"))
            number += 1
        self.assertEqual((steps[0], len(made.inside["agents"])), (0, 10_000))  # who runs is never dropped
        for index in range(10_000):
            made.apply(event(number, "subagent-stop", "done", f"agent{index}"))
            number += 1
        for _ in range(1000):
            made.apply(event(number, "subagent-stop", "done", f"agent{number}"))
            number += 1
        self.assertLessEqual(steps[0], 11_000)
        self.assertEqual(len(made.inside["agents"]), MAX_AGENTS)
        self.assertEqual(made.inside["droppedAgents"] + MAX_AGENTS, 11_000)

    def test_an_agent_that_goes_on_is_not_dropped(self) -> None:
        made = fold(event(0, "user-prompt"), event(1, "subagent-stop", agent="early"), event(2, "pre-tool", agent="early"))
        for number in range(MAX_AGENTS + 50):
            made.apply(event(number + 3, "subagent-stop", agent=f"agent{number}"))
        self.assertIn("early", made.inside["agents"])
        self.assertNotIn("agent0", made.inside["agents"])
        self.assertNotIn("ended", made.state())

    @unittest.skipUnless(sys.platform.startswith("linux"), "reads the peak in kilobytes, as Linux gives it")
    @unittest.skipUnless(os.path.exists("/proc/self/status"), "peak memory is read from /proc")
    def test_a_hundred_thousand_events_in_sixty_megabytes(self) -> None:
        program = textwrap.dedent("""
            import sys
            sys.path.insert(0, sys.argv[1])
            from slipstream.events.fold import Fold
            from slipstream.events.log import LogReader
            fold = Fold()
            for _, event in LogReader(sys.argv[2]).read_with_offsets():
                fold.apply(event)
            with open("/proc/self/status") as status:  # not ru_maxrss, which a child inherits from the process that forked it
                print(fold.last_seq, next(line.split()[1] for line in status if line.startswith("VmHWM")))
        """)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.jsonl")
            with open(path, "w", encoding="utf-8") as stream:
                for number in range(100_000):
                    one = event(number, ("user-prompt", "pre-tool", "post-tool", "stop")[number % 4], "Bash " + "y" * 80,
                                f"agent{number // 50}" if number % 5 else "main", tool="Bash", bytes=1000, tool_use_id=f"t{number}", duration_ms=5)
                    stream.write(json.dumps(one) + "\n")
            made = subprocess.run([sys.executable, "-I", "-S", "-c", program, SOURCE, path], capture_output=True, check=True, timeout=120)
        last, peak = map(int, made.stdout.split())
        self.assertEqual(last, 99_999)
        self.assertLessEqual(peak, 60 * 1024)


if __name__ == "__main__":
    unittest.main()
