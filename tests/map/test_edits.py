"""After any edit the map, map.json, map.md and the index say what a cold scan of the same tree says, however little was redone."""
from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from typing import Any
from unittest import mock

from slipstream.map import patch, publish, recount, render
from slipstream.map.identity import scanner_identity
from slipstream.map.index import Index
from slipstream.map.index_file import BLOCK, CTIME, FLAGS, INODE, MTIME, PLACE, RACY, open_index_file
from slipstream.map.lookup import find_file
from slipstream.map.refresh import index_path

from tests.map.trees import TreeCase

STORE = os.path.join(".claude", "slipstream")
ROUNDS, SEED = 80, 7
UNTOLD = {MTIME, CTIME, INODE, FLAGS, PLACE, *range(BLOCK, BLOCK + 3)}  # of a record: what differs without a difference


def view_of(index: Index) -> dict[str, Any]:
    """What an index says, without where it keeps it."""
    table = index.table
    files = {}
    for slot, path in table.live():
        record = table.records[slot]
        files[path] = (table.section(slot), record[FLAGS] & ~RACY,
                       [value for at, value in enumerate(record) if at not in UNTOLD])
    names = {one.name for entry in index.files() for one in entry.symbols}
    return {"files": files, "entries": index.entry_points, "skipped": index.skipped(), "stats": index.stats(),
            "folders": sorted(table.folders),
            "names": {name: [(one.path, one.line) for one in index.find(name)] for name in sorted(names)}}


