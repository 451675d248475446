"""The reader: lines to events, numbering, offsets, what is unfinished, foreign or replaced; the list of sessions."""
from __future__ import annotations

import json
import os
import unittest
from unittest import mock

from slipstream.events.append import append_event
from slipstream.events.log import (
    LogReader,
    find_offset_after,
    last_seq,
    list_sessions,
    log_path,
    parse_event,
    read_events,
    read_events_after,
)

from tests.folders import FolderCase

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "event_lines.json")


def line(seq: int, label: str = "x") -> str:
    return json.dumps({"session": "s", "agent": "main", "kind": "stop", "label": label, "seq": seq, "ts": "t"}) + "\n"


class Lines(unittest.TestCase):
    def test_published_cases(self) -> None:
        with open(DATA, encoding="utf-8") as stream:
            rows = json.load(stream)
        for row in rows:
            with self.subTest(row["line"]):
                self.assertEqual(parse_event(row["line"]), row["event"])
                if "published" in row:
                    self.assertTrue(row["why"])

    def test_hostile_lines_are_no_events(self) -> None:
        for text in ("[" * 100_000, '{"seq":1' + "0" * 5000 + "}", "null", "[]", '"x"', '{"seq":true}', "\ufeff{}"):
            self.assertIsNone(parse_event(text), text[:20])


class Reading(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        append_event(self.root, "s", "main", "stop", "first")
        self.path = log_path(self.root, "s")

    def add(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(text)

    def test_colliding_numbers_stay_readable_and_no_cursor_skips(self) -> None:
        for seq in (1, 1, 1, 0, 2, 9):
            self.add(line(seq))
        self.assertEqual([event["seq"] for event in read_events(self.root, "s")], [0, 1, 2, 3, 4, 5, 9])
        self.assertEqual([event["seq"] for event in read_events_after(self.root, "s", 3)], [4, 5, 9])

    def test_what_came_after_a_number_is_read_from_the_end(self) -> None:
        for number in range(1, 3000):
            append_event(self.root, "s", "main", "post-tool", f"call {number} " + "words " * (number % 40))
        whole = read_events(self.root, "s")
        for seq in (-1, 0, 1, 1500, 2990, 2998, 2999, 5000):
            self.assertEqual(read_events_after(self.root, "s", seq), [event for event in whole if event["seq"] > seq], seq)
        offset = find_offset_after(self.path, 2990)
        assert offset is not None
        with open(self.path, "rb") as stream:
            stream.seek(offset)
            self.assertTrue(stream.readline().startswith(b'{"seq":2991,'))
        self.assertEqual(last_seq(self.path), 2999)
        self.add('{"torn')
        self.assertIsNone(last_seq(self.path))

    def test_reads_on_from_an_offset(self) -> None:
        reader = LogReader(self.path)
        self.assertEqual(len(reader.read()), 1)
        self.assertEqual(reader.read(), [])
        append_event(self.root, "s", "main", "stop", "second")
        append_event(self.root, "s", "main", "stop", "third")
        other = LogReader(self.path, reader.offset, reader.last_seq)
        self.assertEqual([event["seq"] for event in other.read(1)], [1])
        self.assertEqual([event["seq"] for event in other.read()], [2])
        self.assertEqual(read_events(self.root, "s", reader.offset, reader.last_seq)[0]["label"], "second")

    def test_an_unfinished_line_waits(self) -> None:
        reader = LogReader(self.path)
        reader.read()
        whole = line(1, "late")
        self.add(whole[:30])
        self.assertEqual(reader.read(), [])
        self.add(whole[30:])
        self.assertEqual(reader.read()[0]["label"], "late")

    def test_bad_lines_are_counted_not_fatal(self) -> None:
        self.add("nonsense\n\n" + line(5) + '{"seq":6}\n')
        reader = LogReader(self.path)
        self.assertEqual([event["seq"] for event in reader.read()], [0, 5])
        self.assertEqual(reader.skipped, 2)

    def test_a_replaced_log_starts_over(self) -> None:
        self.add(line(1))
        reader = LogReader(self.path)
        reader.read()
        os.unlink(self.path)
        append_event(self.root, "s", "main", "stop", "anew")
        self.assertEqual([event["label"] for event in reader.read()], ["anew"])
        self.assertTrue(reader.restarted)

    def test_absent_and_foreign_files(self) -> None:
        self.assertEqual(read_events(self.root, "nobody"), [])
        self.assertEqual(read_events(os.path.join(self.root, "absent"), "s"), [])

    def test_a_log_under_its_bare_id_is_read(self) -> None:
        with open(os.path.join(os.path.dirname(self.path), "my session.jsonl"), "w", encoding="utf-8") as stream:
            stream.write(line(0, "old"))
        self.assertIn("my session", [row["session"] for row in list_sessions(self.root)])
        self.assertEqual(read_events(self.root, "my session")[0]["label"], "old")
        for session in ("../s", "..", "", "a" * 5000, "\ud800", "a\0b"):
            self.assertEqual(read_events(self.root, session), [])

    def test_a_log_that_goes_while_they_are_listed_is_left_out(self) -> None:
        for name in ("a", "b"):
            append_event(self.root, name, "main", "stop", "turn finished")
        os.mkdir(log_path(self.root, "a") + ".spill")

        def remove(path: str) -> int:
            os.unlink(log_path(self.root, "b"))
            return 0

        with mock.patch("slipstream.events.log.absorb", remove):
            self.assertEqual([row["session"] for row in list_sessions(self.root)], ["a", "s"])

    def test_sessions_newest_first(self) -> None:
        append_event(self.root, "a b", "main", "stop", "x")
        os.utime(log_path(self.root, "a b"), (1, 1))
        found = list_sessions(self.root)
        self.assertEqual([row["session"] for row in found], ["s", "a b"])
        self.assertEqual(found[1]["modified"], 1)
        self.assertEqual(list_sessions(os.path.join(self.root, "absent")), [])


if __name__ == "__main__":
    unittest.main()
