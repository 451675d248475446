"""Where a project starts: what its manifests name, its main packages and modules, and its scripts."""
from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from slipstream.map.buildfiles import BUILD_FILES, find_in_build_files
from slipstream.map.imports.javascript import JavaScript
from slipstream.map.imports.tree import Tree, join, project_reader
from slipstream.map.index_file import ENTRY, FAILED, FLAGS, SKIPPED
from slipstream.map.manifests import parse_ini_lists, parse_toml_strings
from slipstream.map.table import Table

MANIFESTS = ("package.json", "pyproject.toml", "setup.cfg", "go.mod", *BUILD_FILES)
MAX_PACKAGES = 100
_CODE = re.compile(r"\.[cm]?[jt]sx?$")
_SCRIPT = re.compile(r"\.(?:[cm]?[jt]sx?|py|sh|bash|rb|php|pl|go)$")
_WORD = re.compile(r"[^\s'\"&|;()<>=]+")
_POETRY = ("tool.poetry.scripts", "project.scripts", "project.gui-scripts")


def find_entry_points(root: str, table: Table, seen: set[str]) -> list[str]:
    """Entry points, sorted: files of the project, or paths a manifest names whose source is not there.

    `seen` takes the project files that were read for it.
    """
    started = {path for path, slot in table.slots.items() if table.records[slot][FLAGS] & ENTRY}
    paths = [path for path, slot in table.slots.items() if not table.records[slot][FLAGS] & (SKIPPED | FAILED)]
    found = {*started, *(path for path in paths if path.endswith("__main__.py"))}
    read = project_reader(root, seen)
    tree = Tree(paths, read)
    script = JavaScript(tree)
    for folder in _packages(tree, table):
        found.update(_from_package(tree, script, folder))
    found.update(_from_python(tree))
    found.update(find_in_build_files(tree, started))
    return sorted(found)


def _packages(tree: Tree, table: Table) -> Iterator[str]:
    folders = sorted((folder for folder in table.folders if folder.count("/") < 3), key=lambda name: (name.count("/"), name))
    kept = 0
    for folder in folders:
        if kept < MAX_PACKAGES and tree.json(join(folder, "package.json")):
            kept += 1
            yield folder


def _from_package(tree: Tree, script: JavaScript, folder: str) -> Iterator[str]:
    package = tree.json(join(folder, "package.json"))
    named: list[str] = []
    for key in ("main", "module", "bin", "exports"):
        named += _strings(package.get(key))
    if not named and folder == "":
        named = ["index.js"]  # what Node takes when nothing is named
    for target in dict.fromkeys(named):
        if "*" in target or target.endswith((".json", ".css", ".d.ts", ".d.mts", ".d.cts")) or target.startswith(("/", "..")):
            continue
        path = join(folder, target)
        if path.startswith(".."):
            continue
        source = script.file(path) or (script.source_of(folder, target) if _CODE.search(target) else [])
        if source:
            yield source[0]
        elif folder == "" and target != "index.js" and "." in posixpath.basename(path):
            yield path
    for command in _strings(package.get("scripts")):
        for word in _WORD.findall(command):
            path = join(folder, word)
            if _SCRIPT.search(word) and path in tree.paths and not path.startswith(".."):
                yield path


def _strings(value: Any, depth: int = 0) -> list[str]:
    """Every string inside a value, in order."""
    if isinstance(value, str):
        return [value]
    if depth > 8 or not isinstance(value, (dict, list)):
        return []
    found: list[str] = []
    for inner in value.values() if isinstance(value, dict) else value:
        found += _strings(inner, depth + 1)
    return found


def _from_python(tree: Tree) -> Iterator[str]:
    targets: list[str] = []
    project = tree.read("pyproject.toml")
    if project:
        for table, rows in parse_toml_strings(project).items():
            if table in _POETRY or table.startswith("project.entry-points"):
                targets += rows.values()
            elif table.startswith("tool.poetry.scripts."):  # z = {reference = "pkg.mod:main", type = "console"}
                targets += [rows[key] for key in ("reference", "callable") if key in rows]
    setup = tree.read("setup.cfg")
    if setup:
        for lines in parse_ini_lists(setup).get("options.entry_points", {}).values():
            targets += [line.partition("=")[2] for line in lines]
    for target in targets:
        module = target.split("[")[0].split(":")[0].strip().replace(".", "/")
        for base in ("", "src"):
            for path in (join(base, module + ".py"), join(base, module, "__init__.py")):
                if path in tree.paths:
                    yield path
