"""Writes the search indexes that `postings` reads."""
from __future__ import annotations

import math
import struct
import sys
import zlib
from array import array
from binascii import crc32
from collections import Counter
from operator import sub

from slipstream.map.postings import BLOCK_TERMS, COUNT_SCALE, HEADER, MAGIC, PART, UNIFORM, WIDTHS, SearchIndex

_STEP = math.log(1.055)


def quantize_length(length: float) -> int:
    """A document's length as one byte, see LENGTHS."""
    return min(255, int(math.log(max(1.0, length)) / _STEP))


class IndexBuilder:
    """Collects documents with their terms, then renders the bytes of an index with the columns of `kind`.

    `postings`: term -> (documents ascending, their weighted counts); without counts, each is COUNT_SCALE, that is one.
    """

    def __init__(self, kind: type[SearchIndex]) -> None:
        self.kind = kind
        self.count = 0
        self.passing = False  # what was added is not what the index will say it was made from
        self.columns: dict[str, array[int]] = {name: array(code) for name, code in kind.COLUMNS}
        self.postings: dict[str, tuple[list[int], bytearray]] = {}

    def add(self, counts: dict[str, float], row: dict[str, int]) -> int:
        """Adds a document: weighted count of each term, and a value for every column of documents."""
        doc = self.count
        self.count += 1
        for name, value in row.items():
            self.columns[name].append(value)
        postings = self.postings
        for term, count in counts.items():
            held = postings.get(term)
            if held is None:
                held = postings[term] = ([], bytearray())
            held[0].append(doc)
            held[1].append(max(1, min(255, round(count * COUNT_SCALE))))
        return doc

    def replace(self, index: SearchIndex, stale: set[int]) -> None:
        """Makes this the changes of another index: its documents of the files `stale` are gone, those added here came."""
        gone = self.columns["gone"]
        for doc, slot in enumerate(index.column("slot")):
            if slot in stale:
                if gone and gone[-1] == doc:
                    gone[-1] += 1
                else:
                    gone.extend((doc, doc + 1))
        self.columns["base"].append(index.stamp)
        if "length" in self.columns:
            left, lengths = Counter(index.column("length")), index.column("length")
            for start, end in zip(gone[::2], gone[1::2]):
                left.subtract(lengths[start:end])
            self.count_lengths(left)

    def count_lengths(self, before: Counter[int] | None = None) -> None:
        """Fills the column `spread`: how many documents have each length, with those counted `before`."""
        counts = Counter(self.columns["length"])
        counts.update(before or {})
        self.columns["spread"].extend(counts[length] for length in range(256))

    def take_over(self, index: SearchIndex, deleted: set[int], names: tuple[str, ...]) -> None:
        """The documents of another index but the deleted, with their columns `names`; before any other is added."""
        kept = [doc for doc in range(index.count) if doc not in deleted]
        self.count = len(kept)
        for name in names:
            column = index.column(name)
            self.columns[name].extend(column if not deleted else [column[doc] for doc in kept])
        numbers = array("q", [-1]) * index.count  # what each document becomes
        for number, doc in enumerate(kept):
            numbers[doc] = number
        for number in range(index.term_count):
            docs, counts = index.read_postings(number)
            if deleted and docs:
                docs = list(map(numbers.__getitem__, docs))
                if -1 in docs:
                    counts = bytes([count for doc, count in zip(docs, counts) if doc >= 0])
                    docs = [doc for doc in docs if doc >= 0]
                    if not docs:
                        continue
            self.postings[index.raw_term(number).decode("utf-8", "surrogatepass")] = docs, bytearray(counts)

    def render(self, identity: int, state: int) -> bytes:
        """The file's bytes; `identity` says by which rules its terms were made, `state` from which map."""
        if "spread" in self.columns and not self.columns["spread"]:
            self.count_lengths()
        terms = sorted((term.encode("utf-8", "surrogatepass"), held) for term, held in self.postings.items())
        if "names" in self.columns:
            names = b"\0".join([raw[1:] for raw, _ in terms if raw.startswith(b"=") and b"." not in raw])
            self.columns["names"] = array("B", zlib.compress(names, 1))
        blocks, crcs, starts, offsets = [], array("I"), array("I"), array("Q", [0])
        for first in range(0, len(terms), BLOCK_TERMS):
            counts, forms, postings = array("I"), bytearray(), []
            for _, (docs, weights) in terms[first:first + BLOCK_TERMS]:
                raw, form = _encode(docs, weights)
                counts.append(len(docs))
                forms.append(form)
                postings.append(raw)
            text = b"\0".join([raw for raw, _ in terms[first:first + BLOCK_TERMS]])
            packed = zlib.compress(_raw(counts) + forms + text, 1)
            starts.append(len(packed))
            blocks.append(packed + b"".join(postings))
            crcs.append(crc32(blocks[-1]))
            offsets.append(offsets[-1] + len(blocks[-1]))
        table = _raw(offsets) + _raw(starts) + _raw(crcs) + b"\0".join([terms[i][0] for i in range(0, len(terms), BLOCK_TERMS)])
        parts = [*(_raw(self.columns[name]) for name, _ in self.kind.COLUMNS), table]
        directory = b"".join([PART.pack(len(part), crc32(part)) for part in parts])
        at_blocks = HEADER.size + len(directory) + sum(map(len, parts))
        head = HEADER.pack(MAGIC, identity, state, self.count, len(terms), len(parts) - 1, at_blocks,
                           at_blocks + offsets[-1], 0)[:-4]
        return b"".join([head, struct.pack("<I", crc32(directory, crc32(head))), directory, *parts, *blocks])


def _encode(docs: list[int], counts: bytearray) -> tuple[bytes, int]:
    """The postings of a term, and their form."""
    count = len(docs)
    if not count:
        return b"", 0
    first = docs[0].to_bytes(4, "little")
    if count == 1:
        return first + (counts or b"\4"), UNIFORM
    steps = list(map(sub, docs[1:], docs))
    most = max(steps)
    width = 0 if most < 256 else 1 if most < 65_536 else 2
    form = width | UNIFORM if not counts or counts.count(counts[0]) == count else width
    weights = counts[:1] or b"\4" if form & UNIFORM else counts
    return first + (bytes(steps) if not width else _raw(array(WIDTHS[width], steps))) + weights, form


def _raw(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()
