"""The stored search indexes of a tree, opened when they are those of the view (query path)."""
from __future__ import annotations

import os

from slipstream.base.roots import store_dir
from slipstream.base.segment import DamagedIndex, Segment
from slipstream.map.fresh import View
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import CONTENT, FAILED, FLAGS, SKIPPED

DEFINITIONS, WORDS = "map.search", "map.words"


class DefinitionSegment(Segment):
    """A document per file (place 0) and per symbol (its place in the file, from 1); weight 1 exported, 2 generated."""

    COLUMNS = (("length", "B"), ("weight", "B"), ("place", "I"), ("slot", "I"), ("content", "I"))


class WordSegment(Segment):
    """A document per file."""

    COLUMNS = (("length", "B"), ("slot", "I"), ("content", "I"))


def _stored(root: str, view: View, kind: type[Segment], name: str) -> Segment | None:
    """A stored index when it is that of the view."""
    if view.refreshed:
        return None
    try:
        segment = kind(os.path.join(store_dir(root), name), scanner_identity())
        there = dict(zip(segment.columns["slot"], segment.columns["content"]))
        shown = sum(1 for one, path in zip(view.records, view.paths) if path and not one[FLAGS] & (SKIPPED | FAILED))
        if len(there) == shown and all(view.records[slot][CONTENT] == content for slot, content in there.items()):
            return segment
    except (DamagedIndex, OSError, IndexError):
        pass
    return None


def open_definitions(root: str, view: View) -> Segment:
    """The index of definitions for a view; the module that writes it is loaded only when it has to be made or mended."""
    segment = _stored(root, view, DefinitionSegment, DEFINITIONS)
    if segment is None:
        from slipstream.map.search_files import mend_definitions
        segment = mend_definitions(root, view)
    return segment


def open_words(root: str, view: View) -> Segment:
    """The index of body words for a view."""
    segment = _stored(root, view, WordSegment, WORDS)
    if segment is None:
        from slipstream.map.search_files import mend_words
        segment = mend_words(root, view)
    return segment


def word_of(name: str) -> str:
    """The term under which body words keep a whole identifier."""
    return "=" + plain_name(name)


def plain_name(name: str) -> str:
    """A name as exact matches compare it: `parse_url`, `parseURL` and `parse-url` are one."""
    return name.lower().replace("_", "").replace("-", "")
