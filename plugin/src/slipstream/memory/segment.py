"""The pieces of the memory's search index: what is kept of each document beside its terms."""
from __future__ import annotations

from typing import Any

from slipstream.base import segment as base
from slipstream.base import segment_build
from slipstream.base.segment import COUNT_SCALE, LENGTHS, DamagedIndex, find_count

__all__ = ["COUNT_SCALE", "LENGTHS", "DamagedIndex", "Segment", "SegmentBuilder", "describe", "find_count"]

_COLUMNS = (("length", "B"), ("kind", "B"), ("source", "I"), ("session", "I"), ("branch", "I"), ("ts", "I"), ("number", "I"),
            ("size", "I"), ("offset", "Q"))
_STRINGS = ("source", "session", "branch")
_MAX_U32 = (1 << 32) - 1


class Segment(base.Segment):
    """An opened segment of memory documents."""

    COLUMNS = _COLUMNS
    STRINGS = _STRINGS


class SegmentBuilder(segment_build.SegmentBuilder):
    """Collects memory documents."""

    COLUMNS = _COLUMNS
    STRINGS = _STRINGS

    def add_document(self, counts: dict[str, float], length: float, kind: int, source: str, session: str, branch: str, ts: int,
                     number: int, offset: int, size: int) -> int:
        return self.add(counts, length, {
            "kind": kind, "source": source, "session": session, "branch": branch, "ts": ts if 0 <= ts <= _MAX_U32 else 0,
            "number": number if 0 <= number <= _MAX_U32 else 0, "size": min(size, _MAX_U32), "offset": offset})


def describe(segment: Segment, doc: int) -> dict[str, Any]:
    """A document's row with its strings put back."""
    row: dict[str, Any] = {name: column[doc] for name, column in segment.columns.items()}
    for key, names in segment.strings.items():
        row[key] = names[row[key]]
    return row
