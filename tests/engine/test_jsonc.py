"""JSON with comments: parsed with positions, edited without touching a byte that is not ours, and undone."""
from __future__ import annotations

import json
import random
import unittest

from slipstream.base.errors import SlipstreamError
from slipstream.engine.jsonc import parse_jsonc, position, remove_member, set_member

VALUE = {"command": "python3", "args": ["-I", "x y"]}
PATH = ["mcpServers", "slipstream"]
# Files as found in the wild; none has our entry yet.
WILD = {
    "plain": '{\n  "mcpServers": {\n    "other": {"command": "x"}\n  },\n  "z": 1\n}\n',
    "comments": '// top\n{\n  /* a */ "mcpServers": { // servers\n    "other": { "command": "x" } // the last one\n    // nothing below\n  },\n'
                '  "z": 1 /* end */\n}\n// bottom',
    "trailing commas": '{\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"args": ["a",],\n\t\t}, // why\n\t},\n}\n',
    "crlf and bom": '\ufeff{\r\n    "mcpServers": {\r\n        "other": {}\r\n    }\r\n}\r\n',
    "one line": '{"mcpServers": {"other": {"command": "x"}}, "z": [1, 2]}',
    "one line, comma": '{"mcpServers": {"other": {},}}',
    "no servers": '{\n  "editor.fontSize": 14, // big\n  "a": "// not a comment",\n  "b": "\\u0041\\"}"\n}\n',
    "empty servers": '{\n  "mcpServers": {},\n  "z": 1\n}\n',
    "spread servers": '{\n  "mcpServers": {\n  }\n}\n',
    "commented servers": '{\n  "mcpServers": {\n    // "old": {"command": "y"}\n  }\n}\n',
    "empty object": "{}\n",
    "comma first": '{\n  "a": 1\n  , "mcpServers": {\n      "other": {}\n  }\n}',
    "last is nested": '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}',
    "duplicate keys": '{"mcpServers": {"x": 1}, "mcpServers": {"y": 2}}',
    "no final newline": '{\n "a": null}',
}


class Edits(unittest.TestCase):
    maxDiff = None

    def test_only_our_entry_is_added(self) -> None:
        for name, text in WILD.items():
            with self.subTest(name):
                edited = set_member(text, PATH, VALUE)
                wanted = parse_jsonc(text).to_value()
                wanted.setdefault("mcpServers", {})["slipstream"] = VALUE
                self.assertEqual(parse_jsonc(edited).to_value(), wanted)
                self.assertTrue(is_subsequence(text, edited), edited)
                self.assertEqual(set_member(edited, PATH, VALUE), edited, "a second time changes nothing")
                self.assertEqual("\r\n" in text, "\r\n" in edited)
                if "\r\n" in text:
                    self.assertNotIn("\n", edited.replace("\r\n", ""))

    def test_removed_again(self) -> None:
        for name, text in WILD.items():
            with self.subTest(name):
                removed = remove_member(set_member(text, PATH, VALUE), PATH)
                if "mcpServers" in text and name != "spread servers":
                    self.assertEqual(removed, text)
                else:
                    self.assertEqual(parse_jsonc(removed).to_value().get("mcpServers"), {})
                self.assertEqual(remove_member(text, PATH), text)

    def test_strict_files_stay_strict(self) -> None:
        for name in ("plain", "one line", "empty servers", "empty object", "last is nested"):
            json.loads(set_member(WILD[name], PATH, VALUE))

    def test_an_own_entry_is_replaced_in_place(self) -> None:
        text = '{\n  "mcpServers": {\n    "slipstream": {"command": "old"}, // ours\n    "z": {}\n  }\n}\n'
        edited = set_member(text, PATH, VALUE)
        self.assertIn("} , // ours".replace(" ,", ","), edited)
        self.assertEqual(list(parse_jsonc(edited).to_value()["mcpServers"]), ["slipstream", "z"])
        self.assertEqual(remove_member(edited, PATH), '{\n  "mcpServers": { // ours\n    "z": {}\n  }\n}\n')

    def test_empty_file(self) -> None:
        self.assertEqual(json.loads(set_member("", PATH, VALUE)), {"mcpServers": {"slipstream": VALUE}})
        self.assertEqual(set_member("\ufeff\r\n", ["a"], 1), '\ufeff{\r\n  "a": 1\r\n}\r\n')

    def test_refusals_say_where(self) -> None:
        for text, line, column in (
            ('{"a": 1', 1, 8), ('{\n  a: 1\n}', 2, 3), ('{"a": 1} x', 1, 10), ('{"a" 1}', 1, 6), ('[1 2]', 1, 4), ('{"a": tru}', 1, 7),
            ('{"a": "\n"}', 1, 7), ('/* never', 1, 1), ("[" * 300, 1, 201), ('{"a": 01}', 1, 8), ('{"a": }', 1, 7), ("{,}", 1, 2), ("{\"a\":1,,}", 1, 8),
            ('{"mcpServers": []}', 1, 16), ("[]", 1, 1),
        ):
            with self.subTest(text[:20]):
                with self.assertRaises(SlipstreamError) as caught:
                    set_member(text, PATH, VALUE, "f.json")
                self.assertEqual((caught.exception.line, caught.exception.column), (line, column), caught.exception)

    def test_strict_refuses_what_json_refuses(self) -> None:
        for text in ('{"a": 1,}', "[1,]", "// x\n1", "/**/1"):
            with self.assertRaises(SlipstreamError):
                parse_jsonc(text, strict=True)

    def test_agrees_with_json(self) -> None:
        chooser = random.Random(7)

        def make(depth: int) -> object:
            kind = chooser.randrange(7 if depth else 5)
            if kind < 5:
                return [None, True, -1.5e3, 12, "a\"\\\u20ac\n"][kind]
            if kind == 5:
                return [make(depth - 1) for _ in range(chooser.randrange(4))]
            return {"k%d" % i: make(depth - 1) for i in range(chooser.randrange(4))}

        for _ in range(300):
            value = {"root": make(4)}
            text = json.dumps(value, indent=chooser.choice([None, 1, 2, 4]), ensure_ascii=chooser.random() < 0.5)
            self.assertEqual(parse_jsonc(text, strict=True).to_value(), value)
            edited = set_member(text, PATH, VALUE)
            self.assertEqual(json.loads(edited), {**value, "mcpServers": {"slipstream": VALUE}})

    def test_position(self) -> None:
        self.assertEqual(position("a\nbc", 3), (2, 2))


def is_subsequence(text: str, edited: str) -> bool:
    """True when `edited` is `text` with characters inserted and none taken away."""
    found = iter(edited)
    return all(char in found for char in text)


if __name__ == "__main__":
    unittest.main()
