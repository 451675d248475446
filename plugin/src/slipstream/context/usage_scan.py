"""Finds the usage of every reply in a transcript: blocks searched for `"usage"`, only lines that hold one are read as JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from slipstream.context.transcript import reply_usage

BLOCK_BYTES = 262_144
MAX_LINE_BYTES = 8_388_608  # a longer line is skipped: no reply is that long
_KEY = b'"usage"'
# The host writes a reply's keys in one order. Where a line has it, only its ends are read: a JSON string holds no
# unescaped quote, so
# none of these can match inside a text, and the last usage of a line that follows a stop sequence is the reply's own. Any
# other line
# is parsed as a whole.
_HEAD = re.compile(
    rb'"message":\{(?:"model":"([^"\\]+)","id":"([^"\\]+)","type":"message","role":"assistant",'
    rb'|"id":"([^"\\]+)","type":"message","role":"assistant","model":"([^"\\]+)",)"content":\['
)
_USAGE, _BEFORE = b'"usage":{"input_tokens":', (b'"stop_sequence":null,', b'"stop_details":null,')
_COUNTS = re.compile(
    rb'"usage":\{"input_tokens":(\d+),"cache_creation_input_tokens":(\d+),"cache_read_input_tokens":(\d+),'
    rb'(?:"cache_creation":(\{[^{}]*\}),)?"output_tokens":(\d+)((?:,"[a-z_]+":(?:[a-z0-9.]+|"[^"\\]*"|\{[^{}]*\}|\[\]))*)\}'
)
_SPLIT = re.compile(rb'"ephemeral_(1h|5m)_input_tokens":(\d+),"ephemeral_(?:1h|5m)_input_tokens":(\d+)')
_STAMP = re.compile(rb'"timestamp":\s*"([^"\\]+)"')
_WORDS = (("fast", b'"speed":"fast"'), ("batch", b'"service_tier":"batch"'), ("us", b'"inference_geo":"us"'))

# (key: message id and request id, model, the line, input, 5-minute writes, 1-hour writes, reads, output, words of the price)
Reply = tuple[bytes, bytes, bytes, int, int, int, int, int, str]


def iter_replies(path: str, offset: int = 0) -> Iterator[tuple[int, Reply | None]]:
    """Yields (offset to go on from, reply); last of all (offset, None). Of neighbouring lines of one reply, its snapshots,
    the last.

    An unfinished last line is left for the next time. Memory stays at a block and the longest line that counts.
    """
    held, at, name, request = b"", 0, b"", b""  # a line not yet read as a reply; where its id stands, the id, the request's id
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
                again = held and name and data.startswith(name, start + at) and data.find(request, found, stop) >= 0
                if held and not again:
                    reply = read_reply(held)
                    if reply is not None:
                        yield offset, reply
                held, offset = data[start:stop], consumed + stop + 1
                if not again:
                    at, name, request = _find_mark(held)
                found = data.find(_KEY, stop, last)
            consumed, rest = consumed + last + 1, data[last + 1 :]
    reply = read_reply(held) if held else None
    if reply is not None:
        yield offset, reply
    yield consumed, None


def _find_mark(line: bytes) -> tuple[int, bytes, bytes]:
    """What the neighbouring lines of a reply have in common: (offset of the message's id, the id, the request's id)."""
    at, request = line.find(b'"id":"', 0, 1000), line.rfind(b'"requestId":"')
    stop = line.find(b'"', at + 6, at + 200) + 1 if at >= 0 else 0
    if not stop or request < 0:
        return 0, b"", b""
    return at, line[at:stop], line[request : line.find(b'"', request + 13) + 1]


def read_reply(line: bytes) -> Reply | None:
    """The reply in a line; None for another kind of line."""
    at = line.rfind(_USAGE)
    counts = _COUNTS.match(line, at) if at > 21 and line[at - 21 : at].endswith(_BEFORE) else None
    head = _HEAD.search(line, 0, 4096) if counts is not None else None
    if head is None or counts is None:
        return read_whole(line)
    tail = line[counts.end() :]
    if b'"usage"' in tail or b"isApiErrorMessage" in tail:
        return read_whole(line)
    model, name, other_name, other_model = head.groups()
    fresh, created, read, split, output, rest = counts.groups()
    five, hour = int(created), 0
    parts = _SPLIT.search(split or rest)
    if parts is not None:
        first, one, two = parts.groups()
        hour, small = (int(one), int(two)) if first == b"1h" else (int(two), int(one))
        five = max(small, five - hour)
    elif b"ephemeral" in rest:
        return read_whole(line)
    words = ""
    if b'"fast"' in rest or b'"batch"' in rest or b'"us"' in rest:
        words = " ".join(word for word, mark in _WORDS if mark in rest)
    name = name or other_name
    request = tail.find(b'"requestId":"')
    if request >= 0:
        name += b" " + tail[request + 13 : tail.find(b'"', request + 13)]
    elif b'"requestId"' in line:
        return read_whole(line)
    return name, model or other_model, line, int(fresh), five, hour, int(read), int(output), words


def find_stamp(line: bytes) -> bytes:
    """The time stamp of a reply's line."""
    at = line.rfind(b'"timestamp":"')
    if at < 0:
        found = _STAMP.search(line)
        return found.group(1) if found else b""
    return line[at + 13 : at + 37]


def read_whole(line: bytes) -> Reply | None:
    """The same by parsing all of the line."""
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
    key = f"{name} {request}" if isinstance(request, str) and request else name
    split = usage.get("cache_creation")
    split = split if isinstance(split, dict) else {}
    created, hour = _count(usage.get("cache_creation_input_tokens")), _count(split.get("ephemeral_1h_input_tokens"))
    five = max(_count(split.get("ephemeral_5m_input_tokens")), created - hour)
    words = " ".join(
        word
        for word, key_name in (("fast", "speed"), ("batch", "service_tier"), ("us", "inference_geo"))
        if usage.get(key_name) == word
    )
    return (
        key.encode("utf-8", "surrogatepass"),
        str(message.get("model") or "unknown").encode("utf-8", "surrogatepass"),
        line,
        _count(usage.get("input_tokens")),
        five,
        hour,
        _count(usage.get("cache_read_input_tokens")),
        _count(usage.get("output_tokens")),
        words,
    )


def _count(value: Any) -> int:
    return value if type(value) is int and 0 < value < 1 << 53 else 0


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
