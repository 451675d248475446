"""Reads event logs: one line back into an event, a whole log, what is new since an offset, the list of sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from slipstream.base.files import open_regular
from slipstream.base.json_files import MAX_JSON_LINE_BYTES
from slipstream.base.roots import store_dir
from slipstream.events.append import session_file_name
from slipstream.events.names import decode_session
from slipstream.events.repair import SPILL_SUFFIX, absorb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Event = dict[str, Any]
LOGS_WARN_BYTES = 256 << 20  # above it doctor and the page advise gc
KINDS = (
    "session-start",
    "user-prompt",
    "pre-tool",
    "post-tool",
    "subagent-start",
    "subagent-stop",
    "stop",
    "tool-failure",
    "permission",
    "notification",
    "compact",
    "session-end",
    "plan",
)  # known ones; a log may hold any other and a reader keeps it
_decode = json.JSONDecoder().raw_decode


def parse_event(line: str | bytes) -> Event | None:
    """One line of a log -> {seq, ts, session, agent, kind, label[, data]} and no other key; None when it is not an event."""
    try:
        text = line.decode() if isinstance(line, bytes) else line
        found, end = _decode(text)
        if len(text) != end and text[end:] != "\n":
            raise ValueError
    except (ValueError, RecursionError):
        # Half the cost of json.loads, which is asked about whatever is not spelt as our own writer does it.
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
    try:
        seq, ts, session, agent, kind, label = (
            found["seq"], found["ts"], found["session"], found["agent"], found["kind"], found["label"]
        )
    except (KeyError, TypeError):
        return None
    texts = type(ts) is type(session) is type(agent) is type(kind) is type(label) is str
    if not texts or type(seq) is not int or seq < 0 or not (session and agent and kind):
        return None
    event: Event = {"seq": seq, "ts": ts, "session": session, "agent": agent, "kind": kind, "label": label}
    if "data" in found:
        data = event["data"] = found["data"]
        if type(data) is not dict:
            return None
    return event


def log_folder(store_root: str) -> str:
    return os.path.join(store_dir(store_root), "dashboard")


def view_path(log: str) -> str:
    """Where the dashboard keeps what it read of a log: derived from the log, and of no use without it."""
    return os.path.splitext(log)[0] + ".view"


def log_path(store_root: str, session: str) -> str:
    """Where a session's log is. One that another implementation wrote under the bare id is found there."""
    folder, name = log_folder(store_root), session_file_name(session)
    path = os.path.join(folder, name + ".jsonl")
    if name != session and os.path.basename(session) == session and session.isprintable() and not os.path.exists(path):
        bare = os.path.join(folder, session + ".jsonl")
        return bare if os.path.isfile(bare) else path
    return path


class LogReader:
    """Follows one log: each read() gives the events since the last, numbered max(stored, previous + 1).

    State to go on from in another process: `offset` (bytes consumed), `last_seq`. `skipped` counts lines that are no events.
    A log that became shorter was replaced: reading starts over, and `restarted` says so once.
    """

    __slots__ = ("last_seq", "offset", "path", "restarted", "skipped")

    def __init__(self, path: str, offset: int = 0, last_seq: int = -1):
        self.path, self.offset, self.last_seq, self.skipped, self.restarted = path, offset, last_seq, 0, False

    def read(self, limit: int | None = None) -> list[Event]:
        """The next events, at most `limit`; none for a log that does not exist. An unfinished last line waits."""
        events: list[Event] = []
        for _, event in self.read_with_offsets():
            events.append(event)
            if limit is not None and len(events) >= limit:
                break
        return events

    def read_with_offsets(self) -> Iterator[tuple[int, Event]]:
        """Yields (offset of the event's line, event); may be left at any event and called again. What waits beside the log
        comes in first."""
        absorb(self.path)
        try:
            stream = os.fdopen(open_regular(self.path), "rb", 262_144)
        except FileNotFoundError:
            return
        with stream:
            if os.fstat(stream.fileno()).st_size < self.offset:
                self.offset, self.last_seq, self.restarted = 0, -1, True
            stream.seek(self.offset)
            while True:
                line = stream.readline(MAX_JSON_LINE_BYTES)
                start, length = self.offset, len(line)
                while not line.endswith(b"\n"):
                    if not line or length % MAX_JSON_LINE_BYTES:
                        return
                    line = stream.readline(MAX_JSON_LINE_BYTES)  # far too long to be an event
                    length += len(line)
                self.offset = start + length
                event = parse_event(line) if length == len(line) else None
                if event is None:
                    self.skipped += bool(line.strip())
                    continue
                if event["seq"] <= self.last_seq:
                    event["seq"] = self.last_seq + 1
                self.last_seq = event["seq"]
                yield start, event


def read_events(store_root: str, session: str, offset: int = 0, last_seq: int = -1) -> list[Event]:
    """Events of a session from a byte offset on (with the number before it); none without a log. OSError: unreadable."""
    return LogReader(log_path(store_root, session), offset, last_seq).read()


def list_sessions(store_root: str) -> list[dict[str, Any]]:
    """Sessions with a log, latest change first: {session, path, bytes, modified (seconds)}."""
    folder = log_folder(store_root)
    found = []
    try:
        entries = list(os.scandir(folder)) if not os.path.islink(folder) else []
        waiting = [entry.path[: -len(SPILL_SUFFIX)] for entry in entries if entry.name.endswith(".jsonl" + SPILL_SUFFIX)]
        if sum(map(absorb, waiting)):  # of a log that is not there yet, too
            entries = list(os.scandir(folder))
    except OSError:
        return []
    for entry in entries:
        if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
            try:
                stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed just now
            found.append(
                {
                    "session": decode_session(entry.name[:-6]),
                    "path": entry.path,
                    "bytes": stat.st_size,
                    "modified": stat.st_mtime,
                }
            )
    return sorted(found, key=lambda row: (-row["modified"], row["session"]))


def read_events_after(store_root: str, session: str, seq: int) -> list[Event]:
    """Events numbered above `seq`. Only the log's end is read where its numbers lead there without a gap, else all of it."""
    offset = find_offset_after(log_path(store_root, session), seq)
    if offset is not None:
        return read_events(store_root, session, offset, seq)
    return [event for event in read_events(store_root, session) if event["seq"] > seq]


def find_offset_after(path: str, seq: int) -> int | None:
    """Where the line after number `seq` begins; None when the log, or a line of another writer, does not say it plainly."""
    if seq < 0:
        return 0
    mark, following = b'\n{"seq":%d,' % seq, b'{"seq":%d,' % (seq + 1)
    try:
        stream = os.fdopen(open_regular(path), "rb")
    except OSError:
        return None
    with stream:
        size = os.fstat(stream.fileno()).st_size
        window = 65_536
        while True:
            start = max(0, size - window)
            stream.seek(start)
            tail = stream.read(size - start)
            at = (b"\n" + tail).rfind(mark) if start == 0 else tail.rfind(mark)
            if at >= 0:
                end = tail.find(b"\n", at + (start > 0))
                rest = tail[end + 1:] if end >= 0 else b""
                return start + end + 1 if end >= 0 and (not rest or rest.startswith(following)) else None
            if start == 0:
                return None
            window *= 4


def last_seq(path: str) -> int | None:
    """The number of the log's last line; None when there is no such line."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - 65_536))
            line = stream.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return None
    number = line.partition(b",")[0].partition(b':')[2]
    return int(number) if line.startswith(b'{"seq":') and number.isdigit() else None
