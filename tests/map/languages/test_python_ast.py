"""The Python scanner against the `ast` module on this project's own source and tests: names, lines and ends."""
from __future__ import annotations

import ast
import os
import unittest

from slipstream.map.languages.registry import scan_source

from tests import ROOT


def _expected(tree: ast.Module) -> set[tuple[str, int, int]]:
    found: set[tuple[str, int, int]] = set()

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add((prefix + node.name, node.lineno, node.end_lineno or 0))
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            else:
                for inner in ("body", "orelse", "finalbody"):
                    visit(getattr(node, inner, None) or [], prefix)
                for handler in getattr(node, "handlers", []):
                    visit(handler.body, prefix)
    visit(tree.body, "")
    return found


class AgreesWithAst(unittest.TestCase):
    def test_own_source(self) -> None:
        files = 0
        for top in ("plugin/src", "tests"):
            for folder, subfolders, names in os.walk(os.path.join(ROOT, top)):
                subfolders[:] = [name for name in subfolders if name not in ("__pycache__", "cases", "data")]
                for name in names:
                    if not name.endswith(".py"):
                        continue
                    files += 1
                    with open(os.path.join(folder, name), "rb") as stream:
                        data = stream.read()
                    with self.subTest(file=name):
                        kinds = ("function", "method", "accessor", "class", "enum", "interface")
                        found = {(d.qualified, d.line, d.end) for d in scan_source(name, data).walk()
                                 if d.kind in kinds and not d.signature.startswith("type ") and "=" not in d.signature.split("(")[0]}
                        self.assertEqual(found, _expected(ast.parse(data)))
        self.assertGreater(files, 100)


class DefinitionLookingLines(unittest.TestCase):
    def test_a_file_that_defeats_its_scanner_is_reported(self) -> None:
        scan = scan_source("a.go", b"class Strange {\n}\n")
        self.assertEqual(scan.warnings, ["lines look like definitions, but none was read"])
        self.assertEqual(scan_source("a.go", b"package a\n\nfunc f() {\n}\n").warnings, [])
