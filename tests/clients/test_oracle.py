"""Accuracy of the scanners on code that is there without a repository: the standard library, npm packages, samples."""
from __future__ import annotations

import os
import sysconfig
import unittest
from typing import Any

from tests.clients import require, skip

BAR = 0.98
NODE = os.environ.get("SLIPSTREAM_MCP_NODE", "")
# Folders of the standard library, and packages that tests/clients/mcp/install.sh brings: a slice that takes seconds.
LIBRARY = ("asyncio", "email", "json", "logging", "unittest", "importlib", "http")
PACKAGES = ("@modelcontextprotocol/sdk/dist/esm", "zod", "express", "ajv", "hono/dist/types")
SUFFIXES = {"python": "py", "typescript": "ts", "tsx": "tsx", "javascript": "js", "go": "go", "rust": "rs", "java": "java",
            "c": "c", "cpp": "cpp", "csharp": "cs", "ruby": "rb", "php": "php", "kotlin": "kt", "swift": "swift"}

class Accuracy(unittest.TestCase):
    def setUp(self) -> None:
        require("tree_sitter_language_pack", "tree-sitter")

    def check(self, score: Any, at_least: int) -> None:
        """Precision, recall of the exported top level and exact ends reach the bar, on enough definitions to mean it."""
        self.assertGreaterEqual(score.counts["n_top"] + score.counts["n_members"], at_least)
        figures = score.figures()
        for name in ("precision", "recall_exported_top", "ends_exact"):
            if figures[name] is not None:
                self.assertGreaterEqual(figures[name], BAR, f"{name}: {figures}\n" + "\n".join(score.wrong[:40]))

    def score(self, root: str, folders: tuple[str, ...]) -> dict[str, Any]:
        from tests.clients.oracle.repository import read_sources, score_files
        paths = sorted(os.path.relpath(os.path.join(folder, name), root) for top in folders
                       for folder, _, names in os.walk(os.path.join(root, top)) for name in names)
        return score_files(read_sources(root, paths))

    def test_standard_library(self) -> None:
        score = self.score(sysconfig.get_paths()["stdlib"], LIBRARY)["python"]
        self.check(score, 1500)

    def test_npm_packages(self) -> None:
        modules = os.path.join(NODE, "node_modules")
        if not NODE or not os.path.isdir(modules):
            skip("mcp" if NODE else "SLIPSTREAM_MCP_NODE", "SLIPSTREAM_MCP_NODE names no folder with node_modules")
        scores = self.score(modules, PACKAGES)
        for language, at_least in (("javascript", 300), ("typescript", 300)):
            with self.subTest(language):
                self.check(scores[language], at_least)

    def test_samples(self) -> None:
        from tests.clients.oracle.parsing import definitions_of
        from tests.clients.oracle.samples import SAMPLES
        from tests.clients.oracle.score import Score
        for language, (source, required, never) in SAMPLES.items():
            with self.subTest(language):
                path, data = "sample." + SUFFIXES[language], source.encode()
                truth = definitions_of(data, language, path)
                found = [(one["name"], one["kind"], one["line"], one["end"], one["level"], one["exported"])
                         for one in truth["defs"] if one["req"]]
                self.assertEqual(sorted(found), sorted(required))
                self.assertFalse(never & {one[0] for one in found})
                score = Score()
                score.add_source(path, data, truth)
                self.assertEqual(score.wrong, [])


class Scorer(unittest.TestCase):
    """The scorer itself: what is right, a line off, invented or optional."""

    def setUp(self) -> None:
        require("tree_sitter_language_pack", "tree-sitter")
        from tests.clients.oracle.parsing import definitions_of
        from tests.clients.oracle.samples import SAMPLES
        self.truth = definitions_of(SAMPLES["python"][0].encode(), "python", "a.py")
        self.required = [one for one in self.truth["defs"] if one["req"]]

    def score(self, symbols: list[tuple[str, str, int, int]]) -> Any:
        from slipstream.map.model import Definition

        from tests.clients.oracle.score import Score
        score = Score()
        score.add("a.py", self.truth, [Definition(name, kind, line, line, end) for name, kind, line, end in symbols])
        return score

    def test_perfect(self) -> None:
        score = self.score([(one["name"], one["kind"], one["line"], one["end"]) for one in self.required])
        figures = score.figures()
        self.assertEqual(set(figures.values()), {1.0})
        self.assertEqual(score.wrong, [])

    def test_a_line_off(self) -> None:
        score = self.score([(one["name"], one["kind"], one["line"] + 1, one["end"]) for one in self.required])
        self.assertEqual(score.figures()["precision"], 0)
        self.assertEqual(score.figures()["recall_top"], 0)
        self.assertEqual(score.counts["wrong_line"], len(self.required))

    def test_a_wrong_end(self) -> None:
        score = self.score([(one["name"], one["kind"], one["line"], one["end"] + 9) for one in self.required])
        self.assertEqual(score.figures()["ends_exact"], 0)

    def test_mixed(self) -> None:
        score = self.score([("deco", "function", 5, 11), ("A.val", "method", 17, 21), ("fake", "function", 19, 20),
                            ("inner", "function", 9, 10), ("deco", "function", 7, 11)])
        self.assertEqual({name: score.counts[name] for name in ("tp", "invented", "optional", "duplicate")},
                         {"tp": 2, "invented": 1, "optional": 1, "duplicate": 1})


if __name__ == "__main__":
    unittest.main()
