"""One tokenizer for everything that is searched: identifiers split, any script, stop words, a light stemmer."""
from __future__ import annotations

import re
from functools import lru_cache

from slipstream.base.stems import STOP_WORDS, stem

__all__ = ["MARKS", "STOP_WORDS", "split_identifier", "stem", "terms", "words"]

# Marks that belong to the letter before them (accents written apart, vowel signs, joiners): `\w` leaves them out.
MARKS = ("\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u0963"
         "\u0981-\u0983\u09bc-\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0ae3\u0b01-\u0b03\u0b3c-\u0b63\u0b82\u0bbe-\u0bd7\u0c00-\u0c04"
         "\u0c3c-\u0c63\u0c81-\u0c83\u0cbc-\u0ce3\u0d00-\u0d03\u0d3b-\u0d63\u0d81-\u0d83\u0dca-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc"
         "\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u200c\u200d")
_WORD = re.compile(r"[^\W_]+")
_APART = re.compile("[\u0300-\u036f]")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def split_identifier(name: str) -> list[str]:
    """Parts of camelCase, HTTPServer, snake_case, kebab-case and digits, lower-cased, in order."""
    return [part.lower() for part in (_PART if name.isascii() else _with_marks()[1]).findall(name)]


def words(text: str) -> list[str]:
    """Lower-case tokens in order: each word, followed by its parts when it is a compound identifier.

    A run of Chinese, Japanese or Korean script, which has no spaces, gives its overlapping pairs of characters.
    """
    found: list[str] = []
    if not text.isascii() and _APART.search(text):
        from unicodedata import normalize
        text = normalize("NFC", text)  # an accent written apart, as in file names of macOS
    word_of, part_of = (_WORD, _PART) if text.isascii() else _with_marks()
    for word in word_of.findall(text):
        if not word.isascii() and _CJK.search(word):
            for run in _CJK.findall(word):
                found.extend(run[i:i + 2] for i in range(max(1, len(run) - 1)))
            word = _CJK.sub(" ", word).strip()
            if not word:
                continue
        lower = word.lower()
        found.append(lower)
        if not word.islower() and not word.isdigit():
            parts = part_of.findall(word)
            if len(parts) > 1:
                found.extend(part.lower() for part in parts)
        elif not word.isalpha() and not word.isdigit():
            found.extend(part_of.findall(word))
    return found


@lru_cache(1)
def _with_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of words and parts for text beyond ASCII; made when first needed, for it takes milliseconds."""
    up, low = "A-Z\u00c0-\u00d6\u00d8-\u00de", "a-z\u00df-\u00f6\u00f8-\u00ff"
    return (re.compile(f"[^\\W_](?:[^\\W_]|[{MARKS}])*"), re.compile(
        f"[{up}]+(?=[{up}][{low}])|[{up}]?[{low}]+|[{up}]+|[0-9]+|(?:[^\\W\\d_{up}{low}][{MARKS}]*)+"))


def terms(text: str) -> list[str]:
    """Stemmed words without stop words: what the indexes store and the queries ask for."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]
