"""gc: whole logs of old, captured sessions only; the command line of budget, savings, usage and gc."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.context.gc import find_leftovers, is_captured, plan_gc, remove_leftovers, remove_logs, render_gc
from slipstream.events.append import append_event
from slipstream.events.log import list_sessions, log_path, read_events, view_path
from slipstream.events.repair import spill
from slipstream.memory.observe import capture

from tests import PROGRAM
from tests.folders import FolderCase

DAY = 86_400.0


class Collecting(FolderCase):
    def session(self, name: str, days: float, captured: bool, now: float = 1e9) -> None:
        append_event(self.root, name, "main", "user-prompt", "do")
        append_event(self.root, name, "main", "stop", "turn finished")
        os.utime(log_path(self.root, name), (now - days * DAY, now - days * DAY))
        if captured:
            self.set_cursor(name)

    def set_cursor(self, name: str) -> None:
        folder = os.path.join(self.root, ".claude", "slipstream", "observations")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".cursor"), "w", encoding="ascii") as stream:
            stream.write("1")

    def test_only_old_and_captured_logs_go(self) -> None:
        self.session("live", 0, True)
        self.session("today", 0.5, True)
        self.session("young", 10, True)
        self.session("old", 40, True)
        self.session("uncaptured", 50, False)
        plan = plan_gc(self.root, 30, now=1e9)
        self.assertEqual([row["session"] for row in plan["remove"]], ["old"])
        self.assertEqual([row["session"] for row in plan["keep"]], ["live", "today", "young", "uncaptured"])
        self.assertIn("would remove  old", render_gc(plan, False))
        self.assertEqual(len(list_sessions(self.root)), 5)
        for name in ("old", "young"):
            with open(view_path(log_path(self.root, name)), "w", encoding="ascii") as stream:
                stream.write("derived")
        os.mkdir(log_path(self.root, "old") + ".spill")
        freed = remove_logs(self.root, plan["remove"], now=1e9)
        self.assertFalse(os.path.exists(log_path(self.root, "old") + ".spill"))
        self.assertEqual(freed, plan["remove"][0]["bytes"] + len("derived"))
        self.assertFalse(os.path.exists(view_path(log_path(self.root, "old"))))
        self.assertTrue(os.path.exists(view_path(log_path(self.root, "young"))))
        self.assertEqual(len(list_sessions(self.root)), 4)
        self.assertTrue(os.path.exists(os.path.join(self.root, ".claude", "slipstream", "observations", "old.cursor")))

    def test_captured_first_where_it_can_be(self) -> None:
        self.session("live", 0, True)
        self.session("old", 40, False)
        asked: list[str] = []

        def capture(root: str, session: str) -> None:
            asked.append(session)
            self.set_cursor(session)

        self.assertEqual([row["session"] for row in plan_gc(self.root, 30, capture, now=1e9)["remove"]], ["old"])
        self.assertEqual(asked, ["old"])

    def test_a_dry_run_says_which_would_go_and_captures_nothing(self) -> None:
        self.session("live", 0, True)
        self.session("old", 40, False)
        plan = plan_gc(self.root, 30, lambda root, session: self.fail("captured"), now=1e9, dry=True)
        self.assertEqual([(row["session"], row["why"]) for row in plan["remove"]], [("old", "40 days old; its turns are captured first")])
        self.assertEqual(remove_logs(self.root, plan["remove"], now=1e9), 0)
        self.assertEqual(len(list_sessions(self.root)), 2)

    def test_a_turn_that_never_ended_is_captured_before_its_log_goes(self) -> None:
        self.session("live", 0, True)
        self.session("died", 40, False)
        append_event(self.root, "died", "main", "user-prompt", "mend the thermostat")
        append_event(self.root, "died", "main", "post-tool", "Edit thermostat.py", {"tool": "Edit", "file": "thermostat.py"})
        os.utime(log_path(self.root, "died"), (1e9 - 40 * DAY, 1e9 - 40 * DAY))
        capture(self.root, "died")
        self.assertEqual(plan_gc(self.root, 30, now=1e9)["remove"], [])
        plan = plan_gc(self.root, 30, lambda root, session: capture(root, session, flush_open=True), now=1e9)
        self.assertEqual([row["session"] for row in plan["remove"]], ["died"])
        with open(os.path.join(self.root, ".claude", "slipstream", "observations", "died.jsonl"), encoding="utf-8") as stream:
            self.assertIn("mend the thermostat", stream.read())

    def test_temporary_files_of_killed_writers_go_when_they_are_old(self) -> None:
        self.session("live", 0, True)
        store = os.path.join(self.root, ".claude", "slipstream")
        for name, age in (("map.index.12-ab.tmp", 7200), ("map.json.13-cd.tmp", 60), ("map.json", 7200)):
            with open(os.path.join(store, name), "wb"):
                pass
            os.utime(os.path.join(store, name), (1e9 - age, 1e9 - age))
        self.assertEqual(remove_leftovers(self.root, 1e9), 1)
        self.assertFalse(os.path.exists(os.path.join(store, "map.index.12-ab.tmp")))
        self.assertTrue(os.path.exists(os.path.join(store, "map.json.13-cd.tmp")))
        self.assertTrue(os.path.exists(os.path.join(store, "map.json")))

    def test_a_store_that_was_never_finished_goes_when_it_is_old(self) -> None:
        above = os.path.join(self.root, ".claude")
        for name, age in (("slipstream.0a1b2c3d.tmp", 7200), ("slipstream.00000000.tmp", 60), ("slipstream.mine.tmp", 7200),
                          ("slipstream.4e5f6a7b.tmp", 7200), ("slipstream.11111111.tmp", 7200)):
            os.makedirs(os.path.join(above, name))
            if name != "slipstream.4e5f6a7b.tmp":  # killed before its first file
                with open(os.path.join(above, name, ".gitignore"), "w", encoding="ascii") as stream:
                    stream.write("/*\n")
            if name == "slipstream.11111111.tmp":
                with open(os.path.join(above, name, "work"), "w", encoding="ascii"):
                    pass
            os.utime(os.path.join(above, name), (1e9 - age, 1e9 - age))
        self.assertEqual(len(find_leftovers(self.root, 1e9)), 2, "what holds a file of somebody is never called a leftover")
        self.assertEqual(remove_leftovers(self.root, 1e9), 2)
        self.assertEqual(sorted(os.listdir(above)), ["slipstream.00000000.tmp", "slipstream.11111111.tmp", "slipstream.mine.tmp"])

    def test_the_second_of_two_says_that_it_removed_nothing(self) -> None:
        self.session("live", 0, True)
        self.session("old", 40, True)
        first, second = plan_gc(self.root, 30, now=1e9), plan_gc(self.root, 30, now=1e9)
        self.assertEqual(remove_logs(self.root, second["remove"], now=1e9), second["remove"][0]["bytes"])
        self.assertEqual(remove_logs(self.root, first["remove"], now=1e9), 0)
        self.assertIn("removed  old", render_gc(second, True))
        self.assertIn("not removed  old", said := render_gc(first, True))
        self.assertIn("another gc removed it first", said)

    def test_a_log_that_goes_while_it_is_looked_at_is_not_told_of(self) -> None:
        self.session("live", 0, True)
        self.session("old", 40, False)
        plan = plan_gc(self.root, 30, lambda root, session: os.unlink(log_path(root, session)), now=1e9)
        self.assertEqual([row["session"] for row in plan["remove"] + plan["keep"]], ["live"])

    def test_the_latest_session_stays_however_old(self) -> None:
        self.session("only", 400, True)
        self.assertEqual(plan_gc(self.root, 30, now=1e9)["remove"], [])

    def test_a_clock_that_is_wrong_ages_nothing(self) -> None:
        now, years = 1e9, 10 * 365 * DAY
        for name, days in (("last", 1), ("week", 7), ("month", 30.5), ("before", 60)):
            self.session(name, days, True, now)
        self.assertEqual([row["session"] for row in plan_gc(self.root, 30, now=now)["remove"]], ["month", "before"])
        plan = plan_gc(self.root, 30, now=now + years)  # ten years ahead: days are counted from the last log
        self.assertEqual([row["session"] for row in plan["remove"]], ["before"])
        self.session("wrong", 0, True, now + years)  # and one session was written in that time
        plan = plan_gc(self.root, 30, now=now + years)
        self.assertEqual([row["session"] for row in plan["remove"]], ["before"])
        self.assertRegex(render_gc(plan, False), "kept  last .*over a year.*\n.*kept  week .*younger than 30 days")
        plan = plan_gc(self.root, 30, now=now)  # the clock is right again, a file is from the future
        self.assertEqual([row["session"] for row in plan["remove"]], ["month", "before"])
        self.session("wrong too", -years / DAY + 1, True, now)
        self.assertRegex(render_gc(plan_gc(self.root, 30, now=now), False), "kept  wrong too .*dated in the future")
        self.assertEqual(remove_logs(self.root, [row for row in list_sessions(self.root) if row["session"] == "wrong too"], now=now), 0)

    def test_a_log_written_meanwhile_stays(self) -> None:
        self.session("live", 0, True)
        self.session("old", 40, True)
        plan = plan_gc(self.root, 30, now=1e9)
        os.utime(log_path(self.root, "old"), (1e9, 1e9))
        self.assertEqual(remove_logs(self.root, plan["remove"], now=1e9), 0)
        self.assertEqual(len(list_sessions(self.root)), 2)

    def test_a_log_beside_which_an_event_waits_stays(self) -> None:
        self.session("live", 0, True)
        self.session("old", 40, True)
        plan = plan_gc(self.root, 30, now=1e9)
        path = log_path(self.root, "old")
        spill(path, '{"ts":"t","session":"old","agent":"main","kind":"user-prompt","label":"taken up again"}')
        self.assertEqual(remove_logs(self.root, plan["remove"], now=1e9), 0)
        self.assertEqual([event["label"] for event in read_events(self.root, "old")][2:], ["taken up again"])

    def test_refuses_what_is_no_log_of_this_store(self) -> None:
        with self.assertRaises(SlipstreamError):
            remove_logs(self.root, [{"path": os.path.join(self.root, "important.jsonl")}])

    def test_captured(self) -> None:
        append_event(self.root, "s", "main", "session-start", "x")
        self.assertTrue(is_captured(self.root, "s", log_path(self.root, "s")))  # nothing in it to capture
        append_event(self.root, "s", "main", "user-prompt", "x")
        self.assertFalse(is_captured(self.root, "s", log_path(self.root, "s")))


class CommandLine(FolderCase):
    def run_verb(self, *words: str, status: int = 0) -> str:
        env = {**os.environ, "CLAUDE_CONFIG_DIR": os.path.join(self.root, "config"), "PYTHONWARNINGS": ""}
        env.pop("CLAUDE_PROJECT_DIR", None)
        made = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], capture_output=True, cwd=self.root, env=env, timeout=60, check=False)
        self.assertEqual(made.returncode, status, made.stderr.decode())
        return (made.stdout + made.stderr).decode()

    def test_budget(self) -> None:
        self.assertIn("nothing recorded yet", self.run_verb("budget"))
        self.assertIn("above --warn (50)", self.run_verb("budget", "set", "--warn=50", "--compact", "40", status=2))
        self.assertIn("warn at 50%, compact at 85%", self.run_verb("budget", "set", "--warn=50"))
        self.assertIn("nothing is recorded of session none", self.run_verb("budget", "--session", "none", status=1))
        self.assertEqual(json.loads(self.run_verb("budget", "--json"))["warnPct"], 50)
        self.assertIn("approximate", self.run_verb("budget", "--bytes", "500000"))
        self.assertIn("actual 12,345", self.run_verb("budget", "set", "--actual", "12,345"))
        self.assertIn("source: calibrated", self.run_verb("budget"))
        self.run_verb("budget", "set", status=2)
        self.run_verb("budget", "--nonsense", status=2)
        for day in ("", "yesterday", "2026-13-01"):
            self.run_verb("usage", "--day", day, status=2)

    def test_usage_of_this_project_only(self) -> None:
        from tests.context.transcripts import write_session
        name = "".join(c if c.isalnum() else "-" for c in self.root)
        for folder, cwd in ((name, self.root), ("-elsewhere", "/elsewhere")):
            path = os.path.join(self.root, "config", "projects", folder, "s1.jsonl")
            first = json.dumps({"type": "user", "cwd": cwd, "timestamp": "2026-11-01T09:00:00.000Z"})
            write_session(path, folder, 4, 1, copied=[first])
        found: dict[str, Any] = json.loads(self.run_verb("usage", "--json"))
        self.assertEqual(found["total"]["replies"], 4)
        self.assertNotIn("usd", found["total"])
        self.assertEqual(json.loads(self.run_verb("usage", "--json", "--all"))["total"]["replies"], 8)
        self.assertIn("$", self.run_verb("usage", "--money", "--by", "model"))
        self.assertNotIn("$", self.run_verb("usage"))

    def test_savings_and_gc(self) -> None:
        self.assertIn("no scoped reads", self.run_verb("savings"))
        self.assertIn("0 bytes to free", self.run_verb("gc", "--dry-run"))
        self.run_verb("gc", "--older-than", "x", status=2)


if __name__ == "__main__":
    unittest.main()
