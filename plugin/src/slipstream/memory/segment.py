"""One immutable piece of the search index: a sorted term table with its postings, and a row of numbers for each document.

Layout, little-endian: header; arrays per document; a JSON string table; term text, term ends, document counts and posting
places; postings (each: documents as uint32, then weighted term counts as bytes). Read whole but for the postings.
"""
from __future__ import annotations

import json
import math
import os
import struct
import sys
from array import array
from bisect import bisect_left
from typing import Any

from slipstream.base.files import open_regular

MAGIC, VERSION = b"slpseg01", 1
_HEADER = struct.Struct("<8sIIQQQQQ")  # magic, documents, terms; places of strings, term text, term table, postings, end
# name -> array type code; one value for each document
_COLUMNS = (("length", "B"), ("kind", "B"), ("source", "I"), ("session", "I"), ("branch", "I"), ("ts", "I"), ("number", "I"),
            ("size", "I"), ("offset", "Q"))
_MAX_U32 = (1 << 32) - 1
COUNT_SCALE = 4  # weighted term counts are kept in quarters
_LENGTH_BASE = 1.055


class DamagedIndex(Exception):
    """A piece of the index that cannot be what was written; it is derived, so it is built again."""


def quantize_length(length: float) -> int:
    """A document's length as one byte on a logarithmic scale (5.5 % steps), as search engines keep it."""
    return min(255, int(math.log(max(1.0, length)) / math.log(_LENGTH_BASE)))


LENGTHS = [_LENGTH_BASE ** step for step in range(256)]


class SegmentBuilder:
    """Collects documents, then renders the bytes of a segment."""

    def __init__(self) -> None:
        self.columns: dict[str, array[int]] = {name: array(code) for name, code in _COLUMNS}
        self.postings: dict[str, tuple[array[int], bytearray]] = {}
        self.strings: dict[str, dict[str, int]] = {"source": {}, "session": {}, "branch": {}}

    def __len__(self) -> int:
        return len(self.columns["kind"])

    def add(self, counts: dict[str, float], length: float, kind: int, source: str, session: str, branch: str, ts: int,
            number: int, offset: int, size: int) -> int:
        doc = len(self)
        row = {"length": quantize_length(length), "kind": kind, "source": self._string("source", source),
               "session": self._string("session", session), "branch": self._string("branch", branch),
               "ts": ts if 0 <= ts <= _MAX_U32 else 0, "number": number if 0 <= number <= _MAX_U32 else 0,
               "size": min(size, _MAX_U32), "offset": offset}
        for name, value in row.items():
            self.columns[name].append(value)
        postings = self.postings
        for term, count in counts.items():
            held = postings.get(term)
            if held is None:
                held = postings[term] = (array("I"), bytearray())
            held[0].append(doc)
            held[1].append(max(1, min(255, round(count * COUNT_SCALE))))
        return doc

    def add_segment(self, segment: Segment, deleted: set[int]) -> dict[int, int]:
        """Takes over another segment's documents but the deleted; returns {old number: new number}."""
        base, renumber = len(self), {}
        kept = [doc for doc in range(segment.count) if doc not in deleted]
        for new, doc in enumerate(kept, base):
            renumber[doc] = new
        names = {key: [self._string(key, text) for text in segment.strings[key]] for key in self.strings}
        for name, _ in _COLUMNS:
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
        columns = b"".join(_raw(self.columns[name]) for name, _ in sorted(_COLUMNS, key=lambda item: -array(item[1]).itemsize))
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
        at_strings = _HEADER.size + len(columns)
        at_text = at_strings + len(strings)
        at_table = at_text + len(term_text)
        at_postings = at_table + len(table)
        header = _HEADER.pack(MAGIC, len(self), len(encoded), at_strings, at_text, at_table, at_postings, at_postings + place)
        return b"".join([header, columns, strings, term_text, table, *blocks])

    def _string(self, key: str, text: str) -> int:
        table = self.strings[key]
        return table.setdefault(text, len(table))


