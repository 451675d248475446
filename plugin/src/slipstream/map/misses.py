"""What is said when a name is not found: where was searched, and the closest names."""
from __future__ import annotations

from collections.abc import Iterable

from slipstream.base.counts import count_of
from slipstream.base.shown_path import shown_path
from slipstream.map.changes import Changed
from slipstream.map.fresh import View, with_view
from slipstream.map.index_file import FAILED, FLAGS, SKIPPED, SYMBOLS, DamagedIndex, FileEntry, Symbol, unpack
from slipstream.map.name_table import find_slots, key_of
from slipstream.map.postings import SearchIndex
from slipstream.map.search_store import open_definitions, plain_name

MAX_CLOSE, MAX_COMPARED = 5, 200
SHORT_BYTES, LEAST_LIKENESS = 8, 0.6


def close_names(name: str, known: Iterable[str], most: int = MAX_CLOSE) -> list[str]:
    """The names most like `name`, best first: by spelling, whatever the case, whole or as a part."""
    last = name.rpartition(".")[2].lower()
    by_lower: dict[str, list[str]] = {}
    for one in known:
        by_lower.setdefault(one.rpartition(".")[2].lower(), []).append(one)
    likeness = sorted((-_likeness(last, one), one) for one in by_lower)
    near = [one for less, one in likeness[:most] if less <= -LEAST_LIKENESS]
    if len(last) > 2:
        near += [one for one in sorted(by_lower, key=lambda text: (len(text), text)) if last in one and one not in near]
    found = [one for lower in near for one in dict.fromkeys(by_lower[lower])]
    return found[:most]


def _likeness(one: str, two: str) -> float:
    """Twice the longest common subsequence over both lengths; its letters are the zeros of one number (Hyyro 2004)."""
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    whole = left = (1 << len(one)) - 1
    for letter in two:
        held = left & places.get(letter, 0)
        left = (left + held) | (left - held)
    return 2 * bin(left & whole ^ whole).count("1") / ((len(one) + len(two)) or 1)


def _holding(text: bytes, piece: bytes) -> list[bytes]:
    """The names in a text, a zero between them, that hold a piece: few do, so that a search beats a look at every name."""
    found, text = [], b"\0%b\0" % text
    at = text.find(piece)
    while at >= 0:
        end = text.index(b"\0", at)
        found.append(text[text.rindex(b"\0", 0, at) + 1:end])
        at = text.find(piece, end)
    return found


def likely_names(index: SearchIndex, name: str) -> list[str]:
    """Names as exact matches keep them (see `plain_name`), most of what is shared first: those that hold a piece of `name`
    and are about as long, and those that hold it whole. Of the shortest, all that are about as long."""
    wanted = name.encode("utf-8", "surrogatepass")
    if b"\0" in wanted or not wanted:
        return []
    parts = [index.first, index.second] if isinstance(index, Changed) else [index]  # of the first, some may be gone
    text = b"\0".join(unpack(part.column("names").tobytes()) for part in parts)
    size = len(wanted)
    least, most = (3 * size + 4) // 5, 9 * size // 5
    names = [one for one in text.split(b"\0") if least <= len(one) <= most] + _holding(text, wanted)
    near = b"\0".join(names)
    short = size <= SHORT_BYTES  # short pieces stand everywhere, but few names are of that length
    step = max(3, size // 4) if not short else 2 if size > SHORT_BYTES // 2 else size
    found: dict[bytes, int] = {}
    for piece in {wanted, *(wanted[at:at + step] for at in range(0, size - step + 1, step))}:
        for one in set(_holding(near, piece)):
            found[one] = found.get(one, 0) + 1
    if short and len(found) < MAX_COMPARED:
        found = {**dict.fromkeys(names, 0), **found}
    best = sorted(found, key=lambda one: (-found[one], abs(len(one) - size), one))
    return [one.decode("utf-8", "replace") for one in best[:MAX_COMPARED]]


def find_close(root: str, view: View, name: str) -> list[str]:
    """The names of the project's definitions most like `name`, by the index that search has of them. DamagedIndex."""
    plain = plain_name(name.rpartition(".")[2])
    found: dict[str, None] = {}
    with open_definitions(root, view) as index:
        slots, places = index.column("slot"), index.column("place")
        for one in close_names(plain, likely_names(index, plain), 2 * MAX_CLOSE):  # some are only a file's
            docs = [doc for doc in index.find("=" + one)[0] if places[doc]]
            if any(slots[doc] >= len(view.paths) for doc in docs):
                raise DamagedIndex("slot")
            for doc in sorted(docs, key=lambda doc: view.paths[slots[doc]])[:MAX_CLOSE]:
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
        there = [view.records[slot] for slot, path in enumerate(view.paths) if path]
        symbols = sum(record[SYMBOLS] for record in there if not record[FLAGS] & (SKIPPED | FAILED))
        said = describe_miss(name, find_close(root, view, name), symbols, count_of(len(there), "file"))
        raise Missing(said + (f"; it was in {shown_path(gone[0])}, which is gone" if gone else ""))
    return with_view(root, ask)
