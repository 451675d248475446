"""Hostile trees: nothing aborts the map, and what was left out is reported."""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import unittest
from unittest import mock

from slipstream.map import scan
from slipstream.map.index import Index, open_index
from slipstream.map.pool import scan_files
from slipstream.map.publish import refresh_map
from slipstream.map.slices import slice_symbols

from tests import PROGRAM
from tests.map.trees import TreeCase

GOOD = "def good():\n    pass\n"


def names(index: Index) -> list[str]:
    return [one.name for one in index.definitions()]


class Hostile(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("good.py", GOOD)

    def reason(self, index: Index, path: str) -> str:
        return dict(index.skipped()).get(path, "")

    @unittest.skipIf(os.name == "nt" or os.geteuid() == 0, "permissions do not hold here")
    def test_unreadable_file_and_folder(self) -> None:
        os.chmod(self.write("secret.py", GOOD), 0)
        self.write("closed/x.py", GOOD)
        os.chmod(os.path.join(self.root, "closed"), 0)
        self.addCleanup(os.chmod, os.path.join(self.root, "closed"), 0o700)
        index = open_index(self.root)
        self.assertEqual(names(index), ["good"])
        self.assertIn("unreadable", self.reason(index, "secret.py"))
        self.assertIn("unreadable", self.reason(index, "closed/"))

    def test_unreadable_by_error(self) -> None:
        """The same where the tests run as root: the operating system says no."""
        self.write("secret.py", GOOD)
        self.write("closed/x.py", GOOD)
        real_open, real_scan = os.open, os.scandir

        def no_open(path: str, *rest: int, **more: int) -> int:
            if str(path).endswith("secret.py"):
                raise PermissionError(13, "Permission denied")
            return real_open(path, *rest, **more)

        def no_scan(path: str) -> object:
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied")
            return real_scan(path)
        with mock.patch("os.open", no_open), mock.patch("os.scandir", no_scan):
            index = open_index(self.root)
        self.assertEqual(names(index), ["good"])
        self.assertIn("Permission denied", self.reason(index, "secret.py"))
        self.assertIn("Permission denied", self.reason(index, "closed/"))
        self.assertEqual(names(open_index(self.root)), ["good", "good"])  # closed/ is looked into again

    @unittest.skipUnless(hasattr(os, "mkfifo"), "no FIFOs here")
    def test_fifos_in_the_store_do_not_hang_a_search(self) -> None:
        refresh_map(self.root)
        for name in ("map.search", "map.words"):
            path = os.path.join(self.root, ".claude", "slipstream", name)
            if os.path.exists(path):
                os.unlink(path)
            os.mkfifo(path)
        for words in (["search", "good"], ["refs", "good"]):
            done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], cwd=self.root, capture_output=True, text=True,
                                  timeout=20, check=False)
            self.assertIn("good.py", done.stdout, done.stderr)

    @unittest.skipUnless(hasattr(os, "mkfifo"), "no FIFOs here")
    def test_fifo_socket_links_and_loops(self) -> None:
        os.mkfifo(os.path.join(self.root, "pipe.py"))
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            os.chdir(self.root)
            try:
                server.bind("sock.py")
            finally:
                os.chdir(here)
        os.symlink(".", os.path.join(self.root, "loop"))
        os.symlink("good.py", os.path.join(self.root, "link.py"))
        os.symlink("/nowhere", os.path.join(self.root, "dangling.py"))
        index = open_index(self.root)
        self.assertEqual(names(index), ["good"])
        self.assertEqual(self.reason(index, "pipe.py"), "not a regular file")
        self.assertEqual(self.reason(index, "sock.py"), "not a regular file")
        self.assertEqual(self.reason(index, "link.py"), "symbolic link")

    @unittest.skipUnless(hasattr(os, "mkfifo"), "no FIFOs here")
    def test_a_file_that_turns_into_a_fifo_is_not_waited_for(self) -> None:
        open_index(self.root)
        os.unlink(os.path.join(self.root, "good.py"))
        os.mkfifo(os.path.join(self.root, "good.py"))
        self.assertEqual(names(open_index(self.root)), [])

    @unittest.skipUnless(hasattr(os, "mkfifo") and shutil.which("git"), "no FIFOs here, or no git")
    def test_git_is_not_asked_where_it_would_wait_for_a_fifo(self) -> None:
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True, capture_output=True)
        os.mkdir(os.path.join(self.root, "sub"))
        os.mkfifo(os.path.join(self.root, "sub", ".gitignore"))
        with mock.patch("slipstream.map.walk.run_git") as asked:
            self.assertEqual(names(open_index(self.root)), ["good"])
        asked.assert_not_called()

    def test_one_line_of_50_megabytes(self) -> None:
        with open(os.path.join(self.root, "huge.js"), "wb") as stream:
            stream.write(b"var a=1;" * 6_500_000)
        index = open_index(self.root)
        self.assertEqual(names(index), ["good"])
        self.assertIn("larger than", self.reason(index, "huge.js"))

    def test_minified_and_generated(self) -> None:
        self.write("lib.min.js", "function a(){}")
        self.write("one.js", "function a(){return 1};" * 600)
        self.write("made.go", "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage x\n\nfunc Made() {}\n")
        index = open_index(self.root)
        self.assertEqual(self.reason(index, "lib.min.js"), "minified")
        self.assertEqual(self.reason(index, "one.js"), "minified")
        self.assertEqual(self.reason(index, "made.go"), "generated")
        self.assertTrue(index.find("Made"))  # left out of the map, still there for a slice

    def test_bytes_that_are_no_utf8(self) -> None:
        self.write("nul.py", b"x = 1\n\0\n")
        self.write("wide.py", "def größe():\n    pass\n".encode("utf-16"))
        self.write("latin.py", "# -*- coding: latin-1 -*-\ndef größe_l():\n    pass\n".encode("latin-1"))
        self.write("bom.py", b"\xef\xbb\xbfdef bom():\n    pass\n")
        self.write("crlf.py", "def crlf():\r\n    return 1\r\n\r\nx = 2\r\n")
        index = open_index(self.root)
        self.assertIn("NUL", self.reason(index, "nul.py"))
        self.assertEqual([one.path for one in index.find("größe")], ["wide.py"])
        self.assertEqual([one.path for one in index.find("größe_l")], ["latin.py"])
        self.assertEqual(slice_symbols(self.root, ["größe"])[0].code, "def größe():\n    pass")
        self.assertEqual(slice_symbols(self.root, ["bom"])[0].code, "def bom():\n    pass")
        self.assertEqual(slice_symbols(self.root, ["crlf"])[0].code, "def crlf():\n    return 1")

    @unittest.skipIf(sys.platform in ("win32", "darwin"), "such names cannot exist here")
    def test_names_with_newlines_and_bad_bytes(self) -> None:
        self.write("two\nlines.py", "def split():\n    pass\n")
        with open(os.path.join(os.fsencode(self.root), b"bad\xff\xfe.py"), "wb") as stream:
            stream.write(b"def bad():\n    pass\n")
        index, text = refresh_map(self.root)
        self.assertEqual(len(index.files()), 3)
        self.assertIn("two\\nlines.py", text)
        self.assertEqual(refresh_map(self.root)[0].refreshed.scanned, [])
        for words in (["map"], ["map", "--all"], ["map", "--json"], ["map", "--all", "--json"], ["slice", "bad"], ["slice", "split"],
                      ["outline", "two\nlines.py"], ["slice", "--json", "bad"]):
            done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], cwd=self.root, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)
            done.stdout.decode("utf-8")

    def test_a_file_that_vanishes_or_changes_during_the_scan(self) -> None:
        self.write("gone.py", GOOD)
        self.write("moving.py", GOOD)
        real = scan.read_source

        def unsteady(path: str, *rest: int) -> object:
            if path.endswith("gone.py"):
                os.unlink(path)
            answer = real(path, *rest)
            if path.endswith("moving.py"):
                with open(path, "a") as stream:
                    stream.write("def later():\n    pass\n")
            return answer
        with mock.patch.object(scan, "read_source", unsteady):
            index = open_index(self.root)
        self.assertEqual(sorted(index.paths()), ["good.py", "moving.py"])
        self.assertTrue(open_index(self.root).find("later"))

    def test_deep_nesting_and_endless_brackets(self) -> None:
        self.write("deep.py", "x = " + "(" * 60_000 + "\n" + "\n".join(f"{' ' * i}if x:" for i in range(600)))
        self.write("deep.js", "{" * 20_000 + "\n" * 200)
        self.write("quote.ts", "const a = `${" * 3_000 + "\n" * 400)
        index = open_index(self.root)
        self.assertIn("good", names(index))
        self.assertEqual(len(index.paths()), 4)

    def test_a_scanner_that_fails_costs_one_file(self) -> None:
        self.write("bad.py", GOOD)
        real = scan.scan_source

        def fails(path: str, data: bytes) -> object:
            if path == "bad.py":
                raise RuntimeError("surprise")
            return real(path, data)
        with mock.patch.object(scan, "scan_source", fails):
            index = open_index(self.root)
        self.assertEqual(names(index), ["good"])
        self.assertIn("failed: RuntimeError: surprise", self.reason(index, "bad.py"))

    def test_workers_give_what_one_process_gives(self) -> None:
        for number in range(150):
            self.write(f"many/m{number}.py", f"def f{number}():\n    return {number}\n" * (number % 7))
        paths = [f"many/m{number}.py" for number in range(150)] + ["absent.py"]
        alone, together = scan_files(self.root, paths, workers=1), scan_files(self.root, paths, workers=2)
        self.assertEqual([(one.stamp, one.content, one.section(), sorted(one.keys)) for one in alone],
                         [(one.stamp, one.content, one.section(), sorted(one.keys)) for one in together])

    def test_the_root_as_a_link(self) -> None:
        link = self.root + "-link"
        os.symlink(self.root, link)
        self.addCleanup(os.unlink, link)
        done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "map", link], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("good.py", done.stdout)

    def test_store_that_came_with_a_clone(self) -> None:
        with open(os.path.join(self.root + "-outside.py"), "w") as stream:
            stream.write("def outside():\n    pass\n")
        self.addCleanup(os.unlink, self.root + "-outside.py")
        os.makedirs(os.path.join(self.root, ".claude"))
        os.symlink(os.path.dirname(self.root), os.path.join(self.root, ".claude", "slipstream"))
        index, _ = refresh_map(self.root)
        self.assertEqual(names(index), ["good"])
        self.assertIn("not written", index.refreshed.note)
        self.assertFalse(os.path.exists(os.path.join(os.path.dirname(self.root), "map.index")))


