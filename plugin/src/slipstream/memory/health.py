"""What is wrong with the memory folder: unreadable files, duplicates, stale and outdated facts, code that moved away."""
from __future__ import annotations

import os
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.counts import count_of
from slipstream.base.instants import parse_iso
from slipstream.base.json_files import is_torn
from slipstream.memory.fact_index import superseded_names
from slipstream.memory.fact_reading import load_facts
from slipstream.memory.freshness import CHANGED, GONE, mark_source
from slipstream.memory.observations import list_files

STALE_DAYS = 60  # as published


def check_memory(store_root: str, tree_root: str, now: str | None = None) -> dict[str, Any]:
    """{total, duplicates, stale, byType, note} as published, and problems, conflicts, outdated, superseded of ours."""
    store = load_facts(store_root)
    moment = parse_iso(now or now_iso()) or 0.0
    by_description: dict[str, list[str]] = {}
    by_type: dict[str, int] = {}
    stale, outdated = [], []
    for fact in store.facts:
        by_description.setdefault(" ".join(fact.description.lower().split()), []).append(fact.name)
        by_type[fact.type] = by_type.get(fact.type, 0) + 1
        seen = parse_iso(fact.updated or fact.created)
        if seen is not None and moment - seen > STALE_DAYS * 86400:
            stale.append(fact.name)
        marks = {mark_source(tree_root, source)[0] for source in fact.sources}
        if marks & {CHANGED, GONE}:
            outdated.append(fact.name)
    conflicts = [name for name, reason in store.problems if "conflict" in reason]
    replaced = superseded_names(store.facts)
    standing = [[name for name in names if name not in replaced] for names in by_description.values()]
    duplicates = sorted(name for names in standing if len(names) > 1 for name in names)
    report: dict[str, Any] = {
        "total": len(store.facts), "duplicates": duplicates, "stale": stale, "byType": by_type,
        "problems": [{"file": name, "reason": reason} for name, reason in store.problems], "conflicts": conflicts,
        "outdated": outdated, "superseded": sorted(name for name in replaced if store.find(name)),
        "torn": torn_files(store_root)}
    found = [f"{len(report[key])} {words}" for key, words in (
        ("problems", "unreadable"), ("duplicates", "with a description that another has"),
        ("stale", f"not touched for {STALE_DAYS} days"),
        ("outdated", "citing code that changed or is gone")) if report[key]]
    if report["torn"]:
        found.append(count_of(len(report["torn"]), "observation file") + " with a torn last line")
    report["note"] = "; ".join(found) if found else "nothing to mend"
    return report


def torn_files(store_root: str) -> list[str]:
    """Observation files that end in a line without its end: a writer was killed; the next one takes it back."""
    found = []
    for path in list_files(store_root):
        try:
            torn = is_torn(path)
        except OSError:
            torn = True
        if torn:
            found.append(os.path.basename(path))
    return found


def render_health(report: dict[str, Any]) -> str:
    lines = [f"{count_of(report['total'], 'fact')}: {report['note']}"]
    lines += [f"  {item['file']}: {item['reason']}" for item in report["problems"][:50]]
    for key in ("duplicates", "stale", "outdated", "torn"):
        if report[key]:
            more = f" and {len(report[key]) - 20} more" if len(report[key]) > 20 else ""
            lines.append(f"  {key}: {', '.join(report[key][:20])}{more}")
    return "\n".join(lines)
