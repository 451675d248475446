"""The index of the words in the bodies of files, opened when it is that of the view."""
from __future__ import annotations

from slipstream.map.fresh import View
from slipstream.map.index_file import DamagedIndex
from slipstream.map.postings import SearchIndex
from slipstream.map.search_store import find_stored, plain_name

WORDS = "map.words"


class BodyWords(SearchIndex):
    """A document per file; `gone` and `base` as in `Definitions`."""

    COLUMNS = (("slot", "I"), ("content", "I"), ("gone", "I"), ("base", "I"))


def open_words(root: str, view: View) -> SearchIndex:
    """The index of body words for a view."""
    index = find_stored(root, view, BodyWords, WORDS)
    if index is None:
        from slipstream.map.search_files import mend_words
        index = mend_words(root, view)
    if index.count and max(index.column("slot")) >= len(view.paths):
        raise DamagedIndex("slot")
    return index


def word_of(name: str) -> str:
    """The term under which body words keep a whole identifier."""
    return "=" + plain_name(name)
