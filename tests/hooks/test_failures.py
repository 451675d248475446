"""Whatever is wrong with the store or the machine: status 0, no stray byte, in time, and errors.log says why."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from slipstream.base.errors import LockTimeout
from slipstream.base.locks import FileLock
from slipstream.events import append
from slipstream.memory import conversations, observe

from tests.hooks.events import HOOKS, HookCase, recorded_events
from tests.test_house import find_python

KINDS = ("SessionStart-startup", "UserPromptSubmit", "PostToolUse-Bash", "PostToolBatch", "PreCompact-auto", "Stop", "SessionEnd-other")
BOUND_S = 8.0  # the host's own limit for the slowest; far above what any of them takes here


class Failures(HookCase):
    def play(self, at_once: int = 1, **extra: str) -> float:
        """Every kind of event as a process, so many side by side; the seconds of the slowest."""
        def one(name: str) -> float:
            event = {**recorded_events()[name], "session_id": "s-1"}
            started = time.monotonic()
            done = self.process(event["hook_event_name"], json.dumps(event).encode(), **extra)
            self.assertEqual((done.returncode, done.stderr), (0, b""), name)
            return time.monotonic() - started

        with ThreadPoolExecutor(at_once) as pool:
            return max(pool.map(one, KINDS))

    def test_the_stores_folder_is_a_file(self) -> None:
        os.makedirs(os.path.dirname(self.store))
        Path(self.store).write_text("x")
        self.play()
        self.assertIn("NotADirectoryError", self.errors())

    @unittest.skipUnless(hasattr(os, "mkfifo"), "no FIFOs here")
    def test_a_fifo_as_the_error_log_does_not_hang(self) -> None:
        os.makedirs(self.store, 0o700)
        Path(self.store, "dashboard").write_text("x")  # something to complain about
        os.mkfifo(os.path.join(self.store, "errors.log"))
        self.assertLess(self.play(TMPDIR=self.root), BOUND_S)

    def test_read_only(self) -> None:
        if os.geteuid() == 0:
            self.skipTest("nothing is read-only for root")
        os.makedirs(os.path.join(self.store, "dashboard"))
        os.chmod(os.path.join(self.store, "dashboard"), 0o500)
        os.chmod(self.store, 0o500)
        self.addCleanup(os.chmod, self.store, 0o700)
        self.play()
        self.assertIn("PermissionError", self.errors())

    @unittest.skipIf(os.name != "posix", "needs a limit on the size of files")
    def test_no_room_on_the_disk(self) -> None:
        self.play()  # the store is there
        before = self.events()
        event = {**recorded_events()["PostToolUse-Bash"], "session_id": "s-1"}
        size = max(path.stat().st_size for path in Path(self.store, "dashboard").glob("*.jsonl"))
        code = ("import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 20}, {size + 20}))\n" + HOOKS["code"])
        done = subprocess.run([sys.executable, "-I", "-S", "-c", code, HOOKS["pyz"], "hook", "post-tool-use"],
                              input=json.dumps(event).encode(), capture_output=True, env={k: v for k, v in self.env.items() if v},
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertEqual(self.events(), before)  # nothing torn is left behind
        self.assertIn("hook post-tool-use", self.errors())

    @unittest.skipIf(os.name != "posix", "needs flock")
    def test_the_lock_is_held_for_ever(self) -> None:
        import fcntl
        self.play()
        before = len(self.events())
        with open(Path(self.store, "dashboard", "s-1.jsonl.lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertLess(self.play(at_once=len(KINDS)), BOUND_S)  # they wait for it, and take nothing from each other
            self.assertEqual(len(self.events()), before)
        self.play()  # the next writers take in what waited
        self.assertGreaterEqual(len(self.events()), before + 2 * (len(KINDS) - 1))

    def test_no_home_no_git_no_path(self) -> None:
        self.play(HOME="", PATH="/nonexistent")
        self.assertTrue(self.events())
        self.assertEqual(self.errors(), "")

    def test_a_store_that_leaves_the_project_is_refused(self) -> None:
        outside = os.path.join(self.base, "outside")
        os.makedirs(outside)
        os.makedirs(os.path.dirname(self.store))
        os.symlink(outside, self.store)
        self.play()
        self.assertEqual(os.listdir(outside), [])
        self.assertIn("symlink", self.errors())

    def test_the_errors_log_is_bounded_and_not_followed(self) -> None:
        from slipstream.events.errorlog import MAX_BYTES, log_error
        for number in range(400):
            log_error(self.root, "test", ValueError("x" * 1000 + str(number)))
        path = Path(self.store, "errors.log")
        self.assertLess(path.stat().st_size, MAX_BYTES + 2000)
        self.assertTrue(path.read_text().startswith("20"))
        path.unlink()
        target = Path(self.base, "elsewhere.txt")
        target.write_text("")
        path.symlink_to(target)
        log_error(self.root, "test", ValueError("y"))
        self.assertEqual(target.read_text(), "")

    def test_held_locks_do_not_keep_the_end_of_a_turn_beyond_the_hosts_limit(self) -> None:
        limit = json.loads(Path(HOOKS["file"]).read_text(encoding="utf-8"))["hooks"]["Stop"][0]["hooks"][0]["timeout"]
        self.assertLess(append.LOCK_TIMEOUT_S + observe.LOCK_TIMEOUT_S + conversations.LOCK_TIMEOUT_S, limit)
        append.append_event(self.root, "s-1", "main", "user-prompt", "hello")
        transcript = os.path.join(self.base, "t.jsonl")
        Path(transcript).write_text("{}\n")
        for module, name, act in ((observe, "observations/.counter", lambda: observe.capture(self.root, "s-1")),
                                  (conversations, "conversations/s-1",
                                   lambda: conversations.ingest_transcript(self.root, "s-1", transcript))):
            path = Path(self.store, *name.split("/"))
            path.parent.mkdir(exist_ok=True)
            with self.subTest(name), FileLock(str(path)), mock.patch.object(module, "LOCK_TIMEOUT_S", 0.01):
                self.assertRaises(LockTimeout, act)


class Vanished(HookCase):
    """The command line of hooks.json with a file that is not what it was. The client's answer is in tests/clients."""

    def run_with(self, pyz: str, python: str = sys.executable) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([python, "-I", "-S", "-c", HOOKS["code"], pyz, "hook", "pre-tool-use"],
                              input=b'{"tool_name": "Read", "tool_input": {"file_path": "/etc/hosts"}}', capture_output=True,
                              env={k: v for k, v in self.env.items() if v}, timeout=60, check=False)

    def test_missing_torn_and_foreign_files(self) -> None:
        whole = Path(HOOKS["pyz"]).read_bytes()
        torn = {"missing": None, "empty": b"", "text": b"no archive", "half": whole[: len(whole) // 2], "tail": whole[5000:],
                "bad": whole[:20_000] + b"\0" * (len(whole) - 40_000) + whole[-20_000:]}
        for name, data in torn.items():
            path = Path(self.base, name + ".pyz")
            if data is not None:
                path.write_bytes(data)
            done = self.run_with(str(path))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""), name)

    def test_old_interpreters(self) -> None:
        found = 0
        for version in ("3.6", "3.7", "3.8"):
            python = find_python(version)
            if python:
                found += 1
                done = self.run_with(HOOKS["pyz"], python)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""), version)
        if not found:
            self.skipTest("no Python older than 3.9 here")


