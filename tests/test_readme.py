"""The README says what the code does: its tables, its verbs, its headings."""
from __future__ import annotations

import re
import unittest

from slipstream.cli.help import SUMMARIES

from tests import readme

HEADINGS = ["Install", "A first session", "Commands", "MCP tools", "Skills and gates", "Other editors", "Doctor", "Hooks", "Dashboard", "Files",
            "Settings", "Privacy", "Benchmarks", "Languages", "Development"]


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with open(readme.README, encoding="utf-8") as stream:
            cls.text = stream.read()

    def test_tables_are_those_of_the_code(self) -> None:
        for name in readme.TABLES:
            self.assertIn(f"<!-- {name} -->", self.text)
        self.assertEqual(self.text, readme.refresh(self.text), "run python3 -m tests.readme")

    def test_every_verb_has_a_summary_and_every_summary_a_verb(self) -> None:
        self.assertEqual(set(SUMMARIES), set(readme.load_verbs()))

    def test_headings(self) -> None:
        self.assertEqual(re.findall(r"^## (.*)$", self.text, re.M), HEADINGS)

    def test_the_two_commands(self) -> None:
        self.assertIn("python3 plugin/slipstream.pyz map .", self.text)
        self.assertIn("python3 -m unittest", self.text)


if __name__ == "__main__":
    unittest.main()
