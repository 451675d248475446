"""True usage: every reply once over all files, snapshots, forks, subagents, one-hour writes, torn tails, long files, offsets, prices."""
from __future__ import annotations

import json
import os
import random
import re
import tempfile
import unittest
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import slipstream.context.usage as usage_module
from slipstream.base.errors import LockTimeout
from slipstream.base.locks import FileLock
from slipstream.context.prices import find_rates
from slipstream.context.usage import CLASSES, UsageIndex, load_usage
from slipstream.context.usage_report import build_usage, project_folders, render_usage
from slipstream.context.usage_scan import find_transcripts, iter_replies, read_whole
from slipstream.context.usage_shape import Shapes

from tests.context.transcripts import MODELS, reply_line, usage, write_session


def iter_plainly(path: str, offset: int, _: Shapes) -> Iterator[tuple[int, Any]]:
    """The same as iter_replies, line by line, every line parsed."""
    with open(path, "rb") as stream:
        stream.seek(offset)
        for line in stream:
            if line.endswith(b"\n"):
                offset += len(line)
                reply = read_whole(line[:-1])
                if reply is not None:
                    yield 0, reply
    yield offset, None


def read_quickly(shapes: Shapes, line: bytes) -> Any:
    shape, captured = shapes.find(line + b"\n", 0, len(line))
    return shape.reply(captured) if shape is not None and captured is not None else None


def shape_maker(rng: random.Random) -> Callable[[], str]:
    """Writes replies as one host might: with an order of members, white space and habits of its own; and lines that are none."""
    separators = rng.choice(((",", ":"), (",", ":"), (", ", ": "), (" ,", ":  ")))
    order, inner = rng.sample(range(99), 30), rng.sample(range(99), 30)
    habits = {name: rng.random() < 0.5 for name in ("request", "cache", "stop", "iterations", "error", "version", "sidechain")}
    if rng.random() < 0.5:  # the host's own order
        order, inner = list(range(30)), list(range(30))
    number = [rng.randrange(1000)]
    place = rng.choice(("/home/ada", "C:\\Users\\ada\\", "C:\\a", None))

    def arranged(members: dict[str, Any], ranks: list[int]) -> dict[str, Any]:
        return dict(sorted(members.items(), key=lambda item: ranks[list(members).index(item[0])]))

    def seldom(usual: Any, other: Any) -> Any:
        return other if rng.random() < 0.08 else usual

    def block() -> dict[str, Any]:
        nasty = rng.choice(('a text', 'usage', '","usage":{"input_tokens":5}', 'ends with "', "back\\slash\\", "] } ]} ],", '],"stop_reason":null', "{[", "\u00e9\u4e2d", "",
                            '{"parentUuid":"x"', "line\nbreak", 'put_tokens"', "x" * 300))
        return rng.choice(({"type": "text", "text": nasty}, {"type": "thinking", "thinking": nasty, "signature": "s"},
                           {"type": "tool_use", "id": "t", "name": nasty, "input": {"usage": {"input_tokens": 7, "output_tokens": 8}, "list": [1, [nasty]], "stop_reason": [nasty],
                            "message": {"id": "no", "content": [{"usage": {"output_tokens": 5}}]}, "requestId": "no"}}))

    def make() -> str:
        number[0] += rng.random() < 0.4
        used: dict[str, Any] = {"input_tokens": rng.choice((0, 5, 5, 5, 123456, 123456, 123456, rng.choice((5, 10 ** 16)))), "cache_creation_input_tokens": rng.randrange(5000), "cache_read_input_tokens": rng.randrange(300_000)}
        if habits["cache"]:
            used["cache_creation"] = {"ephemeral_5m_input_tokens": rng.randrange(3000), "ephemeral_1h_input_tokens": rng.choice((0, 900))}
        used |= {"output_tokens": rng.choice((0, 1, 7, number[0] % 50)), "service_tier": seldom("standard", rng.choice(("batch", None))), "speed": seldom(None, "fast"), "extra": 1.5}
        if habits["iterations"]:
            used["iterations"] = seldom([], [{"output_tokens": 3}])
        message: dict[str, Any] = {"model": rng.choice(("m-1", "m-1", "m-2", "<synthetic>", "m\\n")), "id": f"msg_{number[0]}", "type": "message", "role": "assistant",
                                   "content": [block() for _ in range(rng.choice((0, 1, 1, 1, 2)))]}
        if habits["stop"]:
            message |= {"stop_reason": seldom(None, "end_turn"), "stop_sequence": None}
        record: dict[str, Any] = {"parentUuid": seldom("p-1", None), "isSidechain": habits["sidechain"], "message": arranged({**message, "usage": used}, inner),
                                  "type": rng.choice(("assistant",) * 9 + ("user",)), "uuid": f"u{number[0]}", "timestamp": f"2026-11-{rng.choice((1, 1, 2)):02d}T{rng.randrange(24):02d}:10:00.000Z"}
        message["usage"] = used
        if place is not None:
            record["cwd"] = seldom(place, rng.choice(('a "b" c\\', 'x",', '",', "\\", "")))
        if habits["request"]:
            record["requestId"] = seldom(f"req_{number[0]}", rng.choice((None, "", "req")))
        if habits["error"]:
            record["isApiErrorMessage"] = seldom(False, True)
        if rng.random() < 0.1:
            record = {"type": "progress", "data": {"message": record}}
        if rng.random() < 0.1:
            record["toolUseResult"] = {"usage": {"output_tokens": 99}, "requestId": "no", "content": [block()]}
        return json.dumps(arranged(record, order), separators=separators, ensure_ascii=rng.random() < 0.5)
    return make


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "project")
        os.makedirs(self.folder)
        self.root = os.path.join(folder.name, "root")
        os.makedirs(self.root)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def sums(self, index: UsageIndex | None = None) -> dict[str, int]:
        made = index or UsageIndex()
        made.update(find_transcripts([self.folder]))
        return {key: sum(row[at] for row in made.sums) for at, key in enumerate(("replies", *CLASSES))}


