"""The skill contract: good files load clean, bad ones give exactly the findings beside them, each at its line."""
from __future__ import annotations

import os
import unittest

from slipstream.base.files import read_text
from slipstream.engine.contract import parse_skill
from slipstream.engine.headings import parse_headings, parse_links, section

CASES = os.path.join(os.path.dirname(__file__), "cases", "skills")


class Cases(unittest.TestCase):
    maxDiff = None

    def test_good(self) -> None:
        for name in sorted(os.listdir(os.path.join(CASES, "good"))):
            path = os.path.join(CASES, "good", name, "SKILL.md")
            with self.subTest(name):
                skill, issues = parse_skill(read_text(path), path)
                self.assertEqual([str(issue) for issue in issues], [])
                assert skill is not None
                self.assertEqual(skill.name, name)

    def test_bad(self) -> None:
        for name in sorted(os.listdir(os.path.join(CASES, "bad"))):
            folder = os.path.join(CASES, "bad", name)
            with self.subTest(name):
                path = os.path.join(folder, "SKILL.md")
                skill, issues = parse_skill(read_text(path), path)
                found = sorted("%d %s %s" % (issue.line, issue.severity, issue.rule) for issue in issues)
                wanted = sorted(read_text(os.path.join(folder, "expected.txt")).split("\n")[:-1])
                self.assertEqual(found, wanted, "\n".join(map(str, issues)))
                self.assertEqual(skill is None, any(" error " in line for line in wanted))

    def test_values(self) -> None:
        path = os.path.join(CASES, "good", "plain-skill", "SKILL.md")
        skill, _issues = parse_skill(read_text(path), path)
        assert skill is not None and skill.gate is not None
        self.assertEqual((skill.category, skill.tags, skill.listed), ("backend", ["one", "two"], True))
        self.assertEqual((skill.gate.kind, skill.gate.command, skill.gate.expect), ("build", "make {{app}}", "built {{app}}"))
        self.assertEqual((skill.inputs["app"].find, skill.inputs["app"].default), ("json:package.json#name | path:src/", "app"))

    def test_typo_names_the_key(self) -> None:
        path = os.path.join(CASES, "bad", "typos", "SKILL.md")
        text = "\n".join(str(issue) for issue in parse_skill(read_text(path), path)[1])
        for near in ("category", "expect", "kind", "disable-model-invocation"):
            self.assertIn("did you mean `%s`?" % near, text)


class Headings(unittest.TestCase):
    def test_only_structure_counts(self) -> None:
        text = "# A #\n\n```md\n## no\n~~~\n```\n~~~~\n## no\n~~~\n~~~~\n<!--\n## no\n-->\nB\n===\n    ## code\n##no\n- item\n---\n"
        self.assertEqual(parse_headings(text), [(1, "A", 1), (1, "B", 14)])

    def test_section_ends_at_the_next_of_its_level(self) -> None:
        self.assertEqual(section("## Steps\na\n### b\nc\n## Verify\nd\n", "steps"), "a\n### b\nc")
        self.assertEqual(section("text", "Steps"), "")

    def test_links(self) -> None:
        self.assertEqual(parse_links("[a](b.md#c) ![i](i.png)\n\n[d](<e.md>)\n"), [("b.md#c", 1), ("e.md", 3)])


if __name__ == "__main__":
    unittest.main()
