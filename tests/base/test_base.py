"""Roots, containment, store, files, locks, text, settings."""
from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

from slipstream.base import files, git, json_files, paths, roots, settings, store, text
from slipstream.base.clock import now_iso
from slipstream.base.counts import count_of
from slipstream.base.errors import LockTimeout, SlipstreamError
from slipstream.base.instants import parse_iso
from slipstream.base.locks import FileLock
from slipstream.base.tokens import approx_text_tokens, approx_tokens

from tests import LIBRARY
from tests.folders import FolderCase

POSIX = os.name == "posix"


class Folder(FolderCase):
    def path(self, *parts: str) -> str:
        return os.path.join(self.root, *parts)

    def make(self, name: str, content: str = "") -> str:
        return self.write(name, content)


class Roots(Folder):
    def tree(self, cwd: str, **env: str) -> str:
        return roots.find_tree_root(None, env, cwd)

    def test_order(self) -> None:
        os.makedirs(self.path("repo", ".git"))
        os.makedirs(self.path("repo", "a", ".claude", "slipstream"))
        os.makedirs(self.path("plain", ".claude", "slipstream"))
        os.makedirs(self.path("plain", "x", "y"))
        os.makedirs(self.path("bare"))
        self.assertEqual(self.tree(self.path("repo", "a")), self.path("repo"))
        self.assertEqual(self.tree(self.path("plain", "x", "y")), self.path("plain"))
        self.assertEqual(self.tree(self.path("bare")), self.path("bare"))
        self.assertEqual(self.tree(self.path("repo"), CLAUDE_PROJECT_DIR=self.path("bare")), self.path("bare"))
        self.assertEqual(roots.find_tree_root(self.path("plain"), {"CLAUDE_PROJECT_DIR": self.path("bare")}), self.path("plain"))

    def test_home_is_never_chosen_by_walking_up(self) -> None:
        os.makedirs(self.path("home", ".git"))
        os.makedirs(self.path("home", ".claude", "slipstream"))
        os.makedirs(self.path("home", "work"))
        with mock.patch.dict(os.environ, {"HOME": self.path("home"), "USERPROFILE": self.path("home")}):
            self.assertEqual(self.tree(self.path("home", "work")), self.path("home", "work"))
            self.assertEqual(self.tree(self.path("home")), self.path("home"))

    def test_worktree_shares_the_main_store_and_a_submodule_does_not(self) -> None:
        os.makedirs(self.path("top", ".git", "worktrees", "w"))
        self.make("top/.git/worktrees/w/commondir", "../..\n")
        self.make("linked/.git", f"gitdir: {self.path('top', '.git', 'worktrees', 'w')}\n")
        os.makedirs(self.path("top", ".git", "modules", "sub"))
        self.make("top/sub/.git", "gitdir: ../.git/modules/sub\n")
        os.makedirs(self.path("bare.git", "worktrees", "b"))
        self.make("bare.git/worktrees/b/commondir", "../..\n")
        self.make("ofbare/.git", f"gitdir: {self.path('bare.git', 'worktrees', 'b')}\n")
        os.makedirs(self.path("top", "deep"))
        for tree, wanted in (("top", "top"), ("top/deep", "top"), ("linked", "top"), ("top/sub", "top/sub"), ("ofbare", "ofbare")):
            self.assertEqual(roots.find_store_root(self.path(*tree.split("/"))), self.path(*wanted.split("/")), tree)

    def test_against_git_itself(self) -> None:
        def run(*args: str) -> bytes | None:
            return git.run_git(["-c", "user.name=t", "-c", "user.email=t@example.invalid", *args], self.root)
        if run("--version") is None:
            self.skipTest("no git")
        run("init", "-q", "-b", "trunk", "repo")
        self.make("repo/f", "x")
        run("-C", "repo", "add", "f")
        run("-C", "repo", "commit", "-qm", "one")
        run("-C", "repo", "worktree", "add", "-q", "-b", "side/branch", "../wt")
        head = (run("-C", "repo", "rev-parse", "HEAD") or b"").decode().strip()
        self.assertEqual(roots.find_store_root(self.path("wt")), self.path("repo"))
        self.assertEqual(git.read_head(self.path("repo")), ("trunk", head))
        self.assertEqual(git.read_head(self.path("wt")), ("side/branch", head))
        self.assertEqual((git.worktree_name(self.path("repo")), git.worktree_name(self.path("wt"))), (None, "wt"))
        run("-C", "repo", "pack-refs", "--all")
        self.assertEqual(git.read_head(self.path("wt")), ("side/branch", head))


    def test_inside_a_hook_of_another_repository(self) -> None:
        if git.run_git(["--version"], self.root) is None:
            self.skipTest("no git")
        for name in ("one", "other"):
            git.run_git(["init", "-q", name], self.root)
            self.make(f"{name}/{name}.txt", "x")
            git.run_git(["add", "."], self.path(name))
        env = {"GIT_DIR": self.path("other", ".git"), "GIT_WORK_TREE": self.path("other"), "GIT_INDEX_FILE": self.path("other", ".git", "index"),
               "GIT_PREFIX": "", "GIT_COMMON_DIR": self.path("other", ".git")}
        with mock.patch.dict(os.environ, env):
            self.assertEqual(git.run_git(["ls-files"], self.path("one")), b"one.txt\n")
            self.assertEqual(os.path.realpath((git.run_git(["rev-parse", "--show-toplevel"], self.path("one")) or b"").decode().strip()), os.path.realpath(self.path("one")))


