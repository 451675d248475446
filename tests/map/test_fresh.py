"""The index as a query finds it on disk: current only while all it was made from is, and mended where it is damaged."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

from slipstream.map import fresh, refresh
from slipstream.map.identity import scanner_identity
from slipstream.map.index import open_index
from slipstream.map.index_file import DamagedIndex, IndexFile, open_index_file
from slipstream.map.refs import find_references
from slipstream.map.search import search

from tests import PYZ
from tests.map.trees import TreeCase

OLD = (1_700_000_000, 1_700_000_000)


class Fresh(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        alone = mock.patch.object(fresh, "keeper", None)  # a test of the server's tools may have set it
        alone.start()
        self.addCleanup(alone.stop)
        self.write(".gitignore", "late/\n")
        self.write("one.py", "def first_thing():\n    pass\n")
        self.write("two.py", "from one import first_thing\n\n\ndef second_thing():\n    first_thing()\n")
        self.write("late/three.py", "def third_thing():\n    pass\n")
        self.settle()

    def settle(self) -> None:
        """Makes all indexes, and all of the tree older than they are."""
        os.makedirs(os.path.join(self.root, ".claude"), exist_ok=True)
        for _ in range(2):
            for folder, _, names in os.walk(self.root):
                for one in ["", *names] if not folder.endswith("slipstream") else []:
                    os.utime(os.path.join(folder, one), OLD)
            search(self.root, "thing")
            find_references(self.root, "first_thing")
        with fresh.open_view(self.root) as view:
            self.assertIsInstance(view.source, IndexFile)

    def named(self, query: str) -> list[str]:
        return [hit.symbol.name for hit in search(self.root, query).hits if hit.symbol and hit.symbol.name == query]

    def test_patterns_of_git_that_changed_in_place(self) -> None:
        self.assertEqual(self.named("third_thing"), [])
        self.write(".gitignore", "two.py\n")
        self.assertEqual(self.named("third_thing"), ["third_thing"])
        self.assertEqual(find_references(self.root, "first_thing").uses, [])
        self.settle()
        self.assertEqual(self.named("second_thing"), [])
        os.unlink(os.path.join(self.root, ".gitignore"))
        self.assertEqual(self.named("second_thing"), ["second_thing"])

    def test_the_way_to_the_pyz_is_no_part_of_the_scanner(self) -> None:
        code = "import sys; sys.path.insert(0, sys.argv[1]); from slipstream.map import identity; print(identity.scanner_identity())"
        said = {subprocess.run([sys.executable, "-I", "-S", "-c", code, path], cwd=os.path.dirname(PYZ), capture_output=True, check=True, timeout=60).stdout
                for path in (PYZ, os.path.basename(PYZ), os.path.join("..", "plugin", os.path.basename(PYZ)))}
        self.assertEqual(len(said), 1)
        self.assertNotEqual(said, {b"0\n"})

    def test_what_git_keeps_outside_of_the_tree_is_seen_there(self) -> None:
        os.makedirs(os.path.join(self.root, ".git", "info"))
        for name, text in ((os.path.join("info", "exclude"), ""), ("HEAD", "ref: refs/heads/main\n")):
            with open(os.path.join(self.root, ".git", name), "w", encoding="utf-8") as stream:
                stream.write(text)
        shutil.rmtree(os.path.join(self.root, ".claude"))
        for name in ("", "HEAD", "info", os.path.join("info", "exclude")):
            os.utime(os.path.join(self.root, ".git", name), OLD)
        self.settle()  # and no query brings anything up to date

    def test_a_file_without_extension_that_becomes_a_script(self) -> None:
        self.write("tools/deploy", "echo nothing\n")
        self.write("tools/LICENSE", "free\n")
        for folder in ("", "tools"):
            os.utime(os.path.join(self.root, folder), (OLD[0] + 9, OLD[0] + 9))
        self.assertEqual(open_index(self.root).find("roll_out"), [])
        self.assertFalse(open_index(self.root).refreshed.written)
        self.write("tools/deploy", "#!/bin/sh\nroll_out() {\n  echo rolled\n}\n")
        self.assertEqual(os.stat(os.path.join(self.root, "tools")).st_mtime, OLD[0] + 9, "written in place")
        self.assertEqual([one.path for one in open_index(self.root).find("roll_out")], ["tools/deploy"])
        self.write("tools/LICENSE", "free as before\n")  # looked at again, and then no more
        for scanned in ([], []):
            self.assertEqual(open_index(self.root).refreshed.scanned, scanned)
        self.assertFalse(open_index(self.root).refreshed.written)

    def test_damage_that_only_a_query_meets(self) -> None:
        path = refresh.index_path(self.root)
        for part, ask in (("blocks", lambda: self.named("second_thing") == ["second_thing"]),
                          ("blocks", lambda: len(find_references(self.root, "first_thing").uses) == 2),
                          ("names", lambda: len(find_references(self.root, "first_thing").uses) == 2),
                          ("buckets", lambda: len(find_references(self.root, "first_thing").uses) == 2)):
            with self.subTest(part=part):
                self.settle()
                index = open_index_file(path, scanner_identity())
                assert index is not None
                offset, length, _ = index.parts[part]
                index.handle.close()
                with open(path, "r+b") as stream:
                    stream.seek(offset)
                    stream.write(b"\xff" * length)
                self.assertTrue(ask())
                self.assertEqual(len(open_index(self.root).files()), 2)

    def test_no_offset_reads_beyond_the_file(self) -> None:
        index = open_index_file(refresh.index_path(self.root), scanner_identity())
        assert index is not None
        with index.handle:
            for offset, length in ((index.length, 1), (index.length + 1, 0), (0, -1), (2 ** 64 - 1, 8 - 2 ** 64)):
                with self.assertRaises(DamagedIndex):
                    index.read(offset, length)
            self.assertEqual(index.read(index.length, 0), b"")

    def test_an_index_is_closed_before_it_is_replaced(self) -> None:
        opened: list[IndexFile] = []
        real = fresh.stored.open_index_file

        def note(path: str, identity: int) -> IndexFile | None:
            index = real(path, identity)
            opened.extend([index] if index else [])
            return index

        def refreshed(root: str, **options: bool) -> refresh.Refresh:
            self.assertEqual([one.handle.closed for one in opened], [True])
            return refresh_index(root, **options)

        refresh_index = refresh.refresh_index
        os.unlink(os.path.join(self.root, "one.py"))
        with mock.patch.object(fresh.stored, "open_index_file", note), mock.patch.object(refresh, "refresh_index", refreshed):
            fresh.open_view(self.root)
        self.assertEqual(len(opened), 1)

    @unittest.skipUnless(hasattr(os, "mkfifo"), "the system has no such files")
    def test_what_takes_a_file_s_place_is_told_once(self) -> None:
        path = os.path.join(self.root, "one.py")
        for put, reason in ((lambda: os.symlink("two.py", path), "symbolic link"), (lambda: os.mkfifo(path), "not a regular file")):
            self.settle()
            os.unlink(path)
            put()
            index = open_index(self.root)
            self.assertEqual((index.skipped(), index.paths()), ([("one.py", reason)], ["two.py"]))
            os.unlink(path)
            self.write("one.py", "def first_thing():\n    pass\n")
            self.assertEqual(open_index(self.root).skipped(), [])

    def test_project_files_that_are_no_source_or_have_any_name(self) -> None:
        for path, text in {
            "svc/go.mod": "module x.org/a\n", "svc/main.go": 'package main\n\nimport "x.org/a/lib"\n\nfunc main() { lib.Run() }\n',
            "svc/lib/lib.go": "package lib\n\nfunc Run() {}\n", "web/tsconfig.json": '{"extends": "./paths.json"}',
            "web/paths.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}', "web/src/a.ts": "export const a = 1\n",
            "web/other/a.ts": "export const a = 2\n", "web/main.ts": "import { a } from '@/a'\nexport const b = a\n",
            "jvm/pom.xml": "<project><mainClass>x.Main</mainClass></project>",
            "jvm/src/main/java/x/Main.java": "package x;\npublic class Main { }\n",
            "jvm/src/main/java/x/Other.java": "package x;\npublic class Other { }\n",
        }.items():
            self.write(path, text)
        open_index(self.root)
        for path, text in (("svc/go.mod", "module x.org/b\n"), ("web/paths.json", '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["other/*"]}}}'),
                           ("jvm/pom.xml", "<project><mainClass>x.Other</mainClass></project>")):
            self.settle()
            before = self.ranks()
            self.write(path, text)
            after = self.ranks()
            os.unlink(refresh.index_path(self.root))
            self.assertEqual(after, self.ranks(), path)
            self.assertNotEqual(after, before, path)

    def ranks(self) -> tuple[list[str], dict[str, int]]:
        index = open_index(self.root)
        return index.entry_points, {entry.path: entry.importers for entry in index.files()}

    def test_notes_about_patterns_that_are_none(self) -> None:
        for rules in ('{".gitignore":["a",1]}', '{".gitignore":7}', "[]", '{".gitignore":[true,1]}'):
            table = refresh.load_for(self.root)
            assert table is not None
            with mock.patch("json.dumps", lambda meta, separators, rules=rules: self.notes(meta, rules)):
                data = b"".join(table.render(scanner_identity()))
            with open(refresh.index_path(self.root), "wb") as stream:
                stream.write(data)
            self.assertIsNone(refresh.load_for(self.root), rules)
            self.assertEqual(len(open_index(self.root).files()), 2)

    @staticmethod
    def notes(meta: dict[str, object], rules: str) -> str:
        import json
        return json.JSONEncoder().encode({**meta, "rules": 0}).replace('"rules": 0', f'"rules": {rules}')
