"""Search in the bodies of definitions: body words name the files, the files just read name the definition."""
from __future__ import annotations

import os
import re
from math import log

from slipstream.base.text import STOP_WORDS, split_identifier, stem
from slipstream.map.fresh import View
from slipstream.map.search import BODY_WEIGHT, Hit
from slipstream.map.search_filter import is_below
from slipstream.map.search_store import open_words
from slipstream.map.source import Unreadable, decode_source, read_source

MAX_FILES = 12
FLOOR_COVERAGE = 0.5
K1, B, AVERAGE_LINES = 1.2, 0.75, 25
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,40}|[0-9]{3,8}")


def search_bodies(root: str, view: View, tokens: list[str], limit: int, kind: str, path: str) -> list[Hit]:
    """Definitions (or files, outside of any) whose text holds most of the query's words."""
    wanted = dict.fromkeys(stem(part) for token in tokens for part in split_identifier(token)
                           if len(part) > 2 and part not in STOP_WORDS)
    scores: dict[int, float] = {}
    weights: dict[str, float] = {}
    with open_words(root, view) as segment:
        for word in wanted:
            at = segment.find_term(word)
            documents = segment.document_counts[at] if at >= 0 else 0
            weights[word] = log(1 + (segment.count - documents + 0.5) / (documents + 0.5))
            if at >= 0:
                for doc in segment.read_postings(at)[0]:
                    scores[doc] = scores.get(doc, 0.0) + weights[word]
    needed = sum(weights.values()) or 1.0
    prefix = path.strip("/")
    hits: list[Hit] = []
    ranked = sorted(scores.items(), key=lambda item: (-item[1], view.paths[segment.columns["slot"][item[0]]]))
    taken = 0
    for doc, score in ranked:
        name = view.paths[segment.columns["slot"][doc]]
        if score / needed < FLOOR_COVERAGE or taken == MAX_FILES:
            break
        if prefix and not is_below(name, prefix):
            continue
        taken += 1
        hits += _in_file(root, view, segment.columns["slot"][doc], weights, needed)
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
