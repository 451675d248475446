"""A name with several definitions: what is said of them, and where they are very many, their number by the index alone."""
from __future__ import annotations

from itertools import accumulate

from slipstream.base.paths import shown_path
from slipstream.map.index_file import HEAD_ROWS, FileEntry, Symbol, parse_rows
from slipstream.map.lookup import Found, Known
from slipstream.map.slices import MAX_LISTED, choose


def describe_choice(name: str, places: list[tuple[Found, Symbol]], more: int) -> str:
    """What to say of a name with several definitions: `places`, and `more` that are only counted."""
    rows = [f"{shown_path(place.entry.path)}:{symbol.line} {symbol.kind} {symbol.qualified}" for place, symbol in places]
    count = len(rows) + more
    rest = f"\n... {count - MAX_LISTED} more" if count > MAX_LISTED else ""
    said = f"{name} is defined {count} times; say which, as FILE NAME or Class.name:\n"
    return said + "\n".join(rows[:MAX_LISTED]) + rest


def exact_first(named: list[tuple[str, Known]], name: str) -> tuple[list[tuple[str, Known]], list[int]]:
    """The files, those with the exact qualified name first; and how many definitions that `name` means follow each.

    Where one is called exactly so, only such are meant, as in `choose`.
    """
    needle = name.rpartition(".")[2].encode("utf-8", "replace")
    counts = []
    for path, (_, _, section) in named:
        rows = section.split(b"\n")
        if "." in name:
            symbols = parse_rows([row.decode("utf-8", "replace") for row in rows], FileEntry(path)).symbols
            depths = [one.qualified != name for one in choose(symbols, name)]
        else:
            cells = [row.split(b"\t") for row in rows[HEAD_ROWS:] if needle in row]
            depths = [row[0] != b"0" for row in cells if len(row) > 6 and row[6] == needle]
        counts.append((depths.count(False), len(depths)))
    if any(exact for exact, _ in counts):
        order = sorted(range(len(named)), key=lambda at: not counts[at][0])
        named, meant = [named[at] for at in order], [counts[at][0] for at in order]
    else:
        meant = [count for _, count in counts]
    return named, [*accumulate(meant[:0:-1], initial=0)][::-1]
