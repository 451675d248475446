"""The closest names of one that is not there: as a look at all names finds them, whatever became of the index since."""
from __future__ import annotations

import os
import random
import tempfile
import unittest

from slipstream.base.store import store_path
from slipstream.map.fresh import open_view
from slipstream.map.index import open_index
from slipstream.map.misses import close_names, find_close
from slipstream.map.refs import find_references
from slipstream.map.search_store import DEFINITIONS
from slipstream.map.slices import Missing, slice_symbols

from tests.folders import FolderCase

WORDS = "get set open load save parse render merge user order file index cursor window budget token session".split()


class Misses(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        some = random.Random(1)
        self.names = sorted({"_".join(some.sample(WORDS, some.randint(1, 4))) for _ in range(300)})
        for number in range(0, len(self.names), 20):
            self.define(f"m{number}.py", self.names[number:number + 20])

    def define(self, name: str, functions: list[str]) -> None:
        self.write(name, "".join(f"def {one}(): pass\n" for one in functions))

    def close(self, name: str) -> list[str]:
        with open_view(self.root) as view:
            return find_close(self.root, view, name)

    def test_one_slip_is_found(self) -> None:
        some = random.Random(2)
        for name in [one for one in self.names if len(one) > 3][::7]:
            at = some.randrange(len(name))
            for slip in (name[:at] + name[at + 1:], name[:at] + "q" + name[at:], name[:at] + "q" + name[at + 1:],
                         name[:at] + name[at + 1:at + 2] + name[at:at + 1] + name[at + 2:]):
                if slip and name in close_names(slip, self.names):
                    self.assertIn(name, self.close(slip), slip)

    def test_whole_part_case_and_nothing(self) -> None:
        self.define("one.py", ["unmistakable_quagga_rider"])
        self.assertEqual(self.close("quagga"), ["unmistakable_quagga_rider"])
        self.assertEqual(self.close("Some.UnmistakableQuaggaRidr"), ["unmistakable_quagga_rider"])
        for name in ("zzzzzz", "x", "\u4e16\u754c", "=", "\0", "." * 9, "q" * 5000):
            self.assertEqual(self.close(name), [], name)
        self.define("one.py", ["\u03b4\u03bf\u03ba\u03b9\u03bc\u03ae"])
        self.assertEqual(self.close("\u03b4\u03bf\u03ba\u03b9\u03bc\u03ac"), ["\u03b4\u03bf\u03ba\u03b9\u03bc\u03ae"])

    def test_changes_beside_the_index(self) -> None:
        self.define("one.py", ["unmistakable_quagga"])
        self.assertEqual(self.close("unmistakable_quaga"), ["unmistakable_quagga"])
        self.define("one.py", ["unmistakable_okapi"])
        self.assertEqual(self.close("unmistakable_quaga"), ["unmistakable_okapi"])
        self.assertTrue(os.path.exists(store_path(self.root, DEFINITIONS + ".new")))
        self.assertIn(self.names[0], self.close(self.names[0] + "z"))
        os.unlink(os.path.join(self.root, "one.py"))
        self.assertEqual(self.close("unmistakable_okap"), [])

    def test_an_empty_tree(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.root = os.path.realpath(folder)
            self.assertEqual(self.close("anything"), [])
            with self.assertRaisesRegex(Missing, r"^no symbol 'anything' in 0 files \(0 symbols\); grep finds text"):
                slice_symbols(self.root, ["anything"])

    def test_a_damaged_index_is_made_anew(self) -> None:
        wrong = self.names[0] + "z"
        self.assertIn(self.names[0], self.close(wrong))
        path = store_path(self.root, DEFINITIONS)
        for ask in (lambda: " ".join(find_references(self.root, wrong).close), lambda: self.said(wrong)):
            with open(path, "rb") as stream:
                data = bytearray(stream.read())
            for at in range(len(data) // 2, len(data)):
                data[at] ^= 0x55
            with open(path, "wb") as out:
                out.write(data)
            self.assertIn(self.names[0], ask())

    def said(self, name: str) -> str:
        with self.assertRaises(Missing) as caught:
            slice_symbols(self.root, [name])
        return str(caught.exception)

    def test_what_came_since_is_found_and_counted(self) -> None:
        count = sum(len(entry.symbols) for entry in open_index(self.root).files())
        self.assertRegex(self.said("nowhere"), rf"^no symbol 'nowhere' in {len(os.listdir(self.root)) - 1} files \({count} symbols\)")
        self.define("late.py", ["nowhere"])
        self.assertEqual(slice_symbols(self.root, ["nowhere"])[0].path, "late.py")
        os.unlink(os.path.join(self.root, "late.py"))
        self.assertIn("it was in late.py, which is gone", self.said("nowhere"))


if __name__ == "__main__":
    unittest.main()
