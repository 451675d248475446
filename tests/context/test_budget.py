"""Budget: repaired values, levels, sources and their order, per session with time and expiry; forecast; guard; status.json."""
from __future__ import annotations

import json
import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.context.budget import (
    budget_report,
    estimate_report,
    level_of,
    load_budget,
    load_session_usage,
    render_budget,
    sanitize_budget,
    save_budget,
)
from slipstream.context.forecast import forecast
from slipstream.context.guard import guard_read
from slipstream.context.status import load_status, note_turn, rebuild_status, update_status
from slipstream.events.append import append_event

from tests.folders import FolderCase


class Store(FolderCase):
    def write(self, path: str, text: str | bytes) -> str:
        """Writes a file of the store."""
        return super().write(os.path.join(".claude", "slipstream", path), text)

    def write_usage(self, session: str, tokens: int | None, now: float | None = None, **more: Any) -> None:
        """As the status line leaves a session's figures."""
        self.write(os.path.join("context", session + ".json"), json.dumps({
            "usedTokens": tokens, "windowTokens": 200_000, "source": "host", "time": int(time.time() if now is None else now), **more}))


class Budget(Store):
    def test_published_defaults_and_repairs(self) -> None:
        self.assertEqual(load_budget(self.root), {"targetTokens": 200_000, "warnPct": 60, "compactPct": 85})
        for values, wanted in (
                ({"targetTokens": 5}, (1000, 60, 85)), ({"warnPct": 80, "compactPct": 50}, (200_000, 80, 85)), ({"warnPct": 0, "compactPct": 400}, (200_000, 1, 100)),
                ({"warnPct": 98, "compactPct": 98}, (200_000, 98, 100)), ({"warnPct": "x", "compactPct": None, "targetTokens": []}, (200_000, 60, 85)),
                ({"warnPct": float("nan"), "compactPct": float("inf")}, (200_000, 60, 85)),
                ({"warnPct": -10**400, "targetTokens": 10**400}, (200_000, 60, 85)), ({"warnPct": True, "targetTokens": 1234.6}, (1235, 60, 85))):
            found = sanitize_budget(values)
            self.assertEqual((found["targetTokens"], found["warnPct"], found["compactPct"]), wanted, values)
        self.assertEqual(sanitize_budget({"actualTokens": 12.4, "other": 1})["actualTokens"], 12)
        self.assertNotIn("actualTokens", sanitize_budget({"actualTokens": -1}))
        self.write("budget.json", "{broken")
        self.assertEqual(load_budget(self.root)["warnPct"], 60)

    def test_save_overlays_and_keeps_the_published_form(self) -> None:
        save_budget(self.root, warnPct=70)
        save_budget(self.root, actualTokens=5)
        with open(os.path.join(self.root, ".claude", "slipstream", "budget.json"), encoding="utf-8") as stream:
            self.assertEqual(json.load(stream), {"targetTokens": 200_000, "warnPct": 70, "compactPct": 85, "actualTokens": 5})
        self.assertNotIn("actualTokens", save_budget(self.root, actualTokens=None))
        self.assertEqual(load_status(self.root)["warnPct"], 70)
        with self.assertRaises(SlipstreamError):
            save_budget(self.root, warnPct="seventy")

    def test_published_report(self) -> None:
        report = estimate_report(3600)
        self.assertEqual((report["approxTokens"], report["level"], report["comfortTokens"]), (1000, "ok", 120_000))
        self.assertNotIn("recommendation", report)
        for tokens, level in ((119_999, "ok"), (120_000, "warn"), (169_999, "warn"), (170_000, "compact"), (900_000, "compact")):
            self.assertEqual(estimate_report(0, tokens)["level"], level)
            self.assertEqual(level_of(tokens, 200_000), level)
        self.assertEqual(estimate_report(0, 250_000)["usedFraction"], 1.0)
        self.assertEqual(estimate_report(0, 180_000)["recommendation"], "budget 90%, call sp_digest now")
        self.assertEqual(estimate_report(0, 150_000, 200_000, 80, 90)["level"], "ok")

    def test_sources_in_their_order(self) -> None:
        report = budget_report(self.root)
        self.assertEqual((report["tokens"], report["source"], report["level"]), (None, "none", "unknown"))
        self.assertIn("- of", render_budget(report))
        self.assertIn("200,000 (default)", render_budget(report))
        append_event(self.root, "s", "main", "post-tool", "Read a", {"bytes": 36_000})
        report = budget_report(self.root)
        self.assertEqual((report["session"], report["tokens"], report["source"], report["windowTokens"]), ("s", 10_000, "estimated", 200_000))
        save_budget(self.root, actualTokens=50_000)
        report = budget_report(self.root)
        self.assertEqual((report["source"], report["windowSource"]), ("calibrated", "budget.json"))
        path = os.path.join(self.root, "t.jsonl")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({"type": "assistant", "message": {"model": "claude-opus-5-5", "usage": {"input_tokens": 700_000, "output_tokens": 5}}}) + "\n")
        report = budget_report(self.root, "s", path)
        self.assertEqual((report["tokens"], report["source"], report["windowTokens"], report["level"]), (700_000, "transcript", 1_000_000, "warn"))
        self.write_usage("s", 450_000, windowTokens=500_000, model="claude-opus-5-5")
        report = budget_report(self.root, "s", path)
        self.assertEqual((report["tokens"], report["source"], report["windowTokens"], report["level"]), (450_000, "host", 500_000, "compact"))
        self.assertIn("source: host", render_budget(report))

    def test_usage_is_per_session_and_expires(self) -> None:
        self.write_usage("one", 100, now=1000.0)
        self.assertIsNone(load_session_usage(self.root, "two", now=1000.0))
        found = load_session_usage(self.root, "one", now=2000.0)
        assert found is not None
        self.assertEqual((found["usedTokens"], found["time"], found["source"]), (100, 1000, "host"))
        self.assertIsNone(load_session_usage(self.root, "one", now=1000.0 + 13 * 3600))
        self.write_usage("one", None, now=3000.0)  # after a compaction
        found = load_session_usage(self.root, "one", now=3001.0)
        assert found is not None
        self.assertEqual((found["usedTokens"], found["windowTokens"]), (None, 200_000))

    def test_forecast_is_of_this_session_and_these_thresholds(self) -> None:
        for number in range(6):
            append_event(self.root, "s", "main", "post-tool", "Read a", {"bytes": 3600 * (number + 1)})
            append_event(self.root, "s", "main", "stop", "turn finished")
        self.write_usage("s", 100_000)
        self.assertEqual(budget_report(self.root, "s")["forecast"], {"stepsUntilCompact": 17, "avgStepTokens": 4000, "remainingTokens": 70_000})
        save_budget(self.root, compactPct=65)
        self.assertEqual(budget_report(self.root, "s")["forecast"]["remainingTokens"], 30_000)


