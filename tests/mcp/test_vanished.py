"""The pyz is updated or removed under a running server: what it loads later still comes from the file it started from."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from typing import Any

from tests import PYZ
from tests.mcp import Server, environment, initialize, message

SESSION = "5d8f2a10-0000-4000-8000-000000000001"


def hook(number: int, event: str, **fields: str) -> dict[str, Any]:
    return message("tools/call", number, name="sp_hook", arguments={"hook_event_name": event, "session_id": SESSION, **fields})


@unittest.skipUnless(os.name == "posix", "elsewhere a file that is open cannot be removed")
class Vanished(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(os.path.realpath(folder.name), "project")
        os.mkdir(self.root)
        with open(os.path.join(self.root, "a.py"), "w", encoding="utf-8") as out:
            out.write("def find_me():\n    return 1\n")
        self.pyz = os.path.join(folder.name, "slipstream.pyz")
        shutil.copy(PYZ, self.pyz)

    def serve(self) -> Server:
        server = Server(self.root, environment(SLIPSTREAM_MODE=""), program=self.pyz)
        self.addCleanup(server.__exit__)
        server.ask(initialize())
        return server

    def go_on(self, server: Server) -> None:
        """A turn of hooks, and a tool of each kind, none of whose modules was loaded before."""
        text = server.ask(hook(1, "Stop"))["result"]
        self.assertEqual(text, {"content": [{"type": "text", "text": ""}]})
        self.assertIn("find_me", server.ask(message("tools/call", 2, name="sp_map", arguments={}))["result"]["content"][0]["text"])
        self.assertNotIn("isError", server.ask(message("tools/call", 3, name="sp_recall", arguments={"query": "anything"}))["result"])
        log = os.path.join(self.root, ".claude", "slipstream", "dashboard", SESSION + ".jsonl")
        with open(log, encoding="utf-8") as stream:
            self.assertIn('"kind":"stop"', stream.read())
        self.assertFalse(os.path.exists(os.path.join(self.root, ".claude", "slipstream", "errors.log")))

    def test_removed(self) -> None:
        server = self.serve()
        os.unlink(self.pyz)
        self.go_on(server)

    def test_a_large_cold_map(self) -> None:
        """No other process can be had any more, so it is scanned here, and nothing is reported as failed."""
        for number in range(200):
            with open(os.path.join(self.root, f"m{number}.py"), "w", encoding="utf-8") as out:
                out.write(f"def work_{number}():\n    return {number}\n")
        for end in (lambda: os.unlink(self.pyz), lambda: shutil.copy(PYZ, self.pyz)):
            server = self.serve()
            end()
            text = server.ask(message("tools/call", 2, name="sp_map", arguments={}))["result"]["content"][0]["text"]
            self.assertIn("201 files", text)
            self.assertNotIn("failed", text)
            server.close()  # what it notes after its answer is on disk
            shutil.rmtree(os.path.join(self.root, ".claude"))
            shutil.copy(PYZ, self.pyz)

    def test_replaced_by_another_version(self) -> None:
        server = self.serve()
        with zipfile.ZipFile(self.pyz + ".new", "w") as new:
            new.writestr("AAA.txt", "x" * 9999)
        os.replace(self.pyz + ".new", self.pyz)
        self.go_on(server)

    def test_torn(self) -> None:
        """Overwritten in place, the worst way: nothing can be loaded, and still each hook call is answered with success."""
        server = self.serve()
        with open(self.pyz, "r+b") as stream:
            stream.truncate(1000)
        for number, event in enumerate(("PostToolUse", "Stop", "UserPromptSubmit"), 5):
            answer = server.ask(hook(number, event, tool_name="Read"))
            self.assertEqual(answer["result"], {"content": [{"type": "text", "text": ""}]}, answer)

    def test_a_command_that_is_at_work(self) -> None:
        """Each kind of verb, by the point from which it may be long: the pyz is taken away there, and what it says is as ever."""
        for number in range(150):  # enough for workers
            with open(os.path.join(self.root, f"m{number}.py"), "w", encoding="utf-8") as out:
                out.write(f"def work_{number}():\n    return {number}\n")
        code = ("import os, sys; sys.path.insert(0, sys.argv[1])\nimport importlib, zipimport\n"
                "from slipstream.base import threads\nhold = threads.hold_archive\n"
                "def hold_and_lose():\n    hold()\n    if os.path.exists(sys.argv[1]): os.unlink(sys.argv[1])\n"
                "threads.hold_archive = hold_and_lose\n"
                "status = importlib.import_module('slipstream.' + sys.argv[2]).main(sys.argv[3:])\nsys.stdout.flush()\n"
                "sys.exit(9 if os.path.exists(sys.argv[1]) else status)")
        for words, said in ((["cli.mapping", "map"], "151 files"), (["cli.mapping", "status"], "files: 151"), (["cli.find", "search", "find_me"], "a.py:1"),
                            (["cli.find", "refs", "find_me"], "1 definition"), (["cli.memory", "memory", "list"], "no memories"),
                            (["doctor", "doctor", "--only", "store"], "store")):
            shutil.copy(PYZ, self.pyz)
            shutil.rmtree(os.path.join(self.root, ".claude"), ignore_errors=True)
            done = subprocess.run([sys.executable, "-I", "-S", "-c", code, self.pyz, *words], capture_output=True, text=True, check=False, cwd=self.root)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertIn(said, done.stdout, words)

    def test_other_archives_are_opened_by_name(self) -> None:
        other = os.path.join(self.root, "other.zip")
        with zipfile.ZipFile(other, "w") as new:
            new.writestr("other_module.py", "VALUE = 7\n")
        code = ("import sys; sys.path[:0] = sys.argv[1:]\nfrom slipstream.base import threads\nthreads.hold_archive()\n"
                "import other_module, importlib; importlib.invalidate_caches()\n"
                "import os; os.unlink(sys.argv[1]); import slipstream.mcp.protocol\nprint(other_module.VALUE)")
        done = subprocess.run([sys.executable, "-I", "-S", "-c", code, self.pyz, other], capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("7\n", ""))


if __name__ == "__main__":
    unittest.main()
