"""The real Claude Code client on our plugin and on every plugin the validator's tests break: verdicts and always-on cost."""
from __future__ import annotations

import concurrent.futures
import os
import re
import subprocess
import tempfile
import unittest
from collections.abc import Callable

from tests import ROOT
from tests.clients import skip
from tests.clients.claude_code.session import QUIET, find_client
from tests.engine.plugin_cases import CASES, MARKET_CASES, write_market, write_plugin

ALWAYS_ON_LIMIT_TOKENS = 1000
CLIENT = find_client()


class Claude(unittest.TestCase):
    def setUp(self) -> None:
        if not CLIENT:
            skip("claude", "the client is not installed (SLIPSTREAM_CLAUDE names no binary)")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.home = temporary.name

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", **QUIET}
        return subprocess.run([str(CLIENT), "plugin", *words], env=env, capture_output=True, text=True, timeout=120, check=False)

    def test_our_plugin_is_valid(self) -> None:
        for folder in (os.path.join(ROOT, "plugin"), ROOT):
            done = self.ask("validate", "--strict", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_always_on_cost(self) -> None:
        for words in (("marketplace", "add", ROOT), ("install", "slipstream@slipstream")):
            done = self.ask(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = re.search(r"Always-on:\s*~([\d,]+) tok", self.ask("details", "slipstream").stdout)
        assert found
        self.assertLessEqual(int(found.group(1).replace(",", "")), ALWAYS_ON_LIMIT_TOKENS)

    def test_it_agrees_with_the_validator(self) -> None:
        jobs: list[tuple[str, Callable[[str, str], None], str]] = [(name, write_plugin, case[3]) for name, case in CASES.items()]
        jobs += [(name, write_market, case[4]) for name, case in MARKET_CASES.items()]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, wanted, status, text in pool.map(self.verdict, jobs):
                with self.subTest(name):
                    self.assertEqual("fail" if status else "pass", "fail" if wanted == "fail" else "pass", text)

    def verdict(self, job: tuple[str, Callable[[str, str], None], str]) -> tuple[str, str, int, str]:
        name, write, wanted = job
        with tempfile.TemporaryDirectory() as folder:
            write(folder, name)
            done = self.ask("validate", "--strict", folder)
        return name, wanted, done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    unittest.main()