class Exact(Folder):
    def test_snapshots_and_one_hour_writes(self) -> None:
        _, true = write_session(self.path("s.jsonl"), "s", 40, 1)
        self.assertEqual(self.sums(), true)
        self.assertGreater(true["write1h"], 0)

    def test_subagents_at_any_depth(self) -> None:
        _, main = write_session(self.path("s.jsonl"), "s", 10, 1)
        _, one = write_session(self.path("s/subagents/agent-a1.jsonl"), "x1", 7, 2, agent="a1")
        _, two = write_session(self.path("s/subagents/deep/agent-a2.jsonl"), "x2", 5, 3, agent="a2")
        self.assertEqual(self.sums(), {key: main[key] + one[key] + two[key] for key in main})
        index = UsageIndex()
        index.update(find_transcripts([self.folder]))
        report = build_usage(index, "agent")
        self.assertEqual({row["name"]: row["replies"] for row in report["rows"]}, {"s (main)": 10, "s/a1": 7, "s/a2": 5})
        self.assertEqual(build_usage(index, "session")["rows"][0]["replies"], 22)

    def test_a_fork_counts_once_and_says_with_whom_it_shares(self) -> None:
        lines, first = write_session(self.path("zz-original.jsonl"), "orig", 12, 1)
        copied = [line.replace('"sessionId":"orig"', '"sessionId":"fork"') for line in lines]
        _, more = write_session(self.path("a-fork.jsonl"), "fork", 5, 2, copied=copied, day=2)
        self.assertEqual(self.sums(), {key: first[key] + more[key] for key in first})
        index = UsageIndex()
        index.update(find_transcripts([self.folder]))
        report = build_usage(index)
        self.assertEqual({row["name"]: row["replies"] for row in report["rows"]}, {"zz-original": 12, "a-fork": 5})
        self.assertEqual(report["shared"], [{"session": "a-fork", "sharedWith": "zz-original", "replies": 12}])
        self.assertIn("shared with zz-original", render_usage(report))

    def test_what_is_no_reply(self) -> None:
        _, true = write_session(self.path("s.jsonl"), "s", 3, 1)
        rng = random.Random(5)
        odd = [reply_line("t", 1, usage(rng), "<synthetic>", "2026-11-01T10:00:00.000Z", "x"),
               reply_line("t", 2, usage(rng), MODELS[0], "2026-11-01T10:00:00.000Z", "x", isApiErrorMessage=True),
               json.dumps({"type": "user", "toolUseResult": {"usage": {"input_tokens": 99}}, "message": {"role": "user", "content": "x"}}),
               json.dumps({"type": "assistant", "message": {"id": "m", "model": "x", "content": [{"type": "tool_use", "input": {"usage": {"input_tokens": 7}}}]}}),
               '{"usage":', "[" * 20_000 + '"usage"', '"usage"', "null", '{"usage": 5}']
        with open(self.path("s.jsonl"), "a", encoding="utf-8") as stream:
            stream.write("\n".join(odd) + "\n")
        self.assertEqual(self.sums(), true)

    def test_the_same_ids_under_other_requests_are_other_replies(self) -> None:
        rng = random.Random(5)
        lines = [reply_line("s", 1, usage(rng), MODELS[0], "2026-11-01T10:00:00.000Z", "x", request=f"req_{number}") for number in range(3)]
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines + lines) + "\n")
        self.assertEqual(self.sums()["replies"], 3)

    def test_torn_tail_counts_when_it_is_whole(self) -> None:
        lines, true = write_session(self.path("s.jsonl"), "s", 6, 1)
        text = "\n".join(lines) + "\n"
        index = UsageIndex()
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write(text[:-200])
        self.assertEqual(self.sums(index)["replies"], 6)  # an earlier snapshot of the last reply is there
        self.assertLess(self.sums(index)["output"], true["output"])
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write(text)
        self.assertEqual(self.sums(index), true)

    def test_reading_in_pieces_gives_the_same(self) -> None:
        lines, true = write_session(self.path("s.jsonl"), "s", 25, 1)
        data = ("\n".join(lines) + "\n").encode()
        index, rng = UsageIndex(), random.Random(2)
        cuts = sorted(rng.randrange(len(data)) for _ in range(12))
        inode_kept = self.path("s.jsonl")
        with open(inode_kept, "wb"):
            pass
        for cut in [*cuts, len(data)]:
            with open(inode_kept, "r+b") as stream:
                stream.write(data[:cut])
            index = UsageIndex.load(index.dump())
            self.sums(index)
        self.assertEqual(self.sums(index), true)

    def test_long_lines_without_usage_cost_no_memory_and_no_reply(self) -> None:
        _, true = write_session(self.path("s.jsonl"), "s", 3, 1)
        with open(self.path("s.jsonl"), "ab") as stream:
            for _ in range(40):
                stream.write(b'{"type":"file-history-snapshot","x":"' + b"y" * 1_000_000)
            stream.write(b'"}\n')
        with open(self.path("s.jsonl"), "a", encoding="utf-8") as stream:
            stream.write(reply_line("s", 99, {"input_tokens": 5, "output_tokens": 1}, MODELS[0], "2026-11-01T10:00:00.000Z", "x") + "\n")
        found = self.sums()
        self.assertEqual((found["replies"], found["input"]), (true["replies"] + 1, true["input"] + 5))

    def test_both_ways_of_reading_a_line_agree(self) -> None:
        """Lines of many shapes, each with what could deceive: the quick way gives what parsing gives, or leaves the line to it."""
        rng, quick = random.Random(1), 0
        for _ in range(40):
            shapes, make = Shapes(), shape_maker(rng)
            for line in [make() for _ in range(60)]:
                raw = line.encode("utf-8", "surrogatepass")
                plain, fast = read_whole(raw), read_quickly(shapes, raw)
                if fast is not None:
                    quick += 1
                    self.assertEqual(fast, plain, line)
                elif plain is not None:
                    shapes.learn(raw, plain)
                zero = re.sub(rb'("cache_read_input_tokens" *: *)', rb"\g<1>0", raw)  # no number of JSON
                # what killed writers leave
                for damaged in (raw[:rng.randrange(len(raw))] + raw, raw[:-1], raw[:rng.randrange(len(raw))], zero):
                    fast = read_quickly(shapes, damaged)
                    self.assertTrue(fast is None or fast == read_whole(damaged), damaged)
        self.assertGreater(quick, 200)

    def test_an_index_made_quickly_is_the_plain_one(self) -> None:
        for seed in range(16):
            rng = random.Random(seed)
            makers = [shape_maker(rng) for _ in range(3)]
            for name in ("a.jsonl", "b.jsonl", "s/subagents/agent-x.jsonl"):
                lines, make = [], rng.choice(makers)
                for _ in range(rng.randrange(1, 60)):
                    if rng.random() < 0.05:
                        make = rng.choice(makers)
                    lines += [make()] * rng.choice((1, 1, 1, 2))
                    while rng.random() < 0.4:  # a snapshot: more output, or less, or none; at times under another model, at another time
                        lines.append(re.sub(r'("output_tokens" *: *)\d+', rf"\g<1>{rng.choice((0, 1, 7, 20, 300))}", lines[-1]))
                        if rng.random() < 0.3:
                            lines[-1] = lines[-1].replace(*rng.choice((("m-1", "m-2"), ("m-1", "<synthetic>"), ("T1", "T0"), ("m-1", "m\\\\n"), ("2026-11", "2026\\\\u002d11"))))
                data = "\n".join(lines).encode("utf-8", "surrogatepass")
                os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
                with open(self.path(name), "wb") as stream:
                    stream.write(data[:rng.randrange(len(data))] + data + b"\n" * rng.randrange(2))
            quick, plain = UsageIndex(), UsageIndex()
            quick.update(find_transcripts([self.folder]))
            with mock.patch.object(usage_module, "iter_replies", iter_plainly):
                plain.update(find_transcripts([self.folder]))
            self.assertEqual(sorted(zip(quick.groups, quick.sums)), sorted(zip(plain.groups, plain.sums)))
            self.assertEqual(quick.rows, plain.rows)
            self.assertEqual([entry["offset"] for entry in quick.files], [entry["offset"] for entry in plain.files])

    def test_a_snapshot_that_is_the_first_to_count_gives_its_own_day_and_model(self) -> None:
        none = {**usage(random.Random(1)), "input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation": {}}
        lines = [reply_line("s", 1, {**none, "output_tokens": output}, model, f"2026-11-0{day}T12:00:00.000Z", "x")
                 for output, model, day in ((0, "m-1", 1), (0, "m-1", 1), (0, "m-1", 1), (0, "m-1", 1), (5, "m-2", 3), (4, "m-3", 4), (9, "m-3", 4))]
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        index = UsageIndex()
        index.update(find_transcripts([self.folder]))
        self.assertEqual([(*group[2:4], sums[0], sums[5]) for group, sums in zip(index.groups, index.sums)], [("m-2", "2026-11-03", 1, 9)])

    def test_a_snapshot_after_one_that_counts_for_nothing_gives_its_own_day(self) -> None:
        """Under the same model too, and where the shape of its line is known: nothing is held then that it could be a snapshot of."""
        used = usage(random.Random(1))
        none = {key: 0 if isinstance(value, int) else value for key, value in used.items()}
        none["cache_creation"] = dict.fromkeys(used["cache_creation"], 0)
        lines = [reply_line("s", number, used, "m-1", "2026-11-01T12:00:00.000Z", "x") for number in range(4)]
        lines += [reply_line("s", 9, {**none, "output_tokens": output}, "m-1", f"2026-11-0{day}T12:00:00.000Z", "x")
                  for output, day in ((0, 2), (0, 2), (5, 3), (9, 4))]
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        index = UsageIndex()
        index.update(find_transcripts([self.folder]))
        self.assertEqual([(group[3], sums[0]) for group, sums in zip(index.groups, index.sums)], [("2026-11-01", 4), ("2026-11-03", 1)])

    def test_a_folder_of_windows_does_not_keep_a_shape_from_being_learnt(self) -> None:
        lines = [reply_line("s", number, usage(random.Random(number)), "m-1", "2026-11-01T12:00:00.000Z", "x", cwd="C:\\Users\\ada\\")
                 for number in range(9)]
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        with mock.patch("slipstream.context.usage_scan.read_whole", side_effect=read_whole) as parsed:
            self.assertEqual(self.sums()["replies"], 9)
        self.assertEqual(parsed.call_count, 3)

    def test_iteration_ends_with_the_offset(self) -> None:
        lines, _ = write_session(self.path("s.jsonl"), "s", 5, 1)
        *_, last = iter_replies(self.path("s.jsonl"))
        self.assertEqual(last, (os.path.getsize(self.path("s.jsonl")), None))
        self.assertTrue(lines)


