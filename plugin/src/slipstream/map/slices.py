"""Scoped reads of symbols (hot): cut from the text just read, never by a stored range alone."""
from __future__ import annotations

from slipstream.base.errors import SlipstreamError
from slipstream.map.cuts import Slice, beyond, page_of
from slipstream.map.index_file import DamagedIndex, IndexFile, Symbol
from slipstream.map.lookup import Found, find_file, find_named, leads_elsewhere, open_stored

MAX_CONTEXT, MAX_LISTED = 200, 20  # lines; definitions


class Ambiguous(SlipstreamError):
    """A name with several definitions; the message lists them with path and line."""


class Missing(SlipstreamError):
    """A name nothing defines; the message names the closest ones."""


def slice_symbols(root: str, names: list[str], file: str | None = None, signature: bool = False, context: int = 0,
                  from_line: int = 0) -> list[Slice]:
    """Slices of `names` (`name` or `Class.name`) in `file` (relative path), or wherever they are. Raises Missing, Ambiguous.

    `signature`: only the declaration's text; `context`: lines on both sides; `from_line` continues a long symbol there.
    """
    found: list[Slice] = []
    index = open_stored(root)
    try:
        for name in names:
            places = _find_places(root, name, file, index)
            if len(places) > 1 and not signature:
                from slipstream.map.overloads import join_overloads
                places = join_overloads(places)
            found += [_cut(place, symbol, signature, context, from_line) for place, symbol in places]
        return found
    finally:
        if index is not None:
            index.handle.close()


def _find_places(root: str, name: str, file: str | None, index: IndexFile | None) -> list[tuple[Found, Symbol]]:
    try:
        return _in_file(root, name, file, index) if file is not None else _anywhere(root, name, index)
    except Missing:
        dotted = name.replace("::", ".").replace("->", ".").replace("#", ".")  # as PHP, Rust, C++ or Ruby write Class.name
        if dotted == name or "" in dotted.split("."):
            raise
        return _find_places(root, dotted, file, index)


def choose(symbols: list[Symbol], name: str) -> list[Symbol]:
    """Those that `name` means: an exact qualified name before a name inside something."""
    exact = [one for one in symbols if one.qualified == name]
    return exact or [one for one in symbols if one.name == name or one.qualified.endswith("." + name)]


def _in_file(root: str, name: str, path: str, index: IndexFile | None) -> list[tuple[Found, Symbol]]:
    place = find_file(root, path, index)
    chosen = choose(place.entry.symbols, name)
    if any(not _is_there(place, symbol) for symbol in chosen):
        place = find_file(root, path, None)
        chosen = choose(place.entry.symbols, name)
    if not chosen:
        from slipstream.map.misses import describe_miss_in
        raise Missing(describe_miss_in(name, place.entry))
    return _unambiguous(name, [(place, symbol) for symbol in chosen])


def _anywhere(root: str, name: str, index: IndexFile | None) -> list[tuple[Found, Symbol]]:
    found: list[tuple[Found, Symbol]] = []
    gone: list[str] = []
    more: list[int] = []
    try:
        named = find_named(index, name) if index is not None else []
        if len(named) > MAX_LISTED:
            from slipstream.map.namesakes import exact_first
            named, more = exact_first(named, name)
        for number, (path, known) in enumerate(named):
            if leads_elsewhere(root, path):
                continue
            try:
                place = find_file(root, path, index, known)
            except SlipstreamError:
                gone.append(path)
                continue
            found += [(place, symbol) for symbol in choose(place.entry.symbols, name) if _is_there(place, symbol)]
            exact = _exact(found, name) if more else []
            if more and (len(exact or found) >= MAX_LISTED if more[number] else exact):  # the rest is counted, and not shown
                return _unambiguous(name, exact or found, more[number])
    except DamagedIndex:
        found = []
    if not found:
        from slipstream.map.misses import find_again
        found = [(find_file(root, path, None), symbol) for path, symbol in find_again(root, name, gone)]
    return _unambiguous(name, _exact(found, name) or found)


def _exact(places: list[tuple[Found, Symbol]], name: str) -> list[tuple[Found, Symbol]]:
    return [one for one in places if one[1].qualified == name]


def _is_there(place: Found, symbol: Symbol) -> bool:
    lines = place.text.split(b"\n", symbol.line)
    return len(lines) >= symbol.line and symbol.name.encode("utf-8", "replace") in lines[symbol.line - 1]


def _unambiguous(name: str, places: list[tuple[Found, Symbol]], more: int = 0) -> list[tuple[Found, Symbol]]:
    if more or len({(place.entry.path, symbol.qualified) for place, symbol in places}) > 1:
        from slipstream.map.namesakes import describe_choice
        raise Ambiguous(describe_choice(name, places, more))
    return places


def _cut(place: Found, symbol: Symbol, signature: bool, context: int, from_line: int) -> Slice:
    path, size, note = place.entry.path, place.size, place.note
    if signature:
        return Slice(path, symbol.qualified, symbol.kind, symbol.line, symbol.line, symbol.signature or symbol.name, size, note)
    context = max(0, min(context, MAX_CONTEXT))
    lines = place.text.split(b"\n", symbol.end + context)
    if len(lines) > symbol.end + context or not lines[-1]:
        lines.pop()  # what lies behind, or the nothing after the last line
    first = max(1, symbol.start - context)
    note = note or beyond(from_line, len(lines), f"{symbol.qualified} has lines {symbol.start}-{symbol.end}")
    if from_line > first:
        first = min(from_line, len(lines))
    code, last = page_of(lines, first)
    return Slice(path, symbol.qualified, symbol.kind, first, last, code, size, note, last + 1 if last < len(lines) else 0)