class Wiring(unittest.TestCase):
    def test_every_process_is_started_the_same_way(self) -> None:
        hooks = json.loads(Path(HOOKS["file"]).read_text(encoding="utf-8"))["hooks"]
        names = set()
        for event, entries in hooks.items():
            for handler in (handler for entry in entries for handler in entry["hooks"]):
                self.assertLessEqual(handler["timeout"], 10, event)
                if handler["type"] == "command":
                    verb = "".join("-" + c.lower() if c.isupper() else c for c in event).lstrip("-")
                    self.assertEqual([handler["command"], *handler["args"]], [
                        "python3", "-I", "-S", "-c", HOOKS["code"], "${CLAUDE_PLUGIN_ROOT}/slipstream.pyz", "hook", verb])
                    names.add(event)
                else:
                    self.assertEqual((handler["server"], handler["tool"]), ("plugin:slipstream:slipstream", "sp_hook"))
                    self.assertEqual(handler["input"]["hook_event_name"], event)
                    self.assertNotIn("cwd", handler["input"])  # the one path taken is the transcript
        # an unreadable entry on these two costs an older client the whole plugin, so never a newer kind of handler
        self.assertLessEqual({"PreToolUse", "PermissionRequest"}, names)
        self.assertEqual([entry.get("matcher") for entry in hooks["PreToolUse"]], ["Read"])


if __name__ == "__main__":
    unittest.main()
