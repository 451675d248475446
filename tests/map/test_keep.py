"""What a server keeps of the map between searches: the same answers, edits seen at once, damage mended, few trees held."""
from __future__ import annotations

import os
import subprocess
import sys
import unittest

from slipstream.map import fresh, keep
from slipstream.map.refs import find_references
from slipstream.map.search import search

from tests import LIBRARY
from tests.map.test_search import Tree


@unittest.skipIf(os.name == "nt", "an open file cannot be replaced there, so nothing is kept")
class Kept(Tree):
    def setUp(self) -> None:
        super().setUp()
        fresh.keeper, before = keep, fresh.keeper
        self.addCleanup(lambda: [keep.let_go(root) for root in list(keep._kept)])
        self.addCleanup(setattr, fresh, "keeper", before)
        self.settle(self.root)

    def settle(self, root: str) -> None:
        """Makes the index, then all of the tree older than it."""
        search(root, "parse url")
        for folder, _, names in os.walk(root):
            for one in ["", *names] if not folder.endswith("slipstream") else []:
                os.utime(os.path.join(folder, one), (1_700_000_000, 1_700_000_000))
        search(root, "parse url")

    def test_the_second_search_reads_no_index(self) -> None:
        self.found("parse url")
        self.assertIn(self.root, keep._kept)
        view = keep._kept[self.root][1]
        wanted = self.found("parse url")
        self.assertIs(keep._kept[self.root][1], view)
        self.assertEqual(sorted(view.indexes), ["map.search"])
        uses = len(find_references(self.root, "parse_url").uses)
        keep.let_go(self.root)
        self.assertEqual(self.found("parse url"), wanted)
        self.assertEqual(len(find_references(self.root, "parse_url").uses), uses)

    def test_edits_and_other_writers_are_seen(self) -> None:
        self.found("parse url")
        self.write("pkg/cache.py", "def quite_other_thing():\n    pass\n")
        self.assertEqual(self.found("quite other thing")[0], "pkg/cache.py:quite_other_thing")
        self.write("pkg/late.py", "def late_arrival():\n    pass\n")
        code = "import sys; sys.path.insert(0, sys.argv[1]); from slipstream.map.index import open_index; open_index(sys.argv[2])"
        subprocess.run([sys.executable, "-c", code, LIBRARY, self.root], check=True, timeout=60)
        self.assertEqual(self.found("late arrival")[0], "pkg/late.py:late_arrival")

    def test_damage_below_a_kept_view(self) -> None:
        wanted = self.found("parse url")
        self.assertTrue(keep._kept[self.root][1].indexes)
        keep._kept[self.root][1].indexes["map.search"]._blocks.clear()
        with open(os.path.join(self.root, ".claude", "slipstream", "map.search"), "r+b") as stream:
            stream.seek(200)
            stream.write(b"\xff" * (os.path.getsize(stream.name) - 200))
        self.assertEqual(self.found("parse url"), wanted)

    def test_few_trees_are_held(self) -> None:
        roots = [os.path.join(self.root, "web"), *(os.path.join(self.root, f"tree{number}") for number in range(keep.MAX_KEPT))]
        for root in roots:
            self.write(os.path.relpath(os.path.join(root, "a.py"), self.root), "def parse_url():\n    pass\n")
            self.settle(root)
            self.assertEqual(len(search(root, "parse url").hits), 1)
        self.assertEqual(list(keep._kept), roots[-keep.MAX_KEPT:])
        self.assertEqual(len(search(roots[0], "parse url").hits), 1)



if __name__ == "__main__":
    unittest.main()
