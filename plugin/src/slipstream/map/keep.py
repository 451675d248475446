"""Views of the map that a server keeps between calls, while the index they were read from is the one on disk.

For callers that ask for one tree at a time; a view is proved current at each call as any other.
"""
from __future__ import annotations

import os

from slipstream.base.roots import store_dir
from slipstream.map.fresh import View
from slipstream.map.index_file import INDEX_NAME, IndexFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from slipstream.map.refresh import Refresh

MAX_KEPT = 2  # trees
_kept: dict[str, tuple[tuple[int, int, int], View]] = {}


def find_kept(root: str) -> View | None:
    """The view kept of a tree, when its index was not written since."""
    found = _kept.get(root)
    if found is None:
        return None
    try:
        if found[0] == _stamp(os.stat(os.path.join(store_dir(root), INDEX_NAME))):
            return found[1]
    except OSError:
        pass
    let_go(root)
    return None


def keep(root: str, view: View) -> None:
    """Keep a view, in the place of the one used longest ago; not where an open file cannot be replaced."""
    let_go(root)
    if os.name == "nt" or not isinstance(view.source, IndexFile):
        return
    while len(_kept) >= MAX_KEPT:
        let_go(next(iter(_kept)))
    view.kept = True
    _kept[root] = _stamp(os.fstat(view.source.handle.fileno())), view


def refresh(root: str) -> Refresh:
    """The index of a tree brought up to date; much work is done while others are served."""
    from slipstream.map.apart import refresh_view_apart
    return refresh_view_apart(root)


def let_go(root: str) -> None:
    """Close what is kept of a tree."""
    _, view = _kept.pop(root, ((0, 0, 0), None))
    if view is not None:
        for index in view.indexes.values():
            index.close()
        view.indexes.clear()
        view.kept = False
        view.__exit__()


def _stamp(info: os.stat_result) -> tuple[int, int, int]:
    return info.st_mtime_ns, info.st_ino, info.st_size
