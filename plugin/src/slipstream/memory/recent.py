"""The last few turns of the project in one small derived file, so that a session start parses no observation file."""
from __future__ import annotations

import json
import os
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.json_files import dump_json
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path

KEPT = 24
_KEYS = ("id", "session", "ts", "kind", "summary", "files", "branch", "error", "tests", "failed")
_FILES_KEPT = 8


def load_recent(store_root: str) -> list[dict[str, Any]]:
    """Excerpts of the newest observations, oldest first. Rebuilt from the files' tails when it is missing or damaged."""
    path = os.path.join(store_dir(store_root), "observations", ".recent.json")
    try:
        value = json.loads(read_bytes(path))
        rows = value["records"]
        if all(isinstance(row["id"], int) and isinstance(row["summary"], str) and isinstance(row["files"], list)
               for row in rows):
            return list(rows)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    rows = _scan(store_root)
    if rows:
        try:
            _write(store_root, rows)
        except (OSError, SlipstreamError):
            pass
    return rows


def save_recent(store_root: str, records: list[dict[str, Any]]) -> None:
    """Adds new records; the caller holds the capture lock."""
    rows = {row["id"]: row for row in [*load_recent(store_root), *map(_excerpt, records)]}
    _write(store_root, [rows[key] for key in sorted(rows)][-KEPT:])


def drop_recent(store_root: str) -> None:
    """After records were forgotten: the excerpt is rebuilt when next asked for."""
    try:
        os.unlink(os.path.join(store_dir(store_root), "observations", ".recent.json"))
    except OSError:
        pass


def _scan(store_root: str) -> list[dict[str, Any]]:
    from slipstream.memory.observations import list_files, tail_records
    rows = [_excerpt(record) for path in list_files(store_root) for record in tail_records(path) if "summary" in record]
    return sorted(rows, key=lambda row: row["id"])[-KEPT:]


def _excerpt(record: dict[str, Any]) -> dict[str, Any]:
    row = {key: record[key] for key in _KEYS if record.get(key)}
    row["files"] = list(record.get("files", []))[:_FILES_KEPT]
    detail = str(record.get("detail", ""))
    if detail.startswith("Request: "):
        row["request"] = detail.split("\n", 1)[0][len("Request: "):][:240]
    return row


def _write(store_root: str, rows: list[dict[str, Any]]) -> None:
    write_atomic(store_path(store_root, "observations", ".recent.json"), dump_json({"version": 1, "records": rows}))
