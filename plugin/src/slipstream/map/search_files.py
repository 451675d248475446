"""The two search indexes of a tree: definitions (map.search) and body words (map.words); made and mended when first asked."""
from __future__ import annotations

import functools
import os
import re
from array import array
from binascii import crc32
from collections.abc import Callable

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.store import store_path
from slipstream.base.text import STOP_WORDS, split_identifier, words
from slipstream.base.text import stem as stem_word
from slipstream.map import fresh
from slipstream.map.body_words import WORDS, BodyWords, word_of
from slipstream.map.changes import CHANGES, Changed
from slipstream.map.fresh import View
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import CONTENT, FAILED, FLAGS, OVERLOAD, SKIPPED, DamagedIndex, FileEntry, Symbol
from slipstream.map.index_file import GENERATED as GENERATED_FLAG
from slipstream.map.postings import COUNT_SCALE, SearchIndex
from slipstream.map.postings_build import IndexBuilder, quantize_length
from slipstream.map.search_store import DEFINITIONS, EXPORTED, GENERATED, TEST, Definitions, plain_name
from slipstream.map.source import UTF_16, Unreadable, decode_source, read_source

# What a match in a field counts; found by trying on sets made from repositories (tests/bench/search.py).
NAME, JOINED, EXACT, PARENT, DOC, SIGNATURE, PURPOSE, FILE_NAME, FOLDER = 3.0, 0.3, 1.0, 0.5, 1.5, 0.5, 0.3, 0.5, 0.2
MAX_BESIDE_SHARE, MAX_BESIDE = 0.1, 20  # files that changed are kept in an index beside the large one while they are so few
MAX_STALE_SHARE = 0.5  # beyond it a whole new index costs less than carrying the old one along
_APART = bytes(code if (code < 128 and chr(code).isalnum()) or code == 95 else 32 for code in range(256))
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{1,40}|[0-9]{3,8}")
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec|testing|fixtures|examples?)/|(?:^|/)test_|[._](?:test|spec)\.|_test\.")


stem = functools.lru_cache(maxsize=200_000)(stem_word)  # a tree has few words, each of them often


def terms(text: str) -> list[str]:
    """As `base.text.terms`."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def _count(into: dict[str, float], found: list[str], weight: float) -> None:
    for word in found:
        into[word] = into.get(word, 0.0) + weight


class Fields:
    """Weighted terms of files and symbols; what repeats (paths, names) is worked out once."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def name(self, text: str) -> list[str]:
        found = self._names.get(text)
        if found is None:
            found = self._names[text] = [stem(part) for part in split_identifier(text)] or terms(text)
        return found

    def file(self, entry: FileEntry) -> dict[str, float]:
        counts: dict[str, float] = {}
        folder, _, base = entry.path.rpartition("/")
        _count(counts, self.name(base), NAME)
        counts["=" + plain_name(base)] = EXACT
        counts["=" + plain_name(base.split(".", 1)[0])] = EXACT
        for part in folder.split("/"):
            _count(counts, self.name(part), FOLDER)
        _count(counts, self.purpose(entry), DOC)
        return counts

    def purpose(self, entry: FileEntry) -> list[str]:
        """Its words; not of one made from the file's own names, which stand in their own fields."""
        return [] if entry.purpose.startswith(("exports ", "defines ")) else terms(entry.purpose)

    def symbol(self, one: Symbol, entry: FileEntry) -> dict[str, float]:
        counts: dict[str, float] = {}
        _count(counts, self.name(one.name), NAME)
        plain = plain_name(one.name)
        counts["=" + plain] = EXACT
        _count(counts, [stem(plain)], JOINED)  # for a query that runs the words together, or misspells them so
        if one.depth:
            parents = one.qualified[:-len(one.name) - 1]
            for parent in parents.split("."):
                _count(counts, self.name(parent), PARENT)
            counts[f"={plain_name(parents.rpartition('.')[2])}.{plain_name(one.name)}"] = EXACT
        folder, _, base = entry.path.rpartition("/")
        _count(counts, self.name(base), FILE_NAME)
        for part in folder.split("/"):
            _count(counts, self.name(part), FOLDER)
        _count(counts, terms(one.signature.replace(one.name, " ", 1)), SIGNATURE)
        _count(counts, terms(one.doc), DOC)
        _count(counts, self.purpose(entry), PURPOSE)
        return counts


