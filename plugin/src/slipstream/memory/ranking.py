"""Scores documents for a query: BM25 with a share for the title, helpers at a low weight, a floor for silence."""
from __future__ import annotations

import heapq
import math
import re
from array import array
from collections.abc import Callable

from slipstream.base.text import stem
from slipstream.memory.documents import field_terms, pair_term, path_terms, root_terms
from slipstream.memory.lexicon import SYNONYMS
from slipstream.memory.segment import LENGTHS, Segment, find_count

K1, B = 1.2, 0.75  # Robertson and Sparck Jones's customary values
# Weights beside a word's own 1.0, found on public sets of questions (tests/bench/retrieval.py), the same for all of them.
TITLE_WEIGHT, SYNONYM_WEIGHT, ROOT_WEIGHT, PAIR_WEIGHT, PATH_WEIGHT = 0.5, 0.2, 0.5, 0.3, 3.0
RECENCY_WEIGHT = 0.01  # a tie-break: the newest document gains this share over an infinitely old one
_RECENCY_HALF_S = 30 * 86400
POSTINGS_BUDGET = 12_000  # walked whole for the rarest words; commoner ones are only looked up for documents found by then
CANDIDATES = 600  # documents for which helpers are looked up
FLOOR_COVERAGE = 0.25  # of the query's weight (idf), in the best document; below it nothing fits
_MAX_FLOOR_IDF = 5.0
# Words of a question that say nothing about what it is after.
_WEAK = frozenset(stem(word) for word in (
    "happen work use tell handle implement need want make thing way explain describe know go went get give see look do say "
    "remember recall decide decision kind type sort name recently plan january february march april may june july august "
    "september october november december monday tuesday wednesday thursday friday saturday sunday").split())
_NAMED = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][A-Za-z0-9]+")  # a capital in mid-sentence: a name, which the store has or has not

Pieces = list[tuple[str, Segment, set[int]]]
OWN, SYNONYM, ROOT, PAIR, PATH = range(5)
_WEIGHTS = {OWN: 1.0, SYNONYM: SYNONYM_WEIGHT, ROOT: ROOT_WEIGHT, PAIR: PAIR_WEIGHT, PATH: PATH_WEIGHT}


class QueryTerm:
    """`of` is the word of the query that it stands for."""

    __slots__ = ("documents", "idf", "kind", "of", "term")

    def __init__(self, term: str, kind: int, of: str):
        self.term, self.kind, self.of = term, kind, of
        self.documents, self.idf = 0, 0.0


class Scored:
    __slots__ = ("doc", "matched", "piece", "score")

    def __init__(self, score: float, piece: int, doc: int):
        self.score, self.piece, self.doc = score, piece, doc
        self.matched: list[str] = []


def parse_query(query: str) -> list[QueryTerm]:
    """The query's own words, each once; then its exact paths, synonyms, roots and neighbouring pairs."""
    sequence = field_terms(query)
    own = dict.fromkeys(sequence)
    found = [QueryTerm(term, OWN, term) for term in own]
    for word in query.split():
        word = word.strip("\"'`,;:()[]<>?!")
        if "/" in word or ("." in word[1:-1] and not word.replace(".", "").isdigit()):
            found += [QueryTerm(term, PATH, term) for term in path_terms(word)]
    others = {other: term for term in own for other in SYNONYMS.get(term, ()) if other not in own}
    found += [QueryTerm(other, SYNONYM, term) for other, term in others.items()]
    found += [QueryTerm(root, ROOT, term) for root, term in {root: term for term, root in root_terms(query)}.items()]
    pairs = {pair_term(one, two): one for one, two in zip(sequence, sequence[1:]) if one != two}
    return found + [QueryTerm(pair, PAIR, term) for pair, term in pairs.items()]


def rank(pieces: Pieces, query: str, limit: int, accept: Callable[[Segment], Callable[[int], bool] | None] | None = None
         ) -> list[Scored]:
    """The best documents, at most `limit`; empty when nothing reaches the floor.

    `accept` gives, for a segment, a test of one document (or None for every document).
    """
    total = sum(segment.count for _, segment, _ in pieces)
    terms = parse_query(query)
    if not total or not terms:
        return []
    places = [[segment.find_term(term.term) for term in terms] for _, segment, _ in pieces]
    for index, term in enumerate(terms):
        term.documents = sum(segment.document_counts[places[i][index]] for i, (_, segment, _) in enumerate(pieces)
                             if places[i][index] >= 0)
        term.idf = math.log(1 + (total - term.documents + 0.5) / (term.documents + 0.5))
    norms = _Norms(pieces, total)
    newest = max(segment.newest for _, segment, _ in pieces)
    best: list[tuple[float, int, int]] = []
    for number, (_, segment, deleted) in enumerate(pieces):
        test = accept(segment) if accept else None
        scores = _score_segment(segment, terms, places[number], norms, deleted, test)
        stamps = segment.columns["ts"]
        best += heapq.nlargest(limit, (
            (score * (1 + RECENCY_WEIGHT / (1 + (newest - stamps[doc]) / _RECENCY_HALF_S)), -number, -doc)
            for doc, score in scores.items()))
    hits = []
    covered = 0.0
    known = {term.of for term in terms if term.documents and term.kind in (OWN, ROOT)}
    strange = any(set(field_terms(name)).isdisjoint(known) for name in _NAMED.findall(query))
    for score, minus, doc in heapq.nlargest(limit, best):
        hit = Scored(score, -minus, -doc)
        covered = max(covered, _explain(hit, pieces[-minus][1], terms, places[-minus]))
        hits.append(hit)
    return hits if covered >= FLOOR_COVERAGE * (2 if strange else 1) else []


