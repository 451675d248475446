"""Facts: the published file, slugs, collisions, bad neighbours."""
from __future__ import annotations

import os
import unicodedata

from slipstream.base.errors import SlipstreamError
from slipstream.context.status import load_status, rebuild_status
from slipstream.memory import facts
from slipstream.memory.search import search_memory

from tests.memory import StoreCase


class Facts(StoreCase):
    def test_created_survives_an_update_and_the_index_follows(self) -> None:
        facts.add_fact(self.root, "We use Drizzle ORM on D1", "decision", "Typed queries.", now="2026-06-01T12:00:00.000Z")
        again = facts.add_fact(self.root, "We use Drizzle ORM on D1", "decision", "Other body.", now="2026-06-02T12:00:00.000Z")
        self.assertEqual(again.name, "we-use-drizzle-orm-on-d1")
        held = facts.get_fact(self.root, again.name)
        self.assertEqual((held.created, held.updated), ("2026-06-01T12:00:00.000Z", "2026-06-02T12:00:00.000Z"))
        with open(os.path.join(self.store, "memory", "MEMORY.md"), encoding="utf-8") as stream:
            self.assertIn("- **we-use-drizzle-orm-on-d1**: We use Drizzle ORM on D1\n", stream.read())

    def test_the_status_line_counts_them_at_once(self) -> None:
        facts.add_fact(self.root, "one", "fact", "b")
        self.assertEqual(load_status(self.root), {})  # absent: made whole when it is asked for
        self.assertEqual(rebuild_status(self.root)["memoryCount"], 1)
        facts.add_fact(self.root, "two", "fact", "b")
        self.assertEqual(load_status(self.root)["memoryCount"], 2)
        facts.prune_fact(self.root, "one")
        self.assertEqual(load_status(self.root)["memoryCount"], 1)

    def test_a_collision_overwrites_nothing(self) -> None:
        first = facts.add_fact(self.root, "a" * 70 + " one", "fact", "first")
        second = facts.add_fact(self.root, "a" * 70 + " two", "fact", "second")
        self.assertNotEqual(first.name, second.name)
        self.assertEqual({fact.body for fact in facts.load_facts(self.root).facts}, {"first", "second"})

    def test_every_script_has_names(self) -> None:
        for description, name in (("हिन्दी तथ्य", "हिन्दी-तथ्य"), ("日本語の事実", "日本語の事実"), ("Größe der Naïveté", "große-der-naivete"), ("תִּקְוָה", "תִּקְוָה"),
                                  ("Ελληνικά κείμενο", "ελληνικά-κείμενο"), ("e\u0301cole", "ecole")):
            self.assertEqual(facts.add_fact(self.root, description, "fact", "b").name, unicodedata.normalize("NFC", name))
            self.assertEqual(search_memory(self.root, description)[0].id, "fact:" + unicodedata.normalize("NFC", name))

    def test_a_path_is_no_name(self) -> None:
        outside = self.write("x.md", "keep")
        for name in ("../../../x", "a/b", "..", ""):
            with self.assertRaises(SlipstreamError):
                facts.prune_fact(self.root, name)
        self.assertTrue(os.path.exists(outside))

    def test_prune_is_true_then_false(self) -> None:
        facts.add_fact(self.root, "x y", "fact", "b")
        self.assertTrue(facts.prune_fact(self.root, "x-y"))
        self.assertFalse(facts.prune_fact(self.root, "x-y"))