def indexed_slots(view: View) -> list[int]:
    return [slot for slot, path in enumerate(view.paths) if path and not view.records[slot][FLAGS] & (SKIPPED | FAILED)]


def content_of(view: View, slot: int) -> int:
    """What documents are made from: a file's bytes, and its path."""
    return crc32(view.paths[slot].encode("utf-8", "surrogateescape"), view.records[slot][CONTENT])


def build_definitions(view: View, slots: list[int], builder: IndexBuilder, fields: Fields) -> None:
    """Adds every file of `slots` and its symbols."""
    for slot in slots:
        entry = view.entry(slot)
        kind = (GENERATED if view.records[slot][FLAGS] & GENERATED_FLAG else 0) | (TEST if _TEST.search(entry.path) else 0)
        builder.columns["file"].append(slot)
        builder.columns["content"].append(content_of(view, slot))
        counts = fields.file(entry)
        builder.add(counts, {"slot": slot, "place": 0, "weight": kind, "length": quantize_length(sum(counts.values()))})
        for place, one in enumerate(entry.symbols, 1):
            if not one.flags & OVERLOAD:
                counts = fields.symbol(one, entry)
                builder.add(counts, {"slot": slot, "place": place, "weight": kind | (EXPORTED if one.exported else 0),
                                     "length": quantize_length(sum(counts.values()))})


def mend_definitions(root: str, view: View) -> SearchIndex:
    """The index of definitions, made anew or with the files that changed since."""
    def add(slots: list[int], builder: IndexBuilder) -> None:
        build_definitions(view, slots, builder, Fields())
    return _mend(root, view, Definitions, DEFINITIONS, add)


def mend_words(root: str, view: View) -> SearchIndex:
    """The index of body words by file, made anew or with the files read again that changed since."""
    def add(slots: list[int], builder: IndexBuilder) -> None:
        _add_words(root, view, slots, builder)
    return _mend(root, view, BodyWords, WORDS, add)


def _mend(root: str, view: View, kind: type[SearchIndex], name: str,
          add: Callable[[list[int], IndexBuilder], None]) -> SearchIndex:
    """What changed since is written beside the stored index while it is little, then with what still holds of it."""
    slots, builder, files = indexed_slots(view), IndexBuilder(kind), "slot" if kind is BodyWords else "file"
    try:
        first = kind(store_path(root, name), scanner_identity())
    except (DamagedIndex, OSError, SlipstreamError):
        from slipstream.base.threads import hold_archive
        hold_archive()  # an index of everything takes a while
        add(slots, builder)
        return _keep(root, name, builder, view)
    try:
        there = dict(zip(first.column(files), first.column("content")))
        now = {slot: content_of(view, slot) for slot in slots}
        stale = {slot for slot, content in there.items() if now.get(slot) != content}
        missing = [slot for slot in slots if there.get(slot) != now[slot]]
        changed = len(stale.union(missing))
        if changed <= MAX_BESIDE_SHARE * len(slots) + MAX_BESIDE:
            add(_take_over_changes(root, name, first, now, missing, files, builder), builder)
            builder.replace(first, stale)
            return Changed(first, _keep(root, name + CHANGES, builder, view), view.state)
        if changed <= MAX_STALE_SHARE * len(slots):
            _take_over(first, there, stale, files, builder)
            slots = missing
    except DamagedIndex:
        slots, builder = indexed_slots(view), IndexBuilder(kind)
    first.close()
    add(slots, builder)
    return _keep(root, name, builder, view)


def discard(root: str) -> None:
    """Takes both indexes away, and the one they were made from: one of them is damaged."""
    from slipstream.map.refresh import forget_index
    forget_index(root)
    if fresh.keeper:
        fresh.keeper.let_go(root)
    for name in (DEFINITIONS, WORDS, DEFINITIONS + CHANGES, WORDS + CHANGES):
        _unlink(root, name)


