"""Search in the bodies of definitions: body words name the files, the files just read name the definition."""
from __future__ import annotations

import os
import re

from slipstream.base.text import STOP_WORDS, split_identifier, stem
from slipstream.map.body_words import open_words
from slipstream.map.fresh import View
from slipstream.map.scoring import Asked
from slipstream.map.search import BODY_WEIGHT, Hit, read_hit
from slipstream.map.search_filter import is_below
from slipstream.map.source import Unreadable, decode_source, read_source

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.search import Row

MAX_FILES = 12
FLOOR_COVERAGE, MAX_WORD_SHARE = 0.5, 0.25
K1, B, AVERAGE_LINES = 1.2, 0.75, 25
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,40}|[0-9]{3,8}")


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
    wanted = dict.fromkeys(stem(part) for token in tokens for part in split_identifier(token)
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
    prefix = path.strip("/")
    hits: list[Hit] = []
    ranked = sorted(scores.items(), key=lambda item: (-item[1], view.paths[slots[item[0]]]))
    taken = 0
    for doc, score in ranked:
        name = view.paths[slots[doc]]
        if score / needed < FLOOR_COVERAGE or taken == MAX_FILES:
            break
        if prefix and not is_below(name, prefix):
            continue
        taken += 1
        hits += _in_file(root, view, slots[doc], weights, needed)
    if kind:
        hits = [hit for hit in hits if (hit.symbol.kind if hit.symbol else "file") == kind]
    return sorted(hits, key=lambda hit: -hit.score)[:limit]


def _in_file(root: str, view: View, slot: int, weights: dict[str, float], needed: float) -> list[Hit]:
    entry = view.entry(slot)
    try:
        text = decode_source(read_source(os.path.join(root, entry.path))[0]).decode("utf-8", "replace")
    except Unreadable:
        return []
    counts: dict[int, dict[str, int]] = {}
    spans = sorted(((one.start, one.end, number) for number, one in enumerate(entry.symbols)),
                   key=lambda span: span[1] - span[0])
    stems: dict[str, list[str]] = {}
    for line, content in enumerate(text.split("\n"), 1):
        for word in _WORD.findall(content):
            found = stems.get(word)
            if found is None:
                found = stems[word] = [one for one in {stem(part) for part in split_identifier(word)} if one in weights]
            if found:
                owner = next((number for start, end, number in spans if start <= line <= end), -1)
                held = counts.setdefault(owner, {})
                for one in found:
                    held[one] = held.get(one, 0) + 1
    hits = []
    for owner, held in counts.items():
        if sum(weights[word] for word in held) / needed < FLOOR_COVERAGE:
            continue
        symbol = entry.symbols[owner] if owner >= 0 else None
        lines = symbol.end - symbol.start + 1 if symbol else entry.lines
        norm = K1 * (1 - B + B * lines / AVERAGE_LINES)
        score = sum(weights[word] * count * (K1 + 1) / (count + norm) for word, count in held.items())
        hits.append(Hit(entry, symbol, BODY_WEIGHT * score, ["body: " + " ".join(sorted(held))]))
    return hits
