"""Words that are off end with status 2, for every flag of every verb: read from the tables and parsers, so a new flag is held too."""
from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any
from unittest import mock

from slipstream.cli import kinds, memory
from slipstream.cli.parser import Checked
from slipstream.engine.checks.table import CHECKS

from tests import LAUNCHER, readme

QUERY_FAMILIES = ("cli.query", "cli.find")
NO_WORDS = {"hook", "statusline"}  # called by a host alone, and never to end with a status that it would read as an answer
OWN_WORDS = {"doctor", "mcp"}  # no argparse, and no flag with a value but --root and doctor's --only
# What a flag without a kind may take: text that is right as long as it is there, or that is looked for and not found (status 1).
FREE = {"TEXT", "NAME", "ID", "PATH", "PREFIX", "FILE", "DIR", "A,B", "A||B", "PATH[:A-B]", "SESSION", "SYMBOL", "QUERY", "ITEM",
        "SKILL", "CHECK", "AGENT", "KIND", "LABEL", "BRANCH", "ID|QUERY", "VERB", "S", "B", "NAME..."}
BAD = {
    kinds.share: ("-1", "101", "many", "nan"), kinds.days: ("-1", "soon", "inf"), kinds.seconds: ("0", "-3", "x"),
    kinds.tokens_or_none: ("-1", "nothing"), kinds.date: ("abc", "2026-13-01", "2026-02-30"), kinds.day: ("yesterday", "2026-13-01"),
    kinds.event_kind: ("two words", "a/b", "x" * 61), kinds.folder: ("/no/such/folder", __file__), kinds.file: ("/no/such/file", os.path.dirname(__file__)),
    kinds.page_or_zip: ("session.txt", "session"), kinds.input_value: ("word", "=x"),
}


def bad_values(kind: object) -> tuple[str, ...]:
    if isinstance(kind, range):
        return ("-5", "abc", "1.5", "9" * 30, *([str(kind.start - 1)] if kind.start else []))
    return ("nonsense",) if isinstance(kind, tuple) else BAD[kind]  # type: ignore[index]


def parsers(verb: str, module: Any) -> Iterator[tuple[list[str], argparse.ArgumentParser]]:
    """(words, parser) of a verb and of each of its actions."""
    words = [[verb]] + ([[verb, "set"]] if verb == "budget" else [])
    for start in words:
        parser = readme.parser_of(module, *start)
        assert parser is not None, verb
        subs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not subs:
            yield start, parser
        for action in subs:
            for name, child in action.choices.items():
                yield [*start, name], child


