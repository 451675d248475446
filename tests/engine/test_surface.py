"""What commands, agents, skills and remedies tell people to run exists: verbs, sub-commands, flags, tools, skills."""
from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
import unittest

from slipstream.cli.help import SUMMARIES
from slipstream.engine.checks.table import CHECKS, load_check
from slipstream.engine.library import load_library

from tests import LAUNCHER, ROOT, SOURCE

PLUGIN = os.path.join(ROOT, "plugin")
TEXTS = sorted(path for part in ("commands/*.md", "agents/*.md", "output-styles/*.md", "skills/*/SKILL.md")
               for path in glob.glob(os.path.join(PLUGIN, part)))
NO_VERBS = {"brings", "before", "on", "in", "with", "is", "and", "to", "needs", "from", "writes", "statusline", "block", "server"}


def read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def joined(text: str) -> str:
    """Text with its line breaks inside back-quotes and paragraphs made blanks, as a reader takes it."""
    return re.sub(r"\s*\n\s*", " ", text)


class Texts(unittest.TestCase):
    def calls(self) -> list[tuple[str, list[str]]]:
        found = []
        for path in TEXTS:
            for words in re.findall(r'slipstream\.pyz" ([^`\n|]+)', joined(read(path))):
                found.append((os.path.relpath(path, PLUGIN), words.split()))
        return found

    def test_verbs_and_sub_commands_exist(self) -> None:
        helps: dict[str, str] = {}
        for where, words in self.calls():
            verb = words[0].partition(":")[0]
            self.assertIn(verb, SUMMARIES, where)
            if verb not in helps:
                helps[verb] = subprocess.run([sys.executable, LAUNCHER, verb, "--help"], capture_output=True, text=True, check=False).stdout
            sub = words[1].partition(":")[0] if len(words) > 1 else ""
            if verb in ("gate", "skills", "memory", "dashboard") and re.match(r"^[a-z]+$", sub):
                self.assertRegex(helps[verb], r"\b%s\b" % sub, where)

    def test_checks_that_gates_run_exist_with_their_flags(self) -> None:
        for skill in load_library([("plugin", os.path.join(PLUGIN, "skills"))]).skills.values():
            if skill.gate and skill.gate.command.startswith("slipstream gate check "):
                words = skill.gate.command.split()
                _function, flags, _positionals = load_check(words[3])
                for flag in re.findall(r"--([a-z-]+)", skill.gate.command):
                    self.assertIn(flag, flags, skill.name)
                self.assertEqual(skill.gate.expect, words[3] + ": ok", skill.name)
        for name in CHECKS:
            load_check(name)

    def test_tools_exist(self) -> None:
        value = json.loads(read(os.path.join(SOURCE, "slipstream", "mcp", "tools.json")))
        tools = {row["name"] for row in value["tools"]}
        for path in TEXTS:
            for name in re.findall(r"\bsp_[a-z_]+", read(path)):
                self.assertIn(name, tools, path)

    def test_skills_named_exist(self) -> None:
        names = {os.path.basename(os.path.dirname(path)) for path in glob.glob(os.path.join(PLUGIN, "skills", "*", "SKILL.md"))}
        for path in TEXTS:
            for name in re.findall(r"skills? `([a-z-]+)`|Follow `([a-z-]+)`|\(`([a-z-]+-[a-z-]+)`\)", read(path)):
                self.assertIn("".join(name), names, path)

    def test_a_skill_given_as_a_prompt_has_its_paths_filled(self) -> None:
        from slipstream.mcp.prompts import get_prompt
        text = get_prompt("verification-before-completion")["messages"][0]["content"]["text"]
        self.assertIn('/plugin/slipstream.pyz" gate run', text)

    def test_no_package_runner_and_no_network(self) -> None:
        for path in TEXTS:
            self.assertNotRegex(read(path), r"(npx|bunx|uvx|pipx|pnpm dlx)\s+(-y\s+)?slipstream|curl[^\n]*\|\s*(ba)?sh", path)

    def test_remedies_name_verbs_that_exist(self) -> None:
        paths = glob.glob(os.path.join(SOURCE, "slipstream", "engine", "**", "*.py"), recursive=True)
        for path in [*paths, os.path.join(SOURCE, "slipstream", "doctor.py")]:
            for word in re.findall(r"[\"'` (]slipstream ([a-z][a-z-]+)", read(path)):
                self.assertTrue(word in SUMMARIES or word in NO_VERBS, "%s: slipstream %s" % (path, word))


if __name__ == "__main__":
    unittest.main()
