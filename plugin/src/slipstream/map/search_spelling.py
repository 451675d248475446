"""Words that a query may have meant: known terms a slip or two away."""
from __future__ import annotations

import heapq

from slipstream.map.postings import SearchIndex


def find_misspelt(index: SearchIndex, part: str) -> list[str]:
    """Known terms one slip away (two for long words) that begin with the same letter."""
    if len(part) < 4 or not part.isascii():
        return []
    slips = 1 + (len(part) > 7)
    found: list[tuple[int, int, str]] = []
    for raw in index.terms_from(part[:1].encode()):
        if raw[:1] != part[:1].encode():
            break
        if abs(len(raw) - len(part)) <= slips:
            slip = _distance(part, raw.decode("utf-8", "replace"), slips)
            documents = index.documents_of(raw) if slip <= slips else 0
            if documents:
                found.append((slip, -documents, raw.decode("utf-8", "replace")))
    return [term for _, _, term in heapq.nsmallest(3, found)]


def _distance(one: str, two: str, most: int) -> int:
    """Edits between two words (insert, delete, replace, swap of neighbours), or more than `most`."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, left in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == two[j - 2] and one[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