class Store(Folder):
    def test_private_and_ignored(self) -> None:
        folder = store.ensure_store(self.root)
        self.assertEqual(files.read_text(os.path.join(folder, ".gitignore")), "/*\n")
        if POSIX:
            self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        self.make(".claude/slipstream/.gitignore", "mine")
        store.ensure_store(self.root)
        self.assertEqual(files.read_text(os.path.join(folder, ".gitignore")), "mine")

    def test_a_full_disk_leaves_no_store_that_git_takes_in(self) -> None:
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("os.rename", side_effect=full), self.assertRaises(OSError):
            store.ensure_store(self.root)
        with mock.patch("builtins.open") as opened, self.assertRaises(OSError):
            opened.return_value.__enter__.return_value.write.side_effect = full
            opened.return_value.__exit__.return_value = False
            opened.side_effect = lambda fd, *_, **__: os.close(fd) or mock.DEFAULT
            store.ensure_store(self.root)
        self.assertEqual(os.listdir(self.path(".claude")), [])
        self.assertEqual(files.read_text(os.path.join(store.ensure_store(self.root), ".gitignore")), "/*\n")

    @unittest.skipUnless(POSIX, "symlinks")
    def test_symlinks_are_refused(self) -> None:
        os.mkdir(self.path("out"))
        os.mkdir(self.path("in"))
        os.symlink(self.path("out"), self.path("in", ".claude"))
        with self.assertRaises(SlipstreamError):
            store.ensure_store(self.path("in"))
        store.ensure_store(self.root)
        os.symlink(self.path("out"), self.path(".claude", "slipstream", "memory"))
        with self.assertRaises(SlipstreamError):
            store.store_path(self.root, "memory", "x.md")
        for name in ("..", "a/b", "", "a\0b"):
            with self.assertRaises(SlipstreamError):
                store.store_path(self.root, name)


