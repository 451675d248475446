"""A search index with the files that changed since: their new documents stand in a small index beside it (query path)."""
from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import DamagedIndex
from slipstream.map.postings import SearchIndex

CHANGES = ".new"  # what the second index is called more


class Changed(SearchIndex):
    """Both as one: documents of the first but those that are `gone`, then those of the second.

    The second names the first by its stamp (column `base`), and holds the `gone` as pairs of a document and the one behind.
    """

    def __init__(self, first: SearchIndex, second: SearchIndex) -> None:
        self.first, self.second, self.state, self.stamp = first, second, second.state, second.stamp
        gone = second.column("gone")
        self._gone = list(zip(gone[::2], gone[1::2]))
        before = 0
        for start, end in self._gone:
            if not before <= start < end <= first.count:
                raise DamagedIndex("gone")
            before = end
        self.count = first.count - sum(end - start for start, end in self._gone) + second.count
        self._columns: dict[str, array[int]] = {"spread": second.column("spread")} if "spread" in dict(second.COLUMNS) else {}

    def column(self, name: str) -> array[int]:
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self.first.column(name) + self.second.column(name)
        return found

    def documents_of(self, raw: bytes) -> int:
        return len(self.find(raw.decode("utf-8", "surrogatepass"))[0])

    def terms_from(self, raw: bytes) -> Iterator[bytes]:
        ours, theirs = self.first.terms_from(raw), self.second.terms_from(raw)
        one, two = next(ours, None), next(theirs, None)
        while one is not None or two is not None:
            if two is None or (one is not None and one <= two):
                assert one is not None
                yield one
                one, two = next(ours, None), next(theirs, None) if one == two else two
            else:
                yield two
                two = next(theirs, None)

    def find(self, term: str) -> tuple[list[int], bytes]:
        docs, counts = self.first.find(term)
        for start, end in reversed(self._gone if docs else ()):
            at, until = bisect_left(docs, start), bisect_left(docs, end)
            if at < until:
                del docs[at:until]
                counts = counts[:at] + counts[until:]
        more, weights = self.second.find(term)
        return docs + [self.first.count + doc for doc in more], counts + weights

    def close(self) -> None:
        self.first.close()
        self.second.close()


def find_changed(first: SearchIndex, path: str, state: int) -> SearchIndex | None:
    """The index at `path`, with the changes that lead to `state`; None, and closed, where they are not there."""
    try:
        second = type(first)(path + CHANGES, scanner_identity())
    except (DamagedIndex, OSError):
        first.close()
        return None
    try:
        if second.state == state and second.column("base")[:1] == array("I", [first.stamp]):
            return Changed(first, second)
    except DamagedIndex:
        pass
    first.close()
    second.close()
    return None
