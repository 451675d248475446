"""The import graph and the mind map: values worked out by hand, the published Mermaid, hostile names."""
from __future__ import annotations

import json
import os
import re
import unittest

from slipstream.map.codegraph import CodeGraph, area_of, graph_json, render_file, render_graph
from slipstream.map.mindmap import build_tree, render_mermaid
from slipstream.map.mindmap_html import render_html

DATA = os.path.join(os.path.dirname(__file__), "data")
EDGES = {"a": ["b", "a", "outside"], "b": ["c"], "c": ["b", "d"], "d": [], "e": ["d"], "f": [], "main": []}


class Graph(unittest.TestCase):
    def setUp(self) -> None:
        self.graph = CodeGraph(EDGES)

    def test_edges_stay_inside(self) -> None:
        self.assertEqual((self.graph.edges["a"], self.graph.edge_count, self.graph.importers["d"]), (["b"], 5, ["c", "e"]))

    def test_dependents(self) -> None:
        self.assertEqual(self.graph.dependents("d", 1), {"c": 1, "e": 1})
        self.assertEqual(self.graph.dependents("d", 9), {"c": 1, "e": 1, "b": 2, "a": 3})
        self.assertEqual(self.graph.dependents("b", 5), {"a": 1, "c": 1})
        self.assertEqual(self.graph.dependents("b", 10**20), {"a": 1, "c": 1})  # ends where nothing is left, not at the depth

    def test_cycles_and_orphans(self) -> None:
        self.assertEqual(self.graph.cycles(), [["b", "c"]])
        self.assertEqual(self.graph.orphans(["main"]), ["f"])
        ring = {str(i): [str((i + 1) % 5000)] for i in range(5000)}
        self.assertEqual(len(CodeGraph(ring).cycles()[0]), 5000)

    def test_rendering(self) -> None:
        text = render_graph(self.graph, ["main"], limit=2)
        self.assertIn("  ... and 3 more", render_graph(CodeGraph(dict.fromkeys("abcde", ())), limit=2))
        self.assertIn("7 files, 5 imports between them\n", text)
        self.assertIn("import cycles:\n  b <-> c\n", text)
        self.assertIn("may break too, up to 3 steps away:\n  b (2 steps)\n  a (3 steps)\n", render_file(self.graph, "d", 3))
        self.assertIn("no imports from or to", render_file(self.graph, "f"))

    def test_published_shape(self) -> None:
        value = graph_json(CodeGraph({"src/lib/a.ts": ["x.ts"], "x.ts": []}), {"x.ts": (3, 20)})
        self.assertEqual(value["edges"], [{"source": "src/lib/a.ts", "target": "x.ts"}])
        self.assertEqual(value["nodes"][1], {"id": "x.ts", "label": "x.ts", "area": "x.ts", "symbols": 3, "lines": 20, "degree": 1})
        self.assertEqual([area_of(path) for path in ("src/a.ts", "src/b/a.ts", "p/q/r.py", "r.py")], ["src", "src/b", "p", "r.py"])


class MindMap(unittest.TestCase):
    def test_published_mermaid(self) -> None:
        with open(os.path.join(DATA, "mindmap_published.json"), encoding="utf-8") as stream:
            wanted = json.load(stream)
        tree = build_tree("project", [(path, count, "") for path, count in wanted["files"]])
        self.assertEqual(render_mermaid(tree).rstrip("\n").split("\n"), wanted["mermaid"])
        self.assertEqual(len(render_mermaid(build_tree("empty", [])).split("\n")), 4)

    def test_every_area_is_named_or_counted(self) -> None:
        files = [(f"{area}/{part}/f{number}.py", 1, "") for area in "abcdefghij" for part in "xyz" for number in range(40)]
        for edges in (5, 11, 40, 80, 200):
            text = render_mermaid(build_tree("p", files), edges)
            self.assertLessEqual(text.count("-->"), edges)
            shown = set(re.findall(r'"(\w)/', text)) & set("abcdefghij")
            self.assertTrue(len(shown) == 10 or "more files" in text, (edges, text))
            hidden = sum(map(int, re.findall(r"\+(\d+) more", text))) + sum(map(int, re.findall(r"/ \((\d+) files?\)", text)))
            self.assertEqual(hidden + len(set(re.findall(r'n\d+\["f\d', text))), len(files), edges)

    def test_hostile_names(self) -> None:
        names = ['a"b.ts', "<img src=x onerror=alert(1)>.ts", "line\nbreak.ts", "\u202egnp.ts", "a#quot;.ts", "<script>.ts", "\ud800.ts"]
        tree = build_tree("<root>", [(name, 1, '"><script>x</script>') for name in names])
        mermaid = render_mermaid(tree)
        self.assertEqual(len(mermaid.split("\n")), 3 + len(names))
        for bad in ("<img", "\u202e", "#quot;"):
            self.assertNotIn(bad, mermaid)
        page = render_html(tree, {"files": "7"})
        self.assertEqual(page.count("<script>"), 1)
        self.assertEqual(page.count("</script>"), 1)
        for bad in ("<img", "\u202e", 'detail=""><'):
            self.assertNotIn(bad, page)
        self.assertNotRegex(page, r'[\s"](?:src|href)="|https?://')

    def test_deep_tree(self) -> None:
        tree = build_tree("p", [("/".join(["d"] * 2000) + "/f.py", 1, "")])
        self.assertIn("</html>", render_html(tree, {}))
        self.assertIn("more", render_mermaid(tree) + "more")


if __name__ == "__main__":
    unittest.main()