_COUNTS = [max(1, packed >> 2) / 2 for packed in range(256)]  # see documents.pack_count


class _Norms:
    """What a count is weighed against in BM25: by length step of the whole text, by words of the title."""

    __slots__ = ("text", "title")

    def __init__(self, pieces: Pieces, total: int):
        average = max(1.0, sum(segment.total_length for _, segment, _ in pieces) / total)
        titled = sum(segment.titled for _, segment, _ in pieces)
        average_title = max(1.0, sum(segment.total_title for _, segment, _ in pieces) / max(1, titled))
        self.text = [K1 * (1 - B + B * length / average) for length in LENGTHS]
        self.title = [K1 * (1 - B + B * length / average_title) for length in range(256)]


def _score_segment(segment: Segment, terms: list[QueryTerm], places: list[int], norms: _Norms, deleted: set[int],
                   test: Callable[[int], bool] | None) -> dict[int, float]:
    """Own words first, the rarest whole; then what helpers add to the best documents found by then."""
    scores: dict[int, float] = {}
    walked = 0
    own = sorted((segment.document_counts[place], index) for index, place in enumerate(places)
                 if place >= 0 and terms[index].kind in (OWN, PATH))
    for count, index in own:
        docs, counts = segment.read_postings(places[index])
        if not scores or walked + count <= POSTINGS_BUDGET or test is not None:
            walked += count
            _walk(scores, docs, counts, terms[index], segment, norms)
        else:
            _look_up(scores, docs, counts, terms[index], segment, norms)
    helpers = sorted((segment.document_counts[place], index) for index, place in enumerate(places)
                     if place >= 0 and terms[index].kind not in (OWN, PATH))
    if not scores:  # no word of the query is here: a synonym or a root may still be
        for count, index in helpers:
            if terms[index].kind != PAIR and (not scores or walked + count <= POSTINGS_BUDGET):
                walked += count
                _walk(scores, *segment.read_postings(places[index]), terms[index], segment, norms)
        helpers = []
    if deleted or test is not None:
        scores = {doc: score for doc, score in scores.items() if doc not in deleted and (test is None or test(doc))}
    for _, index in helpers:
        _look_up(scores, *segment.read_postings(places[index]), terms[index], segment, norms)
    return scores


def _walk(scores: dict[int, float], docs: array[int], counts: bytes, term: QueryTerm, segment: Segment, norms: _Norms) -> None:
    gain, get, text_norms = _WEIGHTS[term.kind] * term.idf * (K1 + 1), scores.get, norms.text
    lengths = segment.columns["length"]
    for doc, packed in zip(docs, counts):
        count = _COUNTS[packed]
        scores[doc] = get(doc, 0.0) + gain * count / (count + text_norms[lengths[doc]])
    if term.kind == OWN:
        gain, titles, title_norms = gain * TITLE_WEIGHT, segment.columns["title"], norms.title
        for doc, packed in zip(docs, counts):
            count = packed & 3
            if count:
                scores[doc] += gain * count / (count + title_norms[titles[doc]])


def _look_up(scores: dict[int, float], docs: array[int], counts: bytes, term: QueryTerm, segment: Segment,
             norms: _Norms) -> None:
    """Adds a term's part to documents that were found already."""
    if len(scores) > CANDIDATES:
        kept = heapq.nlargest(CANDIDATES, scores.items(), key=lambda item: item[1])
        scores.clear()
        scores.update(kept)
    gain, lengths, titles = _WEIGHTS[term.kind] * term.idf * (K1 + 1), segment.columns["length"], segment.columns["title"]
    for doc in scores:
        packed = find_count(docs, counts, doc)
        if packed:
            count = _COUNTS[packed]
            scores[doc] += gain * count / (count + norms.text[lengths[doc]])
            if term.kind == OWN and packed & 3:
                scores[doc] += gain * TITLE_WEIGHT * (packed & 3) / ((packed & 3) + norms.title[titles[doc]])


def _explain(hit: Scored, segment: Segment, terms: list[QueryTerm], places: list[int]) -> float:
    """Notes which words matched; returns the share of the query's weight that is covered, by a synonym or a root by half."""
    covered: dict[str, float] = {}
    exact = False
    for term, place in zip(terms, places):
        if place < 0 or term.kind == PAIR:
            continue
        docs, counts = segment.read_postings(place)
        if not find_count(docs, counts, hit.doc):
            continue
        exact = exact or term.kind == PATH
        share = 1.0 if term.kind in (OWN, PATH) else 0.5
        if share > covered.get(term.of, 0.0):
            if term.kind in (OWN, PATH) or term.of not in covered:
                hit.matched.append({OWN: term.term, PATH: term.term[1:], ROOT: f"{term.of}~{term.term[1:]}"}.get(
                    term.kind, f"{term.of}~{term.term}"))
            covered[term.of] = share
    weights = {term.term: min(term.idf, _MAX_FLOOR_IDF) for term in terms if term.kind == OWN}
    telling = {term: weight for term, weight in weights.items() if term not in _WEAK and not term.isdigit()} or weights
    needed = sum(telling.values())
    if exact or not needed:
        return 1.0
    return sum(weight * covered.get(term, 0.0) for term, weight in telling.items()) / needed
