"""A tree of 100,000 files. It takes minutes to make and to scan, so it runs only where it is asked for."""
from __future__ import annotations

import os
import unittest

from slipstream.map.publish import refresh_map
from slipstream.map.slices import slice_symbols

from tests.map.trees import TreeCase


@unittest.skipUnless(os.environ.get("SLIPSTREAM_TEST_LARGE") == "1", "set SLIPSTREAM_TEST_LARGE=1 for the tree of 100,000 files")
class ManyFiles(TreeCase):
    def test_a_hundred_thousand_files(self) -> None:
        for folder in range(250):
            os.mkdir(os.path.join(self.root, f"d{folder}"))
            for number in range(400):
                with open(os.path.join(self.root, f"d{folder}", f"f{number}.py"), "w", encoding="utf-8") as stream:
                    stream.write(f"def f_{folder}_{number}(a):\n    return a\n")
        index, text = refresh_map(self.root)
        self.assertEqual(index.stats()["fileCount"], 100_000)
        self.assertLessEqual(len(text), 14_400)
        self.assertEqual(slice_symbols(self.root, ["f_249_399"])[0].path, "d249/f399.py")
        with open(os.path.join(self.root, "d7", "f7.py"), "a", encoding="utf-8") as stream:
            stream.write("\n\ndef added():\n    pass\n")
        again, _ = refresh_map(self.root)
        self.assertIn("d7/f7.py", again.refreshed.scanned)
        self.assertTrue(again.find("added"))