STEERING = ("\n", "\r", "\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u2028", "\x7f")
PLAIN = frozenset("\n")


@unittest.skipIf(os.name == "nt", "the file system takes no such names")
class NamesInText(TreeCase):
    """Every verb that prints text shows a name that would steer the terminal as escapes; JSON keeps the true one."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = "pk" + "".join(STEERING) + "g"
        self.name = self.folder + "/na" + "".join(STEERING) + "me.js"
        self.write(self.name, "import { other } from './other.js'\nexport function wanted() { return other(inner_word) }\n" + "// x\n" * 5000)
        self.write(self.folder + "/other.js", "import { wanted } from './na" + "".join(STEERING) + "me.js'\nexport function other() { return wanted() }\n")
        self.write(self.folder + "/third.js", "import { other } from './other.js'\nexport function wanted() { return other() }\n")

    def run_verb(self, *words: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words, "--root", self.root], capture_output=True,
                              timeout=60, check=False, cwd=self.root)
        return done.returncode, (done.stdout + done.stderr).decode("utf-8")

    def test_every_text_verb(self) -> None:
        lone = self.folder + "/third.js"
        for words in (["map"], ["map", "--all"], ["map", self.name], ["map", self.folder], ["map", "--budget", "300"], ["search", "wanted"],
                      ["search", "inner_word"], ["refs", "wanted"], ["refs", "other"], ["refs", "wanted", "--file", lone],
                      ["refs", "wanted", "--file", self.folder + "/other.js"], ["graph"], ["graph", self.name],
                      ["graph", self.folder + "/nothing.js"], ["outline", self.name], ["outline", self.name + "x"], ["slice", self.name, "wanted"],
                      ["slice", "wanted"], ["slice", self.name, "unknown"], ["slice", self.folder + "/gone.js", "x"], ["lines", self.name, "1", "2"],
                      ["lines", self.name, "1", "9000"], ["guard", self.name], ["guard", lone], ["guard", self.name + "x"], ["mindmap"], ["status"]):
            with self.subTest(words=words[0], flags=words[1:]):
                _, text = self.run_verb(*words)
                self.assertTrue(text)
                found = {one for one in text if not one.isprintable() and one != "\n" and one != "\ufffd"}
                self.assertEqual(found, set(), text[:300])
                self.assertFalse([line for line in text.split("\n") if line.startswith(("g/", "me.js"))], text[:300])

    def test_json_keeps_the_true_name(self) -> None:
        import json
        for words in (["search", "wanted"], ["refs", "wanted"], ["graph"], ["outline", self.name], ["slice", self.name, "wanted"], ["guard", self.name]):
            _, text = self.run_verb(*words, "--json")
            self.assertIn(json.dumps(self.name, ensure_ascii=False), text, words)
