"""Tools over the project map: the map itself, slices, outlines, search, references, mind map."""
from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from slipstream.base.errors import SlipstreamError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from slipstream.map.cuts import Slice
    from slipstream.map.index import Index
    from slipstream.mcp.calls import Call

LOOK_UP_S = 0.2  # how often one that waits looks whether it was cancelled
MAX_NAMED = 20  # of what to ask for again
SYMBOLS_BYTES = 30_000  # a page of slices: under the answer's ceiling, with room for the last line
_refreshing: dict[str, threading.Lock] = {}
_guard = threading.Lock()
_asking = threading.Lock()  # a view kept of one tree makes room for that of another, which may be another thread's


@contextmanager
def refreshing(call: Call) -> Iterator[None]:
    """Held while the index is brought up to date: two calls that come together do a cold scan once."""
    with _guard:
        lock = _refreshing.setdefault(call.root, threading.Lock())
    while not lock.acquire(timeout=LOOK_UP_S):
        call.check()
    try:
        yield
    finally:
        lock.release()


def open_project(call: Call) -> Index:
    """The index of the call's project, up to date."""
    from slipstream.map.apart import open_index_apart
    with refreshing(call):
        return open_index_apart(call.root, call.progress)


def _ensure_index(call: Call) -> None:
    """A first scan, where there is no index yet: with progress, and only once for calls that come together."""
    from slipstream.map.lookup import open_stored
    stored = open_stored(call.root)
    if stored is None:
        open_project(call)
    else:
        stored.handle.close()


def keep_views() -> None:
    """What was read of an index for one call serves the next."""
    from slipstream.map import fresh, keep
    fresh.keeper = keep


def locate(call: Call, name: str) -> str:
    """The relative path of a file argument, seen from the root; never outside it."""
    from slipstream.map.lookup import locate_file
    return locate_file(call.root, name, call.root)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sp_map(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.apart import refresh_map_apart
    from slipstream.map.publish import DEFAULT_BUDGET_TOKENS
    from slipstream.map.render import render_map
    path = locate(call, arguments["path"]) if arguments.get("path") else None
    if path == ".":
        path = None
    with refreshing(call):
        index, text = refresh_map_apart(call.root, call.progress)
    if path is not None and path not in index.table.slots and not os.path.isdir(os.path.join(call.root, path)):
        raise SlipstreamError("%s: no such folder, and no file that the map knows" % path)
    budget = arguments.get("budget", DEFAULT_BUDGET_TOKENS)
    if path is not None or budget != DEFAULT_BUDGET_TOKENS:
        text = render_map(index, budget, path)
    charge(call, text)
    return text


def sp_mindmap(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.mindmap import render_mermaid
    from slipstream.memory.overview import map_tree
    return "```mermaid\n%s\n```" % render_mermaid(map_tree(open_project(call))).strip("\n")


def sp_symbol(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.slices import slice_symbols
    names = [name.strip() for name in arguments["symbol"].split(",") if name.strip()]
    if not names:
        raise SlipstreamError('argument "symbol" names no symbol')
    file = locate(call, arguments["file"]) if arguments.get("file") else None
    if file is None:
        _ensure_index(call)
    found: list[Slice] = []
    asked: list[str] = []  # of each slice the name that asked for it: a name may have several, or none
    missed: list[str] = []
    for name in names:
        try:
            found += slice_symbols(call.root, [name], file, bool(arguments.get("signature")), arguments.get("context", 0),
                                   arguments.get("offset", 0))
            asked += [name] * (len(found) - len(asked))
        except SlipstreamError as error:
            missed.append(str(error))
    if not found:
        raise SlipstreamError("\n".join(missed))
    for one in found:
        _note_saving(call, one)
    if arguments.get("format") == "json":
        return to_json([one.to_json() for one in found] + [{"missed": text} for text in missed])
    return _pages([_render(one, "offset") for one in found], asked) + "".join("\n\n" + text for text in missed)


def sp_lines(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.cuts import slice_lines
    start, end = arguments["start"], arguments["end"]
    if end < start:
        raise SlipstreamError('argument "end" (%d) is before "start" (%d)' % (end, start))
    one = slice_lines(call.root, locate(call, arguments["file"]), start, end)
    _note_saving(call, one)
    return _render(one, "start", with_kind=False)


def sp_outline(arguments: dict[str, Any], call: Call) -> str:
    from slipstream.map.outline import outline_file, outline_to_json, render_outline
    found = outline_file(call.root, locate(call, arguments["file"]))
    text = to_json(outline_to_json(found.entry)) if arguments.get("format") == "json" else render_outline(found)
    charge(call, text)
    return text


def sp_search(arguments: dict[str, Any], call: Call) -> str:
    keep_views()
    from slipstream.map.search import search
    from slipstream.map.search_json import answer_json
    from slipstream.map.search_text import render_answer
    _ensure_index(call)
    path = locate(call, arguments["path"]) if arguments.get("path") else ""
    with refreshing(call), _asking:
        answer = search(call.root, arguments["query"], arguments["limit"], arguments.get("offset", 0),
                        arguments.get("kind") or "", "" if path == "." else path)
    text = to_json(answer_json(answer)) if arguments.get("format") == "json" else \
        _paged(render_answer(answer, arguments["query"]))
    charge(call, text)
    return text


def sp_refs(arguments: dict[str, Any], call: Call) -> str:
    keep_views()
    from slipstream.map.refs import find_references, render_references
    _ensure_index(call)
    file = locate(call, arguments["file"]) if arguments.get("file") else ""
    with refreshing(call), _asking:
        as_json = arguments.get("format") == "json"
        found = find_references(call.root, arguments["symbol"].strip(), file, 0 if as_json else arguments["limit"],
                                arguments.get("offset", 0))
    if as_json:
        from slipstream.map.refs_json import references_json
        return to_json(references_json(found))
    text = _paged(render_references(found))
    charge(call, text)
    return text


def _paged(text: str) -> str:
    """The command line's way to the next page in the words of a tool."""
    return "\n".join(line.replace("--offset ", "offset=") if line.startswith("... ") else line
                     for line in text.rstrip("\n").split("\n"))


def _render(one: Slice, continuation: str, with_kind: bool = True) -> str:
    from slipstream.map.cuts import render_slice
    rest, one.rest = one.rest, 0
    text = render_slice(one, with_kind)
    return "%s\n// goes on: %s %d" % (text, continuation, rest) if rest else text


def _pages(parts: list[str], names: list[str]) -> str:
    """Whole slices as far as they fit; at least the first. `names`: of each what to ask for."""
    shown: list[str] = []
    size = 0
    for part in parts:
        size += len(part.encode("utf-8", "replace")) + 2
        if shown and size > SYMBOLS_BYTES:
            rest = list(dict.fromkeys(names[len(shown):]))
            after = " and the %d after them" % (len(rest) - MAX_NAMED) if len(rest) > MAX_NAMED else ""
            shown.append("... %d more; ask again for: %s%s" % (len(parts) - len(shown), ", ".join(rest[:MAX_NAMED]), after))
            break
        shown.append(part)
    return "\n\n".join(shown)


def _note_saving(call: Call, one: Slice) -> None:
    from slipstream.context.savings import record_saving
    served = len(one.code.encode("utf-8", "replace"))
    call.later(lambda: record_saving(call.store_root, call.session, one.path, served, one.file_bytes))


def charge(call: Call, text: str) -> None:
    """Maps, outlines and searches are the price of scoped reading, and are counted as such."""
    from slipstream.context.savings import charge_map
    call.later(lambda: charge_map(call.store_root, len(text.encode("utf-8", "replace"))))
