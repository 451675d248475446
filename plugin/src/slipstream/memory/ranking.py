"""Scores documents for a query: BM25 with a share for the title, helpers at a low weight, a floor for silence."""
from __future__ import annotations

import heapq
import math
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable

from slipstream.base.text import stem, words
from slipstream.memory.lexicon import SYNONYMS
from slipstream.memory.segment import LENGTHS, Segment, find_count
from slipstream.memory.terms import field_terms, pair_term, path_terms, root_terms

K1, B = 1.2, 0.75  # Robertson and Sparck Jones's customary values, for texts of ordinary length
SHORT_K1, SHORT_B = 0.9, 0.4  # for short notes, whose length says little (customary for passages; measured by the bench)
_SHORT_WORDS, _LONG_WORDS = 15, 45  # average lengths between which the one turns into the other
# Weights beside a word's own 1.0, found on public sets of questions (tests/bench/retrieval.py), the same for all of them.
TITLE_WEIGHT, SYNONYM_WEIGHT, ROOT_WEIGHT, PAIR_WEIGHT, PATH_WEIGHT = 0.5, 0.2, 0.5, 0.3, 3.0
RECENCY_WEIGHT = 0.01  # a tie-break: the newest document gains this share over an infinitely old one
_RECENCY_HALF_S = 30 * 86400
POSTINGS_BUDGET = 4_000  # walked whole for the rarest words; commoner ones are only looked up for documents found by then
CANDIDATES = 250  # documents for which helpers are looked up
FEW = 2_000  # documents that a filter leaves, up to which each is looked at
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
    """`of` is the word of the query, as a term, that it stands for; `word` that word as it was written."""

    __slots__ = ("documents", "idf", "kind", "of", "term", "word")

    def __init__(self, term: str, kind: int, of: str):
        self.term, self.kind, self.of, self.word = term, kind, of, of
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
        if "/" in word or ("." in word[1:-1] and not word.replace(".", "").isdecimal()):
            found += [QueryTerm(term, PATH, term) for term in path_terms(word)]
    others = {other: term for term in own for other in SYNONYMS.get(term, ()) if other not in own}
    found += [QueryTerm(other, SYNONYM, term) for other, term in others.items()]
    found += [QueryTerm(root, ROOT, term) for root, term in {root: term for term, root in root_terms(query)}.items()]
    pairs = {pair_term(one, two): one for one, two in zip(sequence, sequence[1:]) if one != two}
    found += [QueryTerm(pair, PAIR, term) for pair, term in pairs.items()]
    written = {stem(word): word for word in reversed(words(query))}
    for term in found:
        term.word = written.get(term.of, term.of)
    return found


def rank(pieces: Pieces, query: str, limit: int, accept: Callable[[Segment], list[int] | None] | None = None) -> list[Scored]:
    """The best documents, at most `limit`; empty when nothing reaches the floor.

    `accept` gives, for a segment, the documents that may be found, ascending (or None for every document).
    """
    total = sum(segment.count for _, segment, _ in pieces)
    terms = parse_query(query)
    if not total or not terms:
        return []
    held = [_Held(segment, terms) for _, segment, _ in pieces]
    for index, term in enumerate(terms):
        term.documents = sum(piece.document_count(index) for piece in held)
        term.idf = math.log(1 + (total - term.documents + 0.5) / (term.documents + 0.5))
    norms = _Norms(pieces, total)
    newest = max(segment.newest for _, segment, _ in pieces)
    best: list[tuple[float, int, int]] = []
    for number, (_, segment, deleted) in enumerate(pieces):
        room = _Room(segment.count / total, limit)
        scores = _score_segment(held[number], terms, norms, deleted, accept(segment) if accept else None, room)
        stamps = segment.columns["ts"]
        best += heapq.nlargest(limit, [
            (score * (1 + RECENCY_WEIGHT / (1 + (newest - stamps[doc]) / _RECENCY_HALF_S)), -number, -doc)
            for doc, score in _prune(scores, room.candidates).items() if score > 0])
    hits = []
    covered = 0.0
    known = {term.of for term in terms if term.documents and term.kind in (OWN, ROOT)}
    strange = any(set(field_terms(name)).isdisjoint(known | _WEAK) for name in _NAMED.findall(query))
    for score, minus, doc in heapq.nlargest(limit, best):
        hit = Scored(score, -minus, -doc)
        covered = max(covered, _explain(hit, held[-minus], terms))
        hits.append(hit)
    return hits if covered >= FLOOR_COVERAGE * (2 if strange else 1) else []


