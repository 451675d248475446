"""Where the last work was left: from the project's newest digest and the last turns, for a new session or a tool."""
from __future__ import annotations

import os
import re
from typing import Any

from slipstream.base.tokens import approx_text_tokens
from slipstream.memory.authors import attribute, find_authors, is_tracked
from slipstream.memory.digest_facts import digest_session, newest_digest
from slipstream.memory.model import Fact
from slipstream.memory.recent import load_recent


def resume_result(store_root: str) -> dict[str, Any]:
    """The published answer of the resume tool: the newest digest whole, or `{"digest": null}`."""
    fact = newest_digest(store_root)
    if fact is None:
        return {"digest": None}
    author = find_authors(store_root).get(os.path.basename(fact.path))
    text = attribute(fact.body, author) if author else fact.body
    return {"digest": text, "ts": fact.updated or fact.created, "tokensEstimate": approx_text_tokens(text),
            "session": digest_session(fact), "sourcePath": fact.path}


def resume_brief(store_root: str) -> dict[str, Any]:
    """{lastActive, openThread, recentAsks, filesInFlight, lastOutcome, session} of the last turns; {} when there are none.

    Turns that git tracks may be a stranger's: they can be searched, and are not told of unasked.
    """
    rows = [] if is_tracked(store_root, "observations") else load_recent(store_root)
    if not rows:
        return {}
    asks = list(dict.fromkeys(str(row["request"]) for row in reversed(rows) if row.get("request")))
    files = list(dict.fromkeys(path for row in reversed(rows) if row.get("kind") == "edit" for path in row["files"]))
    last = rows[-1]
    outcomes = [str(row.get("error") or row.get("tests")) for row in rows[-3:] if row.get("error") or row.get("tests")]
    return {"session": last.get("session", ""), "lastActive": last.get("ts", ""), "openThread": asks[0][:240] if asks else "",
            "recentAsks": [ask[:160] for ask in asks[1:4]],
            "filesInFlight": files[:5], "lastOutcome": outcomes[-1] if outcomes else "",
            "branch": last.get("branch", "")}


def resume_text(store_root: str, budget_tokens: int) -> str:
    """`Where the last session left off`, within a token budget; "" when nothing is known. Dates, no clock."""
    brief, fact = resume_brief(store_root), newest_digest(store_root)
    if fact is not None and os.path.basename(fact.path) in find_authors(store_root):
        fact = None  # somebody else's work is not where this user left off
    lines = []
    if brief and brief["openThread"]:
        where = f" on {brief['branch']}" if brief["branch"] else ""
        lines.append(f"Last asked ({brief['lastActive'][:10]}{where}): {brief['openThread']}")
        if brief["lastOutcome"]:
            lines.append(f"Last result: {brief['lastOutcome']}")
        if brief["filesInFlight"]:
            lines.append(f"Files being changed: {', '.join(brief['filesInFlight'])}")
        if brief["recentAsks"]:
            lines.append("Before that: " + " | ".join(brief["recentAsks"]))
    if fact is not None and (not brief or not brief["openThread"] or digest_session(fact) == brief["session"]):
        lines += digest_lines(fact)
    if not lines:
        return ""
    text = "Where the last session left off:"
    for line in dict.fromkeys(lines):
        if approx_text_tokens(f"{text}\n- {line}") <= budget_tokens:
            text += f"\n- {line}"
    return text if "\n" in text else ""


def digest_lines(fact: Fact) -> list[str]:
    """The sections of a digest's Markdown as one line each, most needed first."""
    found = dict(re.findall(r"(?ms)^\*\*([A-Z][a-z ]+):\*\*\s*(.*?)\s*(?=^\*\*[A-Z]|\Z)", fact.body))
    order = ("Open task", "Next steps", "Decisions made", "Failed approaches", "Exact identifiers", "Test results",
             "Files touched")
    lines = []
    for title in order:
        text = re.sub(r"\s*^- ", "; ", found.get(title, ""), flags=re.M).strip("; \n")
        if text and not text.startswith(("Resume the previous task;", "Read the project map and")):
            lines.append(f"{title}: {' '.join(text.split())}")
    return lines
