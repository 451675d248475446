"""Tools over the project map: the map itself, slices, outlines, search, references, mind map."""
from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from slipstream.base.errors import SlipstreamError

if TYPE_CHECKING:
    from slipstream.map.index import Index
    from slipstream.map.slices import Slice
    from slipstream.mcp.calls import Call

SYMBOLS_BYTES = 30_000  # a page of slices: under the answer's ceiling, with room for the last line
_refreshing: dict[str, threading.Lock] = {}
_guard = threading.Lock()


def open_project(call: Call) -> Index:
    """The index of the call's project, brought up to date; two calls at once do a cold scan once."""
    from slipstream.map.index import open_index
    with _guard:
        lock = _refreshing.setdefault(call.root, threading.Lock())
    while not lock.acquire(timeout=0.2):
        call.progress(0, 0)
    try:
        return open_index(call.root, progress=call.progress)
    finally:
        lock.release()


def _ensure_index(call: Call) -> None:
    """A first scan, where there is no index yet: with progress, and only once for calls that come together."""
    from slipstream.map.lookup import open_stored
    stored = open_stored(call.root)
    if stored is None:
        open_project(call)
    else:
        stored.handle.close()


def locate(call: Call, name: str) -> str:
    """The relative path of a file argument, seen from the root; never outside it."""
    from slipstream.map.lookup import locate_file
    return locate_file(call.root, name, call.root)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sp_symbol(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.slices import slice_symbols
    names = [name.strip() for name in arguments["symbol"].split(",") if name.strip()]
    if not names:
        raise SlipstreamError('argument "symbol" names no symbol')
    file = locate(call, arguments["file"]) if arguments.get("file") else None
    if file is None:
        _ensure_index(call)
    found: list[Slice] = []
    missed: list[str] = []
    for name in names:
        try:
            found += slice_symbols(call.root, [name], file, bool(arguments.get("signature")), arguments.get("context", 0),
                                   arguments.get("offset", 0))
        except SlipstreamError as error:
            missed.append(str(error))
    if not found:
        raise SlipstreamError("\n".join(missed))
    for one in found:
        _note_saving(call, one)
    if arguments.get("format") == "json":
        return to_json([one.to_json() for one in found] + [{"missed": text} for text in missed])
    return _pages([_render(one, "offset") for one in found], names) + "".join("\n\n" + text for text in missed)


def sp_lines(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.slices import slice_lines
    start, end = arguments["start"], arguments["end"]
    if end < start:
        raise SlipstreamError('argument "end" (%d) is before "start" (%d)' % (end, start))
    one = slice_lines(call.root, locate(call, arguments["file"]), start, end)
    _note_saving(call, one)
    return _render(one, "start", with_kind=False)


def sp_outline(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.outline import outline_file, outline_to_json, render_outline
    found = outline_file(call.root, locate(call, arguments["file"]))
    return to_json(outline_to_json(found.entry)) if arguments.get("format") == "json" else render_outline(found)


def _render(one: Slice, continuation: str, with_kind: bool = True) -> str:
    from slipstream.map.slices import render_slice
    rest, one.rest = one.rest, 0
    text = render_slice(one, with_kind)
    return "%s\n// goes on: %s %d" % (text, continuation, rest) if rest else text


def _pages(parts: list[str], names: list[str]) -> str:
    """Whole slices as far as they fit; at least the first."""
    shown: list[str] = []
    size = 0
    for part in parts:
        size += len(part.encode("utf-8", "replace")) + 2
        if shown and size > SYMBOLS_BYTES:
            rest = ", ".join(names[len(shown):])
            shown.append("... %d more; ask again for: %s" % (len(parts) - len(shown), rest))
            break
        shown.append(part)
    return "\n\n".join(shown)


def _note_saving(call: Call, one: Slice) -> None:
    from slipstream.context.savings import record_saving
    try:
        record_saving(call.store_root, call.session, one.path, len(one.code.encode("utf-8", "replace")), one.file_bytes)
    except (ImportError, OSError, SlipstreamError):
        pass  # a figure, not a reason to withhold an answer
