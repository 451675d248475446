"""Writes the pieces of the memory's search index."""
from __future__ import annotations

import json
import math
import sys
from array import array
from binascii import crc32

from slipstream.memory.segment import COLUMNS, HEADER, LENGTH_BASE, MAGIC, STRINGS, Segment, by_width

_MAX_U32 = (1 << 32) - 1


def quantize_length(length: float) -> int:
    """A document's length as one byte, see LENGTHS."""
    return min(255, int(math.log(max(1.0, length)) / math.log(LENGTH_BASE)))


class SegmentBuilder:
    """Collects documents, then renders the bytes of a segment."""

    def __init__(self) -> None:
        self.columns: dict[str, array[int]] = {name: array(code) for name, code in COLUMNS}
        self.postings: dict[str, tuple[array[int], bytearray]] = {}
        self.strings: dict[str, dict[str, int]] = {name: {} for name in STRINGS}

    def __len__(self) -> int:
        return len(self.columns["length"])

    def add_document(self, counts: dict[str, int], length: int, title: int, kind: int, source: str, session: str, branch: str,
                     ts: int, number: int, offset: int, size: int) -> int:
        """Takes in one document: its terms' packed counts, its lengths in words, its row. Returns its number."""
        row: dict[str, int | str] = {
            "length": quantize_length(length), "title": min(title, 255), "kind": kind, "source": source, "session": session,
            "branch": branch, "ts": ts if 0 <= ts <= _MAX_U32 else 0, "number": number if 0 <= number <= _MAX_U32 else 0,
            "size": min(size, _MAX_U32), "offset": offset}
        doc = len(self)
        for name, value in row.items():
            self.columns[name].append(self.number_of(name, value) if isinstance(value, str) else value)
        postings = self.postings
        for term, count in counts.items():
            held = postings.get(term)
            if held is None:
                held = postings[term] = (array("I"), bytearray())
            held[0].append(doc)
            held[1].append(count)
        return doc

    def add_segment(self, segment: Segment, deleted: set[int]) -> dict[int, int]:
        """Takes over another segment's documents but the deleted; returns {old number: new number}."""
        base, renumber = len(self), {}
        kept = [doc for doc in range(segment.count) if doc not in deleted]
        for new, doc in enumerate(kept, base):
            renumber[doc] = new
        names = {key: [self.number_of(key, text) for text in segment.strings[key]] for key in self.strings}
        for name, _ in COLUMNS:
            column = segment.columns[name]
            mapping = names.get(name)
            self.columns[name].extend(mapping[column[doc]] if mapping else column[doc] for doc in kept)
        whole = len(kept) == segment.count
        for index in range(segment.term_count):
            docs, counts = segment.read_postings(index)
            if whole:
                moved, kept_counts = array("I", [doc + base for doc in docs]), bytes(counts)
            else:
                pairs = [(renumber[doc], count) for doc, count in zip(docs, counts) if doc in renumber]
                if not pairs:
                    continue
                moved, kept_counts = array("I", [doc for doc, _ in pairs]), bytes(count for _, count in pairs)
            held = self.postings.setdefault(segment.term(index), (array("I"), bytearray()))
            held[0].extend(moved)
            held[1].extend(kept_counts)
        return renumber

    def render(self) -> bytes:
        """The file's bytes."""
        columns = b"".join(_raw(self.columns[name]) for name, _ in by_width(COLUMNS))
        strings = json.dumps({key: list(table) for key, table in self.strings.items()}).encode("ascii")
        encoded = sorted((term.encode("utf-8", "surrogatepass"), term) for term in self.postings)
        text, ends, counts, places, blocks, place = [], array("I"), array("I"), array("Q"), [], 0
        end = 0
        for raw, term in encoded:
            docs, tf = self.postings[term]
            text.append(raw)
            end += len(raw)
            ends.append(end)
            counts.append(len(docs))
            places.append(place)
            blocks.append(_raw(docs) + bytes(tf))
            place += 5 * len(docs)
        table = _raw(places) + _raw(ends) + _raw(counts)
        term_text = b"".join(text)
        at_strings = HEADER.size + len(columns)
        at_text = at_strings + len(strings)
        at_table = at_text + len(term_text)
        at_postings = at_table + len(table)
        head = b"".join([columns, strings, term_text, table])
        header = HEADER.pack(MAGIC, 0, crc32(head), len(self), len(encoded), at_strings, at_text, at_table, at_postings,
                             at_postings + place)
        return b"".join([header, head, *blocks])

    def number_of(self, key: str, text: str) -> int:
        table = self.strings[key]
        return table.setdefault(text, len(table))


def _raw(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()