class Forecast(unittest.TestCase):
    def test_published_arithmetic(self) -> None:
        self.assertEqual(forecast([1000, 2000, 3000], 123_456, 127_500)["stepsUntilCompact"], 2)
        self.assertEqual(forecast([0, 0, 0], 170_001)["stepsUntilCompact"], 0)
        self.assertEqual(forecast([5000, 4000, 3000, 2000, 1000, 500, 250], 150_000)["stepsUntilCompact"], 14)
        self.assertEqual(forecast([-5, None, 10, "x", float("nan")], 120_000)["stepsUntilCompact"], 5000)
        self.assertEqual(forecast([], 0)["stepsUntilCompact"], 170_000)


class Guard(unittest.TestCase):
    def test_published_limit(self) -> None:
        self.assertTrue(guard_read("a", 16_000)["allow"])
        self.assertFalse(guard_read("a", 16_001)["allow"])
        self.assertEqual(guard_read("a", 36_000)["approxTokens"], 10_000)


class Status(Store):
    def test_writers_keep_it_and_others_are_left_alone(self) -> None:
        update_status(self.root, memoryCount=4)
        update_status(self.root, observationCount=7)
        self.assertEqual(load_status(self.root), {"memoryCount": 4, "observationCount": 7})
        update_status(self.root, memoryCount=None)
        self.assertNotIn("memoryCount", load_status(self.root))

    def test_turns_are_kept_by_session(self) -> None:
        for session, sizes in (("one", (3600, 7200)), ("two", (36_000,))):
            for size in sizes:
                append_event(self.root, session, "main", "post-tool", "Read a", {"bytes": size})
                append_event(self.root, session, "sub", "stop", "not the main agent's")
                append_event(self.root, session, "main", "stop", "turn finished")
                note_turn(self.root, session)
        status = load_status(self.root)
        self.assertEqual(status["turns"], {"one": [1000, 2000], "two": [10_000]})
        self.assertEqual(status["memoryCount"], 0)
        for number in range(12):
            note_turn(self.root, f"s{number}")
        self.assertLessEqual(len(load_status(self.root)["turns"]), 8)

    def test_the_skill_at_work_is_that_of_the_last_turn(self) -> None:
        for skills, shown in ((("a:first", "slipstream:scoped-read"), "scoped-read"), ((), None)):
            for name in skills:
                append_event(self.root, "one", "main", "post-tool", f"Skill {name}", {"tool": "Skill", "bytes": 5})
            append_event(self.root, "one", "main", "stop", "turn finished")
            note_turn(self.root, "one")
            self.assertEqual(load_status(self.root).get("activeSkill"), shown)

    def test_parallel_updates_lose_nothing(self) -> None:
        update_status(self.root, start=1)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: update_status(self.root, **{f"k{number}": number}), range(40)))
        self.assertEqual(len(load_status(self.root)), 41)

    def test_rebuilt_from_what_is_there(self) -> None:
        self.write("status.json", "broken")
        self.write("savings.json", '{"scopedReads":1,"servedBytes":20,"fullBytes":100}')
        for name, text in (("memory/a.md", "x"), ("memory/MEMORY.md", "x"), ("observations/s.jsonl", "{}\n{}\n"), ("observations/s.cursor", "1")):
            os.makedirs(os.path.join(self.root, ".claude", "slipstream", os.path.dirname(name)), exist_ok=True)
            self.write(name, text)
        found: dict[str, Any] = rebuild_status(self.root)
        self.assertEqual((found["memoryCount"], found["observationCount"], found["optimizationPct"], found["warnPct"]), (1, 2, 80, 60))
        self.assertEqual(load_status(self.root)["observationCount"], 2)

    def test_a_store_that_cannot_be_written_is_no_error(self) -> None:
        self.write("status.json", "{}")
        place = os.path.join(self.root, ".claude", "slipstream", "status.json", "x")  # below a file: nothing can be made there
        update_status(place, memoryCount=1)
        self.assertEqual(load_status(place), {})
        self.assertEqual(rebuild_status(place)["memoryCount"], 0)


if __name__ == "__main__":
    unittest.main()
