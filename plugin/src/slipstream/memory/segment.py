"""The pieces of the memory's search index: what is kept of each document beside its terms."""
from __future__ import annotations

from typing import Any

from slipstream.base import segment as base
from slipstream.base import segment_build
from slipstream.base.segment import COUNT_SCALE, LENGTHS, DamagedIndex, find_count

__all__ = ["COUNT_SCALE", "LENGTHS", "DamagedIndex", "Segment", "SegmentBuilder", "describe", "find_count"]

_COLUMNS = (("length", "B"), ("title", "B"), ("kind", "B"), ("source", "I"), ("session", "I"), ("branch", "I"),
            ("ts", "I"), ("number", "I"), ("size", "I"), ("offset", "Q"))
_STRINGS = ("source", "session", "branch")
_MAX_U32 = (1 << 32) - 1


class Segment(base.Segment):
    """An opened segment of memory documents."""

    COLUMNS = _COLUMNS
    STRINGS = _STRINGS

    def _load(self, size: int) -> None:
        super()._load(size)
        titles, self.newest = self.columns["title"], max(self.columns["ts"], default=0)
        self.total_title, self.titled = sum(titles), self.count - titles.count(0)


class SegmentBuilder(segment_build.SegmentBuilder):
    """Collects memory documents."""

    COLUMNS = _COLUMNS
    STRINGS = _STRINGS

    def add_document(self, counts: dict[str, int], length: int, title: int, kind: int, source: str, session: str, branch: str,
                     ts: int, number: int, offset: int, size: int) -> int:
        """Takes in one document: its terms' packed counts, its lengths in words, its row. Returns its number."""
        return self.add({term: count / COUNT_SCALE for term, count in counts.items()}, length, {
            "title": min(title, 255), "kind": kind, "source": source, "session": session, "branch": branch,
            "ts": ts if 0 <= ts <= _MAX_U32 else 0,
            "number": number if 0 <= number <= _MAX_U32 else 0, "size": min(size, _MAX_U32), "offset": offset})


def describe(segment: Segment, doc: int) -> dict[str, Any]:
    """A document's row with its strings put back."""
    row: dict[str, Any] = {name: column[doc] for name, column in segment.columns.items()}
    for key, names in segment.strings.items():
        row[key] = names[row[key]]
    return row
