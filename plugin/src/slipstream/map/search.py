"""Ranks symbols and files for a query: exact names first, then BM25 over fields, typing errors, body words (query path)."""
from __future__ import annotations

from math import log

from slipstream.base.stems import STOP_WORDS, split_name, split_query, stem
from slipstream.map.fresh import View, with_view
from slipstream.map.index_file import IMPORTERS, DamagedIndex
from slipstream.map.postings import SearchIndex
from slipstream.map.scoring import Asked, best_of, score_documents
from slipstream.map.search_store import EXPORTED, GENERATED, TEST, open_definitions, plain_name

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Union

    from slipstream.map.index_file import FileEntry, Symbol

    # Score, path, and the hit or where to read it: (slot, place in the file, document, terms). Only what is shown is read.
    Row = tuple[float, str, Union["Hit", tuple[int, int, int, list["Asked"]]]]

EXACT_GAIN, PREFIX_WEIGHT, TYPO_WEIGHT, BODY_WEIGHT = 6.0, 0.4, 0.6, 0.5
# Of the query's weight that must match; of the best score; coverage of the best hit under which the bodies are asked.
FLOOR_COVERAGE, FLOOR_SHARE, BODY_BELOW = 0.34, 0.2, 0.6
TEST_FACTOR, GENERATED_FACTOR, FILE_FACTOR, IMPORTERS_GAIN = 0.9, 0.7, 0.5, 0.05
MAX_RANKED, MAX_NAME_WORDS, ONE_OF_SEVERAL = 400, 4, 0.15  # a short query may be a name written as words, or hold one
PATTERN_SIGNS = frozenset("\\^$*+?|[](){}\"'")


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
    return with_view(root, lambda view: _search(root, view, query, limit, offset, kind, path))


def _search(root: str, view: View, query: str, limit: int, offset: int, kind: str, path: str) -> Answer:
    tokens = split_query(query)
    answer = Answer()
    answer.offset = offset
    rows, best = _find_definitions(root, view, tokens, kind, path)
    if best < BODY_BELOW and tokens:
        from slipstream.map.search_bodies import add_bodies
        add_bodies(root, view, tokens, limit + offset, kind, path, rows)
    if "/" in query:  # a path: what lies in that file comes first
        rows.sort(key=lambda row: row[1] != query.strip())
    answer.hits = [read_hit(view, row) for row in rows[offset:offset + limit]]
    counts: dict[str, int] = {}
    for _, name, _ in rows:
        counts[name] = counts.get(name, 0) + 1
    answer.total = len(rows)
    answer.files = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if best < FLOOR_COVERAGE or not PATTERN_SIGNS.isdisjoint(query):
        from slipstream.map.search_filter import grep_hint
        answer.hint = grep_hint(query, tokens, best < FLOOR_COVERAGE, bool(kind or path))
    return answer


def _find_definitions(root: str, view: View, tokens: list[str], kind: str, path: str) -> tuple[list[Row], float]:
    """(hits above the floor, best first; the largest share of the query's weight that one of them covers)."""
    with open_definitions(root, view) as index:
        asked = ask(tokens, index)
        ranked = rank(view, index, asked, kind, path)
        slots, places = index.column("slot"), index.column("place")
    rows: list[Row] = [(score, view.paths[slots[doc]], (slots[doc], places[doc], doc, asked)) for score, doc, _ in ranked]
    return rows, max((covered for _, _, covered in ranked), default=0.0)


def read_hit(view: View, row: Row) -> Hit:
    """The hit of a row."""
    score, _, found = row
    if isinstance(found, Hit):
        return found
    slot, place, doc, asked = found
    entry = view.entry(slot)
    if place > len(entry.symbols):
        raise DamagedIndex(entry.path)
    return Hit(entry, entry.symbols[place - 1] if place else None, score, _why(asked, doc))


