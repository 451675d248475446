"""What is said when a name is not found: where was searched, and the closest names."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

from slipstream.base.counts import count_of
from slipstream.base.paths import shown_path
from slipstream.map.index import open_index
from slipstream.map.index_file import FileEntry, Symbol

MAX_CLOSE = 5


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The names most like `name`, best first: by spelling, whatever the case, whole or as a part."""
    last = name.rpartition(".")[2].lower()
    by_lower: dict[str, list[str]] = {}
    for one in known:
        by_lower.setdefault(one.rpartition(".")[2].lower(), []).append(one)
    near = difflib.get_close_matches(last, by_lower, n=MAX_CLOSE, cutoff=0.6)
    if len(last) > 2:
        near += [one for one in sorted(by_lower, key=lambda text: (len(text), text)) if last in one and one not in near]
    found = [one for lower in near for one in dict.fromkeys(by_lower[lower])]
    return found[:MAX_CLOSE]


def find_close(root: str, name: str) -> list[str]:
    """The names of the project's definitions most like `name`."""
    return close_names(name, [one.qualified for entry in open_index(root, ask_git=False).files() for one in entry.symbols])


def describe_miss(name: str, entries: list[FileEntry], where: str) -> str:
    """One line for a name that none of `entries` defines."""
    symbols = [one for entry in entries for one in entry.symbols]
    close = close_names(name, [one.qualified for one in symbols])
    said = f"no symbol {name!r} in {where} ({count_of(len(symbols), 'symbol')})"
    if close:
        return f"{said}; closest: {', '.join(close)}"
    return f"{said}; grep finds text that is no definition"


def find_again(root: str, name: str, gone: list[str]) -> list[tuple[str, Symbol]]:
    """(path, symbol) of `name` after everything that changed on disk was scanned; raises Missing when there is none."""
    from slipstream.map.slices import Missing, choose
    index = open_index(root, ask_git=False)
    found = choose(index.find(name), name)
    if found:
        return [(symbol.path, symbol) for symbol in found]
    said = describe_miss(name, index.files(), count_of(len(index.paths()), "file"))
    if gone:
        said += f"; it was in {shown_path(gone[0])}, which is gone"
    raise Missing(said)
