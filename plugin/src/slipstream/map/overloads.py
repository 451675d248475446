"""Overloads of one name as one slice."""
from __future__ import annotations

from slipstream.map.index_file import Symbol
from slipstream.map.lookup import Found


def join_overloads(places: list[tuple[Found, Symbol]]) -> list[tuple[Found, Symbol]]:
    """Overloads that follow each other with nothing between them, as one."""
    joined: list[tuple[Found, Symbol]] = []
    for place, one in places:
        last = joined[-1][1] if joined else None
        between = place.text.split(b"\n", one.start)[last.end:one.start - 1] if last is not None else []
        if last is not None and last.path == one.path and last.start <= one.start and not b"".join(between).strip():
            end = max(last.end, one.end)
            joined[-1] = place, Symbol(one.path, one.name, one.qualified, one.kind, one.line, last.start, end, one.depth,
                                       one.flags, one.signature, one.doc)
        else:
            joined.append((place, one))
    return joined
