"""A fact as Markdown with front matter: text to Fact and back, in the published order of fields."""
from __future__ import annotations

from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.frontmatter import parse_frontmatter, render_frontmatter
from slipstream.memory.model import Fact

_KNOWN = ("name", "description", "type", "tags", "created", "updated", "sources", "branch", "supersedes")
CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")
MAX_FACT_BYTES = 1_000_000


def has_conflict(text: str) -> bool:
    """Whether a merge left its markers at the start of a line."""
    return any(text.startswith(mark) or "\n" + mark in text for mark in CONFLICT_MARKS)


def parse_fact(text: str, path: str) -> Fact:
    """SlipstreamError, with the place, for a file that is not a fact (no front matter, a missing field, merge markers)."""
    if has_conflict(text):
        line = next(n for n, row in enumerate(text.split("\n"), 1) if row.startswith(CONFLICT_MARKS))
        raise SlipstreamError("merge conflict markers; resolve them as in any other file", path, line)
    fields, body = parse_frontmatter(text, path)
    missing = [key for key in ("name", "description", "type") if not _text(fields.get(key))]
    if missing:
        raise SlipstreamError("not a fact: no " + ", ".join(missing) + " in its front matter", path)
    return Fact(
        name=_text(fields["name"]), description=_text(fields["description"]), type=_text(fields["type"]),
        body=body.strip(), tags=_texts(fields.get("tags")), created=_text(fields.get("created")),
        updated=_text(fields.get("updated")), sources=_sources(fields.get("sources")), branch=_text(fields.get("branch")),
        supersedes=_texts(fields.get("supersedes")), extra={k: v for k, v in fields.items() if k not in _KNOWN}, path=path)


def render_fact(fact: Fact) -> str:
    fields: dict[str, Any] = {"name": fact.name, "description": fact.description, "type": fact.type,
                              "tags": list(fact.tags), "created": fact.created, "updated": fact.updated}
    if fact.sources:
        fields["sources"] = [dict(source) for source in fact.sources]
    if fact.branch:
        fields["branch"] = fact.branch
    if fact.supersedes:
        fields["supersedes"] = list(fact.supersedes)
    fields.update(fact.extra)
    return render_frontmatter(fields) + "\n" + fact.body.strip() + "\n"


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    return [item.strip() for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []


def _sources(value: Any) -> list[dict[str, str]]:
    """Lists of {file, lines, hash}; a plain `path:10-20` is read too."""
    found = []
    for item in value if isinstance(value, list) else [value] if value else []:
        if isinstance(item, dict) and _text(item.get("file")):
            found.append({key: _text(item[key]) for key in ("file", "lines", "hash") if _text(item.get(key))})
        elif isinstance(item, str) and item.strip():
            file, _, lines = item.strip().rpartition(":")
            found.append({"file": file, "lines": lines} if file and lines.replace("-", "").isdecimal()
                         else {"file": item.strip()})
    return found
