"""One tokenizer for everything that is searched: identifiers split, any script, stop words, a light stemmer."""
from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
STOP_WORDS = frozenset((
    "a about after again all also an and any are as at be because been before being between both but by can could did do "
    "does doing during each few for from further had has have having he her here hers him his how i if in into is it its "
    "just me more most my no nor not now of off on once only or other our ours out over own same she should so some such "
    "than that the their theirs them then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your yours").split())


def split_identifier(name: str) -> list[str]:
    """Parts of camelCase, HTTPServer, snake_case, kebab-case and digits, lower-cased, in order."""
    return [part.lower() for part in _PART.findall(name)]


def words(text: str) -> list[str]:
    """Lower-case tokens in order: each word, followed by its parts when it is a compound identifier.

    A run of Chinese, Japanese or Korean script, which has no spaces, gives its overlapping pairs of characters.
    """
    found: list[str] = []
    for word in _WORD.findall(text):
        if not word.isascii() and _CJK.search(word):
            for run in _CJK.findall(word):
                found.extend(run[i:i + 2] for i in range(max(1, len(run) - 1)))
            word = _CJK.sub(" ", word).strip()
            if not word:
                continue
        lower = word.lower()
        found.append(lower)
        if not word.islower() and not word.isdigit():
            parts = _PART.findall(word)
            if len(parts) > 1:
                found.extend(part.lower() for part in parts)
        elif not word.isalpha() and not word.isdigit():
            found.extend(_PART.findall(word))
    return found


def stem(word: str) -> str:
    """A light English stemmer: plurals, -ing, -ed, -ly, -ation and their like. Other scripts pass unchanged."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix, least in (("ization", 4), ("ational", 4), ("ation", 4), ("ating", 4), ("ated", 4), ("ate", 5),
                          ("ments", 4), ("ment", 4), ("ness", 4), ("ingly", 4), ("edly", 4), ("ing", 3), ("ion", 4),
                          ("ed", 3), ("ly", 4), ("er", 4), ("or", 4)):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[:-len(suffix)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def terms(text: str) -> list[str]:
    """Stemmed words without stop words: what the indexes store and the queries ask for."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]
