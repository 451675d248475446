"""Where a symbol is used: every place with its enclosing definition, code apart from comments and strings (query path).

Files are read as they are now, so a place is never stale; names are compared, not types, and namesakes are told apart by
the imports of the using file where those decide it.
"""
from __future__ import annotations

import os
import re
from collections.abc import Iterator

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.shown_path import shown_path
from slipstream.map.body_words import open_words, word_of
from slipstream.map.fresh import View, open_view
from slipstream.map.index_file import FAILED, FLAGS, SKIPPED, DamagedIndex, FileEntry, Symbol
from slipstream.map.name_table import find_slots, key_of
from slipstream.map.noise import code_places
from slipstream.map.source import Unreadable, decode_source, read_source

MAX_TEXT_CHARS = 140
_INDEXED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,40}\Z")  # what the index takes for a word
_IMPORT_LINE = re.compile(r"\s*(?:import|from|export\b.*\bfrom|use|using|require|include|package)\b|.*\brequire\(")


class Use:
    """One place. `text` is the line, `inside` the enclosing definition, `where` code, import, or text (comment, string);
    `target` the file whose definition is meant, or empty where that is not known."""

    __slots__ = ("inside", "line", "path", "target", "text", "where")

    def __init__(self, path: str, line: int, text: str, inside: str, where: str) -> None:
        self.path, self.line, self.text, self.inside, self.where = path, line, text, inside, where
        self.target = ""


class References:
    """What was found for `name`; `uses` in the order of paths and lines, those of other definitions counted in `others`."""

    __slots__ = ("close", "definitions", "name", "others", "uses")

    def __init__(self, name: str) -> None:
        self.name = name
        self.close: list[str] = []  # where nothing was found: what may have been meant
        self.definitions: list[Symbol] = []
        self.uses: list[Use] = []
        self.others = 0


def find_references(root: str, name: str, file: str = "") -> References:
    """Definitions and uses of `name` (`Class.method` looks for the method). `file` chooses among namesakes."""
    last = name.rpartition(".")[2]
    if not last or not re.match(r"[^\W\d][\w$]*$|\$[\w$]*$|#[\w$]+$", last):
        raise SlipstreamError(f"not a name that can be looked up: {name!r}; grep finds any text")
    try:
        with open_view(root) as view:
            return _find(root, view, name, last, file)
    except DamagedIndex:  # found while it was read: made anew
        from slipstream.map.search_files import discard
        discard(root)
        with open_view(root) as view:
            return _find(root, view, name, last, file)


def _find(root: str, view: View, name: str, last: str, file: str) -> References:
    found = References(name)
    defined = {slot: view.entry(slot) for slot in find_slots(view.source, key_of(b":", last.encode("utf-8", "replace")))}
    found.definitions = [one for entry in defined.values() for one in entry.symbols if one.name == last and (
        "." not in name or one.qualified.endswith(name))]
    found.definitions.sort(key=lambda one: (one.path, one.line))
    if file:
        file = file.replace(os.sep, "/").removeprefix("./")
        if not any(one.path == file for one in found.definitions):
            raise SlipstreamError(f"{shown_path(file)} does not define {name}")
    raw = last.encode("utf-8", "surrogateescape")
    for slot in sorted(_candidates(root, view, last), key=lambda slot: view.paths[slot]):
        try:
            data, _ = read_source(os.path.join(root, view.paths[slot]))
        except Unreadable:
            continue
        if raw in data:
            _add_uses(view.entry(slot), data, found)
    _tell_apart(root, view, found, file)
    if not found.definitions and not found.uses:
        from slipstream.map.misses import find_close
        found.close = find_close(root, view, name)
    return found


def _candidates(root: str, view: View, name: str) -> list[int]:
    """Slots of the files that may hold a name: by the index of body words, or all where it cannot tell."""
    name = name.lstrip("#$")
    if _INDEXED.match(name):
        with open_words(root, view) as words:
            slots = words.column("slot")
            return [slots[doc] for doc in words.find(word_of(name))[0]]
    return [slot for slot, path in enumerate(view.paths) if path and not view.records[slot][FLAGS] & (SKIPPED | FAILED)]


