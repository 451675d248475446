"""The scanners on files of real repositories counted by hand; SLIPSTREAM_COUNTED_REPOSITORIES names a folder of clones."""
from __future__ import annotations

import os
import unittest

from slipstream.map.languages.registry import LANGUAGES

import tests as tests  # puts the package on the path
from tests.clients import skip
from tests.clients.counted import (
    REPOSITORIES,
    CountedFile,
    Entry,
    Score,
    counted_languages,
    found_in,
    load_counts,
    plain_variables,
    score_language,
)

BARS = {"precision": 0.98, "ends_exact": 0.98, "recall_exported_top": 0.99, "recall_top": 0.98, "recall_members": 0.97,
        "recall_consts": 0.95, "visibility": 0.98}


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


    def test_fifty_definitions_at_least(self) -> None:
        for language in counted_languages():
            if LANGUAGES[language][2] == "full":
                with self.subTest(language):
                    files = load_counts(language)
                    self.assertGreaterEqual(sum("optional" not in entry.flags for one in files for entry in one.entries), 50)
                    self.assertGreaterEqual(len(files), 5)


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

    def test_definitions(self) -> None:
        source = (b"<script>\nconst a = 1\nexport function f() {\n  const local = 1\n}\nclass C {\n  x = 1\n  m() {}\n}\n"
                  b"</script>\n")
        counted = CountedFile("a/b", "", "c.vue", "")
        counted.entries = [Entry(3, 4, "function", "f", ("exported",)), Entry(6, 9, "class", "C", ("exported",)),
                           Entry(8, 8, "method", "C.m"), Entry(9, 9, "method", "C.gone")]
        found = found_in("c.vue", source)
        plain = plain_variables(counted, found, source)
        self.assertEqual([entry.name for entry in plain], ["a", "C.x"])
        score = Score("vue")
        score.add(counted, [entry for entry in found if entry not in plain])
        self.assertEqual(score.figures(), {"recall_exported_top": 1.0, "recall_top": 1.0, "recall_members": 0.5, "precision": 1.0,
                                           "ends_exact": 2 / 3, "visibility": 0.5})
        invented = [Entry(4, 4, "const", "local"), Entry(2, 2, "const", "b")]
        self.assertEqual(plain_variables(counted, invented, source), [])
