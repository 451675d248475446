"""The map: under its budget, the same bytes for the same tree, map.json in its published shape, written only when it changes."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from slipstream.base.tokens import BYTES_PER_TOKEN
from slipstream.map.index import open_index
from slipstream.map.patch import LEVELS, MAX_SHARE
from slipstream.map.publish import refresh_map
from slipstream.map.render import render_map

from tests import PROGRAM
from tests.map.trees import TreeCase

STORE = os.path.join(".claude", "slipstream")


def run(root: str, *words: str, status: int = 0) -> str:
    done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], cwd=root, capture_output=True, check=False)
    assert done.returncode == status, (words, done.stderr)
    assert status or done.stderr == b"", done.stderr
    return done.stdout.decode()


class Map(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("core/base.py", '"""What the rest stands on."""\n\ndef hold(weight: int) -> int:\n    """Hold it."""\n    return weight\n')
        for number in range(30):
            functions = "".join(f"\n\ndef part_{number}_{inner}(value):\n    return value\n" for inner in range(number % 9))
            self.write(f"parts/group{number % 4}/part{number}.py", f"from core.base import hold\n{functions}\n")
        self.write("tests/test_base.py", "from core import base\n\ndef test_hold():\n    pass\n")

    def read_store(self, name: str) -> bytes:
        with open(os.path.join(self.root, STORE, name), "rb") as stream:
            return stream.read()

    def test_a_file_that_could_not_be_read_is_said(self) -> None:
        self.write("lost.php", "class Unopened {\n}\n")
        warning = "warning: lines look like definitions, but none was read"
        for words in (("map",), ("map", "lost.php"), ("outline", "lost.php")):
            with self.subTest(words):
                self.assertIn(warning, run(self.root, *words))
        self.assertEqual(json.loads(run(self.root, "outline", "lost.php", "--json"))["warnings"], [warning[9:]])

    def test_most_connected_first_and_counts(self) -> None:
        text = run(self.root, "map", "--budget", "300")
        self.assertIn("Most connected files\n\n- `core/base.py` (5 lines, imported by 31) - What the rest stands on.", text)
        self.assertIn("  - 3 `def hold(weight: int) -> int`", text)
        self.assertRegex(text, r"Shown \d+ of 113 symbols, \d+ of 32 files in detail")
        self.assertIn("- `parts/", text)

    def test_hard_budget(self) -> None:
        index = open_index(self.root)
        for budget in (100, 256, 1_000, 4_000, 32_000):
            self.assertLessEqual(len(render_map(index, budget).encode()), budget * BYTES_PER_TOKEN)
        for number in range(150):
            self.write(f"wide{number}/{'x' * 90}/deep{number}.py", "def a(b): pass\n")
        index = open_index(self.root)
        for budget in (100, 256, 1_000, 4_000):
            text = render_map(index, budget)
            self.assertLessEqual(len(text.encode()), budget * BYTES_PER_TOKEN)
            self.assertIn("of 182 files in detail", text)

    def test_same_bytes_and_nothing_rewritten(self) -> None:
        first = run(self.root, "map")
        before = {name: os.stat(os.path.join(self.root, STORE, name)).st_mtime_ns for name in ("map.json", "map.md", "map.index")}
        self.assertEqual(run(self.root, "map"), first)
        self.assertEqual(self.read_store("map.md").decode(), first)
        shutil.rmtree(os.path.join(self.root, ".claude"))
        self.assertEqual(run(self.root, "map"), first)
        self.assertEqual(len(before), 3)

    def test_the_project_is_called_as_it_was_named(self) -> None:
        folder = os.path.basename(self.root)
        self.assertIn(f"# Project map: {folder}\n", run(self.root, "map"))
        settings = self.write(STORE + "/settings.json", '{"project": "Parts `n` Pieces"}')
        for words in (("map",), ("map", "--all"), ("map", "--no-write")):
            self.assertIn("# Project map: Parts 'n' Pieces\n", run(self.root, *words))
        self.assertIn(b"# Project map: Parts 'n' Pieces\n", self.read_store("map.md"))
        self.assertIn("# Project map: Parts 'n' Pieces/core/\n", run(self.root, "map", "core"))
        self.assertIn("Parts #96;n#96; Pieces", run(self.root, "mindmap"))
        self.write("core/base.py", "def hold(): pass\n")
        os.unlink(settings)
        self.assertIn(f"# Project map: {folder}\n", run(self.root, "map"))

    def test_several_at_once(self) -> None:
        command = [sys.executable, "-I", "-S", PROGRAM, "map"]
        running = [subprocess.Popen(command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(5)]
        answers = {one.communicate() for one in running}
        self.assertEqual(len(answers), 1)
        [(text, noise)] = answers
        self.assertEqual(noise, b"")
        self.assertEqual(run(self.root, "map").encode(), text)
        self.assertEqual(sorted(os.listdir(os.path.join(self.root, STORE))), [".gitignore", "map.index", "map.json", "map.md"])

    def test_map_json_is_patched_to_what_a_rebuild_gives(self) -> None:
        refresh_map(self.root)
        kept = self.read_store("map.json")
        refresh_map(self.root)
        self.assertEqual(self.read_store("map.json"), kept)
        self.write("parts/group1/part5.py", "def other():\n    pass\n", age_s=20)
        refresh_map(self.root)
        patched = json.loads(self.read_store("map.json"))
        shutil.rmtree(os.path.join(self.root, ".claude"))
        refresh_map(self.root)
        rebuilt = json.loads(self.read_store("map.json"))
        self.assertNotEqual(patched, json.loads(kept))
        for value in (patched, rebuilt):
            value.pop("generatedAt")
        self.assertEqual(patched, rebuilt)

    def test_a_slice_between_two_maps_does_not_hide_the_change(self) -> None:
        run(self.root, "map")
        self.write("core/base.py", "def carry():\n    pass\n", age_s=20)
        self.assertIn("rescanned", run(self.root, "slice", "core/base.py", "carry"))
        self.assertIn("def carry()", run(self.root, "map"))
        self.assertIn(b'"carry"', self.read_store("map.json"))

    def test_published_shape(self) -> None:
        run(self.root, "map")
        text = self.read_store("map.json").decode()
        value = json.loads(text)
        self.assertEqual((value["version"], value["root"]), (1, self.root))
        self.assertEqual(sorted(value["stats"]), ["fileCount", "symbolCount", "totalBytes"])
        entry = value["files"][0]
        self.assertEqual(entry["path"], "core/base.py")
        self.assertEqual({"name": "hold", "kind": "function", "line": 3, "endLine": 5, "signature": "def hold(weight: int) -> int",
                          "doc": "Hold it."}, entry["symbols"][0])
        self.assertEqual([file["path"] for file in value["files"]], sorted(file["path"] for file in value["files"]))
        self.assertEqual(sum(line.startswith('{"path":') for line in text.split("\n")), 32)  # one file a line

    def test_map_json_stays_small_beside_much_source(self) -> None:
        for number in range(80):
            self.write(f"more/m{number}.py", "".join(f"def name_of_{inner}(argument, another_argument):\n    return 1\n\n\n"
                                                     for inner in range(24)) + "# padding\n" * 1_500)
        index, _ = refresh_map(self.root)
        self.assertLessEqual(len(self.read_store("map.json")), index.stats()["totalBytes"] * 0.10)
        self.assertLess(0, MAX_SHARE)
        self.assertEqual(LEVELS[0], (True, True, True))

    def test_all_and_drill_down(self) -> None:
        self.write("core/kind.py", "class Kind:\n    def _hidden(self):\n        pass\n\n\ndef _private():\n    pass\n")
        value = json.loads(run(self.root, "map", "--all", "--json"))
        kind = next(file for file in value["files"] if file["path"] == "core/kind.py")["symbols"]
        self.assertEqual([(one["name"], one["exported"]) for one in kind], [("Kind", True), ("_private", False)])
        self.assertEqual([(one["name"], one["line"], one["endLine"]) for one in kind[0]["members"]], [("_hidden", 2, 3)])
        self.assertIn("def _private()", run(self.root, "map", "--all"))
        self.assertIn("core/", run(self.root, "map", "core"))
        self.assertNotIn("parts/group", run(self.root, "map", "core"))
        self.assertIn("def _private()", run(self.root, "map", "core/kind.py"))
        self.assertEqual({file["path"] for file in json.loads(run(self.root, "map", "core", "--json"))["files"]},
                         {"core/base.py", "core/kind.py"})
        run(self.root, "map", "nowhere", status=1)
        run(self.root, "map", "--budget", "x", status=2)
        run(self.root, "map", "--nonsense", status=2)

    def test_a_path_without_a_project_makes_no_store_beside_it(self) -> None:
        """Without git, a folder of the current project is a part of it, and a file elsewhere is refused."""
        self.assertIn("core/", run(self.root, "map", "core"))
        self.assertFalse(os.path.exists(os.path.join(self.root, "core", ".claude")))
        with tempfile.TemporaryDirectory() as elsewhere:
            with open(os.path.join(elsewhere, "a.py"), "w", encoding="utf-8") as stream:
                stream.write("x = 1\n")
            run(self.root, "map", os.path.join(elsewhere, "a.py"), status=1)
            self.assertEqual(os.listdir(elsewhere), ["a.py"])
            self.assertIn("a.py", run(self.root, "map", elsewhere))  # a folder named so is a project

    def test_read_only_tree(self) -> None:
        text = run(self.root, "map", "--no-write")
        self.assertFalse(os.path.exists(os.path.join(self.root, ".claude")))
        self.assertEqual(run(self.root, "map"), text)

    def test_mindmap_and_status(self) -> None:
        self.assertIn("flowchart LR", run(self.root, "mindmap"))
        page = os.path.join(self.root, "out", "page.html")
        run(self.root, "mindmap", "--html", page)
        with open(page, encoding="utf-8") as stream:
            self.assertIn("<svg", stream.read())
        self.assertIn("files: 32", run(self.root, "status"))
        self.assertEqual(json.loads(run(self.root, "status", "--json"))["files"], 32)

    def test_entry_points(self) -> None:
        self.write("package.json", json.dumps({"main": "./dist/index.js", "bin": {"tool": "bin/tool.js"}, "exports": {
            ".": {"import": "./dist/index.mjs"}, "./extra": "./dist/extra.js", "./sub": "./dist/lib/sub.js"}, "scripts": {"go": "node scripts/go.js --x"}}))
        for path in ("src/index.ts", "src/extra.ts", "src/lib/sub.ts", "bin/tool.js", "scripts/go.js", "lib/other.ts"):
            self.write(path, "export const a = 1\n")
        self.write("pyproject.toml", '[project]\nname = "x"\ndescription = """\n[project.scripts]\nno = "no:no"\n"""\n'
                   '[project.scripts]\ntool = "core.base:hold"\n[tool.other]\nlist = [\n  "[project.scripts]",\n]\n'
                   '[tool.poetry.scripts]\nc = {reference = "parts.table:main", type = "console"}\n')
        self.write("parts/table.py", "def main(): pass\n")
        self.write("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    # note\n    b = parts.main:go\n")
        self.write("parts/main.py", "def go(): pass\n")
        self.write("core/__main__.py", "pass\n")
        self.write("run", "#!/usr/bin/env python3\nprint(1)\n")
        self.assertEqual(open_index(self.root).entry_points, [
            "bin/tool.js", "core/__main__.py", "core/base.py", "parts/main.py", "parts/table.py", "run", "scripts/go.js",
            "src/extra.ts", "src/index.ts", "src/lib/sub.ts"])

    def test_entry_points_of_build_files(self) -> None:
        """A main class, a binary, a library, an executable target, what recipes and containers run."""
        for path, text in {
            "Cargo.toml": '[package]\nname = "x"\n[lib]\npath = "src/x.rs"\n[[bin]]\nname = "y"\n[[bin]] # two\nname = "z"\npath = "z/start.rs"\n[[test]]\nname = "t"\npath = "t.rs"\n',
            "src/x.rs": "", "src/bin/y.rs": "", "z/start.rs": "", "t.rs": "", "src/other.rs": "",
            "composer.json": json.dumps({"bin": ["bin/con"], "autoload": {"files": ["inc/f.php"], "psr-4": {"A\\": "inc"}}, "scripts": {"t": ["@php tools/go.php -x", "A\\B::c"]}}),
            "inc/f.php": "<?php\n", "inc/g.php": "<?php\n", "tools/go.php": "<?php\n",
            "Package.swift": 'let package = Package(name: "P", targets: [.target(name: "Lib"), .executableTarget(name: "Run", dependencies: ["Lib"], path: "Exe")])',
            "Exe/main.swift": "", "Exe/more.swift": "", "Sources/Lib/lib.swift": "",
            "app/build.gradle.kts": 'application { mainClass.set("org.x.AppKt") }\n', "app/src/org/x/App.kt": "package org.x\n",
            "srv/pom.xml": "<plugin><mainClass>org.y.Server</mainClass></plugin>", "srv/src/main/java/org/y/Server.java": "package org.y;\nclass Server {}\n",
            "old/build.gradle": "mainClassName = 'org.z.Old'\n", "old/org/z/Old.java": "package org.z;\nclass Old {}\n",
            "Makefile": "all: x.c\n\t@python3 tools/build.py --fast\n\tgo run ./cmd/tool\n\t$(CC) tools/no.c\n", "tools/build.py": "x = 1\n", "tools/no.c": "int a;\n", "cmd/tool/main.go": "package main\n",
            "Dockerfile": 'FROM a AS b\nCOPY --from=b /no.sh /no.sh\nCOPY docker/entry.sh start.py /\nENTRYPOINT ["/entry.sh"]\nCMD ["python", "-m", "srv.web", "start.py"]\n',
            "docker/entry.sh": "echo\n", "start.py": "x = 1\n", "srv/web.py": "x = 1\n", "no.sh": "echo\n",
        }.items():
            self.write(path, text)
        self.assertEqual(open_index(self.root).entry_points, [
            "Exe/main.swift", "app/src/org/x/App.kt", "cmd/tool/main.go", "docker/entry.sh", "inc/f.php", "old/org/z/Old.java", "src/bin/y.rs", "src/x.rs",
            "srv/src/main/java/org/y/Server.java", "srv/web.py", "start.py", "tools/build.py", "tools/go.php", "z/start.rs"])


class Processes(TreeCase):
    """Maps at the same time, and maps that are killed: what is left says what a first map of the tree says."""

    def edit(self, turn: int) -> None:
        for number in range(20):
            self.write(f"part{number % 4}/module{number}.py", f"from part{turn % 4} import module{turn}\n\n\ndef f{turn}_{number}():\n    pass\n", age_s=900 - turn)
        self.write(f"part{turn % 4}/only{turn}.py", "def alone():\n    pass\n")

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-I", "-S", PROGRAM, "map"], cwd=self.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def check(self) -> None:
        shown = run(self.root, "map")
        kept = [self.published()]
        shutil.rmtree(os.path.join(self.root, ".claude"))
        self.assertEqual(run(self.root, "map"), shown)
        self.assertEqual([self.published()], kept)

    def published(self) -> object:
        with open(os.path.join(self.root, STORE, "map.json"), encoding="utf-8") as stream:
            return {**json.load(stream), "generatedAt": ""}

    def test_several_at_once(self) -> None:
        for turn in range(3):
            self.edit(turn)
            running = [self.start() for _ in range(4)]
            self.assertEqual([(one.communicate()[1], one.returncode) for one in running], [(b"", 0)] * 4)
            self.check()

    def test_killed_on_the_way(self) -> None:
        for turn in range(8):
            self.edit(turn)
            with self.start() as running:
                try:
                    running.wait(timeout=0.02 * (turn + 1))
                except subprocess.TimeoutExpired:
                    running.kill()
            self.check()


@unittest.skipUnless(shutil.which("git"), "git is not here")
class WithGit(TreeCase):
    def git(self, *args: str, cwd: str | None = None) -> None:
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.example",
               "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.example"}
        subprocess.run(["git", *args], cwd=cwd or self.root, env=env, check=True, capture_output=True)

    def test_what_git_says_is_scanned(self) -> None:
        self.git("init", "-q")
        self.write(".gitignore", "ignored/\n*.tmp.py\n")
        for path in ("a.py", "ignored/b.py", "c.tmp.py", "ignored/forced.py", "vendor/modules.txt", "vendor/v.go", "build/real.py",
                     "node_modules/m/i.js"):
            self.write(path, "x = 1\n")
        self.git("add", "-f", "a.py", "ignored/forced.py", "node_modules")
        index = open_index(self.root)
        self.assertEqual(index.paths(), ["a.py", "build/real.py", "ignored/forced.py"])
        self.assertEqual(index.skipped(), [("node_modules/", "vendored"), ("vendor/", "vendored")])
        self.write(".gitignore", "ignored/\n*.tmp.py\nbuild/\n", age_s=20)
        self.assertEqual(open_index(self.root).paths(), ["a.py", "ignored/forced.py"])
        self.write("sub/.gitignore", "*\n!keep.py\n")
        self.write("sub/keep.py", "x = 1\n")
        self.write("sub/drop.py", "x = 1\n")
        self.assertEqual(open_index(self.root, ask_git=False).paths(), ["a.py", "ignored/forced.py", "sub/keep.py"])
        self.assertEqual(open_index(self.root).paths(), ["a.py", "ignored/forced.py", "sub/keep.py"])

    def test_what_a_first_search_could_not_ask_is_asked_later(self) -> None:
        self.git("init", "-q")
        self.write(".gitignore", "ignored/\n")
        self.write("a.py", "x = 1\n")
        self.write("ignored/forced.py", "x = 1\n")
        self.git("add", "-f", "a.py", "ignored/forced.py")
        self.assertEqual(open_index(self.root, ask_git=False).paths(), ["a.py"])
        self.assertEqual(open_index(self.root).paths(), ["a.py", "ignored/forced.py"])
        self.assertEqual(open_index(self.root, ask_git=False).paths(), ["a.py", "ignored/forced.py"])

    def test_a_new_file_beside_a_tracked_one_in_an_ignored_folder_stays_out(self) -> None:
        self.git("init", "-q")
        self.write(".gitignore", "ignored/\n")
        self.write("ignored/sub/forced.py", "x = 1\n")
        self.git("add", "-f", "ignored/sub/forced.py")
        self.assertEqual(open_index(self.root).paths(), ["ignored/sub/forced.py"])
        self.write("ignored/sub/new.py", "x = 1\n")
        self.assertEqual(open_index(self.root).paths(), ["ignored/sub/forced.py"])
        self.git("rm", "-q", "--cached", "ignored/sub/forced.py")
        os.remove(os.path.join(self.root, "ignored", "sub", "forced.py"))
        self.assertEqual(open_index(self.root).paths(), [])

    def test_a_root_that_git_ignores_is_a_project_all_the_same(self) -> None:
        self.git("init", "-q")
        self.write(".gitignore", "scratch/\n")
        self.write("scratch/a.py", "x = 1\n")
        inner = os.path.join(self.root, "scratch")
        self.assertEqual(open_index(inner).paths(), ["a.py"])
        self.write("scratch/b.py", "x = 1\n")
        self.assertEqual(open_index(inner).paths(), ["a.py", "b.py"])
        self.write("scratch/sub/c.py", "x = 1\n")
        self.assertEqual(open_index(inner).paths(), ["a.py", "b.py", "sub/c.py"])

    def test_nested_repositories_and_worktrees_are_left_alone(self) -> None:
        self.git("init", "-q")
        self.write("a.py", "x = 1\n")
        self.git("add", ".")
        self.git("commit", "-qm", "one")
        self.git("worktree", "add", "-q", "trees/second")
        os.mkdir(os.path.join(self.root, "inner"))
        self.git("init", "-q", cwd=os.path.join(self.root, "inner"))
        self.write("inner/b.py", "x = 1\n")
        index = open_index(self.root)
        self.assertEqual(index.paths(), ["a.py"])
        self.assertEqual(index.skipped(), [("inner/", "nested repository"), ("trees/second/", "nested repository")])
        self.assertIn("1 file,", run(os.path.join(self.root, "trees", "second"), "map"))
        self.assertEqual(open_index(os.path.join(self.root, "inner")).paths(), ["b.py"])

    def test_without_git_build_output_is_left_out(self) -> None:
        for path in ("a.py", "dist/x.py", "build/y.py", "pkg/target/z.py"):
            self.write(path, "x = 1\n")
        index = open_index(self.root)
        self.assertEqual(index.paths(), ["a.py"])
        self.assertEqual([reason for _, reason in index.skipped()], ["build output"] * 3)