class Containment(Folder):
    def test_paths(self) -> None:
        self.make("a/b.txt")
        self.assertEqual(paths.resolve_inside(self.root, "a/../a/b.txt"), self.path("a", "b.txt"))
        self.assertEqual(paths.resolve_inside(self.root, self.path("a")), self.path("a"))
        self.assertEqual(paths.relative_path(self.root, self.path("a", "b.txt")), "a/b.txt")
        for bad in ("..", "../x", "/etc/passwd", "a/../../x", "a\0b", self.root + "-sibling/x"):
            with self.assertRaises(SlipstreamError):
                paths.resolve_inside(self.root, bad)
        if POSIX:
            os.symlink("/etc", self.path("link"))
            with self.assertRaises(SlipstreamError):
                paths.resolve_inside(self.root, "link/passwd")


class Files(Folder):
    def test_atomic_write(self) -> None:
        path = self.path("f")
        self.assertTrue(files.write_atomic(path, "one"))
        self.assertFalse(files.write_atomic(path, "one", only_if_changed=True))
        self.assertTrue(files.write_atomic(path, b"two", only_if_changed=True))
        self.assertEqual((files.read_text(path), os.listdir(self.root)), ("two", ["f"]))
        if POSIX:
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_json_lines_survive_damage(self) -> None:
        path = self.make("l", '\ufeff{"a":1}\nnot json\n[1]\n\n{"b":2}\r\n{"torn":')
        self.assertEqual(list(json_files.iter_json_lines(path)), [{"a": 1}, None, None, {"b": 2}])
        json_files.append_json_line(path, {"c": "\ud800é"})
        self.assertEqual(list(json_files.iter_json_lines(path))[-2:], [None, {"c": "\ud800é"}])
        ends = [end for end, _ in json_files.iter_lines(path)]
        self.assertEqual(ends[-1], os.path.getsize(path))
        self.assertEqual([line for _, line in json_files.iter_lines(path, ends[-2])], [b'{"c":"\\ud800\\u00e9"}\n'])

    def test_a_line_too_long_is_one_bad_line(self) -> None:
        with mock.patch.object(json_files, "MAX_JSON_LINE_BYTES", 64):
            path = self.make("l", '{"a":1}\n{"x":"' + "y" * 300 + '"}\n{"b":2}\n')
            self.assertEqual(list(json_files.iter_json_lines(path)), [{"a": 1}, None, {"b": 2}])
            self.assertEqual(list(json_files.iter_lines(path)), [(8, b'{"a":1}\n'), (317, b""), (325, b'{"b":2}\n')])
            self.assertEqual(next(iter(json_files.iter_lines(path, 8))), (317, b""))
            path = self.make("t", '{"a":1}\n{"x":"' + "y" * 300)  # unfinished: the next reader's
            self.assertEqual([end for end, _ in json_files.iter_lines(path)], [8])

    def test_counts(self) -> None:
        self.assertEqual([count_of(*case) for case in ((1, "fact"), (0, "fact"), (1234, "file"), (2, "entry"), (1, "entry"), (3, "day"),
                                                       (2, "address"), (1, "more line"))],
                         ["1 fact", "0 facts", "1,234 files", "2 entries", "1 entry", "3 days", "2 addresses", "1 more line"])

    @unittest.skipUnless(POSIX, "FIFOs and symlinks")
    def test_only_regular_files_are_read(self) -> None:
        os.mkfifo(self.path("fifo"))
        os.symlink(self.make("real", "x"), self.path("link"))
        for name in ("fifo", "link", "."):
            with self.assertRaises(OSError):
                files.read_bytes(self.path(name))

    def test_load_json(self) -> None:
        self.assertIsNone(json_files.load_json(self.path("none")))
        with self.assertRaisesRegex(SlipstreamError, "bad.json:2:"):
            json_files.load_json(self.make("bad.json", '{"a":1,\nx}'))
        with self.assertRaises(SlipstreamError):
            json_files.load_json(self.make("deep.json", "[" * 100_000))


