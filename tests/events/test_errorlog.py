"""errors.log is a sink as any other: what an error quotes is redacted before it is cut."""
from __future__ import annotations

import json
import os
import tempfile
import unittest
from unittest import mock

from slipstream.events.errorlog import MAX_LINE_CHARS, log_error

SECRET = "ghp" + "_" + "a1B2c3D4e5" * 4


class Redacted(unittest.TestCase):
    def log(self, where: str, error: Exception) -> str:
        with tempfile.TemporaryDirectory() as root:
            store = os.path.join(root, ".claude", "slipstream")
            os.makedirs(store)
            with open(os.path.join(store, "redact.json"), "w", encoding="utf-8") as stream:
                json.dump({"patterns": [{"pattern": "PROJ-\\d+"}]}, stream)
            path = log_error(root, where, error)
            self.assertEqual(path, os.path.join(store, "errors.log"))
            with open(path or "", encoding="utf-8") as stream:
                return stream.read()

    def test_what_an_error_quotes(self) -> None:
        said = self.log("answer Stop", ValueError(f"no such option: --token {SECRET} of PROJ-12"))
        self.assertIn("ValueError: no such option", said)
        self.assertNotIn(SECRET[4:14], said)
        self.assertNotIn("PROJ-12", said)

    def test_where_it_happened(self) -> None:
        self.assertNotIn(SECRET[4:14], self.log(f"hook {SECRET}", KeyError("x")))

    def test_redacted_first_and_cut_after(self) -> None:
        said = self.log("x", ValueError("a " * (MAX_LINE_CHARS // 2 - 12) + SECRET))
        self.assertNotIn(SECRET[4:14], said)
        self.assertLess(len(said), MAX_LINE_CHARS + 60)

    def test_the_same_is_said_once_an_hour(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            path = ""
            for text in ("full", "full", "full", "gone", "full"):
                path = log_error(root, "x", OSError(text)) or ""
            with open(path, encoding="utf-8") as stream:
                lines = stream.read().splitlines()
            self.assertEqual([line.rpartition(" ")[2] for line in lines], ["full", "gone", "full"])
            os.utime(path, (1e9, 1e9))
            log_error(root, "x", OSError("full"))
            with open(path, encoding="utf-8") as stream:
                self.assertEqual(len(stream.readlines()), 4)

    def test_of_a_log_only_the_end_is_read_to_tell(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            path = log_error(root, "x", OSError("first")) or ""
            with open(path, "ab") as log:
                log.write(b"2026-01-01T00:00:00.000Z an older line\n" * 1000)
            with mock.patch("slipstream.base.files.read_bytes", side_effect=AssertionError("the whole file")):
                for text in ("full", "full", "ł" * MAX_LINE_CHARS, "ł" * MAX_LINE_CHARS):
                    log_error(root, "x", OSError(text))
            with open(path, encoding="utf-8") as stream:
                self.assertEqual(len(stream.readlines()), 1003)

    def test_nothing_that_fails_on_the_way_is_raised(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        self.assertIn("Mute", self.log("x", Mute()))
        with mock.patch("tempfile.gettempdir", side_effect=FileNotFoundError), mock.patch.dict("os.environ", CLAUDE_PLUGIN_DATA=""):
            self.assertIsNone(log_error(None, "x", ValueError("no place")))

    def test_without_the_redactor_only_the_class_is_told(self) -> None:
        for fault in (RuntimeError, OSError):  # OSError: an update took the pyz away
            with mock.patch("slipstream.events.redact.redact_text", side_effect=fault):
                said = self.log("x", ValueError("what " + SECRET))
            self.assertNotIn("what", said)
            self.assertIn("ValueError", said)


if __name__ == "__main__":
    unittest.main()
