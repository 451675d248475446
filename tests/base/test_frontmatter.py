"""Frontmatter: the shapes YAML dumpers write, what is refused and where, and the published form of a memory file."""
from __future__ import annotations

import unittest

from slipstream.base.errors import SlipstreamError
from slipstream.base.frontmatter import parse_frontmatter, render_frontmatter

LONG = ("A long description that goes on well past eighty characters so that the serialiser has to decide how to fold the line "
        "in the file")
PUBLISHED = [  # value, what the published implementation writes after `description: `
    ("Short", "Short"),
    ("colon: and # hash \"quotes\" 'single'", "'colon: and # hash \"quotes\" ''single'''"),
    ("yes", "'yes'"), ("2026", "'2026'"), ("true", "'true'"), ("x: y", "'x: y'"), ("b c", "b c"),
    ("2026-01-02", "'2026-01-02'"), ("2026-06-01T12:00:00.000Z", "'2026-06-01T12:00:00.000Z'"),
    ("Ünïcödé déscription 日本", "Ünïcödé déscription 日本"),
    ("multi\nline description", "|-\n  multi\n  line description"),
    (LONG, ">-\n  A long description that goes on well past eighty characters so that the\n"
           "  serialiser has to decide how to fold the line in the file"),
    ("x" * 100, ">-\n  " + "x" * 100),
    ("- starts with dash", "'- starts with dash'"), ("@at %percent", "'@at %percent'"),
]
SHAPES = {
    "plain": ("a: one two\nb: three", {"a": "one two", "b": "three"}),
    "scalars are text": ("a: yes\nb: 1.50\nc: 2026-05-31\nd: ~\ne: null\nf: 2026-05-31T20:00:00.000Z",
                         {"a": "yes", "b": "1.50", "c": "2026-05-31", "d": "~", "e": "null", "f": "2026-05-31T20:00:00.000Z"}),
    "empty": ("a:\nb: ''", {"a": "", "b": ""}),
    "comments": ("# first\na: b # after\n\n# between\nc: d#not", {"a": "b", "c": "d#not"}),
    "single quoted": ("a: 'it''s: # here'", {"a": "it's: # here"}),
    "double quoted": (r'a: "tab\there \u65e5 \"q\" \\"', {"a": 'tab\there 日 "q" \\'}),
    "quoted over lines": ("a: 'one\n  two\n\n  three'\nb: \"x \\\n  y\"", {"a": "one two\nthree", "b": "x y"}),
    "escaped line end before a blank line": ("a: \"x\\\n\n  y\"", {"a": "x\ny"}),
    "plain over lines": ("a: one\n  two\n\n  three\nb: c", {"a": "one two\nthree", "b": "c"}),
    "literal": ("a: |\n  one\n    two\n\n  three\nb: |-\n  x\nc: |+\n  y\n\nd: z",
                {"a": "one\n  two\n\nthree\n", "b": "x", "c": "y\n\n", "d": "z"}),
    "folded": ("a: >\n  one\n  two\n\n  three\n    more\n  four\nb: >-\n  x\n  y", {"a": "one two\nthree\n  more\nfour\n", "b": "x y"}),
    "indentation indicator": ("a: |2\n    two in\nb: c", {"a": "  two in\n", "b": "c"}),
    "block list": ("a:\n  - x\n  - 'y'\nb:\n- z", {"a": ["x", "y"], "b": ["z"]}),
    "flow": ("a: [x, 'y, z', \"q\"]\nb: {k: v, n: [1, 2]}\nc: []\nd: {}", {"a": ["x", "y, z", "q"], "b": {"k": "v", "n": ["1", "2"]}, "c": [], "d": {}}),
    "flow over lines": ("a: [x, # one\n  y,\n]\nb: c", {"a": ["x", "y"], "b": "c"}),
    "plain in flow over blank lines": ("a: [one\n  two\n\n  three]", {"a": ["one two\nthree"]}),
    "nested": ("a:\n  b:\n    c: d\n  e:\n    - f: g\n      h: i\n    - - j\n      - k", {"a": {"b": {"c": "d"}, "e": [{"f": "g", "h": "i"}, ["j", "k"]]}}),
    "quoted keys": ("'a b': c\n\"d: e\": f", {"a b": "c", "d: e": "f"}),
    "colon inside": ("a: http://x/y\nb: c:d", {"a": "http://x/y", "b": "c:d"}),
    "other scripts": ("名前: 値 😀", {"名前": "値 😀"}),
}
REFUSED = {  # text -> line and column
    "a: b\nc: &x d": (3, 4), "a: *x": (2, 4), "a: !!str b": (2, 4), "a: b\na: c": (3, 1), "a: 'open": (2, 4), "a: [b": (2, None),
    "\ta: b": (2, 1), "a: 'b' c": (2, 7), "? a\n: b": (2, 1), "a: b\n  c: d: e\n x": (3, 3), "a: \"\\q\"": (2, 5), "just text": (2, 1),
    "a: {b: 1, b: 2}": (2, 11), "- a": (2, 1), "a: {b: 1, ? c: 2}": (2, 11), "a: [? b]": (2, 5),
}


