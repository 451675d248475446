"""What is said when a name is not found: where was searched, and the closest names."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

from slipstream.base.counts import count_of
from slipstream.base.shown_path import shown_path
from slipstream.map.fresh import View, with_view
from slipstream.map.index_file import FAILED, FLAGS, SKIPPED, SYMBOLS, DamagedIndex, FileEntry, Symbol
from slipstream.map.name_table import find_slots, key_of
from slipstream.map.search_store import open_definitions, plain_name

MAX_CLOSE = 5


def close_names(name: str, known: Iterable[str], most: int = MAX_CLOSE) -> list[str]:
    """The names most like `name`, best first: by spelling, whatever the case, whole or as a part."""
    last = name.rpartition(".")[2].lower()
    by_lower: dict[str, list[str]] = {}
    for one in known:
        by_lower.setdefault(one.rpartition(".")[2].lower(), []).append(one)
    near = difflib.get_close_matches(last, by_lower, n=most, cutoff=0.6)
    if len(last) > 2:
        near += [one for one in sorted(by_lower, key=lambda text: (len(text), text)) if last in one and one not in near]
    found = [one for lower in near for one in dict.fromkeys(by_lower[lower])]
    return found[:most]


def find_close(root: str, view: View, name: str) -> list[str]:
    """The names of the project's definitions most like `name`, by the index that search has of them. DamagedIndex."""
    from slipstream.map.known_names import likely_names
    plain = plain_name(name.rpartition(".")[2])
    found: dict[str, None] = {}
    with open_definitions(root, view) as index:
        slots, places = index.column("slot"), index.column("place")
        if max(slots, default=0) >= max(1, len(view.paths)):
            raise DamagedIndex("slot")
        for one in close_names(plain, likely_names(index, plain), 2 * MAX_CLOSE):  # some are only a file's
            docs = sorted((doc for doc in index.find("=" + one)[0] if places[doc]), key=lambda doc: view.paths[slots[doc]])
            for doc in docs[:MAX_CLOSE]:
                found.update((symbol.qualified, None) for symbol in view.entry(slots[doc]).symbols[places[doc] - 1:places[doc]])
            if len(found) >= MAX_CLOSE:
                break
    return list(found)[:MAX_CLOSE]


def describe_miss(name: str, close: list[str], symbols: int, where: str) -> str:
    """One line for a name that none of the symbols in a place bears."""
    said = f"no symbol {name!r} in {where} ({count_of(symbols, 'symbol')})"
    return f"{said}; closest: {', '.join(close)}" if close else f"{said}; grep finds text that is no definition"


def describe_miss_in(name: str, entry: FileEntry) -> str:
    """The same for one file."""
    close = close_names(name, [one.qualified for one in entry.symbols])
    return describe_miss(name, close, len(entry.symbols), shown_path(entry.path))


def find_again(root: str, name: str, gone: list[str]) -> list[tuple[str, Symbol]]:
    """(path, symbol) of `name` after everything that changed on disk was scanned; raises Missing when there is none."""
    from slipstream.map.slices import Missing, choose

    def ask(view: View) -> list[tuple[str, Symbol]]:
        slots = find_slots(view.source, key_of(b":", name.rpartition(".")[2].encode("utf-8", "replace")))
        found = choose([one for slot in slots for one in view.entry(slot).symbols], name)
        if found:
            return sorted(((one.path, one) for one in found), key=lambda pair: (pair[0], pair[1].line))
        there = [slot for slot, path in enumerate(view.paths) if path]
        symbols = sum(view.records[slot][SYMBOLS] for slot in there if not view.records[slot][FLAGS] & (SKIPPED | FAILED))
        said = describe_miss(name, find_close(root, view, name), symbols, count_of(len(there), "file"))
        raise Missing(said + (f"; it was in {shown_path(gone[0])}, which is gone" if gone else ""))
    return with_view(root, ask)