class Segment:
    """An opened segment. DamagedIndex when its numbers do not fit the file; OSError when it cannot be read."""

    def __init__(self, path: str):
        self.path = path
        fd = open_regular(path)
        self._stream = os.fdopen(fd, "rb")
        try:
            self._load(os.fstat(fd).st_size)
        except DamagedIndex:
            self._stream.close()
            raise
        except (struct.error, ValueError, KeyError, TypeError, RecursionError, UnicodeError) as error:
            self._stream.close()
            raise DamagedIndex(f"{path}: {error}") from None

    def _load(self, size: int) -> None:
        magic, self.count, self.term_count, at_strings, at_text, at_table, self._at_postings, end = _HEADER.unpack(
            self._stream.read(_HEADER.size))
        if magic != MAGIC or not _HEADER.size <= at_strings <= at_text <= at_table <= self._at_postings <= end == size:
            raise DamagedIndex(self.path)
        raw = self._stream.read(self._at_postings - _HEADER.size)
        self.columns: dict[str, array[int]] = {}
        place = 0
        for name, code in sorted(_COLUMNS, key=lambda item: -array(item[1]).itemsize):
            step = array(code).itemsize * self.count
            self.columns[name] = _array(code, raw[place:place + step])
            place += step
        if place != at_strings - _HEADER.size:
            raise DamagedIndex(self.path)
        strings = json.loads(raw[place:at_text - _HEADER.size])
        self.strings: dict[str, list[str]] = {key: [str(text) for text in strings[key]]
                                              for key in ("source", "session", "branch")}
        for key, names in self.strings.items():
            if self.count and max(self.columns[key]) >= len(names):
                raise DamagedIndex(self.path)
        self._text = raw[at_text - _HEADER.size:at_table - _HEADER.size]
        table = raw[at_table - _HEADER.size:]
        terms = self.term_count
        if len(table) != terms * 16:
            raise DamagedIndex(self.path)
        self._places, self._ends = _array("Q", table[:terms * 8]), _array("I", table[terms * 8:terms * 12])
        self.document_counts = _array("I", table[terms * 12:])
        self._end = end - self._at_postings
        self.total_length = sum(map(LENGTHS.__getitem__, self.columns["length"])) if self.count < 512 else self._fast_total()

    def _fast_total(self) -> float:
        lengths = bytes(self.columns["length"])
        return sum(lengths.count(step) * LENGTHS[step] for step in set(lengths))

    def raw_term(self, index: int) -> bytes:
        return self._text[self._ends[index - 1] if index else 0:self._ends[index]]

    def term(self, index: int) -> str:
        return self.raw_term(index).decode("utf-8", "surrogatepass")

    def find_term(self, term: str) -> int:
        """Number of a term, -1 when it is not here."""
        raw = term.encode("utf-8", "surrogatepass")
        index = self.first_at_least(raw)
        return index if index < self.term_count and self.raw_term(index) == raw else -1

    def first_at_least(self, raw: bytes) -> int:
        low, high = 0, self.term_count
        while low < high:
            middle = (low + high) // 2
            if self.raw_term(middle) < raw:
                low = middle + 1
            else:
                high = middle
        return low

    def read_postings(self, index: int) -> tuple[array[int], bytes]:
        """(documents ascending, weighted counts in quarters) of a term."""
        count, place = self.document_counts[index], self._places[index]
        if place + 5 * count > self._end:
            raise DamagedIndex(self.path)
        self._stream.seek(self._at_postings + place)
        raw = self._stream.read(5 * count)
        docs = _array("I", raw[:4 * count])
        if len(raw) != 5 * count or (count and docs[-1] >= self.count):
            raise DamagedIndex(self.path)
        return docs, raw[4 * count:]

    def close(self) -> None:
        self._stream.close()


def find_count(docs: array[int], counts: bytes, doc: int) -> int:
    """Weighted count of a term in one document, 0 when it is not there."""
    index = bisect_left(docs, doc)
    return counts[index] if index < len(docs) and docs[index] == doc else 0


def _raw(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()


def _array(code: str, raw: bytes) -> array[int]:
    values: array[int] = array(code)
    values.frombytes(raw)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def describe(segment: Segment, doc: int) -> dict[str, Any]:
    """A document's row with its strings put back."""
    row: dict[str, Any] = {name: column[doc] for name, column in segment.columns.items()}
    for key, names in segment.strings.items():
        row[key] = names[row[key]]
    return row
