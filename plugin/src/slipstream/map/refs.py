"""Where a symbol is used: every place with its enclosing definition, code apart from comments and strings (query path).

Files are read as they are now, so a place is never stale; names are compared, not types, and namesakes are told apart by
the imports of the using file where those decide it.
"""
from __future__ import annotations

import os
import re
from collections.abc import Collection

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.shown_path import shown_path
from slipstream.map.body_words import open_words, word_of
from slipstream.map.fresh import View, with_view
from slipstream.map.index_file import FAILED, FLAGS, HEAD_ROWS, SKIPPED, Symbol
from slipstream.map.name_table import find_slots, key_of
from slipstream.map.noise import code_places
from slipstream.map.source import Unreadable, decode_source, read_source

MAX_TEXT_CHARS = 140
FEW_FILES = 100  # read whatever is asked for, so that what few files hold is counted
_INDEXED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,40}\Z")  # what the index takes for a word
_IMPORT_LINE = re.compile(r"\s*(?:import|from|export\b.*\bfrom|use|using|require|include|package)\b|.*\brequire\(")


class Use:
    """One place. `text` is the line, `inside` the enclosing definition, `where` code, import, or text (comment, string);
    `target` the file whose definition is meant, or empty where that is not known."""

    __slots__ = ("inside", "line", "path", "slot", "target", "text", "where")

    def __init__(self, slot: int, path: str, line: int, text: str, where: str) -> None:
        self.slot, self.path, self.line, self.text, self.where = slot, path, line, text, where
        self.inside = self.target = ""


class References:
    """What was found for `name`: `uses` in the order of paths and lines, those of other definitions counted in `others`; of
    the `definitions`, `more` are counted and not listed; `read` files were looked at, and `unread` ones may hold more.

    `page`: the uses that were asked for, code first; only of them is known what they stand inside and mean. `homes`: the
    files that define it, and whether at their top level. `close`: what may have been meant where nothing was found.
    """

    __slots__ = ("close", "definitions", "homes", "more", "name", "offset", "others", "page", "read", "unread", "uses")

    def __init__(self, name: str, offset: int) -> None:
        self.name, self.offset = name, offset
        self.definitions, self.uses, self.page = list[Symbol](), list[Use](), list[Use]()
        self.homes, self.close = dict[str, bool](), list[str]()
        self.more = self.others = self.read = self.unread = 0


def find_references(root: str, name: str, file: str = "", limit: int = 0, offset: int = 0) -> References:
    """Definitions and uses of `name` (`Class.method` looks for the method). `file` chooses among namesakes.

    With a `limit`, that many definitions are listed, and files are read until they hold that many uses in code after the
    `offset`, but no fewer than FEW_FILES.
    """
    last = name.rpartition(".")[2]
    if not last or not re.match(r"[^\W\d][\w$]*$|\$[\w$]*$|#[\w$]+$", last):
        raise SlipstreamError(f"not a name that can be looked up: {name!r}; grep finds any text")
    return with_view(root, lambda view: _find(root, view, References(name, offset), last, file, limit))


def _find(root: str, view: View, found: References, last: str, file: str, limit: int) -> References:
    own = _add_definitions(view, found, last, file, limit)
    holders = sorted(_candidates(root, view, last), key=view.paths.__getitem__)
    meanings = None
    if len(found.homes) > 1:
        from slipstream.map.meanings import Meanings
        meanings = Meanings(root, view, last, found.homes, holders)
    in_code, wanted = 0, found.offset + limit if limit else None
    for slot in holders:
        if wanted and in_code >= wanted and found.read >= FEW_FILES:
            break
        found.read += 1
        uses = _uses_in(root, view, slot, last, own.get(slot, set()))
        if file and meanings and uses and meanings.of(uses[0].path) not in ("", file):
            found.others += len(uses)
            continue
        found.uses += uses
        in_code += sum(use.where != "text" for use in uses)
    found.unread = len(holders) - found.read
    found.page = sorted(found.uses, key=lambda use: (use.where == "text", use.path, use.line))[found.offset:wanted]
    spans: dict[str, list[tuple[int, int, int, str]]] = {}
    for use in found.page:
        if use.path not in spans:
            spans[use.path] = sorted((one.end - one.start, one.start, one.end, one.qualified)
                                     for one in view.entry(use.slot).symbols)
        use.inside = next((name for _, start, end, name in spans[use.path] if start <= use.line <= end), "")
        use.target = meanings.of(use.path) if meanings else "".join(found.homes)
    if not found.definitions and not found.uses:
        from slipstream.map.misses import find_close
        found.close = find_close(root, view, found.name)
    return found


