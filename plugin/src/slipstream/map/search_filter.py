"""The kind and path filters of a search."""
from __future__ import annotations

from collections.abc import Callable

from slipstream.base.segment import Segment
from slipstream.map.fresh import View
from slipstream.map.index_file import FileEntry


def make_filter(view: View, segment: Segment, kind: str, path: str) -> Callable[[int], bool]:
    """A test of one document. `path` is a folder, a file or a pattern; `kind` a symbol's kind or `file`."""
    columns = segment.columns
    known: dict[int, FileEntry] = {}
    prefix = path.strip("/")

    def accept(doc: int) -> bool:
        slot, place = columns["slot"][doc], columns["place"][doc]
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
        return entry.symbols[place - 1].kind == kind
    return accept


def is_below(path: str, prefix: str) -> bool:
    """Whether a path is `prefix`, lies below it, or fits it as a pattern with `*`."""
    if "*" in prefix:
        from fnmatch import fnmatchcase
        return fnmatchcase(path, prefix)
    return path == prefix or path.startswith(prefix + "/")
