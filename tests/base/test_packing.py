"""Packed modules: the same program at the same lines, whichever Python packs them."""
from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import unittest

from slipstream.base.packing import pack_source

import build_zipapp
from tests import ROOT, SOURCE
from tests.built import built_pyz
from tests.test_house import find_python, modules


class _Bare(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
                                                and isinstance(one.value.value, str))
                    and not (isinstance(one, ast.ImportFrom) and one.module in ("__future__", "typing", "collections.abc"))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
            if not isinstance(node, ast.ClassDef):
                node.body = [_assignment(one) for one in node.body]  # type: ignore[attr-defined]
        for name in ("orelse", "finalbody"):
            if isinstance(getattr(node, name, None), list) and not isinstance(node, ast.ClassDef):
                setattr(node, name, [_assignment(one) for one in getattr(node, name)])
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        return node


def _assignment(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)
    return node


def _is_for_types(node: ast.stmt) -> bool:
    """`TYPE_CHECKING = False`, or a block under it, at the top of a module."""
    name = node.targets[0] if isinstance(node, ast.Assign) else node.test if isinstance(node, ast.If) and not node.orelse else None
    return isinstance(name, ast.Name) and name.id == "TYPE_CHECKING"


class Packing(unittest.TestCase):
    def test_same_program_same_lines(self) -> None:
        held = build_zipapp.entries(built_pyz())
        for number, (dotted, path) in enumerate(modules()):
            with open(path, encoding="utf-8") as stream:
                source = stream.read()
            packed = held[os.path.relpath(path, SOURCE).replace(os.sep, "/")].decode("utf-8")
            plain, small = ast.parse(source), ast.parse(packed)
            plain.body = [node for node in plain.body if not _is_for_types(node)]
            lines = [[(type(node).__name__, node.lineno) for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.FunctionDef, ast.ClassDef, ast.Raise))]
                     for tree in (plain, small)]
            self.assertEqual(lines[0], lines[1], dotted)
            self.assertEqual(ast.dump(_Bare().visit(plain)), ast.dump(_Bare().visit(small)), dotted)
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

    def test_every_python_builds_the_same_bytes(self) -> None:
        """What could differ by Python: each module packed, and the compressor on one file. CI compares the whole with every Python."""
        def digest(texts: list[bytes]) -> str:
            return hashlib.sha256(b"\0".join([*texts, build_zipapp.deflate(texts[0])])).hexdigest()
        code = ("import build_zipapp as b, hashlib; texts = [b.packed(*row) for row in sorted(b.source_files().items())]\n"
                "print(hashlib.sha256(b'\\0'.join([*texts, b.deflate(texts[0])])).hexdigest())")
        wanted = digest([text for _, text in sorted(build_zipapp.entries(built_pyz()).items())])
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        others = [python for python in map(find_python, ("3.9", "3.13")) if python]
        for python in others:
            done = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, timeout=300, check=True, env=env)
            self.assertEqual(done.stdout.decode().strip(), wanted, python)
        if not others:
            self.skipTest("no other Python here")


if __name__ == "__main__":
    unittest.main()
