"""A text as the terms that memory search looks for: stems, roots, neighbouring pairs, whole paths; and the kinds of record."""
from __future__ import annotations

import zlib

from slipstream.base.text import STOP_WORDS, stem, words

KINDS = ("edit", "read", "command", "search", "prompt", "note", "fact", "digest", "conversation", "host")
# First characters of terms that are no words: a whole path or file name; a word's root; two neighbouring terms.
PATH_MARK, ROOT_MARK, PAIR_MARK = "/", "\x01", "\x02"
_STEMS: dict[str, tuple[str, str]] = {}


def field_terms(text: str) -> list[str]:
    """The one tokenizer's terms, its stems remembered: indexing sees the same words over and over."""
    return [known[0] for known in known_words(text)]


def known_words(text: str) -> list[tuple[str, str]]:
    """(stem, root) of each word that counts; the root, "" for a short word, is what a misspelt or odd form still shares."""
    found = []
    for word in words(text):
        known = _STEMS.get(word)
        if known is None:
            if len(_STEMS) > 200_000:
                _STEMS.clear()
            root = ROOT_MARK + word[:4] if len(word) > 3 else ""
            known = _STEMS[word] = ("", "") if word in STOP_WORDS else (stem(word), root)
        if known[0]:
            found.append(known)
    return found


def root_terms(text: str) -> list[tuple[str, str]]:
    """[(stem, helper term of its root)] of the words long enough to have one."""
    return [known for known in known_words(text) if known[1]]


def pair_term(one: str, two: str) -> str:
    """Helper term of two neighbouring terms, hashed so that the many pairs of a store stay short."""
    return f"{PAIR_MARK}{zlib.crc32(f'{one} {two}'.encode('utf-8', 'replace')):x}"


def path_terms(path: str) -> list[str]:
    """Exact terms of a path: the whole of it and its last part, lower-cased."""
    plain = path.replace("\\", "/").lower().strip("/")
    return [PATH_MARK + plain, PATH_MARK + plain.rsplit("/", 1)[-1]] if plain else []
