"""Twenty-five writers at once, a third of them killed at random instants: ids unique, nothing lost, nothing twice, index right."""
from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import unittest
from collections import Counter

from slipstream.events.log import list_sessions, read_events
from slipstream.memory.fact_index import render_index
from slipstream.memory.facts import load_facts
from slipstream.memory.observations import load_observations
from slipstream.memory.observe import capture_all
from slipstream.memory.search import search_memory

import tests
from tests.memory import StoreCase

WRITERS, ROUNDS = 25, 3


class Storm(StoreCase):
    @unittest.skipUnless(hasattr(signal, "SIGKILL"), "no SIGKILL here")
    def test_killed_writers(self) -> None:
        chance = random.Random(4)
        env = {**os.environ, "PYTHONPATH": tests.ROOT, "PYTHONWARNINGS": ""}
        running = [subprocess.Popen([sys.executable, "-m", "tests.memory.worker", self.root, str(number), str(ROUNDS)], cwd=tests.ROOT,
                                    env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for number in range(WRITERS)]
        doomed = chance.sample(running, WRITERS // 3)
        kept: list[str] = []
        for process in running:
            if process in doomed:  # after its first fact, wherever it is by then
                assert process.stdout is not None
                kept += process.stdout.readline().decode().split()[1:]
                process.send_signal(signal.SIGKILL)
        for process in running:
            output = process.communicate(timeout=120)[0].decode()
            kept += [line.split()[1] for line in output.split("\n") if line.endswith(tuple("0123456789"))]
        capture_all(self.root, flush_open=True)

        store = load_facts(self.root)
        self.assertEqual(store.problems, [])
        names = {fact.name for fact in store.facts}
        self.assertEqual([name for name in kept if name not in names], [])
        with open(os.path.join(self.store, "memory", "MEMORY.md"), encoding="utf-8") as stream:
            self.assertEqual(stream.read(), render_index(store.facts))

        records = load_observations(self.root)
        ids = [record["id"] for record in records]
        self.assertEqual(len(ids), len(set(ids)))
        edits = Counter(event["label"] for row in list_sessions(self.root) for event in read_events(self.root, row["session"])
                        if event["kind"] == "post-tool")
        told = Counter(f"Edit {path}" for record in records for path in record["files"])
        self.assertEqual(set(edits), set(told))
        self.assertEqual(max(told.values()), 1)
        self.assertTrue(search_memory(self.root, "worker turn"))