class Edits(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        self.random = random.Random(SEED)
        self.age = 90_000
        self.texts: dict[str, str] = {}
        os.mkdir(os.path.join(self.root, ".claude"))
        for number in range(12):
            self.put(f"py/m{number}.py", f'"""Part {number}."""\nfrom py import m{(number * 5 + 1) % 12}\n\n\ndef part{number}():\n    return {number}\n')
            self.put(f"web/c{number}.ts", f"import {{ c }} from './c{(number * 7 + 2) % 12}'\nexport const c = {number}\n// note\n")
            self.put(f"jvm/K{number}.kt", f"package a.b{number % 3}\nimport a.b{(number + 1) % 3}.k{number}\nfun k{number}() = 1\n")
        for number in range(4):
            other = (number + 1) % 4
            self.put(f"php/Kind{number}.php", f"<?php\nnamespace App\\Kinds;\nuse App\\Kinds\\Kind{other};\nuse function App\\Low\\low{other};\nclass Kind{number} {{}}\n")
            self.put(f"php/low{number}.php", f"<?php\nnamespace App\\Low;\nuse App\\Kinds\\Kind{other};\nfunction low{number}() {{}}\n")
            self.put(f"Sources/Run/part{number}.swift", f"import Run\nstruct Part{number} {{}}\n")
            self.put(f"Tests/Some/t{number}.swift", f"import Run\nfunc t{number}() {{}}\n")
            self.put(f"src/main/org/C{number}.java", f"package org;\nimport org.C{other};\npublic class C{number} {{}}\n")
            self.put(f"ruby/lib/r{number}.rb", f"require_relative 'r{other}'\ndef r{number}\nend\n")
        self.put("Package.swift", 'let package = Package(name: "P", targets: [.executableTarget(name: "Run")])\n')
        self.put("go.mod", "module x\n")
        self.put("main.go", 'package main\n\nimport "x/lib"\n\nfunc main() { lib.Run() }\n')
        self.put("lib/lib.go", "package lib\n\nfunc Run() {}\n")
        self.put("package.json", '{"main": "web/c1.ts"}')
        self.put("tsconfig.json", '{"compilerOptions": {"paths": {"@/*": ["web/*"]}}}')
        self.put("docs/read.md", "# Title\n\n## Part\n")
        for part, name, value in ((publish, "DEFAULT_BUDGET_TOKENS", 350), (render, "MAX_MISSES", 2)):
            small = mock.patch.object(part, name, value)  # a map that looks at few of these files for their detail
            small.start()
            self.addCleanup(small.stop)

    def put(self, path: str, text: str) -> None:
        self.age -= 10
        self.texts[path] = text
        self.write(path, text, age_s=self.age)

    def drop(self, path: str) -> None:
        del self.texts[path]
        os.unlink(os.path.join(self.root, path))

    def stored(self) -> tuple[str, str]:
        found = []
        for name in ("map.json", "map.md"):
            with open(os.path.join(self.root, STORE, name), encoding="utf-8") as stream:
                found.append(stream.read())
        return re.sub(r'"generatedAt": "[^"]*"', '"generatedAt": ""', found[0]), found[1]

    def check(self, what: str) -> None:
        index, text = publish.refresh_map(self.root)
        warm = (text, *self.stored())
        self.assertEqual(publish.refresh_map(self.root)[1], text, what)
        said, folder = view_of(index), os.stat(os.path.join(self.root, ".claude"))
        with tempfile.TemporaryDirectory() as aside:
            shutil.move(os.path.join(self.root, STORE), os.path.join(aside, "store"))
            index, text = publish.refresh_map(self.root)
            cold = (text, *self.stored())
            shutil.rmtree(os.path.join(self.root, STORE))
            shutil.move(os.path.join(aside, "store"), os.path.join(self.root, STORE))
            os.utime(os.path.join(self.root, ".claude"), ns=(folder.st_atime_ns, folder.st_mtime_ns))
        self.assertEqual(warm, cold, what)
        self.assertEqual(said, view_of(index), what)

    def edits(self) -> list[tuple[str, Callable[[], object]]]:
        one = self.random.choice
        sources = sorted(path for path in self.texts if path.endswith((".py", ".ts", ".kt")))
        one_of_more = one(sorted(path for path in self.texts if path.endswith((".php", ".swift", ".java", ".rb")) and path != "Package.swift"))
        path = one(sources)
        text, other, number = self.texts[path], one(sources), self.random.randrange(12)
        told = self.texts[one_of_more]
        more = {"php": "function added{}() {{}}\n", "swift": "@main struct Added{} {{}}\n", "java": "class Added{} {{}}\n", "rb": "def added{}\nend\n"}[one_of_more.rpartition(".")[2]]
        word = {"py": "def more{}():\n    pass\n", "ts": "export function more{}() {{}}\n", "kt": "fun more{}() = 2\n"}[path.rpartition(".")[2]]
        wanted = {"py": f"from py import m{number}\n", "ts": f"import x from '@/c{number}'\n",
                  "kt": f"package a.b{number % 3}\nimport a.b1.more{number}\n"}[path.rpartition(".")[2]]
        return [
            ("a line at the end", lambda: self.put(path, text + "\n")),
            ("a line at the end", lambda: self.put(path, text + "\n\n")),
            ("lines in two files", lambda: [self.put(name, self.texts[name] + "\n") for name in (path, other)]),
            ("a body", lambda: self.put(path, text.replace("return", "return 1 +").replace("= 1", "= 1 + 1"))),
            ("lines moved", lambda: self.put(path, text.replace("\n", "\n\n", 1))),
            ("a definition came", lambda: self.put(path, text + word.format(number))),
            ("a definition left", lambda: self.put(path, text.replace("export const", "const").replace("def part", "# "))),
            ("a definition renamed", lambda: self.put(path, re.sub(r"\b(def |fun )(\w+)", rf"\1named{number}", text))),
            ("imports", lambda: self.put(path, wanted + re.sub(r"(?m)^(?:from|import|package) .*\n", "", text))),
            ("a header", lambda: self.put(path, ("# " if path.endswith("py") else "// ") + f"Told anew {number}.\n" + text)),
            ("generated", lambda: self.put(path, ("# " if path.endswith("py") else "// ") + "Code generated by x. DO NOT EDIT.\n" + text)),
            ("a file came", lambda: self.put(f"py/new{number}.py", f"from py import m{number}\n\n\ndef fresh():\n    pass\n")),
            ("a folder came", lambda: self.put(f"web/deep{number}/c.ts", f"import '../c{number}'\nexport class D {{ go() {{}} }}\n")),
            ("a file left", lambda: self.drop(path)),
            ("a file renamed", lambda: [self.put(path.replace(".", "x."), text), self.drop(path)]),
            ("a manifest", lambda: self.put("package.json", f'{{"main": "web/c{number}.ts"}}')),
            ("aliases", lambda: self.put("tsconfig.json", f'{{"compilerOptions": {{"paths": {{"@/*": ["{one(("web", "py"))}/*"]}}}}}}')),
            ("a module's name", lambda: self.put("go.mod", f"module {one(('x', 'y'))}\n")),
            ("a vendored folder", lambda: self.put(f"web/node_modules/m{number}.js", "x = 1\n")),
            ("a definition in another language", lambda: self.put(one_of_more, told + more.format(number))),
            ("other imports in another language", lambda: self.put(one_of_more, re.sub(rf"(?<=[a-zC]){number % 4}(?=[;'])", str((number + 1) % 4), told))),
            ("a file renamed in another language", lambda: [self.put(re.sub(r"\d+", str(number), one_of_more), told), one_of_more.count(str(number)) or self.drop(one_of_more)]),
            ("nothing", lambda: None),
        ]

    def test_as_a_cold_scan(self) -> None:
        taken: list[bool] = []
        real = patch.patch_map_files

        def spy(index: Index, kept: Any) -> Any:
            moved = bool(index.refreshed.removed) or not index.refreshed.modified_only
            found = real(index, kept)
            taken.append(found is not None)
            if found is not None and moved:
                placed.append(moved)
            return found

        placed: list[object] = []
        counted: list[object] = []
        find = recount.find_difference

        def counting(*args: Any) -> Any:
            counted.append(find(*args))
            return counted[-1]

        self.check("at first")
        with mock.patch.object(patch, "patch_map_files", spy), mock.patch.object(recount, "find_difference", counting):
            for round_number in range(ROUNDS):
                what, edit = self.random.choice(self.edits())
                edit()
                if self.random.random() < 0.2:  # a query sees the change before the map does
                    path = self.random.choice(sorted(path for path in self.texts if path.endswith(".py")))
                    self.put(path, self.texts[path] + f"\n\ndef seen{round_number}():\n    pass\n")
                    index = open_index_file(index_path(self.root), scanner_identity())
                    assert index is not None
                    find_file(self.root, path, index)
                    index.handle.close()
                    what += ", after a query"
                self.check(f"round {round_number}: {what}")
        self.assertTrue(placed)  # files came or left in files that were only patched
        self.assertGreater(sum(taken), 3)  # else the short way was not tried
        self.assertGreater(len(taken), sum(taken))
        self.assertTrue(any(counted))  # importers were counted by their difference, and it was not always none
