"""The pieces of the memory's search index: what is kept of each document beside its terms."""
from __future__ import annotations

from typing import Any

from slipstream.base import segment as base
from slipstream.base.segment import LENGTHS, DamagedIndex, find_count

__all__ = ["LENGTHS", "DamagedIndex", "Segment", "describe", "find_count"]

COLUMNS = (("length", "B"), ("title", "B"), ("kind", "B"), ("source", "I"), ("session", "I"), ("branch", "I"),
            ("ts", "I"), ("number", "I"), ("size", "I"), ("offset", "Q"))
STRINGS = ("source", "session", "branch")


class Segment(base.Segment):
    """An opened segment of memory documents."""

    COLUMNS = COLUMNS
    STRINGS = STRINGS

    def _load(self, size: int) -> None:
        super()._load(size)
        titles, self.newest = self.columns["title"], max(self.columns["ts"], default=0)
        self.total_title, self.titled = sum(titles), self.count - titles.count(0)


def describe(segment: Segment, doc: int) -> dict[str, Any]:
    """A document's row with its strings put back."""
    row: dict[str, Any] = {name: column[doc] for name, column in segment.columns.items()}
    for key, names in segment.strings.items():
        row[key] = names[row[key]]
    return row