def ask(tokens: list[str], index: SearchIndex) -> list[Asked]:
    """The query's terms: its stemmed words, what they may have meant, and exact names where it looks like one."""
    parts: dict[str, str] = {}
    exact: dict[str, float] = {}
    brief = len(tokens) <= MAX_NAME_WORDS
    if 1 < len(tokens) <= MAX_NAME_WORDS:
        exact["=" + "".join(map(plain_name, tokens))] = 1.0
    for token in tokens:
        for part in split_name(token):
            if part not in STOP_WORDS or len(tokens) == 1:
                parts.setdefault(stem(part), token)
        if len(tokens) == 1 or "_" in token or "." in token or any(map(str.isupper, token[1:])):
            names = token.split(".")[-2:]
            exact["=" + ".".join(map(plain_name, names))] = 1.0 if brief else ONE_OF_SEVERAL
            exact.setdefault("=" + plain_name(names[-1]), 0.5 if brief else ONE_OF_SEVERAL)
        elif brief:
            exact.setdefault("=" + plain_name(token), ONE_OF_SEVERAL)
    asked = []
    for part in parts:
        own = Asked(index, part, 1.0, part)
        if own.docs:
            weight = PREFIX_WEIGHT if brief else PREFIX_WEIGHT / 4  # a sentence says what it means
            near: list[tuple[str, float]] = [(one, weight) for one in _prefixed(index, part)] if len(part) > 3 else []
        else:
            near = [(one, PREFIX_WEIGHT * 2) for one in _prefixed(index, part)] if len(part) > 2 else []
            if not near and brief:
                from slipstream.map.search_spelling import find_misspelt
                near = [(one, TYPO_WEIGHT) for one in find_misspelt(index, part)]
        guesses = [Asked(index, one, weight, part) for one, weight in near if one not in parts]
        for one in guesses if own.docs else ():  # a guess counts for no more than what it was guessed from, however rare it is
            one.idf = min(one.idf, own.idf)
        asked += [own, *guesses]
    return asked + [Asked(index, name, weight, name, True) for name, weight in exact.items()]


def _prefixed(index: SearchIndex, part: str) -> list[str]:
    raw = part.encode("utf-8", "replace")
    found: list[tuple[int, bytes]] = []
    for term in index.terms_from(raw):
        if not term.startswith(raw) or len(found) == 60:
            break
        documents = index.documents_of(term)
        if documents and term != raw:
            found.append((documents, term))
    return [term.decode("utf-8", "surrogatepass") for _, term in sorted(found, reverse=True)[:6]]


def rank(view: View, index: SearchIndex, asked: list[Asked], kind: str, path: str) -> list[tuple[float, int, float]]:
    """(score, document, share of the query's weight it covers) above the floor, best first."""
    slots, places, weights, paths = index.column("slot"), index.column("place"), index.column("weight"), view.paths

    def order(doc: int) -> tuple[str, int]:
        if slots[doc] >= len(paths):
            raise DamagedIndex("slot")
        return paths[slots[doc]], places[doc]

    scores = score_documents(asked, index.column("length"), index.column("spread"), order)
    least = FLOOR_SHARE * max(scores.values(), default=0.0)  # before exact names, beside which everything else is small
    for one in asked:
        if one.exact:
            for doc in one.docs:
                scores[doc] = scores.get(doc, 0.0) + EXACT_GAIN * one.weight * one.idf
    accept = None
    if kind or path:
        from slipstream.map.search_filter import make_filter
        accept = make_filter(view, slots, places, kind, path)
    rows = []
    for doc, score in best_of(scores, MAX_RANKED * (4 if accept else 1), order):
        place = order(doc)
        if accept and not accept(doc):
            continue
        score *= 1 + IMPORTERS_GAIN * log(1 + view.records[slots[doc]][IMPORTERS])
        score *= (TEST_FACTOR if weights[doc] & TEST else 1) * (GENERATED_FACTOR if weights[doc] & GENERATED else 1)
        rows.append((-score * (FILE_FACTOR if not places[doc] else 1 if weights[doc] & EXPORTED else 0.95), place, doc))
    rows.sort()
    words = [one for one in asked if not one.exact]
    own = [one for one in words if one.of == one.term]
    needed = sum(one.idf for one in own) or 1.0
    floor = FLOOR_COVERAGE if len(own) <= 3 else max(0.06, 0.4 / len(own))  # of a sentence, one telling word is much
    ranked = []
    for score, _, doc in rows[:MAX_RANKED]:
        held: dict[str, float] = {}
        for one in words:
            if one.count_in(doc):
                held[one.of] = max(held.get(one.of, 0.0), one.weight)
        covered = sum(one.idf * held.get(one.of, 0.0) for one in own) / needed
        if any(one.exact and one.weight == 1 and one.count_in(doc) for one in asked):
            covered = 1.0
        if covered >= floor and -score >= least:
            ranked.append((-score, doc, min(covered, 1.0)))
    return ranked


def _why(asked: list[Asked], doc: int) -> list[str]:
    """What matched: the query's words, `word~guess` where only a guess did, and whether an exact name did."""
    found: dict[str, str] = {}
    for one in asked:
        if one.count_in(doc) and (one.exact or one.of == one.term or one.of not in found):
            found["=" if one.exact else one.of] = "exact name" if one.exact else one.term
    return [word if word in (of, "exact name") else f"{of}~{word}" for of, word in found.items()]