class Reading(unittest.TestCase):
    def test_shapes(self) -> None:
        for name, (text, wanted) in SHAPES.items():
            for line_end in ("\n", "\r\n", "\r"):
                for start in ("", "\ufeff"):
                    whole = start + f"---\n{text}\n---\nbody\n".replace("\n", line_end)
                    with self.subTest(name, line_end=line_end, bom=bool(start)):
                        self.assertEqual(parse_frontmatter(whole), (wanted, "body\n"))

    def test_refused_with_line_and_column(self) -> None:
        for text, (line, column) in REFUSED.items():
            with self.subTest(text), self.assertRaises(SlipstreamError) as caught:
                parse_frontmatter(f"---\n{text}\n---\n", "x.md")
            self.assertEqual((caught.exception.path, caught.exception.line), ("x.md", line), (text, caught.exception))
            if column:
                self.assertEqual(caught.exception.column, column, (text, caught.exception))

    def test_without_a_block(self) -> None:
        self.assertEqual(parse_frontmatter("no frontmatter\n---\n"), ({}, "no frontmatter\n---\n"))
        self.assertEqual(parse_frontmatter(""), ({}, ""))
        self.assertEqual(parse_frontmatter("---\n---\nbody"), ({}, "body"))
        with self.assertRaisesRegex(SlipstreamError, "never closed"):
            parse_frontmatter("---\na: b\n")

    def test_hostile_depth_is_an_error(self) -> None:
        for text in ("a: " + "[" * 5000, "a: " + "{b: " * 5000, "\n".join(" " * i + "a:" for i in range(3000))):
            with self.assertRaises(SlipstreamError):
                parse_frontmatter(f"---\n{text}\n---\n")


class Writing(unittest.TestCase):
    def test_published_form(self) -> None:
        for value, written in PUBLISHED:
            with self.subTest(value):
                self.assertEqual(render_frontmatter({"description": value}), f"---\ndescription: {written}\n---\n")
        self.assertEqual(render_frontmatter({"tags": [], "more": ["a", "2026"]}), "---\ntags: []\nmore:\n  - a\n  - '2026'\n---\n")

    def test_reads_back(self) -> None:
        record = {"a": " lead", "b": "trail ", "c": "\n", "d": "x\n", "e": "\ttab", "f": ["1", {"g": "h", "i": ["j"]}, []], "k": {"l": {}}, "m": "\ud800",
                  "n": "line\n\n  indented\nend", "o": "nel\x85", "p": ""}
        self.assertEqual(parse_frontmatter(render_frontmatter(record) + "b"), (record, "b"))


if __name__ == "__main__":
    unittest.main()
