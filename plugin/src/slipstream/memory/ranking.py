"""Scores documents for a query: BM25 over weighted fields, synonyms at a low weight, a floor for silence."""
from __future__ import annotations

import heapq
from collections.abc import Callable

from slipstream.base.bm25 import QueryTerm, length_norms, score_segment, weigh
from slipstream.memory.documents import field_terms, path_terms
from slipstream.memory.lexicon import SYNONYMS
from slipstream.memory.segment import Segment, find_count

SYNONYM_WEIGHT = 0.25
FUZZY_WEIGHT = 0.5
EXACT_PATH_WEIGHT = 3.0
RECENCY_WEIGHT = 0.01  # a tie-break: the newest document gains this share over an infinitely old one
_RECENCY_HALF_S = 30 * 86400
FLOOR_COVERAGE = 0.34

Pieces = list[tuple[str, Segment, set[int]]]


class Scored:
    __slots__ = ("doc", "matched", "piece", "score")

    def __init__(self, score: float, piece: int, doc: int):
        self.score, self.piece, self.doc = score, piece, doc
        self.matched: list[str] = []


def parse_query(query: str) -> list[QueryTerm]:
    """The query's own terms, each once, then what the table of synonyms adds and the exact paths in it."""
    own = dict.fromkeys(field_terms(query))
    found = [QueryTerm(term, 1.0, term) for term in own]
    for term in own:
        found += [QueryTerm(other, SYNONYM_WEIGHT, term) for other in SYNONYMS.get(term, ()) if other not in own]
    for word in query.split():
        word = word.strip("\"'`,;:()[]<>?!")
        if "/" in word or ("." in word[1:-1] and not word.replace(".", "").isdigit()):
            found += [QueryTerm(term, EXACT_PATH_WEIGHT, term) for term in path_terms(word)]
    return found


def rank(pieces: Pieces, query: str, limit: int, accept: Callable[[Segment], Callable[[int], bool] | None] | None = None
         ) -> list[Scored]:
    """The best documents, at most `limit`; empty when nothing reaches the floor.

    `accept` gives, for a segment, a test of one document (or None for every document).
    """
    total = sum(segment.count for _, segment, _ in pieces)
    terms = parse_query(query)
    if not total or not terms:
        return []
    average = max(1.0, sum(segment.total_length for _, segment, _ in pieces) / total)
    places = [[segment.find_term(term.term) for term in terms] for _, segment, _ in pieces]
    for index, term in enumerate(terms):
        weigh(term, total, sum(segment.document_counts[places[i][index]] for i, (_, segment, _) in enumerate(pieces)
                               if places[i][index] >= 0))
    norms = length_norms(average)
    newest = max((max(segment.columns["ts"]) for _, segment, _ in pieces if segment.count), default=0)
    best: list[tuple[float, int, int]] = []
    for number, (_, segment, deleted) in enumerate(pieces):
        scores = score_segment(segment, terms, places[number], norms)
        test = accept(segment) if accept else None
        stamps = segment.columns["ts"]
        rows = ((score * (1 + RECENCY_WEIGHT / (1 + (newest - stamps[doc]) / _RECENCY_HALF_S)), -number, doc)
                for doc, score in scores.items() if doc not in deleted and (test is None or test(doc)))
        best += heapq.nlargest(limit, rows)
    best = heapq.nlargest(limit, best)
    needed = sum(term.idf for term in terms if term.of == term.term and not term.term.startswith("/"))
    hits = []
    for score, minus, doc in best:
        hit = Scored(score, -minus, doc)
        covered = _explain(hit, pieces[-minus][1], terms, places[-minus])
        if needed <= 0 or covered / needed >= FLOOR_COVERAGE:
            hits.append(hit)
    return hits


def _explain(hit: Scored, segment: Segment, terms: list[QueryTerm], places: list[int]) -> float:
    """Notes which terms matched; returns the weight (idf) of the query's own words that are covered, synonyms counting half."""
    covered: dict[str, float] = {}
    idf = {term.term: term.idf for term in terms if term.term == term.of}
    for term, place in zip(terms, places):
        if place < 0:
            continue
        docs, counts = segment.read_postings(place)
        if find_count(docs, counts, hit.doc):
            own = term.of == term.term
            hit.matched.append(term.term if own else f"{term.of}~{term.term}")
            covered[term.of] = max(covered.get(term.of, 0.0), idf[term.of] * (1.0 if own else 0.5))
    return sum(covered.values())
