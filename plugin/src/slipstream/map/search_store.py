"""The index of definitions of a tree, opened when it is that of the view (query path)."""
from __future__ import annotations

import os

from slipstream.base.roots import store_dir
from slipstream.map.fresh import View
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import DamagedIndex
from slipstream.map.postings import SearchIndex

DEFINITIONS = "map.search"
EXPORTED, GENERATED, TEST = 1, 2, 4  # of a document's weight


class Definitions(SearchIndex):
    """A document per file (place 0) and per symbol (its place in the file, from 1); and what each file held when read.

    `spread` is how many documents there are of each length; `gone` and `base` are used by `changes`; `names` are the terms
    that are names of one part, for those who look at them all: a zero between them, compressed.
    """

    COLUMNS = (("place", "I"), ("slot", "I"), ("file", "I"), ("content", "I"), ("length", "B"), ("weight", "B"),
               ("spread", "I"), ("gone", "I"), ("base", "I"), ("names", "B"))


def open_definitions(root: str, view: View) -> SearchIndex:
    """The index of definitions for a view; the module that writes it is loaded only when it has to be made or mended."""
    index = find_stored(root, view, Definitions, DEFINITIONS)
    if index is None:
        from slipstream.map.search_files import mend_definitions
        index = mend_definitions(root, view)
    return index


def find_stored(root: str, view: View, kind: type[SearchIndex], name: str) -> SearchIndex | None:
    """A stored search index when it was made from what the view shows."""
    held: SearchIndex | None = view.indexes.get(name)
    if held is not None:
        return held
    path = os.path.join(store_dir(root), name)
    opened: list[SearchIndex] = []
    try:
        opened.append(kind(path, scanner_identity()))
        if opened[0].state != view.state:
            from slipstream.map.changes import CHANGES, Changed
            opened.append(kind(path + CHANGES, scanner_identity()))
            opened.append(Changed(opened[0], opened[1], view.state))
    except (DamagedIndex, OSError):
        for one in opened:
            one.close()
        return None
    if view.kept:
        opened[-1].kept, view.indexes[name] = True, opened[-1]
    return opened[-1]


def plain_name(name: str) -> str:
    """A name as exact matches compare it: `parse_url`, `parseURL` and `parse-url` are one."""
    return name.lower().replace("_", "").replace("-", "")
