"""Packed modules: the same program at the same lines, whichever Python packs them."""
from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
import unittest

from slipstream.base.packing import pack_source

import build_zipapp
from tests import ROOT, SOURCE
from tests.built import built_pyz
from tests.test_house import find_python, modules

_PLACED = (ast.Call, ast.FunctionDef, ast.ClassDef, ast.Raise)
_FOR_TYPES = ("__future__", "typing", "collections.abc")


def _tell(node: object, told: list[object], in_class: bool = False) -> None:
    """Everything a tree says, in order, but for what packing leaves out; of calls, definitions and raises their lines too."""
    if isinstance(node, list):
        told.append(len(node))
        for one in node:
            _tell(one, told, in_class)
        return
    if not isinstance(node, ast.AST):
        told.append(repr(node))
        return
    if isinstance(node, ast.AnnAssign) and node.value is not None and not in_class:
        node = ast.Assign(targets=[node.target], value=node.value)
    told.append(type(node))
    if isinstance(node, _PLACED):
        told.append(node.lineno)
    is_class = isinstance(node, ast.ClassDef)
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(value, list):
            value = [one for one in value if not _is_left_out(one)] or [ast.Pass()]
        elif (name == "returns" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))) or (
                name == "annotation" and isinstance(node, ast.arg)):
            continue
        _tell(value, told, is_class and name == "body")


def _is_left_out(node: ast.stmt) -> bool:
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)) or (
        isinstance(node, ast.ImportFrom) and node.module in _FOR_TYPES)


def _is_for_types(node: ast.stmt) -> bool:
    """`TYPE_CHECKING = False`, or a block under it, at the top of a module."""
    name = node.targets[0] if isinstance(node, ast.Assign) else node.test if isinstance(node, ast.If) and not node.orelse else None
    return isinstance(name, ast.Name) and name.id == "TYPE_CHECKING"


class Packing(unittest.TestCase):
    others: dict[str, subprocess.Popen[bytes]]

    @classmethod
    def setUpClass(cls) -> None:
        """The oldest and the newest Python pack everything, while this one does its own."""
        code = ("import build_zipapp as b, hashlib; texts = [b.packed(*row) for row in sorted(b.source_files().items())]\n"
                "print(hashlib.sha256(b'\\0'.join([*texts, b.deflate(texts[0])])).hexdigest())")
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        this = "%d.%d" % sys.version_info[:2]  # what this one builds is what the others have to
        cls.others = {}
        for python in filter(None, map(find_python, sorted({"3.9", "3.13"} - {this}))):
            process = cls.others[python] = subprocess.Popen([python, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, env=env)
            cls.addClassCleanup(process.__exit__, None, None, None)
            cls.addClassCleanup(process.kill)

    def test_same_program_same_lines(self) -> None:
        held = build_zipapp.entries(built_pyz())
        for number, (dotted, path) in enumerate(modules()):
            with open(path, encoding="utf-8") as stream:
                source = stream.read()
            packed = held[os.path.relpath(path, SOURCE).replace(os.sep, "/")].decode("utf-8")
            plain, small = ast.parse(source), ast.parse(packed)
            plain.body = [node for node in plain.body if not _is_for_types(node)]
            said: tuple[list[object], list[object]] = ([], [])
            for tree, told in zip((plain, small), said):
                _tell(tree, told)
            self.assertEqual(*said, dotted)
            if number % 4 == 0:  # packing takes seconds for all of them
                self.assertEqual(pack_source(packed), packed, dotted)

    def test_shapes(self) -> None:
        source = 'def f(a,  # note\n      b):\n    """Doc."""\n    x = a + \\\n        b\n    return """\n    kept  """ # gone\n\n\nclass E(Exception):\n    """Only a doc."""\n'
        self.assertEqual(pack_source(source), 'def f(a,\nb):\n\n x=a+\\\nb\n return"""\n    kept  """\n\n\nclass E(Exception):\n pass\n')
        source = 'def f(a: dict[str, int] = {1: 2}, *b: "x", c=lambda x: x) -> list[int]:\n    d: int = a[1:2] or 1\n    e: int\n'
        source += 'class C:\n    x: int = 1\n    def g(self) -> None:\n        self.y: int = 1\n        if 1: z = 2\n        else: z = 3\n'
        self.assertEqual(pack_source(source), 'def f(a={1:2},*b,c=lambda x:x):\n d=a[1:2]or 1\n e:int\n'
                         'class C:\n x:int=1\n def g(self):\n  self.y=1\n  if 1:z=2\n  else:z=3\n')

    def test_imports_that_only_annotations_use_are_left_out(self) -> None:
        source = ("from __future__ import annotations\nfrom typing import (\n    Any,\n)\nfrom collections.abc import Callable, Iterator\n"
                  "Act = Callable[[], None]\ndef f(a: Any) -> Iterator[int]:\n    b: Any = a\n    return b\n")
        packed = pack_source(source)
        self.assertNotIn("typing", packed)
        self.assertNotIn("__future__", packed)
        self.assertIn("__future__", pack_source(source + "class C:\n    c: int | None = None\n"))  # read when it is made
        self.assertIn("from collections.abc import Callable,Iterator", packed.replace(", ", ","))
        self.assertEqual(packed.split("\n")[6].replace(" ", ""), "deff(a):")
        compile(packed, "packed", "exec")
        self.assertIn("Any", pack_source(source.replace("b: Any = a", "b = Any")))

    def test_what_only_types_need_is_left_out(self) -> None:
        head = "from __future__ import annotations\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n    from a import B\n    C = B\n\n"
        self.assertEqual(pack_source(head + "def f(a: B) -> C:\n    return a\n").strip(), "def f(a):\n return a")
        self.assertEqual(pack_source(head + "def f(a: B) -> C:\n    return a\n").index("def"), 6)
        self.assertEqual(pack_source(head + "if x:\n    y = 1\nz = 2\n").strip(), "if x:\n y=1\nz=2")
        self.assertIn("TYPE_CHECKING", pack_source(head + "print(TYPE_CHECKING)\n"))
        self.assertIn("import B", pack_source(head.rstrip() + "\nelse:\n    B = int\n"))
        self.assertNotIn("typing", pack_source(head.replace("TYPE_CHECKING = False", "from typing import TYPE_CHECKING") + "x = 1\n"))

    def test_the_bytes_are_the_same_on_every_python(self) -> None:
        """What could differ by Python: each module packed, and the compressor on one file. CI compares the whole with every Python."""
        if not self.others:
            self.skipTest("no other Python here")
        texts = [text for _, text in sorted(build_zipapp.entries(built_pyz()).items())]
        wanted = hashlib.sha256(b"\0".join([*texts, build_zipapp.deflate(texts[0])])).hexdigest()
        found = {python: process.communicate(timeout=300)[0].decode().strip() for python, process in self.others.items()}
        self.assertEqual(found, dict.fromkeys(found, wanted))


if __name__ == "__main__":
    unittest.main()
