"""What a project's sessions used: which transcripts are its own, totals by session, model, day and subagent, money only
when asked."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from slipstream.context.prices import PRICES_AS_OF, find_rates
from slipstream.context.usage import CLASSES, UsageIndex

AXES = ("session", "model", "day", "agent")


def projects_folder(env: Mapping[str, str] = os.environ) -> str:
    """Where the host keeps its transcripts, a folder for each project."""
    config = env.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return os.path.join(config, "projects")


def project_folders(roots: Iterable[str], everything: bool = False, env: Mapping[str, str] = os.environ) -> list[str]:
    """The host's folders of these project roots and of folders below; their names are lossy, so a record's `cwd` decides."""
    base = projects_folder(env)
    try:
        names = sorted(entry.name for entry in os.scandir(base) if entry.is_dir())
    except OSError:
        return []
    if everything:
        return [os.path.join(base, name) for name in names]
    tops = sorted({os.path.realpath(root) for root in roots})
    prefixes = [re.sub(r"[^A-Za-z0-9]", "-", top) for top in tops] + [re.sub(r"[^A-Za-z0-9]", "-", root) for root in roots]
    near = [name for name in names if any(name == prefix or name.startswith(prefix + "-") for prefix in prefixes)]
    return [os.path.join(base, name) for name in near if _belongs(os.path.join(base, name), tops)]


def _belongs(folder: str, tops: list[str]) -> bool:
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl"):
            cwd = _first_cwd(os.path.join(folder, name))
            if cwd:
                real = os.path.realpath(cwd)
                return any(real == top or real.startswith(top.rstrip(os.sep) + os.sep) for top in tops)
    return True  # nothing in it says where it ran; the name has to do


def _first_cwd(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            head = stream.read(65_536)
    except OSError:
        return ""
    found = re.search(rb'"cwd":\s*("(?:[^"\\]|\\.)*")', head)
    if found is None:
        return ""
    try:
        return str(json.loads(found.group(1)))
    except ValueError:
        return ""


def build_usage(index: UsageIndex, by: str = "session", day: str | None = None) -> dict[str, Any]:
    """{by, rows: [{name, replies, input, write5m, write1h, read, output, tokens, usd, unpriced}], total, shared, pricesAsOf}.

    `usd` sums what has a known price and is None where nothing has; `unpriced` names the models without one. `shared` lists
    sessions that hold replies of another one (forks): each reply is counted once, with the session that had it first.
    """
    rows: dict[str, dict[str, Any]] = {}
    total = _empty("total")
    column = AXES.index(by)
    order = (0, 2, 3, 1)
    for group, sums in zip(index.groups, index.sums):
        if not any(sums) or (day is not None and group[3] != day):
            continue
        name = group[order[column]]
        if by == "agent":
            name = f"{group[0]}/{group[1]}" if group[1] else f"{group[0]} (main)"
        rates = find_rates(group[2], group[3], group[4])
        for row in (rows.setdefault(name, _empty(name)), total):
            row["replies"] += sums[0]
            for at, key in enumerate(CLASSES):
                row[key] += sums[at + 1]
                row["tokens"] += sums[at + 1]
            if rates is None:
                row["unpriced"].add(group[2])
            else:
                row["priced"] = True
                row["usd"] += sum(count * rate for count, rate in zip(sums[1:], rates)) / 1e6
    ordered = sorted(rows.values(), key=lambda row: row["name"]) if by == "day" else sorted(
        rows.values(), key=lambda row: (-row["tokens"], row["name"]))
    for row in [*ordered, total]:
        row["unpriced"] = sorted(row["unpriced"])
        row["usd"] = round(row["usd"], 6) if row.pop("priced") or not row["unpriced"] else None
    return {"by": by, "rows": ordered, "total": total, "shared": find_shared(index), "pricesAsOf": PRICES_AS_OF}


def find_shared(index: UsageIndex) -> list[dict[str, Any]]:
    """[{session, sharedWith, replies}] for sessions whose transcript repeats replies that another session had first."""
    found: dict[tuple[str, str], int] = {}
    for entry in index.files:
        for owner, replies in entry["shared"].items():
            other = index.files[int(owner)]
            if other["session"] != entry["session"]:
                key = (entry["session"], other["session"])
                found[key] = found.get(key, 0) + replies
    return [{"session": one, "sharedWith": two, "replies": replies} for (one, two), replies in sorted(found.items())]


def render_usage(report: dict[str, Any], money: bool = False, limit: int = 40) -> str:
    """A table; the four classes stand apart, for their prices differ by a factor of fifty."""
    if not report["rows"]:
        return "no usage found: the host has no transcript of this project yet"
    classes = ("input", "cache write 5m", "cache write 1h", "cache read", "output")
    head = (report["by"], "replies", *classes, *(("list price",) if money else ()))
    lines = [head]
    for row in [*report["rows"][:limit], report["total"]]:
        figures = [f"{row[key]:,}" for key in ("replies", *CLASSES)]
        lines.append((row["name"] or "-", *figures, *((_price(row),) if money else ())))
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    text = ["  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))]).rstrip()
            for line in lines]
    if len(report["rows"]) > limit:
        text.insert(-1, f"... {len(report['rows']) - limit} more (--json has them all)")
    for shared in report["shared"][:10]:
        text.append(f"{shared['session']}: {shared['replies']:,} replies shared with {shared['sharedWith']}, counted there")
    if money:
        text.append(f"list prices as of {report['pricesAsOf']}; an estimate, not a bill")
    return "\n".join(text)


def _empty(name: str) -> dict[str, Any]:
    counts = dict.fromkeys(("replies", *CLASSES, "tokens"), 0)
    return {"name": name, **counts, "usd": 0.0, "unpriced": set(), "priced": False}


def _price(row: dict[str, Any]) -> str:
    unpriced = "unpriced: " + ", ".join(row["unpriced"])
    if row["usd"] is None:
        return unpriced
    amount = f"${row['usd']:,.2f}" if row["usd"] >= 0.01 or not row["usd"] else "under $0.01"
    return f"{amount} + {unpriced}" if row["unpriced"] else amount
