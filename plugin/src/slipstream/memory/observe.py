"""Capture: new events of a session become observations, each written once whatever is killed in between."""
from __future__ import annotations

import json
import os
from typing import Any

from slipstream.base.files import read_bytes, read_text, write_atomic
from slipstream.base.git import read_place
from slipstream.base.json_files import dump_json
from slipstream.base.locks import FileLock
from slipstream.base.store import store_path
from slipstream.events.append import session_file_name
from slipstream.events.log import last_seq, list_sessions, log_path, read_events, read_events_after
from slipstream.events.names import safe_session
from slipstream.events.redact import redact_data, redact_text
from slipstream.events.repair import absorb
from slipstream.memory.embed import embed
from slipstream.memory.observations import list_files, observations_dir, tail_records
from slipstream.memory.recent import save_recent
from slipstream.memory.transcript import transcript_outcomes
from slipstream.memory.turns import fold_turns

LOCK_TIMEOUT_S = 2.0  # below what the host grants the end of a turn, the fold of the chat included; the next one catches up
_TEXT_KEYS = ("summary", "detail", "error", "tests")


def capture(store_root: str, session: str, flush_open: bool = False, tree_root: str | None = None,
            transcript_path: str | None = None) -> list[dict[str, Any]]:
    """Folds the events after the cursor and appends what they came to; returns the new records with their vectors.

    The host's transcript, when given, adds the tests run and the lines changed, which the event log does not carry.
    Nothing new, or no log: an empty list. OSError when the store cannot be written, LockTimeout included.
    Records go out in one write; counter and cursor are caches that the next capture heals from the records.
    """
    session = safe_session(session)
    absorb(log_path(store_root, session))
    if not os.path.isfile(log_path(store_root, session)):
        return []
    counter = store_path(store_root, "observations", ".counter")
    with FileLock(counter, LOCK_TIMEOUT_S):
        path = store_path(store_root, "observations", session_file_name(session) + ".jsonl")
        cursor_path = path[:-len(".jsonl")] + ".cursor"
        newest = last_seq(log_path(store_root, session))
        if newest is None:  # a torn or foreign last line: the numbers are the reader's to give
            newest = max((int(event["seq"]) for event in read_events(store_root, session)), default=-1)
        done = _find_cursor(path, cursor_path, newest)
        fresh = read_events_after(store_root, session, done)
        if not fresh:
            return []
        root = tree_root or store_root
        start_id = max(_load_number(counter, 0), highest_id(store_root)) + 1
        calls = {str(event["data"].get("tool_use_id")) for event in fresh if isinstance(event.get("data"), dict)}
        outcomes = transcript_outcomes(transcript_path, calls) if transcript_path else {}
        records, consumed = fold_turns(fresh, start_id, root, flush_open, outcomes)
        place = redact_data(read_place(root), store_root)[0] if records else {}
        records = [_finish(store_root, record, session, place) for record in records]
        if records:
            _append_records(path, records)
            write_atomic(counter, str(records[-1]["id"]))
            save_recent(store_root, records)
        if consumed > done:
            write_atomic(cursor_path, str(consumed))
    return records


def capture_all(store_root: str, flush_open: bool = False, tree_root: str | None = None) -> list[dict[str, Any]]:
    found = []
    for row in list_sessions(store_root):
        found += capture(store_root, row["session"], flush_open, tree_root)
    return found


def highest_id(store_root: str) -> int:
    """The greatest id in any session's file; each file's ids rise, so its tail is enough.

    A derived file keeps what was seen of each, with its stamp: only files that changed since are read.
    """
    cache_path = os.path.join(observations_dir(store_root), ".ids.json")
    try:
        cached = json.loads(read_bytes(cache_path))
    except (OSError, ValueError, RecursionError):
        cached = {}
    found: dict[str, list[int]] = {}
    for path in list_files(store_root):
        info = os.lstat(path)
        stamp, name = [info.st_size, info.st_mtime_ns, info.st_ino], os.path.basename(path)
        held = cached.get(name) if isinstance(cached, dict) else None
        if not (isinstance(held, list) and held[:3] == stamp and len(held) == 4 and isinstance(held[3], int)):
            held = [*stamp, max([0, *(int(record["id"]) for record in tail_records(path, 8192))])]
        found[name] = held
    if found != cached:
        try:
            write_atomic(cache_path, dump_json(found))
        except OSError:
            pass
    return max((held[3] for held in found.values()), default=0)


def _find_cursor(path: str, cursor_path: str, last_seq: int) -> int:
    """The last seq that is in the records: the newest record says it, the cursor file may know of empty turns after it."""
    known = [int(record["throughSeq"]) for record in tail_records(path) if isinstance(record.get("throughSeq"), int)]
    best = max([-1, *(seq for seq in known if seq <= last_seq)])
    cursor = _load_number(cursor_path, -1)
    return max(best, cursor) if cursor <= last_seq else best


def _load_number(path: str, default: int) -> int:
    try:
        return int(read_text(path, 64).strip())
    except (OSError, ValueError):
        return default


def _finish(store_root: str, record: dict[str, Any], session: str, place: dict[str, str]) -> dict[str, Any]:
    """Redaction first, then the vector of what is really stored."""
    for key in _TEXT_KEYS:
        if key in record:
            record[key] = redact_text(record[key], store_root)[0]
    for key in ("files", "tags", "commands"):
        if key in record:
            record[key] = redact_data(record[key], store_root)[0]
    record["session"] = record["session"] or session
    if "branch" not in record:
        record.update(place)
    record["vector"] = embed(f"{record['summary']}\n{record['detail']}\n{' '.join(record['tags'])}")
    return record


def _append_records(path: str, records: list[dict[str, Any]]) -> None:
    """All records in one write, after what a killed writer left of a line is taken back."""
    raw = b"".join(dump_json(record).encode("utf-8") + b"\n" for record in records)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o600)
    end = -1
    try:
        end = _drop_torn_tail(fd)
        view, written = memoryview(raw), 0
        while written < len(raw):
            written += os.write(fd, view[written:])
    except OSError:
        if end >= 0:
            os.ftruncate(fd, end)
        raise
    finally:
        os.close(fd)


def _drop_torn_tail(fd: int) -> int:
    """Cuts what follows the last line end, and returns the size: no reader has taken it, and its turn is written anew."""
    size = os.lseek(fd, 0, os.SEEK_END)
    start = size
    while start > 0:
        start = max(0, start - 65536)
        os.lseek(fd, start, os.SEEK_SET)
        found = os.read(fd, 65536).rfind(b"\n")
        if found >= 0:
            start += found + 1
            break
    if start != size:
        os.ftruncate(fd, start)
    os.lseek(fd, 0, os.SEEK_END)
    return start