class Keeping(Folder):
    def test_a_warm_update_reads_only_what_is_new(self) -> None:
        write_session(self.path("s.jsonl"), "s", 10, 1)
        index = load_usage(self.root, [self.folder])
        before = index.files[0]["offset"]
        self.assertEqual(before, os.path.getsize(self.path("s.jsonl")))
        with open(self.path("s.jsonl"), "r+b") as stream:  # what was read is not read again
            stream.write(b"x" * (before - 1))
        with open(self.path("s.jsonl"), "a", encoding="utf-8") as stream:
            stream.write(reply_line("s", 99, {"input_tokens": 5, "output_tokens": 1}, MODELS[0], "2026-11-01T10:00:00.000Z", "x") + "\n")
        found = load_usage(self.root, [self.folder])
        self.assertEqual(sum(row[0] for row in found.sums), 11)

    def test_a_store_that_cannot_be_written_is_told_what_was_used_all_the_same(self) -> None:
        _, true = write_session(self.path("s.jsonl"), "s", 10, 1)
        for kept in (False, True):
            with self.subTest(kept), mock.patch.object(usage_module, "FileLock", side_effect=PermissionError("read-only")):
                self.assertEqual(self.sums(load_usage(self.root, [self.folder])), true)
            load_usage(self.root, [self.folder])
        with FileLock(os.path.join(self.root, ".claude", "slipstream", "context", "usage.index")), \
                mock.patch.object(usage_module, "LOCK_TIMEOUT_S", 0.0), self.assertRaises(LockTimeout):
            load_usage(self.root, [self.folder])

    def test_an_index_with_values_that_make_no_sense_is_made_anew(self) -> None:
        write_session(self.path("s.jsonl"), "s", 10, 1)
        head, _, rows = load_usage(self.root, [self.folder]).dump().partition(b"\n")
        for part, key, value in (("files", "offset", "x"), ("files", "offset", -5), ("files", "path", 7), ("files", "shared", [1]),
                                 ("files", "first", None), ("sums", 1, "9"), ("sums", 0, None)):
            changed = json.loads(head)
            changed[part][0][key] = value
            with self.subTest(part, key=key, value=value):
                self.assertEqual(UsageIndex.load(json.dumps(changed).encode() + b"\n" + rows).files, [])

    def test_a_replaced_file_is_read_anew(self) -> None:
        write_session(self.path("s.jsonl"), "s", 10, 1)
        load_usage(self.root, [self.folder])
        os.unlink(self.path("s.jsonl"))
        _, true = write_session(self.path("s.jsonl"), "other", 4, 2)
        self.assertEqual(self.sums(load_usage(self.root, [self.folder])), true)

    def test_a_damaged_index_is_made_anew(self) -> None:
        _, true = write_session(self.path("s.jsonl"), "s", 10, 1)
        raw = load_usage(self.root, [self.folder]).dump()
        path = os.path.join(self.root, ".claude", "slipstream", "context", "usage.index")
        rng = random.Random(4)
        for _ in range(60):
            bad = bytearray(raw)
            for _ in range(rng.randrange(1, 6)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            with open(path, "wb") as stream:
                stream.write(bytes(bad[:rng.randrange(len(bad)) if rng.random() < 0.3 else len(bad)]))
            load_usage(self.root, [self.folder])
        with open(path, "wb") as stream:
            stream.write(b"")
        self.assertEqual(self.sums(load_usage(self.root, [self.folder])), true)

    def test_projects_are_told_apart_by_the_records_not_the_folders_name(self) -> None:
        base = os.path.join(self.root, "config", "projects")
        for name, cwd in (("-home-dev-app", "/home/dev/app"), ("-home-dev-app-sub", "/home/dev/app/sub"), ("-home-dev-app-x", "/home/dev/app-x"), ("-other", "/other")):
            os.makedirs(os.path.join(base, name))
            with open(os.path.join(base, name, "s.jsonl"), "w", encoding="utf-8") as stream:
                stream.write(json.dumps({"type": "user", "cwd": cwd}) + "\n")
        env = {"CLAUDE_CONFIG_DIR": os.path.join(self.root, "config")}
        found = [os.path.basename(folder) for folder in project_folders(["/home/dev/app"], env=env)]
        self.assertEqual(found, ["-home-dev-app", "-home-dev-app-sub"])
        self.assertEqual(len(project_folders([], True, env)), 4)
        self.assertEqual(project_folders(["/home/dev/app"], env={"CLAUDE_CONFIG_DIR": "/nowhere"}), [])


class Report(Folder):
    def test_money_is_hidden_unless_asked_and_unknown_models_are_unpriced(self) -> None:
        write_session(self.path("s.jsonl"), "s", 10, 1)
        index = UsageIndex()
        index.update(find_transcripts([self.folder]))
        report = build_usage(index, "model")
        by_name = {row["name"]: row for row in report["rows"]}
        self.assertIsNone(by_name["house-model-1"]["usd"])
        self.assertEqual(by_name["house-model-1"]["unpriced"], ["house-model-1"])
        row = by_name["claude-opus-5-5"]
        self.assertAlmostEqual(row["usd"], (row["input"] * 4 + row["write5m"] * 5 + row["write1h"] * 8 + row["read"] * 0.2 + row["output"] * 20) / 1e6, 5)
        self.assertNotIn("$", render_usage(report))
        self.assertIn("unpriced: house-model-1", render_usage(report, money=True))
        self.assertIn("no usage found", render_usage(build_usage(UsageIndex())))

    def test_dated_rates(self) -> None:
        for model, day, tier, read, output in (
                ("claude-sonnet-5-5", "2026-10-06", "", 0.20, 10), ("claude-sonnet-5-5", "2026-10-07", "", 0.10, 10), ("claude-haiku-5-5", "2026-11-01", "", 0.01, 0.5),
                ("claude-haiku-5-5-20261001", "2026-11-01", "long", 0.05, 2.5), ("claude-opus-4-1-20250805", "2026-01-01", "", 1.5, 75), ("claude-opus-4-20250514", "2026-01-01", "", 1.5, 75),
                ("claude-opus-4-5-20251101", "2026-01-01", "", 0.5, 25), ("claude-fable-5-1", "2026-11-01", "", 0.25, 50), ("claude-fable-5", "2026-11-01", "", 1.0, 50),
                ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "2026-01-01", "", 0.3, 15), ("claude-opus-5", "2026-11-01", "fast", 1.0, 50), ("claude-opus-5", "2026-11-01", "batch", 0.25, 12.5),
                ("claude-3-5-haiku-20241022", "2026-01-01", "", 0.08, 4)):
            rates = find_rates(model, day, tier)
            assert rates is not None, model
            self.assertEqual((round(rates[3], 4), round(rates[4], 4)), (read, output), model)
        for model in ("gpt-9", "claude-opus-6", "claude-opus-5-55", "", "claude-sonnet-5-7"):
            self.assertIsNone(find_rates(model, "2026-11-01"), model)
        self.assertIsNone(find_rates("claude-haiku-5-5", "2026-11-01", "fast"))

    def test_haiku_is_priced_by_request(self) -> None:
        lines: list[Any] = [reply_line("s", number, {"input_tokens": tokens, "output_tokens": 0}, "claude-haiku-5-5", "2026-11-01T10:00:00.000Z", "x")
                            for number, tokens in enumerate((100_000, 100_001))]
        with open(self.path("s.jsonl"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        index = UsageIndex()
        index.update(find_transcripts([self.folder]))
        self.assertAlmostEqual(build_usage(index)["total"]["usd"], (100_000 * 0.10 + 100_001 * 0.50) / 1e6, 5)


if __name__ == "__main__":
    unittest.main()
