"""The plugin validator: one broken plugin for each rule, found with its file and line, and our own plugin clean."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest

from slipstream.engine.issue import Issue
from slipstream.engine.plugin_validate import validate_plugin

from tests import PROGRAM, ROOT
from tests.engine.plugin_cases import CASES, MARKET_CASES, write_market, write_plugin


class Cases(unittest.TestCase):
    def check(self, issues: list[Issue], rule: str, severity: str) -> None:
        shown = "\n".join(map(str, issues))
        if not rule:
            self.assertEqual(shown, "")
            return
        self.assertIn((rule, severity), [(issue.rule, issue.severity) for issue in issues], shown)
        self.assertEqual({issue.rule for issue in issues}, {rule}, shown)
        for issue in issues:
            self.assertNotIn("\\", issue.path)

    def test_plugins(self) -> None:
        for name, (_files, rule, severity, _client) in CASES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_plugin(folder, name)
                self.check(validate_plugin(folder)[0], rule, severity)

    def test_markets(self) -> None:
        for name, (_market, _plugin, rule, severity, _client) in MARKET_CASES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_market(folder, name)
                self.check(validate_plugin(folder)[0], rule, severity)

    def test_lines(self) -> None:
        for name, path, line in (
            ("manifest-typo", ".claude-plugin/plugin.json", 17), ("manifest-not-json", ".claude-plugin/plugin.json", 1),
            ("hooks-unknown-type", "hooks/hooks.json", 6), ("agent-unknown-tool", "agents/scout.md", 4),
            ("skill-typo", "skills/tidy/SKILL.md", 3), ("hooks-bad-matcher", "hooks/hooks.json", 14),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_plugin(folder, name)
                issue = validate_plugin(folder)[0][0]
                self.assertEqual((issue.path, issue.line), (path, line))

    def test_not_a_plugin(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual([issue.rule for issue in validate_plugin(folder)[0]], ["missing"])


class Ours(unittest.TestCase):
    maxDiff = None

    def test_clean(self) -> None:
        for folder in (os.path.join(ROOT, "plugin"), ROOT):
            issues, provides = validate_plugin(folder)
            self.assertEqual("\n".join(str(issue) for issue in issues if issue.severity != "note"), "")
            self.assertEqual((provides["skills"], provides["commands"], provides["agents"], provides["outputStyles"]), (36, 11, 3, 1))

    def test_command_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            write_plugin(folder, "agent-unknown-server")
            done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "plugin-validate", folder, "--json"], capture_output=True, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual((answer["ok"], answer["issues"][0]["rule"], answer["provides"]["agents"]), (False, "tool", 1))
            done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "plugin-validate"], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"36 skills", done.stdout)


if __name__ == "__main__":
    unittest.main()