def _unlink(root: str, name: str) -> None:
    try:
        os.unlink(store_path(root, name))
    except (OSError, SlipstreamError):
        pass


def _take_over_changes(root: str, name: str, first: SearchIndex, now: dict[int, int], missing: list[int], files: str,
                       builder: IndexBuilder) -> list[int]:
    """Puts into the builder what the changes beside `first` hold and still is so; of `missing`, the files it does not."""
    try:
        with type(first)(store_path(root, name + CHANGES), scanner_identity()) as second:
            there = dict(zip(second.column(files), second.column("content")))
            held = {slot for slot in missing if there.get(slot) == now[slot]}
            if not held or second.column("base")[:1] != array("I", [first.stamp]):
                return missing
            _take_over(second, there, there.keys() - held, files, builder)
            return [slot for slot in missing if slot not in held]
    except (DamagedIndex, OSError, SlipstreamError):
        _unlink(root, name + CHANGES)
        if builder.count:
            raise DamagedIndex("changes") from None
        return missing


def _take_over(first: SearchIndex, there: dict[int, int], stale: set[int], files: str, builder: IndexBuilder) -> None:
    """Puts what still holds of an index into the builder; `files` is the column of the slots `there`, beside `content`."""
    deleted = {doc for doc, slot in enumerate(first.column("slot")) if slot in stale} if stale else set()
    kept = ("slot", "place", "length", "weight") if files == "file" else ()
    builder.take_over(first, deleted, kept)
    for slot, content in there.items():
        if slot not in stale:
            builder.columns[files].append(slot)
            builder.columns["content"].append(content)


def _add_words(root: str, view: View, slots: list[int], builder: IndexBuilder) -> None:
    """One document a file: which words stand in it. Not through `add`: a large tree has a million pairs of word and file."""
    columns, first = builder.columns, builder.count
    holders: dict[bytes, list[int]] = {}
    for doc, slot in enumerate(slots, first):
        try:
            data, _ = read_source(os.path.join(root, view.paths[slot]))
        except Unreadable:
            data = b""
        builder.passing = builder.passing or crc32(data) != view.records[slot][CONTENT]  # it changed since
        columns["slot"].append(slot)
        columns["content"].append(content_of(view, slot))
        data = decode_source(data) if data[:2] in UTF_16 else data
        for run in set(data.translate(_APART).split()):
            held = holders.get(run)
            if held is None:
                holders[run] = [doc]
            else:
                held.append(doc)
    by_stem: dict[str, list[list[int]]] = {}
    for run, docs in holders.items():
        for word in _WORD.findall(run):
            for one in _stems(word.decode("ascii")):
                by_stem.setdefault(one, []).append(docs)
    builder.count += len(slots)
    for name, lists in by_stem.items():
        docs = lists[0] if len(lists) == 1 else sorted(set().union(*lists))
        before, counts = builder.postings.get(name, ([], bytearray()))
        if before:
            before.extend(docs)
            counts.extend(bytes([COUNT_SCALE]) * len(docs))
        else:
            builder.postings[name] = list(docs), bytearray()


def _stems(word: str) -> tuple[str, ...]:
    parts = [stem(part) for part in split_identifier(word) if len(part) > 2 and part not in STOP_WORDS]
    return tuple(dict.fromkeys([*parts, word_of(word)]))


def _keep(root: str, name: str, builder: IndexBuilder, view: View) -> SearchIndex:
    """Writes the index and opens it; from a temporary folder what is not to be kept, or where the store cannot be written."""
    data = builder.render(scanner_identity(), view.state)
    try:
        if builder.passing:
            raise SlipstreamError("not of what the view shows")
        path = store_path(root, name)
        write_atomic(path, data)
        if not name.endswith(CHANGES):
            _unlink(root, name + CHANGES)  # of the index that was there before
        return builder.kind(path, scanner_identity())
    except (OSError, SlipstreamError):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            write_atomic(path, data)
            return builder.kind(path, scanner_identity())
