"""Capture: once and only once, ids never reused, caches healed."""
from __future__ import annotations

import os

from slipstream.memory.observations import load_observations
from slipstream.memory.observe import capture
from slipstream.memory.search import search_memory

from tests.memory import StoreCase


class Capture(StoreCase):
    def test_twice_gives_nothing_new(self) -> None:
        self.turn("fix the login redirect", "Read src/auth.py", "Edit src/auth.py")
        self.turn("and run the tests", "Bash python3 -m unittest")
        found = capture(self.root, "s1")
        self.assertEqual([record["id"] for record in found], [1, 2])
        self.assertEqual([record["kind"] for record in found], ["edit", "command"])
        self.assertEqual(capture(self.root, "s1"), [])

    def test_lost_caches_are_healed_from_the_records(self) -> None:
        self.turn("one", "Edit a.py")
        capture(self.root, "s1")
        for name in (".counter", "s1.cursor"):
            os.unlink(os.path.join(self.store, "observations", name))
        self.turn("two", "Edit b.py", session="s2")
        capture(self.root, "s1")
        capture(self.root, "s2")
        self.assertEqual([(record["id"], record["session"]) for record in load_observations(self.root)], [(1, "s1"), (2, "s2")])

    def test_what_is_captured_is_found(self) -> None:
        self.turn("fix the login redirect", "Edit src/auth/session_cookie.py")
        capture(self.root, "s1")
        self.assertEqual([hit.id for hit in search_memory(self.root, "login redirects")], ["1"])
        self.assertEqual([hit.id for hit in search_memory(self.root, "src/auth/session_cookie.py")], ["1"])
        self.assertEqual(search_memory(self.root, "kubernetes ingress"), [])
