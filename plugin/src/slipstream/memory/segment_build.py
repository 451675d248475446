"""Writes the pieces of the memory's search index."""
from __future__ import annotations

from array import array

from slipstream.base import segment_build
from slipstream.memory import segment

_MAX_U32 = (1 << 32) - 1


class SegmentBuilder(segment_build.SegmentBuilder):
    """Collects memory documents."""

    COLUMNS = segment.COLUMNS
    STRINGS = segment.STRINGS

    def add_document(self, counts: dict[str, int], length: int, title: int, kind: int, source: str, session: str, branch: str,
                     ts: int, number: int, offset: int, size: int) -> int:
        """Takes in one document: its terms' packed counts, its lengths in words, its row. Returns its number."""
        doc = self.add({}, length, {
            "title": min(title, 255), "kind": kind, "source": source, "session": session, "branch": branch,
            "ts": ts if 0 <= ts <= _MAX_U32 else 0, "number": number if 0 <= number <= _MAX_U32 else 0,
            "size": min(size, _MAX_U32), "offset": offset})
        postings = self.postings
        for term, count in counts.items():
            held = postings.get(term)
            if held is None:
                held = postings[term] = (array("I"), bytearray())
            held[0].append(doc)
            held[1].append(count)
        return doc
