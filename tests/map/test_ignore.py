"""The ignore rules without git, held against git itself on generated trees."""
from __future__ import annotations

import os
import random
import shutil
import subprocess
import unittest
from unittest import mock

from slipstream.map.ignore import parse_patterns
from slipstream.map.index import open_index
from slipstream.map.walk import Walker

from tests.map.trees import TreeCase

NAMES = ["a", "b", "foo", "bar", "foo.py", "a.b", "x.min.js", "[z]", "A", "foo bar", "#x", "!n", "trail ", "ünï", "a-b", "é.py", "doc"]
PIECES = ["a", "b", "foo", "bar", "*", "**", "?", "*.py", "foo*", "[a-c]", "[!a]", "[^b-z]*", "*.b", "x.*", "\\[z\\]", "\\#x", "[[:upper:]]",
          "foo\\ bar", "d?c", "[]a]", "[a-", "*o*", "ün*", "é.py", "?.py", "\\!n", "trail\\ ", "[\\z]", "a**b", "doc", "f*o*", "*a*b*", "***", "x[/]y", "[a/b]", "a**", "fo**"]


def git(root: str, *args: str) -> bytes:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": root, "XDG_CONFIG_HOME": root}
    return subprocess.run(["git", *args], cwd=root, env=env, check=True, capture_output=True).stdout


def pattern(chance: random.Random) -> str:
    text = "/".join(chance.choice(PIECES) for _ in range(chance.choice((1, 1, 1, 2, 2, 3))))
    text = ("/" if chance.random() < 0.2 else "") + text + ("/" if chance.random() < 0.25 else "")
    return ("!" if chance.random() < 0.25 else "") + text + ("  " if chance.random() < 0.1 else "")


@unittest.skipUnless(shutil.which("git"), "git is not here to compare with")
class AgainstGit(TreeCase):
    def make(self, chance: random.Random) -> None:
        folders = [""]
        for _ in range(14):
            folders.append(os.path.join(chance.choice(folders), chance.choice(NAMES)))
        for folder in sorted(set(folders)):  # in one order: what a seed makes is the same in every run
            full = os.path.join(self.root, folder)
            try:
                os.makedirs(full, exist_ok=True)
            except OSError:
                continue
            for name in chance.sample(NAMES, 5):
                if not os.path.isdir(os.path.join(full, name)):
                    open(os.path.join(full, name), "w").close()
            if chance.random() < 0.4 or not folder:
                lines = [pattern(chance) for _ in range(chance.randint(1, 5))]
                with open(os.path.join(full, ".gitignore"), "w", newline="") as stream:
                    stream.write(chance.choice(("", "\ufeff")) + chance.choice(("\n", "\r\n")).join([*lines, "# note", ""]))

    def test_asking_git_about_a_new_file_says_nothing_of_folders_below_it(self) -> None:
        git(self.root, "init", "-q")
        self.write("a/one.py", "def one(): pass\n")
        self.write("a/sub/two.py", "def two(): pass\n")
        os.symlink("../one.py", os.path.join(self.root, "a", "sub", "linked.py"))
        for folder in ("a", "a/sub", ""):
            os.utime(os.path.join(self.root, folder), (1_000_000_000, 1_000_000_000))
        left_out = open_index(self.root).skipped()
        self.assertEqual(left_out, [("a/sub/linked.py", "symbolic link")])
        self.write("a/three.py", "def three(): pass\n")
        ask = Walker._list_git

        def late(walker: Walker, folders: list[str]) -> set[str] | None:
            listed = ask(walker, folders)
            self.write("a/sub/late.py", "def late(): pass\n")
            return listed

        with mock.patch.object(Walker, "_list_git", late):
            index = open_index(self.root)
        self.assertEqual((index.skipped(), len(index.find("three"))), (left_out, 1))
        self.assertEqual(len(open_index(self.root).find("late")), 1)

    def test_same_files_as_git_lists(self) -> None:
        top = self.root
        git(top, "init", "-q")
        for seed in range(120):
            self.root = os.path.join(top, str(seed))
            os.mkdir(self.root)
            self.make(random.Random(seed))
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": top}):
            walk = Walker(top, lambda path: True).walk(ask_git=False)
        listed = git(top, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
        wanted = {os.fsdecode(path) for path in listed if path}
        self.assertEqual(sorted(set(walk.files) ^ wanted), [])
        self.assertGreater(len(wanted), 1_000)
        inner = Walker(os.path.join(top, "7"), lambda path: True).walk(ask_git=False)  # rules of the folders above hold too
        self.assertEqual(["7/" + path for path in inner.files], sorted(path for path in wanted if path.startswith("7/")))


class Parsing(unittest.TestCase):
    def test_lines(self) -> None:
        found = parse_patterns(b"\xef\xbb\xbf# note\r\n\n!keep/\r\nplain \\ \n*.o\n/\n")
        self.assertEqual([(one.negated, one.only_folders, one.literal, one.suffix) for one in found],
                         [(True, True, b"keep", None), (False, False, None, None), (False, False, None, b".o")])

    def test_stars_at_the_end_of_a_literal_beginning_cross_folders(self) -> None:
        for text, path, meant in ((b"/fo**", b"foo/bar/x", True), (b"/fo**", b"fo", True), (b"/fo**", b"of", False),
                                  (b"a/fo**", b"a/foo/x", True), (b"a/fo**", b"b/foo/x", False), (b"/fo**x", b"foo/x", False),
                                  (b"/f?o**", b"foo/x", False), (b"/fo***", b"foo/x", True), (b"/fo*", b"foo/x", False)):
            [pattern] = parse_patterns(text)
            self.assertIs(pattern.matches(path.rpartition(b"/")[2], path), meant, (text, path))

    def test_no_pattern_is_slow(self) -> None:
        for text in (b"*a" * 60 + b"*b", b"**/a/" * 40 + b"b", b"[a-z]*" * 50 + b"!", b"x/" + b"*a*" * 50):
            [pattern] = parse_patterns(text)
            self.assertFalse(pattern.matches(b"a" * 250, b"/".join([b"a"] * 60) + b"/" + b"a" * 250))
