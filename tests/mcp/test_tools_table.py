from __future__ import annotations

import json
import unittest

from slipstream.mcp.calls import TOOLS
from slipstream.mcp.hidden import HIDDEN_TOOLS
from slipstream.mcp.protocol import load_table
from slipstream.mcp.schema import check_arguments

PUBLISHED = """sp_map sp_symbol sp_lines sp_search sp_remember sp_recall sp_forget sp_search_memory sp_timeline
sp_observations sp_lessons sp_savings sp_budget sp_mindmap sp_dashboard sp_digest sp_resume""".split()
DEFAULT_HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
# Every argument of the published tools, so that a caller of theirs finds them.
PUBLISHED_ARGUMENTS = {
    "sp_symbol": "file symbol", "sp_lines": "file start end", "sp_search": "query limit",
    "sp_remember": "fact description type tags", "sp_recall": "query limit", "sp_forget": "name",
    "sp_search_memory": "query kind session since limit", "sp_timeline": "around window session",
    "sp_observations": "ids", "sp_lessons": "minCount limit", "sp_budget": "bytesRead actualTokens windowTokens",
    "sp_digest": "session trigger openTaskHint",
}


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


class Table(unittest.TestCase):
    def setUp(self) -> None:
        self.tools = {tool["name"]: tool for tool in load_table()["tools"]}

    def test_the_published_tools_and_two_more(self) -> None:
        self.assertEqual(sorted(self.tools), sorted([*PUBLISHED, "sp_refs", "sp_outline"]))
        self.assertEqual(sorted(self.tools), sorted(TOOLS))
        self.assertFalse(set(HIDDEN_TOOLS) & set(self.tools))

    def test_published_arguments_are_kept(self) -> None:
        for name, tool in self.tools.items():
            known = set(tool["inputSchema"]["properties"])
            self.assertLessEqual(set(PUBLISHED_ARGUMENTS.get(name, "").split()) | {"root"}, known, name)

    def test_sizes(self) -> None:
        self.assertLessEqual(size({"tools": list(self.tools.values())}), 12_000)
        loaded = [tool for tool in self.tools.values() if tool["_meta"].get("anthropic/alwaysLoad")]
        self.assertLessEqual(size(loaded), 3_000)
        self.assertLessEqual(len(load_table()["instructions"].encode()), 2_048)

    def test_shape_of_each(self) -> None:
        for name, tool in self.tools.items():
            self.assertTrue(tool["description"].startswith("Use "), name)
            self.assertIs(tool["inputSchema"]["additionalProperties"], False, name)
            self.assertEqual(tool["inputSchema"]["type"], "object", name)
            self.assertLessEqual(set(tool["inputSchema"].get("required", [])), set(tool["inputSchema"]["properties"]))
            for hint, value in tool["annotations"].items():
                self.assertIsNot(DEFAULT_HINTS[hint], value, f"{name}: {hint} is the default")
            if not tool["_meta"].get("anthropic/alwaysLoad"):
                self.assertIn("anthropic/searchHint", tool["_meta"], name)


class Arguments(unittest.TestCase):
    SCHEMA = {"required": ["name"], "properties": {
        "name": {"type": "string", "minLength": 1}, "limit": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
        "kind": {"enum": ["a", "b"]}, "ids": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "on": {"type": "boolean"}}}

    def problem(self, **arguments: object) -> str:
        return check_arguments(self.SCHEMA, arguments)[1] or ""

    def test_good(self) -> None:
        self.assertEqual(check_arguments(self.SCHEMA, {"name": "x", "kind": None, "ids": [1, 2.0]}),
                         ({"limit": 2, "name": "x", "ids": [1, 2]}, None))

    def test_bad_ones_name_the_argument_and_what_was_expected(self) -> None:
        self.assertEqual(self.problem(), 'argument "name" is missing: a string that is not empty')
        self.assertEqual(self.problem(name=""), 'argument "name" must be a string that is not empty')
        self.assertEqual(self.problem(name="  "), 'argument "name" must be a string that is not empty')
        self.assertEqual(self.problem(name=None), 'argument "name" must be a string that is not empty')
        self.assertEqual(self.problem(name="a\0b"), 'argument "name" holds a NUL character')
        self.assertEqual(self.problem(name="a\ud800"), 'argument "name" holds half a surrogate pair')
        for limit in (0, 6, 1.5, True, "2", float("inf"), 10**400):
            self.assertEqual(self.problem(name="x", limit=limit), 'argument "limit" must be an integer from 1 to 5')
        self.assertEqual(self.problem(name="x", kind="c"), 'argument "kind" must be one of "a", "b"')
        self.assertEqual(self.problem(name="x", kind=[]), 'argument "kind" must be one of "a", "b"')
        for ids in ([], ["1"], [None], {}, [[1]]):
            self.assertIn('argument "ids" must be an array of which each is an integer', self.problem(name="x", ids=ids))
        self.assertEqual(self.problem(name="x", on=1), 'argument "on" must be a boolean')
        self.assertIn('unknown argument "nope"', self.problem(name="x", nope=1))
