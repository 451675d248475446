"""The published 256-float vector of a record: hashed terms, 1 + ln(count), unit length. Kept for readers of the format."""
from __future__ import annotations

import math
import re

DIMENSION = 256
_STOP = frozenset((
    "the and for are was this that with from into but not you your have has had out use used using its it's their then than "
    "they them can will would should could been being all any our").split())
_CAMEL = re.compile("([a-z0-9])([A-Z])")
_JOINER = re.compile("[_-]+")
_WORD = re.compile("[a-z0-9]+")


def embedding_tokens(text: str) -> list[str]:
    """ASCII words of two or more characters without the 38 published stop words; camelCase, `_` and `-` split."""
    spaced = _JOINER.sub(" ", _CAMEL.sub(r"\1 \2", text))
    return [word for word in _WORD.findall(spaced.lower()) if len(word) > 1 and word not in _STOP]


def fnv1a(term: str) -> int:
    """32-bit FNV-1a over UTF-16 code units, as published (terms are ASCII, so these are its characters)."""
    value = 0x811C9DC5
    for char in term:
        value = ((value ^ ord(char)) * 0x01000193) & 0xFFFFFFFF
    return value


def embed(text: str) -> list[float]:
    """Unit vector of 256 floats, rounded to five decimals; all zeros for a text without terms."""
    tokens = embedding_tokens(text)
    counts: dict[str, int] = {}
    for term in tokens:
        counts[term] = counts.get(term, 0) + 1
    for index in range(len(tokens) - 1):
        term = tokens[index] + " " + tokens[index + 1]
        counts[term] = counts.get(term, 0) + 1
    vector = [0.0] * DIMENSION
    for term, count in counts.items():
        hashed = fnv1a(term)
        weight = 1 + math.log(count)
        vector[hashed % DIMENSION] += -weight if hashed & 0x80000000 else weight
    norm = math.sqrt(sum(value * value for value in vector))
    if not norm:
        return vector
    return [round(value / norm, 5) + 0.0 for value in vector]  # + 0.0: a negative zero is written as 0.0
