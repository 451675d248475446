"""The project at a glance: files, budget, memory, savings and the mind map's top level, as one value and one text."""
from __future__ import annotations

import time
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.paths import shown_path
from slipstream.base.settings import project_title
from slipstream.context.budget import budget_report, render_budget
from slipstream.context.savings import load_savings, render_savings, summarize_savings
from slipstream.context.status import rebuild_status
from slipstream.events.log import list_sessions
from slipstream.map.index import Index
from slipstream.map.mindmap import Node, build_tree

MAX_AREAS = 24


def map_tree(index: Index) -> Node:
    """The mind map's tree of an index: folders and files, weighed by exported symbols."""
    files = ((entry.path, sum(one.exported for one in entry.symbols), entry.purpose) for entry in index.files())
    return build_tree(index.title, files)


def build_overview(index: Index, store_root: str, now: float | None = None) -> dict[str, Any]:
    """{root, project, files, symbols, allSymbols, totalBytes, skipped, budget, memories, observations, lastCapture, savings,
    areas}."""
    stats = index.stats()
    figures = rebuild_status(store_root)
    tree = map_tree(index)
    areas = sorted(tree.children, key=lambda node: (-node.files, node.label))
    sessions = list_sessions(store_root)
    return {
        "root": index.root, "project": project_title(store_root), "files": stats["fileCount"],
        "symbols": stats["symbolCount"], "allSymbols": stats["allSymbols"], "totalBytes": stats["totalBytes"],
        "skipped": len(index.skipped()), "budget": budget_report(store_root, now=now),
        "memories": figures.get("memoryCount", 0), "observations": figures.get("observationCount", 0),
        "lastCapture": sessions[0]["modified"] if sessions else None,
        "savings": summarize_savings(load_savings(store_root)),
        "areas": [{"path": node.path, "folder": node.is_folder, "files": node.files, "symbols": node.size} for node in areas],
    }


def render_overview(overview: dict[str, Any], now: float | None = None) -> str:
    """The overview for a reader."""
    captured = overview["lastCapture"]
    ago = "never" if captured is None else f"{_span((time.time() if now is None else now) - captured)} ago"
    lines = [
        f"# {shown_path(overview['project'] or overview['root'])}", "",
        f"files: {overview['files']:,}, {count_of(overview['allSymbols'], 'symbol')} "
        f"({overview['symbols']:,} exported at top level), {overview['totalBytes'] / 1024:.1f} KiB of source"
        + (f"; {count_of(overview['skipped'], 'path')} left out" if overview["skipped"] else ""),
        render_budget(overview["budget"]),
        f"memory: {count_of(overview['memories'], 'fact')}, {count_of(overview['observations'], 'observation')}; "
        f"last capture: {ago}",
        f"savings: {render_savings(overview['savings'])}", "", "## Top level", ""]
    for area in overview["areas"][:MAX_AREAS]:
        name = shown_path(area["path"]) + ("/" if area["folder"] else "")
        count = count_of(area["files"], "file") + ", " if area["folder"] else ""
        lines.append(f"- `{name}` {count}{count_of(area['symbols'], 'exported symbol')}")
    if len(overview["areas"]) > MAX_AREAS:
        lines.append(f"- and {len(overview['areas']) - MAX_AREAS} more")
    return "\n".join(lines) + "\n"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"