class Words(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = os.path.realpath(self.folder.name)

    def refused(self, module: Any, words: list[str], name: str) -> None:
        """Status 2, the flag named, nothing on standard output, nothing done."""
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        before = os.listdir(self.root)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = module.main(words)
            out.flush()
        self.assertEqual((status, out.buffer.getvalue()), (2, b""), words)  # type: ignore[attr-defined]
        self.assertIn(name, err.getvalue(), words)
        self.assertRegex(err.getvalue(), r"\Aslipstream[^\n]*: ", "what is off comes first, the usage after it")
        self.assertNotIn("Traceback", err.getvalue())
        self.assertEqual(os.listdir(self.root), before)

    def verbs(self) -> Iterator[tuple[str, str, Any]]:
        for verb, name in readme.load_verbs().items():
            yield verb, name, importlib.import_module("slipstream." + name)

    def test_flags_of_the_argparse_verbs(self) -> None:
        seen = 0
        for verb, name, module in self.verbs():
            if verb in NO_WORDS | OWN_WORDS or name in QUERY_FAMILIES:
                continue
            for words, parser in parsers(verb, module):
                if words == ["gate", "check"]:
                    continue
                self.refused(module, [*words, "--no-such-flag"], "")
                for action in parser._actions:
                    if action.nargs == 0:
                        continue
                    shown = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
                    if action.type in (None, str):
                        self.assertIn(shown, FREE, f"{words} {action.dest}: give it a kind")
                        self.assertIsNone(action.choices, f"{words} {action.dest}: a tuple is the kind for that")
                        continue
                    self.assertIsInstance(action.type, Checked, f"{words} {action.dest}: a kind, so that it is refused as the others are")
                    for value in bad_values(action.type.kind):  # type: ignore[union-attr]
                        flag = next((one for one in action.option_strings if one.startswith("--")), None)
                        self.refused(module, [*words, f"{flag}={value}" if flag else value], flag or shown)
                        seen += 1
        self.assertGreater(seen, 150)

    def test_flags_of_the_query_verbs(self) -> None:
        tables = [([verb], module, module.USAGE[verb], module.FLAGS.get(verb, {})) for verb, name, module in self.verbs()
                  if name in QUERY_FAMILIES]
        tables += [(["memory", verb], memory, usage, memory.FLAGS[verb]) for verb, usage in memory.USAGE.items()]
        for words, module, usage, flags in tables:
            self.refused(module, [*words, "--no-such-flag"], "--no-such-flag")
            self.refused(module, [*words, "--root", "/no/such/folder"], "--root")
            for flag, kind in flags.items():
                self.assertIn(f"[--{flag}" + ("]" if kind is bool else " "), usage)
                if kind is str:
                    self.assertIn(usage.split(f"[--{flag} ")[1].split("]")[0], FREE, f"{words} --{flag}: give it a kind")
                elif kind is not bool:
                    for value in bad_values(kind):
                        self.refused(module, [*words, f"--{flag}={value}", "x"], "--" + flag)
            self.assertEqual(usage.count("[--"), len(flags) + 2, "the usage tells every flag")

    def test_checks_of_gates(self) -> None:
        engine = importlib.import_module("slipstream.cli.engine")
        self.refused(engine, ["gate", "check", "no-such-check"], "no-such-check")
        self.refused(engine, ["gate", "check", "no-such-check", "--help"], "no-such-check")
        for name, (_module, _function, flags, _positionals, _proves) in CHECKS.items():
            self.refused(engine, ["gate", "check", name, "--no-such-flag"], "--no-such-flag")
            for flag, kind in flags.items():
                for value in () if kind is str else bad_values(kind):
                    self.refused(engine, ["gate", "check", name, f"--{flag}={value}"], "--" + flag)

    def test_verbs_with_words_of_their_own(self) -> None:
        for verb in sorted(OWN_WORDS):
            module = importlib.import_module("slipstream." + readme.load_verbs()[verb])
            self.refused(module, [verb, "--root", "/no/such/folder"], "--root")
            self.refused(module, [verb, "--no-such-flag"], "" if verb == "mcp" else "--no-such-flag")

    def test_an_order_that_names_nothing(self) -> None:
        verbs = importlib.import_module("slipstream.cli.memory")
        for words in (["memory", "forget"], ["memory", "forget", "--observations"], ["memory", "forget", "--observations", "²"]):
            self.refused(verbs, [*words, "--root", self.root], "forget" if len(words) < 4 else "numbers")
        for words in (["memory", "update", "x"], ["memory", "supersede", "x"]):
            self.refused(verbs, [*words, "--root", self.root], "--desc")
        for words in (["search", ""], ["search", " "], ["mindmap", "--html", ""]):
            module = importlib.import_module("slipstream." + readme.load_verbs()[words[0]])
            self.refused(module, [*words, "--root", self.root], "")

    def test_what_is_missing_is_status_2(self) -> None:
        calls = (["gate", "run", "backend-hono-api"], ["gate", "run", "git-release-tag", "--set", "none=1"], ["gate", "run", "payments-checkout"],
                 ["memory", "add", "--type", "fact", "--desc", "", "--body", "b"], ["memory", "add", "--type", "fact", "--desc", "d", "--body", " "],
                 ["budget", "set", "--warn", "90", "--compact", "80"], ["budget", "set", "--compact", "60"])
        for words in calls:
            module = importlib.import_module("slipstream." + readme.load_verbs()[words[0]])
            self.refused(module, [*words, "--root", self.root], "")
        engine = importlib.import_module("slipstream.cli.engine")
        for name in ("html-script", "http", "rate-limit", "session", "webhook", "dns-mail", "rls", "release-tag"):
            self.refused(engine, ["gate", "check", name], name)

    def test_a_verb_without_its_action_lists_them(self) -> None:
        for verb, some in (("memory", "recall"), ("dashboard", "replay"), ("skills", "show"), ("gate", "plan")):
            self.refused(importlib.import_module("slipstream." + readme.load_verbs()[verb]), [verb], some)

    def test_help_tells_what_each_flag_takes(self) -> None:
        for verb, module in ((verb, module) for verb, name, module in self.verbs() if name in QUERY_FAMILIES):
            told = self.said(module, [verb, "--help"])
            for flag, kind in module.FLAGS.get(verb, {}).items():
                self.assertRegex(told, rf"\n  --{flag} .*  \w", verb)
                self.assertIn(", ".join(kind) if isinstance(kind, tuple) else "", told)
        self.assertIn("  --since DATE", self.said(memory, ["memory", "search", "--help"]))
        told = self.said(importlib.import_module("slipstream.cli.engine"), ["gate", "check", "secrets", "--help"])
        self.assertRegex(told, r"\A  secrets .*--dir --ignored\)\n\Z")

    def test_help_of_what_the_host_calls(self) -> None:
        for verb in ("hook", "statusline"):
            done = subprocess.run([sys.executable, LAUNCHER, verb, "--help"], input="", capture_output=True, text=True, check=True)
            self.assertIn(f"usage: slipstream {verb}", done.stdout)

    def test_no_skills_at_all(self) -> None:
        engine = importlib.import_module("slipstream.cli.engine")
        for words in (["skills", "list"], ["skills", "search", "x"], ["skills", "show", "x"], ["gate", "run", "x"], ["gate", "plan", "x"], ["validate"]):
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                self.assertEqual(engine.main([*words, "--skills", self.root]), 1)
            self.assertIn("no skill found below " + self.root, err.getvalue(), words)

    def test_paths_as_seen_from_a_folder_of_the_project(self) -> None:
        os.makedirs(os.path.join(self.root, "a", "b"))
        with open(os.path.join(self.root, "a", "b", "one.py"), "w", encoding="utf-8") as stream:
            stream.write("class Thing:\n    def go(self):\n        pass\n")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.join(self.root, "a"))
        find, root = importlib.import_module("slipstream.cli.find"), ["--root", self.root]
        for path in ("b", "./b", "b/one.py", "a/b", ".", "*/one.py"):
            self.assertIn("class Thing", self.said(find, ["search", "Thing", "--path", path, *root]), path)
        for path in ("b/one.py", "a/b/one.py"):
            self.assertIn("Thing: 1 definition", self.said(find, ["refs", "Thing", "--file", path, *root], 1 if path else 0))
            self.said(memory, ["memory", "add", "--type", "fact", "--desc", "d", "--body", "b", "--source", path + ":1-2", *root])
            self.assertIn("a/b/one.py:1-2", self.said(memory, ["memory", "show", "d", *root]))
        for name in ("Thing::go", "Thing#go", "Thing->go", "Thing.go"):
            self.assertIn("def go", self.said(importlib.import_module("slipstream.cli.query"), ["slice", name, *root]))

    def test_a_verb_that_is_interrupted_says_nothing(self) -> None:
        launcher = readme.load_launcher()
        for verb, name, module in self.verbs():
            err = io.StringIO()
            with mock.patch.object(module, "main", side_effect=KeyboardInterrupt), mock.patch.object(sys, "path", [*sys.path]), \
                    contextlib.redirect_stderr(err):
                self.assertEqual((launcher.main(["slipstream", verb]), err.getvalue()), (0 if verb == "hook" else 130, ""), name)

    def test_a_replay_counts_calls_as_the_page_does(self) -> None:
        board, root = importlib.import_module("slipstream.cli.dashboard"), ["--root", self.root]
        self.said(board, ["dashboard", "emit", "--kind", "post-tool", "--label", "sp_map", "--bytes", "4", *root])
        self.assertRegex(self.said(board, ["dashboard", "replay", *root]), r" 1 tool call  about 1 token  ")

    def test_a_check_of_a_folder_that_is_not_there(self) -> None:
        engine, err = importlib.import_module("slipstream.cli.engine"), io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()) as out:
            for name in ("secrets", "html-access", "sitemap", "commits", "env-example"):
                self.assertEqual(engine.main(["gate", "check", name, "--dir", "/no/such"]), 1, name)
        self.assertEqual((out.getvalue(), err.getvalue().count("/no/such")), ("", 5))

    def said(self, module: Any, words: list[str], *statuses: int) -> str:
        """What a call that does what it should says."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(out):
            self.assertIn(module.main(words), (0, *statuses), words)
            out.flush()
        return out.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]

    def test_a_file_where_a_symbol_is_wanted(self) -> None:
        with open(os.path.join(self.root, "README.md"), "w", encoding="utf-8"):
            pass
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            status = importlib.import_module("slipstream.cli.query").main(["slice", "README.md", "--root", self.root])
        self.assertEqual((status, err.getvalue().split("\n")[0]), (2, "slipstream slice: which symbol of that file?"))

    def test_what_is_looked_for_and_not_there_is_status_1(self) -> None:
        calls = (["slice", "absent"], ["outline", "absent.py"], ["refs", "absent"], ["map", "absent"], ["memory", "show", "absent"],
                 ["memory", "prune", "absent"], ["memory", "forget", "absent"], ["memory", "show", "²"], ["memory", "search", "²"], ["memory", "search", "absent"], ["memory", "import", "absent"],
                 ["export", "absent"], ["dashboard", "replay", "--session", "absent"], ["skills", "show", "absent"], ["gate", "run", "absent"],
                 ["dashboard", "status"], ["memory", "update", "absent", "--desc", "x"], ["memory", "supersede", "absent", "--desc", "x"], ["memory", "observations", "7"],
                 ["memory", "recall", "absent"])
        for words in calls:
            module = importlib.import_module("slipstream." + readme.load_verbs()[words[0]])
            out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.assertEqual(module.main([*words, "--root", self.root]), 1, words)


if __name__ == "__main__":
    unittest.main()
