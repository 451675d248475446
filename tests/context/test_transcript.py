"""Occupancy from a transcript's tail, and the window it fills."""
from __future__ import annotations

import json
import os
import tempfile
import time
import unittest
from typing import Any

from slipstream.context.transcript import read_occupancy
from slipstream.context.windows import resolve_window


def reply(tokens: tuple[int, int, int, int] = (1, 2, 3, 4), **more: Any) -> dict[str, Any]:
    fresh, created, cached, output = tokens
    message = {"id": "m", "role": "assistant", "model": more.pop("model", "claude-opus-5-5"), "usage": {
        "input_tokens": fresh, "cache_creation_input_tokens": created, "cache_read_input_tokens": cached, "output_tokens": output}}
    return {"type": "assistant", "isSidechain": False, "message": message, "timestamp": "2026-11-30T10:00:00.000Z", **more}


class Tail(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "t.jsonl")

    def tokens(self, *records: Any, tail: str = "") -> Any:
        with open(self.path, "w", encoding="utf-8") as stream:
            for record in records:
                stream.write((record if isinstance(record, str) else json.dumps(record)) + "\n")
            stream.write(tail)
        found = read_occupancy(self.path)
        return None if found is None else found.tokens

    def test_input_and_both_cache_classes_of_the_newest_reply(self) -> None:
        self.assertEqual(self.tokens(reply((1000, 500, 8000, 200)), reply((10, 20, 30, 999))), 60)

    def test_what_does_not_count(self) -> None:
        first = reply((100, 0, 0, 1))
        for other in (reply(isSidechain=True), reply(model="<synthetic>"), reply(isApiErrorMessage=True), reply((0, 0, 0, 7)), {"type": "user"},
                      "not json", {"type": "user", "message": {"content": 'said "usage": 5'}}, "[]", '{"message": {"usage": []}}', "[" * 50_000 + '"usage"'):
            self.assertEqual(self.tokens(first, other), 100)

    def test_an_unfinished_last_line(self) -> None:
        self.assertEqual(self.tokens(reply((100, 0, 0, 1)), tail=json.dumps(reply((5, 5, 5, 5)))[:-9]), 100)

    def test_after_a_compaction_it_is_unknown_until_the_next_reply(self) -> None:
        boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}}
        self.assertIsNone(self.tokens(reply(), boundary))
        self.assertTrue(read_occupancy(self.path))
        self.assertEqual(self.tokens(reply(), boundary, reply((7, 0, 0, 1))), 7)
        boundary["compactMetadata"] = {"postTokens": 1234}
        self.assertEqual(self.tokens(reply(), boundary), 1234)
        found = read_occupancy(self.path)
        assert found is not None
        self.assertTrue(found.estimate)

    def test_found_behind_large_results(self) -> None:
        self.assertEqual(self.tokens(reply((100, 0, 0, 1)), {"type": "user", "content": "x" * 3_000_000}), 100)
        self.assertIsNone(read_occupancy(self.path, 131_072))

    def test_time_does_not_grow_with_the_file(self) -> None:
        self.tokens(reply((100, 0, 0, 1)))
        with open(self.path, "r+b") as stream:
            stream.truncate(2_000_000_000)
            stream.seek(0, os.SEEK_END)
            stream.write(b"\n" + json.dumps(reply((5, 0, 0, 1))).encode() + b"\n")
        began = time.process_time()
        found = read_occupancy(self.path)
        assert found is not None
        self.assertEqual(found.tokens, 5)
        self.assertLess(time.process_time() - began, 1.0)

    def test_absent_and_odd_paths(self) -> None:
        for path in ("/nonexistent", os.path.dirname(self.path), "", "a\0b"):
            self.assertIsNone(read_occupancy(path))


class Windows(unittest.TestCase):
    def test_order_of_trust(self) -> None:
        for model, seen, host, env, window in (
                ("claude-opus-5-5", 0, 150_000, {}, 150_000), ("claude-opus-5-5", 0, None, {}, 1_000_000), ("claude-opus-4-6", 0, None, {}, 200_000),
                ("claude-opus-4-6[1m]", 0, None, {}, 1_000_000), ("claude-sonnet-4-6", 250_000, None, {}, 1_000_000), ("claude-sonnet-4-5-20250929", 0, None, {}, 200_000),
                ("claude-haiku-5-5", 0, None, {}, 1_000_000), ("claude-haiku-4-5", 0, None, {}, 200_000), ("claude-fable-5-1", 0, None, {}, 1_000_000),
                ("", 0, None, {}, 200_000), ("house-model", 0, None, {}, 200_000), ("claude-opus-5", 0, None, {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, 200_000),
                ("claude-opus-5", 0, None, {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "300000"}, 300_000), ("claude-opus-4-1-20250805", 0, None, {}, 200_000),
                ("us.anthropic.claude-opus-4-8-v1:0", 0, None, {}, 1_000_000), ("claude-sonnet-5", 0, None, {}, 1_000_000)):
            self.assertEqual(resolve_window(model, seen, host, env)[0], window, model)


if __name__ == "__main__":
    unittest.main()