class _Held:
    """A segment with the places of the query's terms in it, each term's postings read once."""

    __slots__ = ("_postings", "places", "segment")

    def __init__(self, segment: Segment, terms: list[QueryTerm]):
        self.segment = segment
        self.places = [segment.find_term(term.term) for term in terms]
        self._postings: dict[int, tuple[array[int], bytes]] = {}

    def document_count(self, index: int) -> int:
        return self.segment.documents_with(self.places[index]) if self.places[index] >= 0 else 0

    def postings(self, index: int) -> tuple[array[int], bytes]:
        found = self._postings.get(index)
        if found is None:
            found = self._postings[index] = self.segment.read_postings(self.places[index])
        return found


_COUNTS = [max(1, packed >> 2) / 2 for packed in range(256)]  # see documents.count_terms


class _Norms:
    """What a count is weighed against in BM25: by length step of the whole text, by words of the title."""

    __slots__ = ("k1", "text", "title")

    def __init__(self, pieces: Pieces, total: int):
        average = max(1.0, sum(segment.total_length for _, segment, _ in pieces) / total)
        share = min(1.0, max(0.0, (average - _SHORT_WORDS) / (_LONG_WORDS - _SHORT_WORDS)))
        k1, b = SHORT_K1 + share * (K1 - SHORT_K1), SHORT_B + share * (B - SHORT_B)
        self.k1 = k1
        titled = sum(segment.titled for _, segment, _ in pieces)
        average_title = max(1.0, sum(segment.total_title for _, segment, _ in pieces) / max(1, titled))
        self.text = [k1 * (1 - b + b * length / average) for length in LENGTHS]
        self.title = [K1 * (1 - B + B * length / average_title) for length in range(256)]


class _Room:
    """A segment's share of the work: it grows with the segment, so that many small ones cost what a large one does."""

    __slots__ = ("candidates", "limit", "postings")

    def __init__(self, share: float, limit: int):
        self.limit, self.postings = limit, int(POSTINGS_BUDGET * share)
        self.candidates = max(3 * limit, int(CANDIDATES * share))


def _score_segment(held: _Held, terms: list[QueryTerm], norms: _Norms, deleted: set[int], allowed: list[int] | None,
                   room: _Room) -> dict[int, float]:
    """Own words first, the rarest whole; then what helpers add to the best documents found by then."""
    order = sorted((held.document_count(index), index) for index, place in enumerate(held.places) if place >= 0)
    own = [index for _, index in order if terms[index].kind in (OWN, PATH)]
    helpers = [index for _, index in order if terms[index].kind not in (OWN, PATH)]
    if allowed is not None and len(allowed) <= FEW:
        scores = {doc: 0.0 for doc in allowed if doc not in deleted}
        for index in [*own, *helpers]:
            _look_up(scores, held, index, terms[index], norms)
        return scores
    scores = _walk_rarest(held, own, terms, norms, room, True)
    if not scores:  # no word of the query is here: a synonym or a root may still be
        scores = _walk_rarest(held, [index for index in helpers if terms[index].kind != PAIR], terms, norms, room, True)
        helpers = []
    if allowed is not None:
        members = set(allowed)
        kept = {doc: score for doc, score in scores.items() if doc in members}
        if len(kept) < room.limit:
            scores = _walk_rarest(held, own, terms, norms, room, False)
            kept = {doc: score for doc, score in scores.items() if doc in members}
        scores = kept
    if deleted:
        scores = {doc: score for doc, score in scores.items() if doc not in deleted}
    scores = _prune(scores, room.candidates)
    for index in helpers:
        _look_up(scores, held, index, terms[index], norms)
    return scores


