"""Search in the bodies of definitions: body words name the files, the files just read name the definition (query path)."""
from __future__ import annotations

import os

from slipstream.base.stems import STOP_WORDS, split_name, stem
from slipstream.map.body_words import open_words
from slipstream.map.fresh import View
from slipstream.map.scoring import Asked
from slipstream.map.search import BODY_WEIGHT, Hit, read_hit
from slipstream.map.source import Unreadable, decode_source, read_source

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.index_file import FileEntry
    from slipstream.map.search import Row

MAX_FILES = 12
FLOOR_COVERAGE, MAX_WORD_SHARE = 0.5, 0.25
K1, B, AVERAGE_LINES = 1.2, 0.75, 25
MAX_WORD_BYTES = 200
_APART = bytes(code if (code < 128 and chr(code).isalnum()) or code == 95 else 32 for code in range(256))


def add_bodies(root: str, view: View, tokens: list[str], limit: int, kind: str, path: str, rows: list[Row]) -> None:
    """Adds to the rows of a search the definitions that have its words in their text, unless they are there already."""
    inside = search_bodies(root, view, tokens, limit, kind, path)
    there = {hit.entry.path for hit in inside}
    known = {_place(read_hit(view, row)) for row in rows if row[1] in there}
    rows += [(hit.score, hit.entry.path, hit) for hit in inside if _place(hit) not in known]
    rows.sort(key=lambda row: -row[0])


def _place(hit: Hit) -> tuple[str, int]:
    return hit.entry.path, hit.symbol.line if hit.symbol else 0


def search_bodies(root: str, view: View, tokens: list[str], limit: int, kind: str, path: str) -> list[Hit]:
    """Definitions (or files, outside of any) whose text holds most of the query's words."""
    wanted = dict.fromkeys(stem(part) for token in tokens for part in split_name(token)
                           if len(part) > 2 and part not in STOP_WORDS)
    scores: dict[int, float] = {}
    weights: dict[str, float] = {}
    with open_words(root, view) as index:
        slots = index.column("slot")
        for word in wanted:
            held = Asked(index, word, 1.0, word)
            if len(held.docs) > max(50, int(MAX_WORD_SHARE * index.count)):
                continue  # in so many files that it tells nothing
            weights[word] = held.idf
            for doc in held.docs:
                scores[doc] = scores.get(doc, 0.0) + held.idf
    needed = sum(weights.values()) or 1.0
    prefix = (path + "/").removeprefix("./").strip("/")
    hits: list[Hit] = []
    ranked = sorted(scores.items(), key=lambda item: (-item[1], view.paths[slots[item[0]]]))
    taken = 0
    for doc, score in ranked:
        name = view.paths[slots[doc]]
        if score / needed < FLOOR_COVERAGE or taken == MAX_FILES:
            break
        if prefix:
            from slipstream.map.search_filter import is_below
            if not is_below(name, prefix):
                continue
        taken += 1
        hits += _in_file(root, view, slots[doc], weights, needed)
    if kind:
        hits = [hit for hit in hits if (hit.symbol.kind if hit.symbol else "file") == kind]
    return sorted(hits, key=lambda hit: -hit.score)[:limit]


def _in_file(root: str, view: View, slot: int, weights: dict[str, float], needed: float) -> list[Hit]:
    entry = view.entry(slot)
    try:
        data = decode_source(read_source(os.path.join(root, entry.path))[0])
    except Unreadable:
        return []
    hits = []
    for owner, held in _counts_by_owner(entry, data, find_words(data, list(weights))).items():
        if sum(weights[word] for word in held) / needed < FLOOR_COVERAGE:
            continue
        symbol = entry.symbols[owner] if owner >= 0 else None
        lines = symbol.end - symbol.start + 1 if symbol else entry.lines
        norm = K1 * (1 - B + B * lines / AVERAGE_LINES)
        score = sum(weights[word] * held[word] * (K1 + 1) / (held[word] + norm) for word in weights if word in held)
        hits.append(Hit(entry, symbol, BODY_WEIGHT * score, ["body: " + " ".join(sorted(held))]))
    return hits


def find_words(data: bytes, wanted: list[str]) -> dict[int, list[str]]:
    """Place of each identifier or word that holds some of the stems `wanted`, and which.

    Not every word of the text is stemmed: a stem is what a word begins with, but for a last `i` or `y` (`fly` of `flies`).
    """
    plain = data.translate(_APART) + b" "
    lower = plain.lower()
    known: dict[bytes, list[str]] = {}
    found: dict[int, list[str]] = {}
    for one in wanted:
        start = (one[:-1] if one[-1] in "iy" else one).encode("utf-8", "replace")
        at = lower.find(start)
        while at >= 0:
            first, end = plain.rfind(b" ", 0, at) + 1, plain.find(b" ", at)
            word = plain[first:end]
            held = known.get(word)
            if held is None:
                stems = set(map(stem, split_name(word[:MAX_WORD_BYTES].decode())))
                held = known[word] = [one for one in wanted if one in stems]
            if held:
                found[first] = held
            at = lower.find(start, end)
    return found


def _counts_by_owner(entry: FileEntry, data: bytes, words: dict[int, list[str]]) -> dict[int, dict[str, int]]:
    """How often each word stands in each definition, by its number; -1 is outside of any."""
    spans = sorted(((one.start, one.end, number) for number, one in enumerate(entry.symbols)),
                   key=lambda span: span[1] - span[0])
    counts: dict[int, dict[str, int]] = {}
    line, before = 1, 0
    for at in sorted(words):
        line, before = line + data.count(b"\n", before, at), at
        held = counts.setdefault(next((number for start, end, number in spans if start <= line <= end), -1), {})
        for one in words[at]:
            held[one] = held.get(one, 0) + 1
    return counts
