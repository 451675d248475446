"""Finds the usage of every reply in a transcript: blocks searched for its counts, lines of a known shape read by their ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from slipstream.context.transcript import reply_usage
from slipstream.context.usage_shape import OTHERS, OUTPUT, Reply, Shape, Shapes

BLOCK_BYTES = 262_144
MAX_LINE_BYTES = 8_388_608  # a longer line is skipped: no reply is that long
# All counts of a usage end so, and one of them is not zero in a line that counts. A JSON text holds no bare quote, so it
# stands in no text. Found faster than `"usage"`, for it is longer.
_KEY = b'put_tokens"'


def iter_replies(path: str, offset: int = 0, shapes: Shapes | None = None) -> Iterator[tuple[int, Reply | None]]:
    """Yields (0, reply) in their order; last of all (offset to go on from, None). Of neighbouring lines of one reply, its
    snapshots, there is one where they differ in their output only: the first, with the largest.

    An unfinished last line is left for the next time. Memory stays at a block and the longest line that counts.
    """
    shapes = shapes or Shapes()
    held: Reply | None = None
    shape: Shape | None = None  # of the last line; what it says that `held` has in common with its snapshots
    common: tuple[bytes, ...] | None = None
    with open(path, "rb", 0) as stream:
        stream.seek(offset)
        consumed, rest, skipping = offset, b"", False
        while True:
            block = stream.read(BLOCK_BYTES)
            if not block:
                break
            if skipping:  # inside a line too long to count
                cut = block.find(b"\n")
                if cut < 0:
                    consumed += len(block)
                    continue
                consumed, block, skipping = consumed + cut + 1, block[cut + 1 :], False
            data = rest + block if rest else block
            last = data.rfind(b"\n")
            if last < 0:
                rest = data
                if len(rest) > MAX_LINE_BYTES:
                    consumed, rest, skipping = consumed + len(rest), b"", True
                continue
            found = data.find(_KEY, 0, last)
            while found >= 0:
                start, stop = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found)
                found = data.find(_KEY, stop, last)
                reply = None
                captured = shape.read(data, start, stop) if shape is not None else None
                if captured is None:
                    (shape, captured), common = shapes.find(data, start, stop), None
                if shape is not None and captured is not None:
                    mine = shape.common(captured)
                    if mine == common and held is not None:  # what follows would find the same
                        output = captured[shape.output]
                        if output != held[OUTPUT] and int(output) > int(held[OUTPUT]):
                            held = with_output(held, output)
                        continue
                    reply, common = shape.reply(captured), mine
                if reply is None:
                    line, common = data[start:stop], None
                    reply = read_whole(line)
                    if reply is None:
                        continue
                    shapes.learn(line, reply)
                output = reply[4]  # OUTPUT, for the type checker
                if held is None:
                    held = reply
                elif reply[0] != held[0] or reply[1] != held[1] or reply[OTHERS] != held[OTHERS] or held[OUTPUT] == b"0":
                    yield 0, held
                    held = reply
                elif output != held[OUTPUT] and int(output) > int(held[OUTPUT]):
                    held = with_output(held, output)
                if held[OUTPUT] == b"0":
                    common = None
            consumed, rest = consumed + last + 1, data[last + 1 :]
    if held is not None:
        yield 0, held
    yield consumed, None


def with_output(reply: Reply, output: bytes) -> Reply:
    name, request, model, stamp, _, fresh, created, read, hour, five, words = reply
    return name, request, model, stamp, output, fresh, created, read, hour, five, words


def read_whole(line: bytes) -> Reply | None:
    """The reply in a line by parsing all of it; None for another kind of line."""
    try:
        record = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("type", "assistant") != "assistant":
        return None
    usage = reply_usage(record)
    if usage is None:
        return None
    message = record.get("message")
    message = message if isinstance(message, dict) else record
    name, request = message.get("id"), record.get("requestId")
    if not isinstance(name, str) or not name:
        name, request = str(record.get("uuid") or line[:200]), ""
    split = usage.get("cache_creation")
    split = split if isinstance(split, dict) else {}
    words = " ".join(word for word, key, value in _WORDS if usage.get(key) == value)
    return (
        *(_text(text) for text in (name, request, message.get("model") or "unknown", record.get("timestamp"))),
        *(_count(usage.get(key + "_tokens")) for key in ("output", "input", "cache_creation_input", "cache_read_input")),
        *(_count(split.get(f"ephemeral_{key}_input_tokens")) for key in ("1h", "5m")),
        words,
    )  # type: ignore[return-value]


_WORDS = (("fast", "speed", "fast"), ("batch", "service_tier", "batch"), ("us", "inference_geo", "us"))


def _text(value: Any) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b""


def _count(value: Any) -> bytes:
    return b"%d" % value if type(value) is int and 0 < value < 1 << 53 else b"0"


def find_transcripts(folders: list[str]) -> list[tuple[str, str, str]]:
    """(path, session, agent) of every transcript below the given project folders; agent "" for a session's own."""
    found = []
    for folder in folders:
        for entry in _entries(folder):
            if entry.name.endswith(".jsonl") and entry.is_file():
                found.append((entry.path, entry.name[:-6], ""))
            elif entry.is_dir(follow_symlinks=False):
                found += _subagents(os.path.join(entry.path, "subagents"), entry.name)
    return sorted(found)


def _subagents(folder: str, session: str) -> list[tuple[str, str, str]]:
    found = []
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            found += _subagents(entry.path, session)
        elif entry.name.endswith(".jsonl"):
            found.append((entry.path, session, entry.name[:-6].removeprefix("agent-")))
    return found


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []
