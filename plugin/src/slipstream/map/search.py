"""Ranks symbols and files for a query: exact names first, then BM25 over fields, typing errors, body words (query path)."""
from __future__ import annotations

import heapq
import re
from array import array
from math import log

from slipstream.base.bm25 import QueryTerm, length_norms, score_segment, weigh
from slipstream.base.segment import LENGTHS, Segment, find_count
from slipstream.base.text import STOP_WORDS, split_identifier, stem
from slipstream.map.fresh import View, open_view
from slipstream.map.index_file import IMPORTERS
from slipstream.map.search_store import open_definitions, plain_name

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Union

    from slipstream.map.index_file import FileEntry, Symbol

    # Score, path, and the hit or where to read it: (slot, place in the file, document, terms). Only what is shown is read.
    Row = tuple[float, str, Union["Hit", tuple[int, int, int, list["Asked"]]]]

EXACT_GAIN, PREFIX_WEIGHT, TYPO_WEIGHT, BODY_WEIGHT = 6.0, 0.4, 0.6, 0.5
FLOOR_COVERAGE, FLOOR_SHARE = 0.34, 0.2  # of the query's weight that must match; of the best score
BODY_BELOW = 0.6  # coverage of the best hit under which the bodies are asked
TEST_FACTOR, GENERATED_FACTOR, FILE_FACTOR, IMPORTERS_GAIN = 0.9, 0.7, 0.5, 0.05
MAX_RANKED = 400
MAX_NAME_WORDS, ONE_OF_SEVERAL = 4, 0.15  # a short query may be a name written as words, or hold one
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec|testing|fixtures|examples?)/|(?:^|/)test_|[._](?:test|spec)\.|_test\.")
_TOKEN = re.compile(r"[^\W_][\w$.]*|[\w$]+")


class Asked:
    """A term of the query in the index: the documents that hold it."""

    __slots__ = ("at", "counts", "docs", "exact", "term")

    def __init__(self, term: QueryTerm, segment: Segment, exact: bool) -> None:
        self.term, self.exact, self.at = term, exact, segment.find_term(term.term)
        self.docs, self.counts = segment.read_postings(self.at) if self.at >= 0 else (array("I"), b"")
        weigh(term, max(1, segment.count), len(self.docs))

    def holds(self, doc: int) -> bool:
        return find_count(self.docs, self.counts, doc) > 0


class Hit:
    """A ranked symbol, or a file where `symbol` is None; `why` names what matched."""

    __slots__ = ("entry", "score", "symbol", "why")

    def __init__(self, entry: FileEntry, symbol: Symbol | None, score: float, why: list[str]) -> None:
        self.entry, self.symbol, self.score, self.why = entry, symbol, score, why


class Answer:
    """`hits` is the page asked for, `total` all above the floor, `files` their number by file, most first."""

    __slots__ = ("files", "hint", "hits", "offset", "total")

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.total = self.offset = 0
        self.files: list[tuple[str, int]] = []
        self.hint = ""


def search(root: str, query: str, limit: int = 8, offset: int = 0, kind: str = "", path: str = "") -> Answer:
    """The best symbols and files for a query; nothing when nothing fits. `kind` is a symbol's, or `file`."""
    tokens = [token.rstrip(".") for token in _TOKEN.findall(query)]
    answer = Answer()
    answer.offset = offset
    with open_view(root) as view:
        rows, best = _find_definitions(root, view, tokens, kind, path)
        if best < BODY_BELOW and tokens:
            from slipstream.map.search_bodies import search_bodies
            inside = search_bodies(root, view, tokens, limit + offset, kind, path)
            there = {hit.entry.path for hit in inside}
            known = {(hit.entry.path, hit.symbol.line if hit.symbol else 0) for hit in (
                _read_hit(view, row) for row in rows if row[1] in there)}
            rows += [(hit.score, hit.entry.path, hit) for hit in inside
                     if (hit.entry.path, hit.symbol.line if hit.symbol else 0) not in known]
            rows.sort(key=lambda row: -row[0])
        answer.hits = [_read_hit(view, row) for row in rows[offset:offset + limit]]
    counts: dict[str, int] = {}
    for _, name, _ in rows:
        counts[name] = counts.get(name, 0) + 1
    answer.total = len(rows)
    answer.files = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    answer.hint = _grep_hint(query, tokens, best)
    return answer


