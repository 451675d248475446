"""A search index with the files that changed since: their new documents stand in a small index beside it (query path)."""
from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import compress

from slipstream.map.index_file import DamagedIndex
from slipstream.map.postings import SearchIndex

CHANGES = ".new"  # what the second index is called more


class Changed(SearchIndex):
    """Both as one: documents of the first but those that are `gone`, then those of the second.

    The second names the first by its stamp (column `base`), and holds the `gone` as pairs of a document and the one behind.
    """

    def __init__(self, first: SearchIndex, second: SearchIndex, state: int) -> None:
        self.first, self.second, self.state, self.stamp = first, second, second.state, second.stamp
        gone, before = second.column("gone"), 0
        self._alive = bytearray(b"\1") * first.count
        for start, end in zip(gone[::2], gone[1::2]):
            if not before <= start < end <= first.count:
                raise DamagedIndex("gone")
            self._alive[start:end], before = bytes(end - start), end
        if state != self.state or second.column("base")[:1] != array("I", [first.stamp]):
            raise DamagedIndex("changes of something else")
        self.count = sum(self._alive) + second.count
        self._columns: dict[str, array[int]] = {"spread": second.column("spread")} if "spread" in dict(second.COLUMNS) else {}

    def column(self, name: str) -> array[int]:
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self.first.column(name) + self.second.column(name)
        return found

    def documents_of(self, raw: bytes) -> int:
        return len(self.find(raw.decode("utf-8", "surrogatepass"))[0])

    def terms_from(self, raw: bytes) -> Iterator[bytes]:
        theirs = self.second.terms_from(raw)
        two = next(theirs, None)
        for one in self.first.terms_from(raw):
            while two is not None and two <= one:
                if two < one:
                    yield two
                two = next(theirs, None)
            yield one
        if two is not None:
            yield two
            yield from theirs

    def find(self, term: str) -> tuple[list[int], bytes]:
        docs, counts = self.first.find(term)
        alive = bytes(map(self._alive.__getitem__, docs))
        if 0 in alive:
            docs, counts = list(compress(docs, alive)), bytes(compress(counts, alive))
        more, weights = self.second.find(term)
        return docs + [self.first.count + doc for doc in more], counts + weights

    def close(self) -> None:
        self.first.close()
        self.second.close()
