"""One immutable piece of a search index: a sorted term table with its postings, and a row of numbers for each document.

Layout, little-endian: header; arrays per document; a JSON string table; term text, term ends, document counts and posting
places; postings (each: documents as uint32, then weighted term counts as bytes). Read whole but for the postings.
"""
from __future__ import annotations

import os
import struct
import sys
from array import array
from binascii import crc32
from bisect import bisect_left

MAGIC = b"slpseg05"
HEADER = struct.Struct("<8sIIIIQQQQQ")  # magic, stamp, CRC of all before the postings, documents, terms; places of
# strings, term text, term table, postings, end
COUNT_SCALE = 4  # weighted term counts are kept in quarters
LENGTH_BASE = 1.055  # a document's length is one byte on a logarithmic scale of 5.5 % steps, as search engines keep it
LENGTHS = [LENGTH_BASE ** step for step in range(256)]


class DamagedIndex(Exception):
    """A piece of the index that cannot be what was written; it is derived, so it is built again."""


class Segment:
    """An opened segment; a subclass names its columns (name -> array type code) and those that number a string.

    DamagedIndex when its numbers do not fit the file or it was written under another `stamp`; OSError when it cannot be read.
    """

    COLUMNS: tuple[tuple[str, str], ...] = (("length", "B"),)
    STRINGS: tuple[str, ...] = ()

    def __init__(self, path: str, stamp: int = 0):
        self.path, self.stamp = path, stamp
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        fd = os.open(path, flags)
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
        magic, stamp, crc, self.count, self.term_count, at_strings, at_text, at_table, self._at_postings, end = HEADER.unpack(
            self._stream.read(HEADER.size))
        if magic != MAGIC or stamp != self.stamp:
            raise DamagedIndex(self.path)
        if not HEADER.size <= at_strings <= at_text <= at_table <= self._at_postings <= end == size:
            raise DamagedIndex(self.path)
        raw = self._stream.read(self._at_postings - HEADER.size)
        if crc32(raw) != crc:
            raise DamagedIndex(self.path)
        self.columns: dict[str, array[int]] = {}
        place = 0
        for name, code in by_width(self.COLUMNS):
            step = array(code).itemsize * self.count
            self.columns[name] = _array(code, raw[place:place + step])
            place += step
        if place != at_strings - HEADER.size:
            raise DamagedIndex(self.path)
        self.strings: dict[str, list[str]] = {}
        if self.STRINGS:
            from json import loads  # not for an index without strings: the module costs as much as a start
            found = loads(raw[place:at_text - HEADER.size])
            self.strings = {key: [str(text) for text in found[key]] for key in self.STRINGS}
        for key, names in self.strings.items():
            if self.count and max(self.columns[key]) >= len(names):
                raise DamagedIndex(self.path)
        self._text = raw[at_text - HEADER.size:at_table - HEADER.size]
        table = raw[at_table - HEADER.size:]
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

    def __enter__(self) -> Segment:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def close(self) -> None:
        self._stream.close()


def find_count(docs: array[int], counts: bytes, doc: int) -> int:
    """Weighted count of a term in one document, 0 when it is not there."""
    index = bisect_left(docs, doc)
    return counts[index] if index < len(docs) and docs[index] == doc else 0


def by_width(columns: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The columns as they lie in the file: widest first, so that each is aligned."""
    return sorted(columns, key=lambda item: -array(item[1]).itemsize)


def _array(code: str, raw: bytes) -> array[int]:
    values: array[int] = array(code)
    values.frombytes(raw)
    if sys.byteorder == "big":
        values.byteswap()
    return values
