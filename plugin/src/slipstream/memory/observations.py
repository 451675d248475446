"""The observation files: reading records back, without their vectors unless asked; a bad or torn line hides no other."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from slipstream.base.files import open_regular
from slipstream.base.json_files import MAX_JSON_LINE_BYTES, iter_lines
from slipstream.base.roots import store_dir
from slipstream.events.append import session_file_name

_VECTOR = b',"vector":['
TAIL_BYTES = 65536


def observations_dir(store_root: str) -> str:
    return os.path.join(store_dir(store_root), "observations")


def session_path(store_root: str, session: str) -> str:
    return os.path.join(observations_dir(store_root), session_file_name(session) + ".jsonl")


def list_files(store_root: str) -> list[str]:
    """Paths of every session's observations, by name. Symlinks are left out."""
    folder = observations_dir(store_root)
    try:
        if os.path.islink(folder):
            return []
        return sorted(entry.path for entry in os.scandir(folder)
                      if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def parse_line(line: bytes, with_vector: bool = False) -> dict[str, Any] | None:
    """A record as published: a number as id and text as summary, lists made sure of; None for anything else.

    The vector is cut out before the JSON is parsed: a quote inside a JSON string is escaped, so the mark is never in one.
    """
    if not with_vector:
        start = line.find(_VECTOR)
        if start >= 0:
            end = line.find(b"]", start)
            line = line[:start] + line[end + 1:] if end > 0 else line
    try:
        record = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("summary"), str):
        return None
    record_id = record.get("id")
    if isinstance(record_id, bool) or not isinstance(record_id, (int, float)):
        return None
    record["id"] = int(record_id)
    for key in ("files", "tags"):
        value = record.get(key)
        record[key] = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
    for key in ("session", "ts", "kind", "detail"):
        if not isinstance(record.get(key), str):
            record[key] = ""
    return record


def load_observations(store_root: str, session: str | None = None, with_vector: bool = False) -> list[dict[str, Any]]:
    """Every record, or one session's, by id. Reads whole files: for exports, lessons and repair, not for a query."""
    paths = list_files(store_root) if session is None else [session_path(store_root, session)]
    found = []
    for path in paths:
        for line in _lines(path):
            record = parse_line(line, with_vector)
            if record is not None:
                found.append(record)
    found.sort(key=lambda record: record["id"])
    return found


def tail_records(path: str, limit_bytes: int = TAIL_BYTES) -> list[dict[str, Any]]:
    """The whole records in the last bytes of one file, tombstones of forgotten ones included, oldest first."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            start = stream.seek(max(0, end - limit_bytes))
            raw = stream.read(limit_bytes)
    except OSError:
        return []
    lines = raw[:raw.rfind(b"\n") + 1].split(b"\n")
    found = []
    for line in lines[1:] if start else lines:
        record = parse_line(line) or parse_tombstone(line)
        if record is not None:
            found.append(record)
    if not found and start and limit_bytes < MAX_JSON_LINE_BYTES:
        return tail_records(path, limit_bytes * 16)
    return found


def parse_tombstone(line: bytes) -> dict[str, Any] | None:
    """What `forget` leaves of a record: its id, session and throughSeq, so that neither is used again."""
    if b'"forgotten":true' not in line:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("id"), int) else None


def get_observations(store_root: str, ids: Iterable[int]) -> list[dict[str, Any]]:
    """Records in the order asked for; unknown ids are left out. Files are searched for the id's own bytes first."""
    wanted = list(dict.fromkeys(ids))
    found: dict[int, dict[str, Any]] = {}
    for path in list_files(store_root):
        if len(found) == len(wanted):
            break
        for line in _lines(path):
            head = line[:40].replace(b" ", b"")
            if head.startswith(b'{"id":'):
                digits = head[6:].split(b",", 1)[0]
                if not digits.isdigit() or int(digits) not in wanted:
                    continue
            record = parse_line(line)
            if record is not None and record["id"] in wanted:
                found.setdefault(record["id"], record)
    return [found[record_id] for record_id in wanted if record_id in found]


def read_observation(path: str, place: int, size: int) -> dict[str, Any] | None:
    """The record at a place the index names; None when the file says otherwise by now."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            stream.seek(place)
            return parse_line(stream.read(min(size, MAX_JSON_LINE_BYTES)))
    except (OSError, OverflowError, ValueError):
        return None


def render_record(record: dict[str, Any]) -> str:
    """One record in full, as the third layer of search shows it."""
    lines = [f"## #{record['id']} [{record['kind']}]{' [DRIFT]' if record.get('drift') else ''} {record['ts']}",
             record["summary"]]
    if record["files"]:
        lines.append("files: " + ", ".join(record["files"]))
    if record["tags"]:
        lines.append("tags: " + ", ".join(record["tags"]))
    if isinstance(record.get("claim"), str):
        lines.append("claim: " + record["claim"])
    if isinstance(record.get("branch"), str):
        lines.append("branch: " + record["branch"])
    return "\n".join([*lines, "", record["detail"]])


def render_records(records: list[dict[str, Any]]) -> str:
    return "\n\n---\n\n".join(map(render_record, records)) if records else "no observations for those ids"


def _lines(path: str) -> Iterable[bytes]:
    try:
        for _, line in iter_lines(path):
            yield line
    except OSError:
        return
