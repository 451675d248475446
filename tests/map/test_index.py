"""The index: built once, brought up to date for what changed, rebuilt when damaged, never needed."""
from __future__ import annotations

import os

from slipstream.map.index import open_index
from slipstream.map.refresh import index_path

from tests.map.trees import TreeCase

APP = '"""Starts the program."""\n\n\ndef start(port):\n    return port\n\n\nclass App:\n    def stop(self):\n        pass\n'


class Refreshing(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("app.py", APP)
        self.write("lib/text.py", "def words(text):\n    return text.split()\n")
        open_index(self.root)

    def test_second_time_nothing_is_scanned(self) -> None:
        index = open_index(self.root)
        self.assertFalse(index.refreshed.complete)
        self.assertEqual(index.refreshed.scanned, [])
        self.assertEqual([one.qualified for one in index.definitions()], ["start", "App", "App.stop", "words"])
        self.assertEqual([(one.path, one.line) for one in index.find("App.stop")], [("app.py", 9)])

    def test_changed_file_is_scanned_alone(self) -> None:
        self.write("app.py", "# moved\n" + APP, age_s=30)
        index = open_index(self.root)
        self.assertEqual(index.refreshed.scanned, ["app.py"])
        self.assertEqual(index.find("start")[0].line, 5)
        self.assertEqual(open_index(self.root).refreshed.scanned, [])

    def test_script_that_imports_itself_hides_no_other_importer(self) -> None:
        for folder in ("", "web/"):
            self.write(folder + "a.ts", "import * as self from './a'\nexport const a = () => self\n")
            self.write(folder + "b.ts", "import { a } from './a'\nexport const b = a\n")
        importers = {entry.path: entry.importers for entry in open_index(self.root).files() if entry.path.endswith(".ts")}
        self.assertEqual(importers, {"a.ts": 1, "b.ts": 0, "web/a.ts": 1, "web/b.ts": 0})

    def test_same_size_and_time_in_the_same_moment(self) -> None:
        full = self.write("now.py", "def one(): pass\n", age_s=0)
        before = os.stat(full)
        open_index(self.root)
        with open(full, "w") as stream:
            stream.write("def two(): pass\n")
        os.utime(full, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertTrue(open_index(self.root).find("two"))

    def test_new_and_removed_files(self) -> None:
        self.write("lib/deep/er/new.py", "def fresh():\n    pass\n")
        index = open_index(self.root)
        self.assertEqual(index.refreshed.scanned, ["lib/deep/er/new.py"])
        self.assertTrue(index.find("fresh"))
        os.unlink(os.path.join(self.root, "app.py"))
        index = open_index(self.root)
        self.assertEqual(index.refreshed.removed, ["app.py"])
        self.assertEqual(index.find("App"), [])
        self.assertEqual(index.paths(), ["lib/deep/er/new.py", "lib/text.py"])

    def test_any_damage_rebuilds_silently(self) -> None:
        path = index_path(self.root)
        with open(path, "rb") as stream:
            good = stream.read()
        for at in range(0, len(good), 7):
            damaged = bytearray(good)
            damaged[at] ^= 0x55
            with open(path, "wb") as stream:
                stream.write(damaged)
            index = open_index(self.root)
            self.assertEqual([one.qualified for one in index.definitions()], ["start", "App", "App.stop", "words"], at)
        for length in (0, 3, 100, len(good) // 2, len(good) - 1):
            with open(path, "wb") as stream:
                stream.write(good[:length])
            self.assertEqual(len(open_index(self.root).files()), 2)
            self.assertFalse(open_index(self.root).refreshed.complete)

    def test_read_only_tree_needs_no_index(self) -> None:
        os.unlink(index_path(self.root))
        index = open_index(self.root, write=False)
        self.assertEqual(len(index.files()), 2)
        self.assertFalse(os.path.exists(index_path(self.root)))
