"""The kind and path filters of a search."""
from __future__ import annotations

from array import array
from collections.abc import Callable

from slipstream.map.fresh import View
from slipstream.map.index_file import FileEntry


def make_filter(view: View, slots: array[int], places: array[int], kind: str, path: str) -> Callable[[int], bool]:
    """A test of one document. `path` is a folder, a file or a pattern; `kind` a symbol's kind or `file`."""
    known: dict[int, FileEntry] = {}
    prefix = path.strip("/")

    def accept(doc: int) -> bool:
        slot, place = slots[doc], places[doc]
        name = view.paths[slot]
        if prefix and not is_below(name, prefix):
            return False
        if not kind:
            return True
        if kind == "file" or not place:
            return kind == "file" and not place
        entry = known.get(slot)
        if entry is None:
            entry = known[slot] = view.entry(slot)
        return place <= len(entry.symbols) and entry.symbols[place - 1].kind == kind
    return accept


def is_below(path: str, prefix: str) -> bool:
    """Whether a path is `prefix`, lies below it, or fits it as a pattern with `*`."""
    if "*" in prefix:
        from fnmatch import fnmatchcase
        return fnmatchcase(path, prefix)
    return path == prefix or path.startswith(prefix + "/")