def _places(text: str, name: str) -> Iterator[int]:
    """Where a name stands as a whole word."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and _is_part(text[at - 1])) and not (end < len(text) and _is_part(text[end])):
            yield at
        at = text.find(name, end)


def _is_part(one: str) -> bool:
    return one.isalnum() or one in "_$"


def _add_uses(entry: FileEntry, data: bytes, found: References) -> None:
    try:
        text = decode_source(data).decode("utf-8", "replace")
    except Unreadable:
        return
    places = list(_places(text, found.name.rpartition(".")[2]))
    if not places:
        return
    code = code_places(entry.language, text, places)
    own = {one.line for one in entry.symbols if one.name == found.name.rpartition(".")[2]}
    spans = sorted((one.end - one.start, one.start, one.end, one.qualified) for one in entry.symbols)
    line = 1
    before = 0
    for place in places:
        line += text.count("\n", before, place)
        before = place
        if line in own:
            own.discard(line)  # the definition's own name
            continue
        start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        content = text[start:end if end >= 0 else len(text)].strip()
        inside = next((name for _, start, end, name in spans if start <= line <= end), "")
        where = "text" if place not in code else "import" if _IMPORT_LINE.match(content) else "code"
        found.uses.append(Use(entry.path, line, _cut(content), inside, where))


def _tell_apart(root: str, view: View, found: References, file: str) -> None:
    """Says which definition a use means, by its own file or its imports; with `file`, drops the uses of the others."""
    homes = {one.path for one in found.definitions}
    targets: dict[str, str] = {}
    if len(homes) > 1:
        from slipstream.map.meanings import find_meanings
        targets = find_meanings(root, view, found, homes)
    elif homes:
        targets = dict.fromkeys({use.path for use in found.uses}, next(iter(homes)))
    for use in found.uses:
        use.target = targets.get(use.path, "")
    if file:
        kept = [use for use in found.uses if use.target in ("", file)]
        found.others = len(found.uses) - len(kept)
        found.uses = kept
        found.definitions = [one for one in found.definitions if one.path == file]


def render_references(found: References, limit: int = 40, offset: int = 0) -> str:
    """Definitions, then uses by file, then places in comments and strings; `limit` of each, of the places from `offset`."""
    uses = sorted(found.uses, key=lambda use: (use.where == "text", use.path, use.line))
    code = [use for use in uses if use.where != "text"]
    files = len({use.path for use in code})
    head = (f"{found.name}: {count_of(len(found.definitions), 'definition')}, {count_of(len(code), 'use')} in "
            f"{count_of(files, 'file')}, {len(uses) - len(code)} in comments and strings")
    lines = [head + (f"; {found.others} of other definitions left out" if found.others else "")
             + (f"; closest: {', '.join(found.close)}" if found.close else "")]
    if not offset:
        lines += [f"  defined {shown_path(one.path)}:{one.line} {one.kind} {_cut(one.signature or one.qualified)}"
                  for one in found.definitions[:limit]]
        if len(found.definitions) > limit:
            lines.append(f"  {count_of(len(found.definitions) - limit, 'more definition')}: a larger limit shows them")
    elif offset >= len(uses):
        lines.append("no more uses")
    several = len({one.path for one in found.definitions}) > 1
    section = ""
    shown: set[tuple[str, int]] = set()
    for use in uses[offset:offset + limit]:
        if (use.path, use.line) in shown:
            continue
        shown.add((use.path, use.line))
        here = ("comments and strings, " if use.where == "text" else "") + shown_path(use.path)
        if several and use.where != "text":
            here += f" (means {shown_path(use.target)})" if use.target else " (which definition is not known)"
        if here != section:
            lines.append(here)
            section = here
        lines.append(f"  {use.line}{' in ' + use.inside if use.inside else ''}: {use.text}")
    if len(uses) > offset + limit:
        lines.append(f"... {len(uses) - offset - limit} more: --offset {offset + limit}")
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[:MAX_TEXT_CHARS - 1] + "\u2026"
