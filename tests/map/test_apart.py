"""A server's refresh: little is done in its own process, much in another one, and the result is the same."""
from __future__ import annotations

import os
import subprocess
import sys
import unittest
from unittest import mock

from slipstream.map import apart, fresh, keep, pool
from slipstream.map.apart import open_index_apart, refresh_map_apart
from slipstream.map.index_file import FAILED
from slipstream.map.publish import refresh_map
from slipstream.map.rescan import MANY_FILES
from slipstream.map.search import search
from slipstream.map.search_text import render_answer

from tests.map.trees import TreeCase

WAIT_S = 30.0


def proceed(done: int, total: int) -> None:
    """Goes on with the work."""


class Apart(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        for number in range(MANY_FILES):
            self.write(f"pkg/m{number}.py", f'"""Module {number}."""\n\ndef work_{number}(value):\n    return value\n')
        self.started: list[subprocess.Popen[bytes]] = []
        start = pool.start_process

        def note(module: str, *arguments: str) -> subprocess.Popen[bytes]:
            process = start(module, *arguments)
            if module == apart.__name__:
                self.started.append(process)
            return process

        patch = mock.patch.object(pool, "start_process", note)
        patch.start()
        self.addCleanup(patch.stop)

    def stored(self, name: str) -> str:
        with open(os.path.join(self.root, ".claude", "slipstream", name), encoding="utf-8") as stream:
            return "\n".join(line for line in stream.read().split("\n") if "generatedAt" not in line)

    def test_a_cold_map_is_made_by_another_process(self) -> None:
        index, text = refresh_map_apart(self.root, proceed)
        self.assertEqual([process.returncode for process in self.started], [0])
        self.assertEqual(index.refreshed.scanned, [])
        found = text, self.stored("map.json"), [one.name for one in index.definitions()]
        for name in os.listdir(os.path.join(self.root, ".claude", "slipstream")):
            os.unlink(os.path.join(self.root, ".claude", "slipstream", name))
        index, text = refresh_map(self.root)
        self.assertEqual((text, self.stored("map.json"), [one.name for one in index.definitions()]), found)

    def test_what_is_little_is_done_here(self) -> None:
        refresh_map_apart(self.root, proceed)
        refresh_map_apart(self.root, proceed)
        self.write("pkg/m7.py", "def changed():\n    pass\n", 30)
        self.write("pkg/new.py", "def added():\n    pass\n")
        index, text = refresh_map_apart(self.root, proceed)
        self.assertEqual(index.refreshed.scanned, ["pkg/m7.py", "pkg/new.py"])
        self.assertIn(f"{MANY_FILES + 1} files", text)
        self.assertEqual(len(self.started), 1)

    def test_many_changed_files(self) -> None:
        open_index_apart(self.root, proceed)
        for number in range(MANY_FILES):
            self.write(f"pkg/m{number}.py", f"def other_{number}():\n    return {number}\n", 30)
        fresh.keeper, before = keep, fresh.keeper
        self.addCleanup(setattr, fresh, "keeper", before)
        self.addCleanup(keep.let_go, self.root)
        self.assertIn("other_7(", render_answer(search(self.root, "other_7", 5), "other_7"))
        self.assertEqual([process.returncode for process in self.started], [0, 0])
        self.assertTrue(open_index_apart(self.root, proceed).find("other_100"))

    def test_progress_is_passed_on(self) -> None:
        steps: list[tuple[int, int]] = []
        open_index_apart(self.root, lambda done, total: steps.append((done, total)))
        self.assertEqual(steps[-1], (MANY_FILES, MANY_FILES))

    def test_called_off(self) -> None:
        def stop(done: int, total: int) -> None:
            raise KeyError("enough")

        with mock.patch.object(apart, "LOOK_UP_S", 0.0), self.assertRaises(KeyError):  # before the other process is done
            refresh_map_apart(self.root, stop)
        self.assertIsNotNone(self.started[0].poll())
        self.assertFalse(os.path.exists(os.path.join(self.root, ".claude", "slipstream", "map.md")))
        self.assertEqual(apart._live, set())

    def test_it_ends_with_its_input(self) -> None:
        process = pool.start_process(apart.__name__, "map", self.root)
        assert process.stdin and process.stdout
        with process.stdout:
            process.stdin.close()
            self.assertEqual(process.wait(WAIT_S), 1)

    def test_without_another_process_it_is_done_here(self) -> None:
        for failure in (mock.Mock(side_effect=OSError("no process")),
                        lambda *_: subprocess.Popen([os.devnull], stdin=subprocess.PIPE, stdout=subprocess.PIPE),
                        lambda *_: other_process("import os; os._exit(3)"),
                        lambda *_: other_process("import sys; sys.stdout.write('1')")):  # it ends in the middle of a step
            with mock.patch.object(pool, "start_process", failure), mock.patch.object(pool, "_cores", return_value=1):
                self.assertTrue(open_index_apart(self.root, proceed).find("work_7"))
            os.unlink(os.path.join(self.root, ".claude", "slipstream", "map.index"))

    def test_a_store_that_cannot_be_written(self) -> None:
        with mock.patch.object(apart.os, "access", return_value=False):
            self.assertTrue(open_index_apart(self.root, proceed).find("work_7"))
        self.assertEqual(self.started, [])

    def test_files_of_workers_whose_code_was_replaced_are_read_here(self) -> None:
        paths = [f"pkg/m{number}.py" for number in range(MANY_FILES)]
        with mock.patch.object(pool, "scanner_identity", return_value=1), mock.patch.object(
                pool, "start_process", wraps=pool.start_process) as start:
            results = pool.scan_files(self.root, paths, workers=2)
        self.assertEqual([one.flags & FAILED for one in results], [0] * MANY_FILES)
        self.assertLessEqual(start.call_count, 2)

    def test_other_code_does_nothing(self) -> None:
        with mock.patch.object(pool, "scanner_identity", return_value=1):
            process = pool.start_process(apart.__name__, "map", self.root)
        self.assertEqual(process.communicate(timeout=WAIT_S)[0], b"")
        self.assertFalse(os.path.exists(os.path.join(self.root, ".claude", "slipstream", "map.index")))


def other_process(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


if __name__ == "__main__":
    unittest.main()