def _find_definitions(root: str, view: View, tokens: list[str], kind: str, path: str) -> tuple[list[Row], float]:
    """(hits above the floor, best first; the largest share of the query's weight that one of them covers)."""
    with open_definitions(root, view) as segment:
        asked = _ask(tokens, segment)
        ranked = _rank(view, segment, asked, kind, path)
    slots, places = segment.columns["slot"], segment.columns["place"]
    rows: list[Row] = [(score, view.paths[slots[doc]], (slots[doc], places[doc], doc, asked)) for score, doc, _ in ranked]
    return rows, max((covered for _, _, covered in ranked), default=0.0)


def _read_hit(view: View, row: Row) -> Hit:
    score, _, found = row
    if isinstance(found, Hit):
        return found
    slot, place, doc, asked = found
    entry = view.entry(slot)
    return Hit(entry, entry.symbols[place - 1] if place else None, score, _why(asked, doc))


def _ask(tokens: list[str], segment: Segment) -> list[Asked]:
    """The query's terms: its stemmed words, what they may have meant, and exact names where it looks like one."""
    parts: dict[str, str] = {}
    exact: dict[str, float] = {}
    brief = len(tokens) <= MAX_NAME_WORDS
    if 1 < len(tokens) <= MAX_NAME_WORDS:
        exact["=" + "".join(map(plain_name, tokens))] = 1.0
    for token in tokens:
        for part in split_identifier(token):
            if part not in STOP_WORDS or len(tokens) == 1:
                parts.setdefault(stem(part), token)
        if len(tokens) == 1 or "_" in token or "." in token or any(map(str.isupper, token[1:])):
            names = token.split(".")[-2:]
            exact["=" + ".".join(map(plain_name, names))] = 1.0 if brief else ONE_OF_SEVERAL
            exact.setdefault("=" + plain_name(names[-1]), 0.5 if brief else ONE_OF_SEVERAL)
        elif brief:
            exact.setdefault("=" + plain_name(token), ONE_OF_SEVERAL)
    found = []
    for part in parts:
        if segment.find_term(part) >= 0:
            found.append(QueryTerm(part, 1.0, part))
            weight = PREFIX_WEIGHT if brief else PREFIX_WEIGHT / 4  # a sentence says what it means
            near: list[tuple[str, float]] = [(one, weight) for one in _prefixed(segment, part)] if len(part) > 3 else []
        else:
            near = [(one, PREFIX_WEIGHT * 2) for one in _prefixed(segment, part)] if len(part) > 2 else []
            if not near and brief:
                from slipstream.map.search_spelling import find_misspelt
                near = [(one, TYPO_WEIGHT) for one in find_misspelt(segment, part)]
            found.append(QueryTerm(part, 1.0, part))
        found += [QueryTerm(one, weight, part) for one, weight in near if one not in parts]
    asked = [Asked(term, segment, False) for term in found]
    own = {one.term.term: one.term.idf for one in asked if one.docs}
    for one in asked:  # a guess counts for no more than what it was guessed from, however rare it is
        one.term.idf = min(one.term.idf, own.get(one.term.of, one.term.idf))
    return asked + [Asked(QueryTerm(name, weight, name), segment, True) for name, weight in exact.items()]


