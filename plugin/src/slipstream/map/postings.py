"""A search index of the map on disk: numbers of each document, sorted terms, and which documents hold them (query path).

One little-endian file: a header; a directory (length and CRC of each column and of the table); the columns; the table of
term blocks; the blocks, each its terms, compressed, and their postings. A query reads what it asks for, and whatever is read
is checked against its CRC: a block's goes over its postings too.
"""
from __future__ import annotations

import struct
import sys
from array import array
from binascii import crc32
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

from slipstream.map.index_file import CheckedFile, DamagedIndex, unpack

MAGIC = b"SLPFIND2"
# magic, identity of the writer, state of the map it was made from, documents, terms, columns; blocks, end; CRC of all this
# and the directory
HEADER = struct.Struct("<8s5I2QI")
PART = struct.Struct("<2I")
BLOCK_TERMS = 64
COUNT_SCALE = 4  # weighted term counts are kept in quarters
LENGTHS = [1.055 ** step for step in range(256)]  # a document's length is one byte, in steps of 5.5 %
# A term's postings: the first document in four bytes, the steps to the next ones in the fewest bytes that hold the largest,
# then a count each, or one for all. Its form is the place of that width in WIDTHS, and UNIFORM.
WIDTHS, UNIFORM = "BHI", 4


class SearchIndex(CheckedFile):
    """An open index; a subclass names its columns (name, array type code). `state` tells which map it was made from,
    `stamp` is like that of no other file.

    DamagedIndex when its numbers do not fit the file or another `identity` wrote it; OSError when it cannot be read.
    """

    COLUMNS: tuple[tuple[str, str], ...] = ()
    kept = False

    def load(self, identity: int) -> None:
        head = self.read(0, HEADER.size)
        magic, found, self.state, self.count, self.term_count, columns, self.at_blocks, end, crc = HEADER.unpack(head)
        if magic != MAGIC or found != identity or columns != len(self.COLUMNS):
            raise DamagedIndex("another version")
        directory = self.read(HEADER.size, PART.size * (columns + 1))
        self.stamp = crc
        if crc32(directory, crc32(head[:-4])) != crc or end != self.length:
            raise DamagedIndex("header")
        self._parts: dict[str, tuple[int, int, int]] = {}
        at = HEADER.size + len(directory)
        for (name, _), (length, part_crc) in zip((*self.COLUMNS, ("table", "")), PART.iter_unpack(directory)):
            self._parts[name] = (at, length, part_crc)
            at += length
        self._columns: dict[str, array[int]] = {}
        self._blocks: dict[int, tuple[array[int], bytes, list[bytes], list[int], bytes]] = {}
        table, blocks = self.read(*self._parts["table"]), -(-self.term_count // BLOCK_TERMS)
        self.offsets, self.starts = _array("Q", table[:8 * blocks + 8]), _array("I", table[8 * blocks + 8:12 * blocks + 8])
        self.crcs, self.firsts = _array("I", table[12 * blocks + 8:16 * blocks + 8]), table[16 * blocks + 8:].split(b"\0")
        if len(self.crcs) != blocks or len(self.firsts) != max(1, blocks):
            raise DamagedIndex("table")

    def column(self, name: str) -> array[int]:
        """The numbers kept under a name."""
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = _array(dict(self.COLUMNS)[name], self.read(*self._parts[name]))
        return found

    def _block(self, number: int) -> tuple[array[int], bytes, list[bytes], list[int], bytes]:
        """Document counts, forms, terms and places of the postings of a block, and its bytes."""
        found = self._blocks.get(number)
        if found is None:
            at, end = self.offsets[number:number + 2]
            raw = self.read(self.at_blocks + at, end - at, self.crcs[number])
            data = unpack(raw[:self.starts[number]])
            size = min(BLOCK_TERMS, self.term_count - number * BLOCK_TERMS)
            counts, forms, terms = _array("I", data[:4 * size]), data[4 * size:5 * size], data[5 * size:].split(b"\0")
            sizes = (count and 4 + (count - 1 << (form & 3)) + (1 if form & UNIFORM else count)
                     for count, form in zip(counts, forms))
            places = list(accumulate(sizes, initial=self.starts[number]))
            if len(forms) != size or len(terms) != size or places[-1] != len(raw):
                raise DamagedIndex("block")
            found = self._blocks[number] = counts, forms, terms, places, raw
        return found

    def raw_term(self, number: int) -> bytes:
        return self._block(number // BLOCK_TERMS)[2][number % BLOCK_TERMS]

    def documents_of(self, raw: bytes) -> int:
        """How many documents hold a term."""
        number = self._find(raw)
        return self._block(number // BLOCK_TERMS)[0][number % BLOCK_TERMS] if number >= 0 else 0

    def _first_at_least(self, raw: bytes) -> int:
        if not self.term_count:
            return 0
        number = max(0, bisect_right(self.firsts, raw) - 1)
        return number * BLOCK_TERMS + bisect_left(self._block(number)[2], raw)

    def _find(self, raw: bytes) -> int:
        number = self._first_at_least(raw)
        return number if number < self.term_count and self.raw_term(number) == raw else -1

    def terms_from(self, raw: bytes) -> Iterator[bytes]:
        """The terms that are not before `raw`, ascending; some of an index that was changed may have no documents."""
        return map(self.raw_term, range(self._first_at_least(raw), self.term_count))

    def find(self, term: str) -> tuple[list[int], bytes]:
        """(documents ascending, weighted counts in quarters) of a term; nothing when it is not here."""
        number = self._find(term.encode("utf-8", "surrogatepass"))
        return self.read_postings(number) if number >= 0 else ([], b"")

    def read_postings(self, number: int) -> tuple[list[int], bytes]:
        """As `find`, by the number of a term."""
        counts, forms, _, places, raw = self._block(number // BLOCK_TERMS)
        at = number % BLOCK_TERMS
        count, form = counts[at], forms[at]
        if not count:
            return [], b""
        raw = raw[places[at]:places[at + 1]]
        if form & 3 > 2:
            raise DamagedIndex("postings")
        steps = 4 + (count - 1 << (form & 3))
        docs = list(accumulate(_array(WIDTHS[form & 3], raw[4:steps]), initial=int.from_bytes(raw[:4], "little")))
        if docs[-1] >= self.count:
            raise DamagedIndex("postings")
        return docs, raw[steps:] * count if form & UNIFORM else raw[steps:]

    def close(self) -> None:
        self.handle.close()

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.kept:
            self.close()


def _array(code: str, raw: bytes) -> array[int]:
    values: array[int] = array(code)
    if len(raw) % values.itemsize:
        raise DamagedIndex("array")
    values.frombytes(raw)
    if sys.byteorder == "big":
        values.byteswap()
    return values
