"""BM25 over the postings of a search index (Robertson, Zaragoza 2009, "The Probabilistic Relevance Framework"; query path)."""
from __future__ import annotations

from bisect import bisect_left
from math import log
from operator import mul

from slipstream.map.postings import COUNT_SCALE, LENGTHS, SearchIndex

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

K1, B = 1.2, 0.75  # the customary values
# Postings walked whole, of the rarest terms; commoner ones are only looked up for the best documents found by then.
POSTINGS_BUDGET, CANDIDATES = 16_000, 2_000


class Asked:
    """A term of the query in the index: the documents that hold it. `of` is the query's word it stands for."""

    __slots__ = ("counts", "docs", "exact", "idf", "of", "term", "weight")

    def __init__(self, index: SearchIndex, term: str, weight: float, of: str, exact: bool = False) -> None:
        self.term, self.weight, self.of, self.exact = term, weight, of, exact
        self.docs, self.counts = index.find(term)
        self.idf = rarity(index.count, len(self.docs))

    def count_in(self, doc: int) -> int:
        """Weighted count of the term in one document, 0 when it is not there."""
        at = bisect_left(self.docs, doc)
        return self.counts[at] if at < len(self.docs) and self.docs[at] == doc else 0


def rarity(total: int, documents: int) -> float:
    """Inverse document frequency from the number of documents and of those that hold a term."""
    return log(1 + (max(1, total) - documents + 0.5) / (documents + 0.5))


def best_of(scores: dict[int, float], most: int, order: Callable[[int], object]) -> list[tuple[int, float]]:
    """At most so many (document, score) with the highest scores; of equal ones, the first by `order`."""
    best = sorted(scores.items(), key=lambda item: -item[1])
    if len(best) > most and best[most][1] == best[most - 1][1]:
        least = best[most][1]
        tied = sorted((doc for doc, score in best if score == least), key=order)  # type: ignore[arg-type]
        best = [one for one in best if one[1] > least] + [(doc, least) for doc in tied]
    return best[:most]


def score_documents(asked: list[Asked], lengths: array[int], spread: array[int],
                    order: Callable[[int], object]) -> dict[int, float]:
    """Document -> score. `lengths` are quantized, see LENGTHS; `spread` counts those of each; `order` as in `best_of`."""
    average = max(1.0, sum(map(mul, spread, LENGTHS)) / max(1, sum(spread)))
    norms = [K1 * (1 - B + B * length / average) for length in LENGTHS]
    scores: dict[int, float] = {}
    get = scores.get
    walked = 0
    for one in sorted(asked, key=lambda one: len(one.docs)):
        gain = one.weight * one.idf * (K1 + 1)
        if not scores or walked + len(one.docs) <= POSTINGS_BUDGET:
            walked += len(one.docs)
            for doc, count in zip(one.docs, one.counts):
                weighted = count / COUNT_SCALE
                scores[doc] = get(doc, 0.0) + gain * weighted / (weighted + norms[lengths[doc]])
            continue
        if len(scores) > CANDIDATES:
            kept = best_of(scores, CANDIDATES, order)
            scores.clear()
            scores.update(kept)
        for doc in scores:
            weighted = one.count_in(doc) / COUNT_SCALE
            if weighted:
                scores[doc] += gain * weighted / (weighted + norms[lengths[doc]])
    return scores
