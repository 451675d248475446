"""What a fact and an observation are: their fields, kinds and limits, as published."""
from __future__ import annotations

from typing import Any

FACT_TYPES = ("decision", "convention", "architecture", "gotcha", "credential-location", "todo", "fact")
OBSERVATION_KINDS = ("edit", "read", "command", "search", "prompt", "note")
DIGEST_TAG = "session-digest"


def is_number(text: str) -> bool:
    """Whether a text is an observation's number, as we write it."""
    return text.isascii() and text.isdigit() and len(text) < 16


class Fact:
    """One memory file. `extra` holds front matter keys that are not ours; every writer keeps them."""

    __slots__ = ("body", "branch", "created", "description", "extra", "name", "path", "sources", "supersedes", "tags",
                 "type", "updated")

    def __init__(self, name: str, description: str, type: str, body: str, tags: list[str] | None = None,
                 created: str = "", updated: str = "", sources: list[dict[str, str]] | None = None, branch: str = "",
                 supersedes: list[str] | None = None, extra: dict[str, Any] | None = None, path: str = ""):
        self.name, self.description, self.type, self.body = name, description, type, body
        self.tags, self.created, self.updated = tags or [], created, updated
        self.sources, self.branch, self.supersedes = sources or [], branch, supersedes or []
        self.extra, self.path = extra or {}, path

    def to_record(self) -> dict[str, Any]:
        """The JSON shape of exports, `--json` and the dashboard."""
        record: dict[str, Any] = {"name": self.name, "description": self.description, "type": self.type,
                                  "tags": self.tags, "created": self.created, "updated": self.updated}
        for key, value in (("sources", self.sources), ("branch", self.branch), ("supersedes", self.supersedes)):
            if value:
                record[key] = value
        record.update(self.extra)
        record["body"] = self.body
        return record

    @property
    def is_digest(self) -> bool:
        return DIGEST_TAG in self.tags