def _prefixed(segment: Segment, part: str) -> list[str]:
    raw = part.encode("utf-8", "replace")
    found: list[tuple[int, str]] = []
    at = segment.first_at_least(raw)
    while at < segment.term_count and len(found) < 60 and segment.raw_term(at).startswith(raw):
        if segment.raw_term(at) != raw:
            found.append((segment.document_counts[at], segment.term(at)))
        at += 1
    return [term for _, term in heapq.nlargest(6, found)]


def _rank(view: View, segment: Segment, asked: list[Asked], kind: str, path: str
          ) -> list[tuple[float, int, float]]:
    """(score, document, share of the query's weight it covers) above the floor, best first."""
    sample = segment.columns["length"][:2000]
    average = max(1.0, sum(LENGTHS[one] for one in sample) / max(1, len(sample)))
    scores = score_segment(segment, [one.term for one in asked], [one.at for one in asked], length_norms(average))
    least = FLOOR_SHARE * max(scores.values(), default=0.0)  # before exact names, beside which everything else is small
    for one in asked:
        if one.exact:
            for doc in one.docs:
                scores[doc] = scores.get(doc, 0.0) + EXACT_GAIN * one.term.weight * one.term.idf
    slots, places, weights = segment.columns["slot"], segment.columns["place"], segment.columns["weight"]
    accept = None
    if kind or path:
        from slipstream.map.search_filter import make_filter
        accept = make_filter(view, segment, kind, path)
    rows = []
    for doc, score in heapq.nlargest(MAX_RANKED * (4 if accept else 1), scores.items(), key=lambda item: item[1]):
        if accept and not accept(doc):
            continue
        score *= 1 + IMPORTERS_GAIN * log(1 + view.records[slots[doc]][IMPORTERS])
        score *= TEST_FACTOR if _TEST.search(view.paths[slots[doc]]) else 1
        score *= GENERATED_FACTOR if weights[doc] & 2 else 1
        rows.append((score * (FILE_FACTOR if not places[doc] else 1 if weights[doc] & 1 else 0.95), doc))
    rows.sort(key=lambda row: (-row[0], view.paths[slots[row[1]]], places[row[1]]))
    words = [one for one in asked if not one.exact]
    own = [one.term for one in words if one.term.of == one.term.term]
    needed = sum(term.idf for term in own) or 1.0
    floor = FLOOR_COVERAGE if len(own) <= 3 else max(0.06, 0.4 / len(own))  # of a sentence, one telling word is much
    ranked = []
    for score, doc in rows[:MAX_RANKED]:
        held: dict[str, float] = {}
        for one in words:
            if one.holds(doc):
                held[one.term.of] = max(held.get(one.term.of, 0.0), one.term.weight)
        covered = sum(term.idf * held.get(term.of, 0.0) for term in own) / needed
        if any(one.exact and one.term.weight == 1 and one.holds(doc) for one in asked):
            covered = 1.0
        if covered >= floor and score >= least:
            ranked.append((score, doc, min(covered, 1.0)))
    return ranked


def _why(asked: list[Asked], doc: int) -> list[str]:
    """What matched: the query's words, `word~guess` where only a guess did, and whether an exact name did."""
    found: dict[str, str] = {}
    for one in asked:
        term = one.term
        if one.holds(doc) and (one.exact or term.of == term.term or term.of not in found):
            found["=" if one.exact else term.of] = "exact name" if one.exact else term.term
    return [word if word in (of, "exact name") else f"{of}~{word}" for of, word in found.items()]


def _grep_hint(query: str, tokens: list[str], best: float) -> str:
    """When plain grep is the better tool: patterns, quoted text, punctuation, a word that no definition has."""
    if re.search(r"[\\^$*+?|\[\](){}]|\.\*", query) or query[:1] in "\"'" or not tokens:
        return f"for a pattern or an exact text, grep is the better tool: grep -rnE '{query[:60]}' ."
    if best < FLOOR_COVERAGE and len(tokens) == 1:
        return f"no definition is called so; every line that holds it: grep -rn '{tokens[0][:60]}' ."
    return ""
