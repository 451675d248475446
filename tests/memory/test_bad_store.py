"""A store with a thousand bad files still answers, and says what is wrong with it."""
from __future__ import annotations

import os

from slipstream.memory import briefing, facts
from slipstream.memory.health import check_memory
from slipstream.memory.lessons import find_lessons
from slipstream.memory.observe import capture
from slipstream.memory.search import close_catalogs, find_records, search_memory, timeline

from tests.memory import StoreCase

GOOD = "---\nname: {0}\ndescription: good fact {0}\ntype: fact\n---\n\nabout zebras\n"


class BadStore(StoreCase):
    def test_still_answers(self) -> None:
        self.turn("fix the zebra crossing", "Edit src/zebra.py")
        capture(self.root, "s1")
        facts.add_fact(self.root, "Zebra stripes are cached", "decision", "In the stripe cache.")
        bad = [b"", b"\0" * 100, "---\nname: x\n".encode("utf-16"), b"---\nname: [\n---\n", b"no front matter",
               b"---\nname: a\ndescription: b\ntype: fact\n<<<<<<< HEAD\nx: 1\n=======\nx: 2\n>>>>>>> other\n---\n\nb\n",
               b"\xff\xfe\xfd", b"---\nname: a\nname: a\ndescription: d\ntype: fact\n---\nb", b"---\n" + b"x" * 3000, b"{\"id\":1"]
        for number in range(500):
            self.write(f".claude/slipstream/memory/bad{number}.md", bad[number % len(bad)])
            self.write(f".claude/slipstream/observations/bad{number}.jsonl", bad[number % len(bad)] + b'\n{"id":"x"}\nnull\n{"id":7')
        self.write(".claude/slipstream/memory/huge.md", b"x" * 1_200_000)
        self.write(".claude/slipstream/observations/huge.jsonl", b"x" * 9_000_000 + b"\n")
        for folder, name in (("memory", "link.md"), ("observations", "link.jsonl"), ("conversations", "link.json")):
            os.makedirs(os.path.join(self.store, folder), exist_ok=True)
            os.symlink("/etc/hostname", os.path.join(self.store, folder, name))
        self.write(".claude/slipstream/conversations/bad.json", b"[" * 100_000)
        for name in (".counter", "s1.cursor", ".recent.json"):
            self.write(f".claude/slipstream/observations/{name}", b"\xff garbage")
        found = [hit.id for hit in search_memory(self.root, "zebra")]
        self.assertEqual(sorted(found), ["1", "fact:zebra-stripes-are-cached"])
        self.assertEqual([row["id"] for row in timeline(self.root, 1)], [1])
        self.assertEqual([record["id"] for record in find_records(self.root, [1])], [1])
        self.assertEqual(find_lessons(self.root), [])
        self.assertIn("zebra", briefing.session_start_text(self.root, self.root, prompt="zebra stripes"))
        report = check_memory(self.root, self.root)
        self.assertGreater(len(report["problems"]), 400)
        self.assertEqual(len(report["conflicts"]), 50)
        self.turn("feed the zebra", "Edit src/hay.py")
        self.assertEqual([record["id"] for record in capture(self.root, "s1")], [2])
        self.assertIn("2", [hit.id for hit in search_memory(self.root, "feed zebra")])

    def test_a_damaged_index_is_built_again(self) -> None:
        self.turn("fix the zebra crossing", "Edit src/zebra.py")
        capture(self.root, "s1")
        self.assertTrue(search_memory(self.root, "zebra"))
        folder = os.path.join(self.store, "search")
        for damage in (b"", b"slpseg04 and then nothing", None, b"\0" * 4000):
            for name in os.listdir(folder):
                close_catalogs()
                path = os.path.join(folder, name)
                if not os.path.exists(path):
                    continue  # a piece that the last repair replaced
                if damage is None:
                    with open(path, "rb") as stream:
                        raw = stream.read()
                    with open(path, "wb") as stream:
                        stream.write(raw[:len(raw) // 2])
                else:
                    with open(path, "wb") as stream:
                        stream.write(damage)
                self.assertEqual([hit.id for hit in search_memory(self.root, "zebra")], ["1"], (name, damage))

    def test_a_read_only_store_is_read(self) -> None:
        self.turn("fix the zebra crossing", "Edit src/zebra.py")
        capture(self.root, "s1")
        self.write(".claude/slipstream/search", b"not a folder: nothing can be kept")
        self.assertEqual([hit.id for hit in search_memory(self.root, "zebra")], ["1"])
        self.assertEqual([hit.id for hit in search_memory(self.root, "zebra")], ["1"])
