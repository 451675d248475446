"""BM25 over the segments of a search index (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework")."""
from __future__ import annotations

import heapq
import math
from array import array

from slipstream.base.segment import COUNT_SCALE, LENGTHS, Segment, find_count

K1, B = 1.2, 0.75  # the customary values
POSTINGS_BUDGET = 16_000  # walked whole for the rarest terms; commoner ones are only looked up for documents found by then
CANDIDATES = 2_000


class QueryTerm:
    __slots__ = ("documents", "idf", "of", "term", "weight")

    def __init__(self, term: str, weight: float, of: str):
        self.term, self.weight, self.of = term, weight, of
        self.documents, self.idf = 0, 0.0


def weigh(term: QueryTerm, total: int, documents: int) -> None:
    """Sets a term's inverse document frequency from the number of documents and of those that hold it."""
    term.documents = documents
    term.idf = math.log(1 + (total - documents + 0.5) / (documents + 0.5))


def length_norms(average: float) -> list[float]:
    """The formula's length part for each quantized length."""
    return [K1 * (1 - B + B * length / average) for length in LENGTHS]


def score_segment(segment: Segment, terms: list[QueryTerm], places: list[int], norms: list[float]) -> dict[int, float]:
    """Document -> score over the terms at `places` (-1: not in this segment)."""
    lengths = segment.columns["length"]
    scores: dict[int, float] = {}
    walked = 0
    order = sorted((segment.document_counts[place], index) for index, place in enumerate(places) if place >= 0)
    for count, index in order:
        term = terms[index]
        gain = term.weight * term.idf * (K1 + 1)
        docs, counts = segment.read_postings(places[index])
        if not scores or walked + count <= POSTINGS_BUDGET:
            walked += count
            get = scores.get
            for doc, tf in zip(docs, counts):
                weighted = tf / COUNT_SCALE
                scores[doc] = get(doc, 0.0) + gain * weighted / (weighted + norms[lengths[doc]])
        else:
            _look_up(scores, docs, counts, gain, lengths, norms)
    return scores


def _look_up(scores: dict[int, float], docs: array[int], counts: bytes, gain: float, lengths: array[int],
             norms: list[float]) -> None:
    """Adds a common term's part to the documents that rarer terms have found."""
    if len(scores) > CANDIDATES:
        kept = heapq.nlargest(CANDIDATES, scores.items(), key=lambda item: item[1])
        scores.clear()
        scores.update(kept)
    for doc in scores:
        tf = find_count(docs, counts, doc)
        if tf:
            weighted = tf / COUNT_SCALE
            scores[doc] += gain * weighted / (weighted + norms[lengths[doc]])
