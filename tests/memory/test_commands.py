"""The commands as processes: forms, exit statuses, JSON."""
from __future__ import annotations

import json
import subprocess
import sys

from slipstream.events.log import read_events

import tests
from tests.memory import StoreCase


class Commands(StoreCase):
    def run_it(self, *words: str) -> tuple[int, str, str]:
        done = subprocess.run([sys.executable, "-I", "-S", tests.PROGRAM, *words, "--root", self.root], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        return done.returncode, done.stdout, done.stderr

    def test_a_fact_from_start_to_end(self) -> None:
        status, out, _ = self.run_it("memory", "add", "--type", "decision", "--desc", "Use the walrus", "--body", "It swims.", "--tags=a,b")
        self.assertEqual((status, out), (0, 'remembered "use-the-walrus" (decision)\n'))
        self.assertEqual(self.run_it("memory", "add", "--type", "decision", "--desc", "x")[0], 2)
        self.assertEqual(self.run_it("memory", "add", "--type", "nope", "--desc", "x", "--body", "y")[0], 2)
        rows = json.loads(self.run_it("memory", "list", "--json")[1])
        self.assertEqual([(row["name"], row["tags"]) for row in rows], [("use-the-walrus", ["a", "b"])])
        self.assertIn("It swims.", self.run_it("memory", "recall", "--limit", "5", "walrus")[1])
        self.assertIn("#fact:use-the-walrus [fact]", self.run_it("memory", "search", "walrus")[1])
        self.assertEqual(json.loads(self.run_it("memory", "search", "walrus", "--json")[1])[0]["id"], "fact:use-the-walrus")
        self.assertEqual(self.run_it("memory", "search", "kubernetes")[:2], (1, "no matching observations\n"))
        self.assertEqual(self.run_it("memory", "search")[0], 2)
        self.assertEqual(self.run_it("memory", "search", "x", "--nope")[0], 2)
        self.assertIn("It swims.", self.run_it("recall-signal", "--branch", "feat/walrus")[1])
        self.assertEqual(self.run_it("memory", "doctor")[0], 0)
        self.assertEqual(self.run_it("memory", "show", "nothing")[0], 1)
        self.assertEqual(self.run_it("memory", "prune", "use-the-walrus")[0], 0)
        self.assertEqual(self.run_it("memory", "prune", "use-the-walrus")[0], 1)
        self.assertEqual(self.run_it("memory", "prune")[0], 2)

    def test_a_record_says_the_branch_and_the_worktree_it_was_made_in(self) -> None:
        git_dir = self.write(".git/worktrees/side/HEAD", "ref: refs/heads/topic\n")[:-len("/HEAD")]
        self.write(".git/HEAD", "ref: refs/heads/trunk\n")
        self.write(".git/worktrees/side/commondir", "../..\n")
        self.write("side/.git", f"gitdir: {git_dir}\n")
        for root, name, place in ((self.root + "/side", "in-side", {"branch": "topic", "worktree": "side"}),
                                  (self.root, "in-main", {"branch": "trunk"})):
            for words in (("memory", "add", "--type", "fact", "--desc", name, "--body", "b"),
                          ("dashboard", "emit", "--session", name, "--agent", "main", "--kind", "note", "--label", name)):
                done = subprocess.run([sys.executable, "-I", "-S", tests.PROGRAM, *words, "--root", root], check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
                self.assertEqual(done.returncode, 0, done.stdout)
            records = [json.loads(self.run_it("memory", "show", name, "--json")[1]), read_events(self.root, name)[0]["data"]]
            for record in records:
                self.assertEqual({key: record[key] for key in ("branch", "worktree") if key in record}, place)

    def test_words_for_what_is_not_there(self) -> None:
        self.run_it("memory", "add", "--type", "fact", "--desc", "x", "--body", "y")
        self.assertEqual(self.run_it("memory", "list", "--type", "todo")[:2], (0, "no memories of type todo\n"))
        for words in (("prune", "z"), ("update", "z", "--desc", "a"), ("supersede", "z", "--desc", "a")):
            self.assertEqual(self.run_it("memory", *words), (1, "", 'slipstream: no memory named "z"\n'))
        bad = self.write("bad.jsonl", "nope\n")
        self.assertEqual(self.run_it("memory", "import", bad), (
            1, "added 0, 0 already there, 1 not taken\n", f"slipstream: {bad}: line 1: not JSON\n"))

    def test_observe_and_digest(self) -> None:
        self.turn("feed the walrus", "Edit pool.py", session="main")
        status, out, err = self.run_it("observe", "--ci")
        self.assertEqual((status, err, json.loads(out)["id"], len(json.loads(out)["vector"])), (0, "", 1, 256))
        self.assertEqual(self.run_it("observe", "--ci")[:2], (0, ""))
        self.assertIn("feed the walrus", self.run_it("memory", "observations", "1")[1])
        self.assertIn("> #1 [edit]", self.run_it("memory", "timeline", "1")[1])
        found = json.loads(self.run_it("digest", "--open-task", "Feed it", "--activity", "we chose fish||done", "--files", "a.py", "--json")[1])
        self.assertEqual((found["ok"], found["session"], found["openTask"]), (True, "main", "Feed it"))
        self.assertEqual(found["digest"]["decisions"], ["we chose fish"])
        self.assertEqual(found["digest"]["filesTouched"], ["pool.py", "a.py"])

    def test_status_tells_when_something_was_last_recorded(self) -> None:
        self.assertIn("last capture: never\n", self.run_it("status")[1])
        self.write(".claude/slipstream/settings.json", '{"project": "Walrus Farm"}')
        self.assertIn("# Walrus Farm\n", self.run_it("status")[1])
        self.turn("feed the walrus", "Edit pool.py", session="main")
        self.assertRegex(self.run_it("status")[1], r"memory: 0 facts, 0 observations; last capture: \d+ (s|min) ago\n")

    def test_no_digest_of_a_session_that_never_was(self) -> None:
        status, out, err = self.run_it("digest", "--session", "nope")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("nothing is recorded in session nope", err)
        self.assertEqual(self.run_it("memory", "list")[1].count("digest"), 0)
        self.assertEqual(self.run_it("digest", "--session", "nope", "--open-task", "said by hand")[0], 0)
