"""One immutable piece of the memory's search index: a sorted term table with its postings, and a row for each document.

Layout, little-endian: header; arrays per document; a JSON string table; term text, term ends, document counts and posting
places; postings (each: documents as uint32, then weighted term counts as bytes). Mapped, not read.
"""
from __future__ import annotations

import json
import mmap
import os
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

MAGIC = b"slpseg05"
HEADER = struct.Struct("<8sIIIIQQQQQ")  # magic, 0, CRC of all before the postings, documents, terms; places of
# strings, term text, term table, postings, end
LENGTH_BASE = 1.055  # a document's length is one byte on a logarithmic scale of 5.5 % steps, as search engines keep it
LENGTHS = [LENGTH_BASE ** step for step in range(256)]
COLUMNS = (("length", "B"), ("title", "B"), ("kind", "B"), ("source", "I"), ("session", "I"), ("branch", "I"),
           ("ts", "I"), ("number", "I"), ("size", "I"), ("offset", "Q"))
STRINGS = ("source", "session", "branch")


class DamagedIndex(Exception):
    """A piece of the index that cannot be what was written; it is derived, so it is built again."""


class Segment:
    """An opened segment. Its term table may be large, so it is looked up where it lies.

    For the same reason its checksum is not counted over on opening: every place read from it is checked where it is used,
    and what a search finds is read from the records themselves. DamagedIndex when its numbers do not fit the file; OSError
    when it cannot be read.
    """

    def __init__(self, path: str):
        self.path = path
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        fd = os.open(path, flags)
        try:
            self._map = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise DamagedIndex(f"{path}: empty") from None
        finally:
            os.close(fd)
        try:
            self._load(len(self._map))
        except DamagedIndex:
            self.close()
            raise
        except (struct.error, ValueError, KeyError, TypeError, RecursionError, UnicodeError) as error:
            self.close()
            raise DamagedIndex(f"{path}: {error}") from None

    def _load(self, size: int) -> None:
        magic, _, _, self.count, self.term_count, *places = HEADER.unpack(self._map[:HEADER.size])
        at_strings, self._at_text, at_table, self._at_postings, end = places
        if magic != MAGIC or self._at_postings - at_table != self.term_count * 16 \
                or not HEADER.size <= at_strings <= self._at_text <= at_table <= self._at_postings <= end == size:
            raise DamagedIndex(self.path)
        self.columns: dict[str, array[int]] = {}
        place = HEADER.size
        for name, code in by_width(COLUMNS):
            column: array[int] = array(code)
            column.frombytes(self._map[place:place + column.itemsize * self.count])
            if sys.byteorder == "big":
                column.byteswap()
            self.columns[name] = column
            place += column.itemsize * self.count
        found = json.loads(self._map[place:self._at_text])
        self.strings = {key: [str(text) for text in found[key]] for key in STRINGS}
        if place != at_strings or any(self.count and max(self.columns[key]) >= len(names)
                                      for key, names in self.strings.items()):
            raise DamagedIndex(self.path)
        terms = self.term_count
        self._term_places = self._numbers("Q", at_table, at_table + terms * 8)
        self._term_ends = self._numbers("I", at_table + terms * 8, at_table + terms * 12)
        self._term_documents = self._numbers("I", at_table + terms * 12, self._at_postings)
        self._end = end - self._at_postings
        lengths = bytes(self.columns["length"])
        self.total_length = sum(lengths.count(step) * LENGTHS[step] for step in set(lengths))
        titles, self.newest = self.columns["title"], max(self.columns["ts"], default=0)
        self.total_title, self.titled = sum(titles), self.count - titles.count(0)

    def _numbers(self, code: str, start: int, stop: int) -> Sequence[int]:
        """Numbers of the file, looked up where they lie; copied where the machine's byte order is another."""
        if sys.byteorder == "big":
            values: array[int] = array(code)
            values.frombytes(self._map[start:stop])
            values.byteswap()
            return values
        view = memoryview(self._map)[start:stop]
        return view.cast("Q") if code == "Q" else view.cast("I")

    def documents_with(self, index: int) -> int:
        return self._term_documents[index]

    def raw_term(self, index: int) -> bytes:
        start = self._at_text
        return self._map[start + (self._term_ends[index - 1] if index else 0):start + self._term_ends[index]]

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
        """(documents ascending, packed counts) of a term."""
        count, place = self._term_documents[index], self._term_places[index]
        if place + 5 * count > self._end:
            raise DamagedIndex(self.path)
        start = self._at_postings + place
        docs: array[int] = array("I")
        docs.frombytes(self._map[start:start + 4 * count])
        if sys.byteorder == "big":
            docs.byteswap()
        if count and docs[-1] >= self.count:
            raise DamagedIndex(self.path)
        return docs, self._map[start + 4 * count:start + 5 * count]

    def close(self) -> None:
        for name in ("_term_places", "_term_ends", "_term_documents"):
            view = getattr(self, name, None)
            if isinstance(view, memoryview):
                view.release()
        self._map.close()


def find_count(docs: array[int], counts: bytes, doc: int) -> int:
    """Weighted count of a term in one document, 0 when it is not there."""
    index = bisect_left(docs, doc)
    return counts[index] if index < len(docs) and docs[index] == doc else 0


def by_width(columns: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The columns as they lie in the file: widest first, so that each is aligned."""
    return sorted(columns, key=lambda item: -array(item[1]).itemsize)


def describe(segment: Segment, doc: int) -> dict[str, Any]:
    """A document's row with its strings put back."""
    row: dict[str, Any] = {name: column[doc] for name, column in segment.columns.items()}
    for key, names in segment.strings.items():
        row[key] = names[row[key]]
    return row
