"""The status line: the published segments, the host's figures first, and nothing that could blank it."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from slipstream.statusline import COLOURS, render_line

from tests import PROGRAM

RECORDED = Path(__file__).parent / "hooks" / "recorded"
PUBLISHED = [  # what is put in and what is shown; the first word, a former name, is the only published part not kept
    ({"bytesRead": 0}, "ctx 0% ok"),
    ({"bytesRead": 50000, "memoryCount": 4, "observationCount": 37, "activeSkill": "scoped-read", "model": "Model X"},
     "ctx 7% ok | mem 4 | obs 37 | skill scoped-read | Model X"),
    ({"bytesRead": 432000}, "ctx 60% warn"),
    ({"bytesRead": 612000}, "ctx 85% COMPACT"),
    ({"bytesRead": 900000, "memoryCount": 0}, "ctx 100% COMPACT | mem 0"),
    ({"actualTokens": 0}, "ctx 0%* ok"),
    ({"actualTokens": 123456, "windowTokens": 200000, "memoryCount": 12, "observationCount": 0, "optimizationPct": 71},
     "ctx 62%* warn | mem 12 | opt 71%"),
    ({"actualTokens": 123456, "windowTokens": 150000, "stepHistory": [1000, 2000, 3000]}, "ctx 82%* warn (~2 steps)"),
    ({"actualTokens": 30000, "stepHistory": [1000]}, "ctx 15%* ok"),
    ({"actualTokens": 170001, "stepHistory": [0, 0, 0]}, "ctx 85%* COMPACT (~0 steps)"),
    ({"actualTokens": 150000, "stepHistory": [5000, 4000, 3000, 2000, 1000, 500, 250]}, "ctx 75%* warn (~14 steps)"),
    ({"actualTokens": 250000, "memoryCount": 1, "optimizationPct": 0, "model": "M"}, "ctx 100%* COMPACT | mem 1 | M"),
    ({"actualTokens": 119999}, "ctx 60%* ok"),
    ({"actualTokens": 169999}, "ctx 85%* warn"),
    ({"actualTokens": 170000, "activeSkill": "x y"}, "ctx 85%* COMPACT | skill x y"),
    ({"actualTokens": 120000, "stepHistory": [-5, None, 10]}, "ctx 60%* warn (~5000 steps)"),
    ({}, "ctx -"),
]


class Rendering(unittest.TestCase):
    def test_published_segments(self) -> None:
        for values, line in PUBLISHED:
            with self.subTest(line):
                self.assertEqual(render_line(values), "sp | " + line)

    def test_thresholds_are_the_projects_own(self) -> None:
        self.assertEqual(render_line({"actualTokens": 50_000, "warnPct": 20, "compactPct": 30}), "sp | ctx 25%* warn")

    def test_narrow_terminal_loses_the_last_segments_first(self) -> None:
        values = {"actualTokens": 1000, "memoryCount": 3, "model": "A Model"}
        self.assertEqual(render_line(values, None, 40), "sp | ctx 1%* ok | mem 3 | A Model")
        self.assertEqual(render_line(values, None, 30), "sp | ctx 1%* ok | mem 3")
        self.assertEqual(render_line(values, None, 1), "sp | ctx 1%* ok")

    def test_colour_goes_with_a_word(self) -> None:
        self.assertEqual(render_line({"actualTokens": 190_000}, COLOURS), "sp | ctx 95%* \x1b[1;31mCOMPACT\x1b[0m")

    def test_what_comes_from_outside_cannot_move_the_cursor(self) -> None:
        self.assertEqual(render_line({"model": "a\x1b[2J\nb\u202e"}), "sp | ctx - | a [2J b ")

    def test_figures_that_are_none_are_not_shown(self) -> None:
        self.assertEqual(render_line({"actualTokens": True, "windowTokens": "x", "stepHistory": ["x"]}), "sp | ctx -")


class Command(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = os.path.realpath(self.folder.name)
        self.store = os.path.join(self.root, ".claude", "slipstream")

    def show(self, payload: Any, **extra: str) -> str:
        text = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        env = {**os.environ, "CLAUDE_PROJECT_DIR": self.root, "NO_COLOR": "1", "TMPDIR": self.root, **extra}
        done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "statusline"], input=text, capture_output=True, env=env,
                              timeout=30, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def recorded(self, name: str) -> dict[str, Any]:
        payload: dict[str, Any] = json.loads((RECORDED / name).read_text(encoding="utf-8"))
        payload["workspace"]["project_dir"] = self.root
        return payload

    def test_the_hosts_own_fields(self) -> None:
        self.assertEqual(self.show(self.recorded("statusline-in_use.json")),
                         "sp | ctx 1%* ok | 14k/1M | cache warm 90% | cap - | Opus 5.5\n")
        self.assertEqual(self.show(self.recorded("statusline-no_usage_yet.json")).split(" | ")[1], "ctx -")
        self.assertFalse(os.path.exists(self.store))  # looking makes no store

    def test_figures_of_the_store_and_the_saved_window(self) -> None:
        os.makedirs(os.path.join(self.store, "memory"))
        os.makedirs(os.path.join(self.store, "dashboard"))
        payload = self.recorded("statusline-in_use.json")
        session = payload["session_id"]
        for name in ("a.md", "b.md", "MEMORY.md"):
            Path(self.store, "memory", name).write_text("x")
        Path(self.store, "dashboard", session + ".jsonl").write_text("")
        Path(self.store, "budget.json").write_text('{"warnPct": 1, "compactPct": 90}')
        Path(self.store, "savings.json").write_text('{"scopedReads": 1, "servedBytes": 10, "fullBytes": 100}')
        line = "sp | ctx 1%* warn | 14k/1M | cache warm 90% | cap 0m | mem 2 | opt 90% | Opus 5.5\n"
        self.assertEqual(self.show(payload), line)
        self.assertEqual(self.show(payload), line)  # now from status.json
        saved = json.loads(Path(self.store, "context", session + ".json").read_text())
        self.assertEqual((saved["usedTokens"], saved["windowTokens"], saved["source"]), (14271, 1_000_000, "host"))
        if os.name == "posix":
            self.assertEqual(os.stat(os.path.join(self.store, "context", session + ".json")).st_mode & 0o777, 0o600)

    def test_a_planted_symlink_is_not_followed(self) -> None:
        outside = os.path.join(self.root, "outside")
        os.makedirs(self.store)
        os.makedirs(outside)
        os.symlink(outside, os.path.join(self.store, "context"))
        self.show(self.recorded("statusline-in_use.json"))
        self.assertEqual(os.listdir(outside), [])

    def test_garbage_still_shows_a_line(self) -> None:
        for text in (b"", b"null", b"[]", b"{", b'{"context_window": 3}', b"\xff\xfe", b'{"workspace": "x", "model": [], "cost": 1}'):
            with self.subTest(text):
                self.assertTrue(self.show(text).startswith("sp | ctx -"))
