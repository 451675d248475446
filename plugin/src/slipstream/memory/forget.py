"""Forgetting on purpose: facts by name, query, date or file; observations by id and the like; tried first, then told."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.instants import parse_iso
from slipstream.base.json_files import append_json_line, dump_json
from slipstream.base.locks import FileLock
from slipstream.base.store import ensure_store, store_path
from slipstream.memory.fact_reading import load_facts
from slipstream.memory.facts import remove_facts
from slipstream.memory.model import Fact
from slipstream.memory.observations import list_files, parse_line
from slipstream.memory.recall import fact_terms, rank_by_text, text_terms
from slipstream.memory.recent import drop_recent

_MAX_QUERY_MATCHES = 1000


def select_facts(store_root: str, names: Iterable[str] = (), query: str = "", before: str = "", file: str = "") -> list[Fact]:
    """Facts that meet every condition given. A query means all its words; `before` is a date; `file` is cited or named."""
    facts = load_facts(store_root)
    wanted = [name for name in names if name]
    found = [fact for fact in facts.facts if fact.name in wanted] if wanted else list(facts.facts)
    if query:
        terms = set(text_terms(query))
        found = [fact for fact in rank_by_text(found, query, _MAX_QUERY_MATCHES) if terms <= fact_terms(fact)] if terms else []
    if before:
        moment = _moment(before)
        found = [fact for fact in found if (parse_iso(fact.updated or fact.created) or moment) < moment]
    if file:
        found = [fact for fact in found if _cites(fact, file)]
    return found if wanted or query or before or file else []


def forget_facts(store_root: str, facts: list[Fact], how: str, dry_run: bool = False) -> list[str]:
    """Deletes them (or, dry, only says which) and leaves one audit line: when, how, which names; never what they said."""
    names = [os.path.basename(fact.path)[:-3] for fact in facts]
    if dry_run or not names:
        return names
    removed = remove_facts(store_root, names)
    write_audit(store_root, {"action": "forget", "what": "facts", "how": how, "names": removed})
    return removed


def forget_observations(store_root: str, ids: Iterable[int] = (), before: str = "", file: str = "", query: str = "",
                        dry_run: bool = False) -> list[int]:
    """Replaces observations by tombstones, which keep their id and place in the log, so that nothing brings them back."""
    wanted, moment = set(ids), _moment(before) if before else None
    if not (wanted or before or file or query):
        return []
    if query:
        from slipstream.memory.search import search_memory
        matched = {int(hit.id) for hit in search_memory(store_root, query, limit=100) if hit.id.isdecimal()}
        wanted = wanted & matched if wanted else matched
    limited, gone = bool(ids or query), []
    with FileLock(store_path(store_root, "observations", ".counter")):
        for path in list_files(store_root):
            lines = read_bytes(path).split(b"\n")
            changed = False
            for number, line in enumerate(lines):
                record = parse_line(line)
                if record is None or (limited and record["id"] not in wanted) or (file and file not in record["files"]) \
                        or (moment is not None and (parse_iso(record["ts"]) or moment) >= moment):
                    continue
                gone.append(int(record["id"]))
                lines[number] = _tombstone(record)
                changed = True
            if changed and not dry_run:
                write_atomic(path, b"\n".join(lines))
        if gone and not dry_run:
            drop_recent(store_root)
    if gone and not dry_run:
        write_audit(store_root, {"action": "forget", "what": "observations", "ids": sorted(gone)})
    return sorted(gone)


def write_audit(store_root: str, entry: dict[str, Any]) -> None:
    """One line in audit.jsonl."""
    ensure_store(store_root)
    path = store_path(store_root, "audit.jsonl")
    with FileLock(path):
        append_json_line(path, {"ts": now_iso(), **entry})


def _tombstone(record: dict[str, Any]) -> bytes:
    kept = {key: record[key] for key in ("id", "session", "throughSeq") if key in record}
    return dump_json({**kept, "forgotten": True}).encode("utf-8")


def _moment(text: str) -> float:
    moment = parse_iso(text)
    if moment is None:
        raise SlipstreamError(f"not a date: {text!r} (2026-05-31 or an ISO instant)")
    return moment


def _cites(fact: Fact, file: str) -> bool:
    plain = file.replace("\\", "/").removeprefix("./")
    return any(source.get("file") == plain for source in fact.sources) or plain in fact.body or plain in fact.description
