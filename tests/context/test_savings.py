"""Savings: the published tally, and the careful figure beside it."""
from __future__ import annotations

import json
import os
import unittest
from concurrent.futures import ThreadPoolExecutor

from slipstream.context.savings import (
    MAX_FILES,
    charge_map,
    load_savings,
    record_saving,
    render_savings,
    savings_cost,
    summarize_savings,
)

from tests.folders import FolderCase


class Savings(FolderCase):
    def test_published_totals(self) -> None:
        self.assertTrue(record_saving(self.root, "s", "a", 20_000, 100_000))
        self.assertFalse(record_saving(self.root, "s", "a", 5, 0))
        self.assertFalse(record_saving(self.root, "s", "a", -1, 10))
        summary = summarize_savings(load_savings(self.root))
        self.assertEqual((summary["scopedReads"], summary["savedBytes"], summary["pct"]), (1, 80_000, 80))
        self.assertIn("1 scoped read", render_savings(summary))
        with open(os.path.join(self.root, ".claude", "slipstream", "savings.json"), encoding="utf-8") as stream:
            text = stream.read()
        self.assertTrue(text.startswith('{"scopedReads":1,"servedBytes":20000,"fullBytes":100000'))

    def test_published_file_is_read_as_it_is(self) -> None:
        os.makedirs(os.path.join(self.root, ".claude", "slipstream"))
        with open(os.path.join(self.root, ".claude", "slipstream", "savings.json"), "w", encoding="utf-8") as stream:
            json.dump({"scopedReads": 42, "servedBytes": 18_400, "fullBytes": 96_100}, stream)
        summary = summarize_savings(load_savings(self.root))
        self.assertEqual((summary["scopedReads"], summary["pct"]), (42, 81))
        record_saving(self.root, "s", "a", 1, 10)
        self.assertEqual(load_savings(self.root)["scopedReads"], 43)

    def test_careful_figure_counts_a_file_once(self) -> None:
        for _ in range(10):
            record_saving(self.root, "s", "a", 1000, 10_000)
        honest = summarize_savings(load_savings(self.root))["honest"]
        self.assertEqual((honest["reads"], honest["savedTokens"], honest["pct"]), (1, 0, 0))  # ten slices are the file
        record_saving(self.root, "s", "b", 1000, 10_000)
        self.assertEqual(summarize_savings(load_savings(self.root))["honest"]["savedTokens"], 2500)
        record_saving(self.root, "s", "b", 1000, 10_001)  # the file changed: it would have been read again
        record_saving(self.root, "other", "b", 1000, 10_001)
        self.assertEqual(summarize_savings(load_savings(self.root))["honest"]["reads"], 4)

    def test_an_undone_edit_is_no_new_version(self) -> None:
        for size in (1000, 1010, 1000, 1010, 1000):
            record_saving(self.root, "s", "a.py", 100, size)
        honest = load_savings(self.root)["honest"]
        self.assertEqual((honest["reads"], honest["fullBytes"], honest["servedBytes"]), (2, 2010, 500))
        self.assertEqual(honest["files"]["s:a.py"], {"v": 1000, "full": 1000, "served": 300, "was": {"1010": 200}})
        for size in range(2000, 2040):
            record_saving(self.root, "s", "a.py", 1, size)
        self.assertLessEqual(len(load_savings(self.root)["honest"]["files"]["s:a.py"]["was"]), 16)

    def test_a_slice_above_the_files_size_saves_nothing(self) -> None:
        record_saving(self.root, "s", "a", 500, 400)
        self.assertEqual(summarize_savings(load_savings(self.root))["honest"]["reads"], 0)

    def test_serving_more_than_the_file_costs(self) -> None:
        for _ in range(3):
            record_saving(self.root, "s", "a", 900, 1000)
        self.assertLess(summarize_savings(load_savings(self.root))["honest"]["netTokens"], 0)

    def test_the_map_is_charged(self) -> None:
        record_saving(self.root, "s", "a", 1000, 10_000)
        charge_map(self.root, 3600)
        honest = summarize_savings(load_savings(self.root))["honest"]
        self.assertEqual((honest["mapTokens"], honest["savedTokens"]), (1000, 1500))

    def test_bounded(self) -> None:
        os.makedirs(os.path.join(self.root, ".claude", "slipstream"))
        rows = {f"s:f{number}": {"v": 1, "full": 10, "served": 1} for number in range(MAX_FILES)}
        with open(os.path.join(self.root, ".claude", "slipstream", "savings.json"), "w", encoding="utf-8") as stream:
            json.dump({"scopedReads": 1, "honest": {"files": rows}}, stream)
        record_saving(self.root, "s", "new", 1, 10)
        files = load_savings(self.root)["honest"]["files"]
        self.assertEqual(len(files), MAX_FILES)
        self.assertIn("s:new", files)
        self.assertNotIn("s:f0", files)

    def test_damaged_files_count_from_zero(self) -> None:
        os.makedirs(os.path.join(self.root, ".claude", "slipstream"))
        for text in ("", "[]", '{"scopedReads":"x","honest":[]}', '{"servedBytes":-5,"honest":{"files":{"a":1},"reads":null}}', '{"fullBytes":1e400}'):
            with open(os.path.join(self.root, ".claude", "slipstream", "savings.json"), "w", encoding="utf-8") as stream:
                stream.write(text)
            self.assertEqual(summarize_savings(load_savings(self.root))["scopedReads"], 0)
            self.assertTrue(record_saving(self.root, "s", "a", 1, 10))

    def test_parallel_writers(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: record_saving(self.root, "s", f"f{number}", 1, 10), range(60)))
        self.assertEqual(load_savings(self.root)["scopedReads"], 60)

    def test_money_names_its_rate(self) -> None:
        self.assertEqual(savings_cost(1_000_000)["usd"], 3.0)
        self.assertIn("under $0.01", savings_cost(100)["label"])
        self.assertIn("$3 per million", savings_cost(5e6)["label"])
        self.assertEqual(savings_cost(-5)["savedTokens"], 0)
        self.assertEqual(render_savings(summarize_savings({})), "no scoped reads recorded yet")


if __name__ == "__main__":
    unittest.main()