class Locks(Folder):
    def test_held_is_told_apart_from_cannot_create(self) -> None:
        path = self.path("state")
        with FileLock(path):
            with self.assertRaisesRegex(LockTimeout, r"state\.lock: .* held .* 0\.01 s .*try again"), FileLock(path, timeout_s=0.01):
                self.fail("locked twice")
            self.assertTrue(os.path.exists(path + ".lock"))
        with FileLock(path, timeout_s=0.01):
            pass
        with self.assertRaises(OSError) as caught, FileLock(self.path("nowhere", "state")):
            self.fail("no folder")
        self.assertNotIsInstance(caught.exception, LockTimeout)

    def test_released_when_the_holder_is_killed(self) -> None:
        path = self.path("state")
        code = ("import sys; from slipstream.base.locks import FileLock; lock = FileLock(sys.argv[1]); lock.__enter__(); "
                "print('held', flush=True); sys.stdin.read()")
        holder = subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  cwd=self.root, env={**os.environ, "PYTHONPATH": LIBRARY})
        self.addCleanup(holder.wait)
        assert holder.stdin and holder.stdout
        self.addCleanup(holder.stdin.close)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline().strip(), b"held")
        with self.assertRaises(LockTimeout), FileLock(path, timeout_s=0.01):
            self.fail("held by the other process")
        holder.kill()
        with FileLock(path, timeout_s=10):
            pass


class Text(unittest.TestCase):
    def test_words(self) -> None:
        self.assertEqual(text.split_identifier("parseHTTPRequest2_fast-path"), ["parse", "http", "request", "2", "fast", "path"])
        self.assertEqual(text.words("getUserName(x)"), ["getusername", "get", "user", "name", "x"])
        self.assertIn("größe", text.words("Größe"))
        self.assertEqual(text.words("日本語"), ["日本", "本語"])
        self.assertEqual(text.words("हिन्दी தமிழ் עִבְרִית"), ["हिन्दी", "தமிழ்", "עִבְרִית"])  # marks stay with their letters
        self.assertEqual(text.words("e\u0301cole"), text.words("école"))
        self.assertEqual(text.words("größeFoo2"), ["größefoo2", "größe", "foo", "2"])
        self.assertEqual(text.terms("the caches are invalidated"), text.terms("cache invalidates"))

    def test_estimate(self) -> None:
        self.assertEqual((approx_tokens(0), approx_tokens(36), approx_text_tokens("é" * 18)), (0, 10, 10))

    def test_instants(self) -> None:
        self.assertEqual(now_iso(0.1239), "1970-01-01T00:00:00.123Z")
        for value, wanted in (("1970-01-01T00:00:01Z", 1), ("1970-01-01T00:00:00.5Z", 0.5), ("1970-01-01", 0), ("1970-01-01T01:00:00+01:00", 0),
                              ("x", None), ("", None), ("99999-01-01", None)):
            self.assertEqual(parse_iso(value), wanted, value)


class Settings(Folder):
    def test_layers(self) -> None:
        self.make("home/.claude/slipstream.json", json.dumps({"project": "home", "inject": False, "unknown": 1}))
        os.mkdir(self.path("proj"))
        with mock.patch.dict(os.environ, {"HOME": self.path("home"), "USERPROFILE": self.path("home")}):
            self.assertEqual(settings.load_settings(self.path("proj"), {})["project"], "home")
            self.make("proj/.claude/slipstream/settings.json", json.dumps({"project": "mine", "inject": "wrong type"}))
            values = settings.load_settings(self.path("proj"), {})
            self.assertEqual((values["project"], values["inject"]), ("mine", False))
            values = settings.load_settings(self.path("proj"), {"SLIPSTREAM_PROJECT": "env", "SLIPSTREAM_INJECT": "1"})
            self.assertEqual((values["project"], values["inject"]), ("env", True))
            self.make("proj/.claude/slipstream/settings.json", "{broken")
            with self.assertRaisesRegex(SlipstreamError, "settings.json:1:"):
                settings.load_settings(self.path("proj"), {})
            self.assertEqual(settings.setting(self.path("proj"), "inject"), True)


if __name__ == "__main__":
    unittest.main()