def _add_definitions(view: View, found: References, last: str, file: str, limit: int) -> dict[int, set[int]]:
    """Slot -> lines that define the name. What is not listed is not taken apart, unless only that tells what it is."""
    own: dict[int, set[int]] = {}
    needle = last.encode("utf-8", "replace")
    slots = [(view.paths[slot] != file, view.paths[slot], slot) for slot in find_slots(view.source, key_of(b":", needle))]
    for _, path, slot in sorted(slots):
        rows = [row.split(b"\t") for row in view.section(slot).split(b"\n")[HEAD_ROWS:] if needle in row]
        rows = [row for row in rows if row[6:7] == [needle]]
        own[slot], number, listed = {int(row[3]) for row in rows}, len(rows), list[Symbol]()
        if not limit or found.name != last or (len(found.definitions) < limit and file in ("", path)):
            listed = [one for one in view.entry(slot).symbols if one.name == last and one.qualified.endswith(found.name)]
            listed.sort(key=lambda one: one.line)
            number, listed = len(listed), listed[:limit - len(found.definitions)] if limit else listed
        if number:
            found.homes[path] = any(row[0] == b"0" for row in rows)
        if file in ("", path):
            found.definitions += listed
            found.more += number - len(listed)
    if file and file not in found.homes:
        raise SlipstreamError(f"{shown_path(file)} does not define {found.name}")
    return own


def _candidates(root: str, view: View, name: str) -> list[int]:
    """Slots of the files that may hold a name: by the index of body words, or all where it cannot tell."""
    name = name.lstrip("#$")
    if _INDEXED.match(name):
        with open_words(root, view) as words:
            slots = words.column("slot")
            return [slots[doc] for doc in words.find(word_of(name))[0]]
    return [slot for slot, path in enumerate(view.paths) if path and not view.records[slot][FLAGS] & (SKIPPED | FAILED)]


def _uses_in(root: str, view: View, slot: int, name: str, own: Collection[int]) -> list[Use]:
    """The places of a name in a file, those apart where it is defined: one on each of the lines `own`."""
    path = view.paths[slot]
    try:
        text = decode_source(read_source(os.path.join(root, path))[0]).decode("utf-8", "replace")
    except Unreadable:
        return []
    raw = re.escape(name)
    places = [one.start() for one in re.finditer(rf"{raw}(?<![\w$]{raw})(?![\w$])", text)]  # whole words
    if not places:
        return []
    code = code_places(view.section(slot).split(b"\t", 1)[0].decode("utf-8", "replace"), text, places)
    uses, defined = [], set(own)
    line, before = 1, 0
    for place in places:
        line, before = line + text.count("\n", before, place), place
        if line in defined:
            defined.discard(line)  # the definition's own name
            continue
        start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        content = text[start:end if end >= 0 else len(text)].strip()
        where = "text" if place not in code else "import" if _IMPORT_LINE.match(content) else "code"
        uses.append(Use(slot, path, line, _cut(content), where))
    return uses


def render_references(found: References) -> str:
    """Definitions, then the page's uses by file, then its places in comments and strings."""
    code = [use for use in found.uses if use.where != "text"]
    lines = [f"{found.name}: {count_of(len(found.definitions) + found.more, 'definition')}, {count_of(len(code), 'use')} in "
             f"{count_of(len({use.path for use in code}), 'file')}, {len(found.uses) - len(code)} in comments and strings"]
    lines[0] += f", in the first {found.read} of {found.read + found.unread:,} files that may hold it" if found.unread else ""
    if found.others:
        lines[0] += f"; {found.others} of other definitions left out"
    if not (found.definitions or found.uses):
        close = f"closest: {', '.join(found.close)}" if found.close else "grep finds any text"
        lines = [f"no symbol {found.name!r} and no use of it; {close}"]
    if not found.offset:
        lines += [f"  defined {shown_path(one.path)}:{one.line} {one.kind} {_cut(one.signature or one.qualified)}"
                  for one in found.definitions]
        if found.more:
            lines.append(f"  {count_of(found.more, 'more definition')}: a larger limit shows them")
    elif found.uses and not found.page:
        lines.append("no more uses")
    several = len({one.path for one in found.definitions}) > 1
    section = ""
    lines_once: dict[tuple[str, int], Use] = {}
    for use in found.page:
        lines_once.setdefault((use.path, use.line), use)
    for use in lines_once.values():
        here = ("comments and strings, " if use.where == "text" else "") + shown_path(use.path)
        if several and use.where != "text":
            here += f" (means {shown_path(use.target)})" if use.target else " (which definition is not known)"
        if here != section:
            lines.append(here)
            section = here
        lines.append(f"  {use.line}{' in ' + use.inside if use.inside else ''}: {use.text}")
    after = found.offset + len(found.page)
    if found.unread or len(found.uses) > after:
        unread = f", and {count_of(found.unread, 'file')} not read" if found.unread else ""
        lines.append(f"... {len(found.uses) - after} more{unread}: --offset {after}")
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[:MAX_TEXT_CHARS - 1] + "\u2026"