def _walk_rarest(held: _Held, order: list[int], terms: list[QueryTerm], norms: _Norms, room: _Room, frugal: bool
                 ) -> dict[int, float]:
    """Scores over the terms in `order`, rarest first: walked while there is room, when frugal, then looked up."""
    scores: dict[int, float] = {}
    walked = 0
    for index in order:
        count = held.document_count(index)
        if not scores or not frugal or walked + count <= room.postings:
            walked += count
            _walk(scores, held, index, terms[index], norms)
        else:
            if len(scores) > 2 * room.candidates:
                scores = _prune(scores, room.candidates)
            _look_up(scores, held, index, terms[index], norms)
    return scores


def _prune(scores: dict[int, float], keep: int) -> dict[int, float]:
    """About the best `keep` documents (at least that many): the bound is read off an even sample."""
    if len(scores) <= 2 * keep:
        return scores
    step = max(1, len(scores) // 2000)
    sample = sorted(list(scores.values())[::step], reverse=True)
    bound = sample[min(len(sample) - 1, keep * 3 // 2 // step)]
    return {doc: score for doc, score in scores.items() if score >= bound}


def _walk(scores: dict[int, float], held: _Held, index: int, term: QueryTerm, norms: _Norms) -> None:
    docs, counts = held.postings(index)
    gain, get = _WEIGHTS[term.kind] * term.idf * (norms.k1 + 1), scores.get
    columns = held.segment.columns
    lengths, titles = columns["length"], columns["title"]
    text = {packed: [gain * count / (count + norm) for norm in norms.text]
            for packed in set(counts) for count in (_COUNTS[packed],)}
    gain *= TITLE_WEIGHT if term.kind == OWN else 0.0
    title = [[gain * count / (count + norm) for norm in norms.title] for count in range(4)]
    if scores:
        for doc, packed in zip(docs, counts):
            scores[doc] = get(doc, 0.0) + text[packed][lengths[doc]] + title[packed & 3][titles[doc]]
    else:
        scores.update({doc: text[packed][lengths[doc]] + title[packed & 3][titles[doc]] for doc, packed in zip(docs, counts)})


def _look_up(scores: dict[int, float], held: _Held, index: int, term: QueryTerm, norms: _Norms) -> None:
    """Adds a term's part to documents that were found already."""
    docs, counts = held.postings(index)
    columns = held.segment.columns
    lengths, titles, text_norms = columns["length"], columns["title"], norms.text
    gain = _WEIGHTS[term.kind] * term.idf * (norms.k1 + 1)
    end, own = len(docs), term.kind == OWN
    if end < len(scores):
        found = [(doc, packed) for doc, packed in zip(docs, counts) if doc in scores]
    else:
        found = []
        for doc in scores:
            place = bisect_left(docs, doc)
            if place < end and docs[place] == doc:
                found.append((doc, counts[place]))
    for doc, packed in found:
        count = _COUNTS[packed]
        scores[doc] += gain * count / (count + text_norms[lengths[doc]])
        if own and packed & 3:
            scores[doc] += gain * TITLE_WEIGHT * (packed & 3) / ((packed & 3) + norms.title[titles[doc]])


def _explain(hit: Scored, held: _Held, terms: list[QueryTerm]) -> float:
    """Notes which words matched; returns the share of the query's weight that is covered, by a synonym or a root by half."""
    covered: dict[str, float] = {}
    exact = False
    for index, term in enumerate(terms):
        if held.places[index] < 0 or term.kind == PAIR or not find_count(*held.postings(index), hit.doc):
            continue
        exact = exact or term.kind == PATH
        share = 1.0 if term.kind in (OWN, PATH) else 0.5
        if share > covered.get(term.of, 0.0):
            if term.kind in (OWN, PATH) or term.of not in covered:
                hit.matched.append({OWN: term.word, PATH: term.term[1:], ROOT: f"{term.word}~{term.term[1:]}"}.get(
                    term.kind, f"{term.word}~{term.term}"))
            covered[term.of] = share
    weights = {term.term: min(term.idf, _MAX_FLOOR_IDF) for term in terms if term.kind == OWN}
    telling = {term: weight for term, weight in weights.items() if term not in _WEAK and not term.isdecimal()} or weights
    needed = sum(telling.values())
    if exact or not needed:
        return 1.0
    return sum(weight * covered.get(term, 0.0) for term, weight in telling.items()) / needed
