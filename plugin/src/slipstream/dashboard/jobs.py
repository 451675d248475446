"""Heavy questions are answered by a short-lived process, so that the server stays small however large the project is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

from slipstream.base.json_files import dump_json
from slipstream.dashboard.launch import server_command

TIMEOUT_S = 90.0
MAX_ANSWER_BYTES = 32_000_000
MAX_GRAPH_FILES = 4000
MAX_USAGE_ROWS = 20_000
_one_at_a_time = threading.Lock()


def run_job(name: str, store_root: str, tree_root: str) -> dict[str, Any]:
    """The answer of a job; {"error": ...} when it failed or took too long. One job at a time."""
    command = server_command(store_root, tree_root, ["--job", name])
    command[4] = command[4].replace("dashboard.runner", "dashboard.jobs")
    with _one_at_a_time:
        return run_json(command, TIMEOUT_S, tree_root)


def run_json(command: list[str], timeout_s: float, folder: str) -> dict[str, Any]:
    """The JSON object that one of our own programs prints; nothing in its command comes from a request."""
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=timeout_s, stdin=subprocess.DEVNULL, cwd=folder, check=False
        )
        value = json.loads(done.stdout[:MAX_ANSWER_BYTES])
    except subprocess.TimeoutExpired:
        return {"error": "not done after %d s" % timeout_s}
    except (OSError, ValueError):
        return {"error": "no answer"}
    return value if isinstance(value, dict) else {"error": "no answer"}


def main(argv: list[str]) -> None:
    """Entry of the process; never returns."""
    options = dict(zip(argv[::2], argv[1::2]))
    try:
        os.nice(5)
    except (AttributeError, OSError):
        pass
    jobs = {"graph": graph_job, "usage": usage_job, "areas": areas_job}
    answer = jobs[options["--job"]](options["--store"], options["--tree"])
    sys.stdout.buffer.write(dump_json(answer).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    os._exit(0)


def graph_job(store_root: str, tree_root: str) -> dict[str, Any]:
    """The graph of imports in the published shape; of a huge project its best connected files."""
    from slipstream.map.codegraph import CodeGraph, graph_json
    from slipstream.map.graph import build_edges
    from slipstream.map.index import open_index

    index = open_index(tree_root, store_root)
    graph = CodeGraph(build_edges(tree_root, index.table))
    total = len(graph.edges)
    if total > MAX_GRAPH_FILES:
        kept = sorted(graph.edges, key=lambda path: (-graph.degree(path), path))[:MAX_GRAPH_FILES]
        graph = CodeGraph({path: graph.edges[path] for path in kept})
    sizes, about = {}, {}
    for path in graph.edges:
        entry = index.file(path)
        if entry is not None:
            sizes[path] = (len(entry.symbols), entry.lines)
            about[path] = entry.purpose
    answer = graph_json(graph, sizes)
    for node in answer["nodes"]:
        node["purpose"] = about.get(node["id"], "")
    return {**answer, "files": total, "cycles": graph.cycles()[:20]}


def areas_job(store_root: str, tree_root: str) -> dict[str, Any]:
    """{areas, totals, identity}: files, symbols and lines of each area, the one with most symbols first."""
    from slipstream.map.codegraph import area_of
    from slipstream.map.index import open_index

    areas: dict[str, dict[str, Any]] = {}
    index = open_index(tree_root, store_root)
    for entry in index.files():
        row = areas.setdefault(area_of(entry.path), {"files": 0, "symbols": 0, "lines": 0})
        for name, count in (("files", 1), ("symbols", len(entry.symbols)), ("lines", entry.lines)):
            row[name] += count
    rows = sorted(({"area": name, **row} for name, row in areas.items()), key=lambda row: (-row["symbols"], row["area"]))
    totals = {name: sum(row[name] for row in rows) for name in ("files", "symbols", "lines")}
    return {"areas": rows[:60], "totals": totals, "identity": package_identity(tree_root)}


def package_identity(tree_root: str) -> dict[str, str]:
    """Version and description that the project's own package.json or pyproject.toml tells; empty where none does."""
    import json

    from slipstream.base.files import read_text
    from slipstream.map.manifests import parse_toml_strings

    for name in ("package.json", "pyproject.toml"):
        try:
            text = read_text(os.path.join(tree_root, name), 1_000_000)
            found = json.loads(text) if name == "package.json" else parse_toml_strings(text).get("project", {})
            return {key: str(found.get(key) or "")[:400] for key in ("version", "description")}
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
    return {"version": "", "description": ""}


def usage_job(store_root: str, tree_root: str) -> dict[str, Any]:
    """Exact tokens of the project's transcripts: a row for each session, agent, model and day; forks are told."""
    from slipstream.context.prices import PRICES_AS_OF, find_rates
    from slipstream.context.usage import load_usage
    from slipstream.context.usage_report import find_shared, project_folders

    index = load_usage(store_root, project_folders([tree_root, store_root]))
    rows: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for (session, agent, model, day, tier), sums in zip(index.groups, index.sums):
        if not any(sums):
            continue
        key = (session, agent, model, day)
        row = rows.get(key)
        if row is None:
            row = rows[key] = {"session": session, "agent": agent, "model": model, "day": day, "usd": 0.0}
            row.update(replies=0, input=0, cacheWrite=0, cacheRead=0, output=0)
        replies, fresh, write_short, write_long, read, output = sums
        for name, count in (("replies", replies), ("input", fresh), ("cacheWrite", write_short + write_long)):
            row[name] += count
        row["cacheRead"] += read
        row["output"] += output
        rates = find_rates(model, day, tier)
        if rates is None or row["usd"] is None:
            row["usd"] = None  # a model without a known price is unpriced, never free
        else:
            row["usd"] += sum(count * rate for count, rate in zip(sums[1:], rates)) / 1e6
    newest = sorted(rows.values(), key=lambda row: (row["day"], row["session"]), reverse=True)[:MAX_USAGE_ROWS]
    return {"rows": newest, "shared": find_shared(index), "pricesAsOf": PRICES_AS_OF}
