"""Facts in and out: our JSONL, the reference memory server's JSONL, claude-mem's export."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.base.json_files import dump_json
from slipstream.memory.fact_reading import load_facts
from slipstream.memory.facts import add_fact
from slipstream.memory.model import FACT_TYPES

MAX_IMPORT_BYTES = 200_000_000
# claude-mem's observation types and the fact type that says the same.
_MEM_TYPES = {"decision": "decision", "bugfix": "gotcha", "feature": "architecture", "refactor": "architecture",
              "discovery": "fact", "change": "fact"}


def export_facts(store_root: str) -> str:
    """One JSON object a line, every field of every readable fact."""
    return "".join(dump_json(fact.to_record()) + "\n" for fact in load_facts(store_root).facts)


def import_file(store_root: str, path: str) -> tuple[int, int, list[str]]:
    """(added, already there, lines or records that were none). The shape is told from the content."""
    try:
        text = read_text(path, MAX_IMPORT_BYTES)
    except OSError as error:
        raise SlipstreamError(error.strerror or str(error), path) from None
    added, known = 0, 0
    bad: list[str] = []
    held = {(fact.description, fact.body) for fact in load_facts(store_root).facts}
    for where, record in _records(text, bad):
        fields = _fields(record)
        if fields is None:
            bad.append(f"{where}: not a memory")
            continue
        if (fields["description"].strip(), fields["body"].strip()) in held:
            known += 1
            continue
        try:
            fact = add_fact(store_root, update=False, **fields)
        except SlipstreamError as error:
            bad.append(f"{where}: {error}")
            continue
        held.add((fact.description, fact.body))
        added += 1
    return added, known, bad


def _records(text: str, bad: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records of a JSON document (claude-mem's export) or of JSON lines; entities of a graph carry their relations."""
    stripped = text.strip()
    try:
        whole = json.loads(stripped) if stripped[:1] in "{[" else None
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and any(isinstance(whole.get(key), list) for key in ("observations", "summaries", "entities")):
        for key in ("observations", "summaries", "entities"):
            for number, record in enumerate(whole.get(key) or []):
                if isinstance(record, dict):
                    yield f"{key}[{number}]", {"type": "entity", **record} if key == "entities" else {**record, "_from": key}
        return
    rows: list[tuple[str, dict[str, Any]]] = []
    items = whole if isinstance(whole, list) else None
    for number, line in enumerate(items if items is not None else text.split("\n"), 1):
        if isinstance(line, str):
            if not line.strip():
                continue
            try:
                line = json.loads(line)
            except (ValueError, RecursionError):
                bad.append(f"line {number}: not JSON")
                continue
        if isinstance(line, dict):
            rows.append((f"line {number}", line))
        else:
            bad.append(f"line {number}: not an object")
    relations: dict[str, list[str]] = {}
    for _, record in rows:
        if record.get("type") == "relation" and all(isinstance(record.get(key), str) for key in ("from", "to", "relationType")):
            relations.setdefault(record["from"], []).append(f"{record['relationType']} {record['to']}")
    for where, record in rows:
        if record.get("type") != "relation":
            yield where, {**record, "_relations": relations.get(str(record.get("name")), [])}


def _fields(record: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments for add_fact; None for a record of no known shape."""
    if record.get("type") == "entity" and isinstance(record.get("name"), str):
        lines = [item for item in record.get("observations") or [] if isinstance(item, str)]
        lines += record.get("_relations") or []
        kind = str(record.get("entityType") or "")
        return {"name": record["name"], "description": f"{record['name']} ({kind})" if kind else record["name"], "type": "fact",
                "body": "\n".join(f"- {line}" for line in lines) or record["name"], "tags": [kind] if kind else []}
    if "_from" in record:
        return _from_claude_mem(record)
    if isinstance(record.get("description"), str) and isinstance(record.get("body"), str):
        fields: dict[str, Any] = {"name": record.get("name") if isinstance(record.get("name"), str) else None,
                                  "description": record["description"], "body": record["body"],
                                  "type": record["type"] if record.get("type") in FACT_TYPES else "fact",
                                  "tags": _texts(record.get("tags")), "supersedes": _texts(record.get("supersedes")),
                                  "place": {key: record[key] for key in ("branch", "worktree")
                                            if isinstance(record.get(key), str) and record[key]}}
        if isinstance(record.get("sources"), list):
            fields["sources"] = [source for source in record["sources"] if isinstance(source, dict) and "file" in source]
        if isinstance(record.get("created"), str) and record["created"]:
            fields["now"] = record["updated"] if isinstance(record.get("updated"), str) else record["created"]
        return fields
    return None


def _from_claude_mem(record: dict[str, Any]) -> dict[str, Any] | None:
    said = {key: value.strip() for key, value in record.items() if isinstance(value, str) and value.strip()}
    title = said.get("title") or said.get("request") or said.get("text") or ""
    keys = "subtitle narrative text investigated learned completed next_steps notes"
    parts = [said[key] for key in keys.split() if key in said]
    facts = _texts(record.get("facts"))
    body = "\n\n".join([*dict.fromkeys(parts), "\n".join(f"- {line}" for line in facts)]).strip()
    if not title or not (body or title):
        return None
    files = [*_texts(record.get("files_modified")), *_texts(record.get("files_read")), *_texts(record.get("files_edited"))]
    fields: dict[str, Any] = {"description": " ".join(title.split())[:200], "body": body or title,
                              "type": _MEM_TYPES.get(str(record.get("type")), "fact"),
                              "tags": [re.sub(r"\s+", "-", tag) for tag in _texts(record.get("concepts"))][:12],
                              "sources": [{"file": path} for path in dict.fromkeys(files)][:10]}
    stamp = record.get("created_at")
    epoch = record.get("created_at_epoch")
    if isinstance(epoch, (int, float)) and not isinstance(epoch, bool) and 0 < epoch < 1e14:
        stamp = now_iso(epoch / 1000 if epoch > 1e11 else epoch)
    if isinstance(stamp, str) and stamp:
        fields["now"] = stamp
    return fields


def _texts(value: Any) -> list[str]:
    """A list of texts, or the JSON of one, as claude-mem stores it."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return [item for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []
