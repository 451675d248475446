"""The scanners on files of real repositories counted by hand; SLIPSTREAM_COUNTED_REPOSITORIES names a folder of clones."""
from __future__ import annotations

import os
import unittest

from slipstream.map.languages.registry import LANGUAGES

import tests as tests  # puts the package on the path
from tests.clients import skip
from tests.clients.counted import REPOSITORIES, CountedFile, Entry, Score, counted_languages, load_counts, score_language

BARS = {"precision": 0.98, "ends_exact": 0.98, "recall_exported_top": 0.99, "recall_top": 0.98, "recall_members": 0.97,
        "recall_consts": 0.95}


class CountedTest(unittest.TestCase):
    def test_every_language(self) -> None:
        folder = os.environ.get(REPOSITORIES, "")
        if not os.path.isdir(folder):
            skip("counted files", f"{REPOSITORIES} names no folder of repositories")
        for language in counted_languages():
            with self.subTest(language):
                score, left_out = score_language(language, folder)
                if not score.files:
                    skip("counted files", "; ".join(left_out))
                for name, value in score.figures().items():
                    self.assertGreaterEqual(value, 1.0 if score.outline else BARS[name], f"{name}\n" + "\n".join(score.wrong))

    def test_counts_are_well_formed(self) -> None:
        for language in counted_languages():
            with self.subTest(language):
                self.assertIn(language, LANGUAGES)
                for counted in load_counts(language):
                    self.assertEqual((len(counted.commit), len(counted.blob)), (40, 40), counted.path)
                    lines = [entry.line for entry in counted.entries]
                    self.assertEqual(lines, sorted(lines), counted.path)
                    self.assertFalse([str(entry) for entry in counted.entries if entry.end is not None and entry.end < entry.line])


class ScoreTest(unittest.TestCase):
    def score(self, language: str, found: list[Entry]) -> Score:
        counted = CountedFile("a/b", "", "c", "")
        counted.entries = [Entry(1, 3, "heading", "One"), Entry(5, None, "heading", "Two", ("optional",))]
        score = Score(language)
        score.add(counted, found)
        return score

    def test_right(self) -> None:
        score = self.score("markdown", [Entry(1, 3, "heading", "One"), Entry(5, 9, "heading", "Two")])
        self.assertEqual(set(score.figures().values()), {1.0})
        self.assertEqual(self.score("markdown", [Entry(1, 3, "heading", "One")]).figures()["recall_entries"], 1.0)

    def test_wrong(self) -> None:
        score = self.score("markdown", [Entry(2, 3, "heading", "One"), Entry(5, 9, "heading", "Two")])
        self.assertEqual(score.figures(), {"recall_entries": 0.0, "precision": 0.5})
        self.assertEqual(self.score("markdown", [Entry(1, 4, "heading", "One")]).figures()["ends_exact"], 0.0)
