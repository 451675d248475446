"""The two search indexes of a tree: definitions (map.search) and body words (map.words); made and mended when first asked."""
from __future__ import annotations

import functools
import os
import re
from array import array

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.segment import DamagedIndex, Segment
from slipstream.base.segment_build import SegmentBuilder
from slipstream.base.store import store_path
from slipstream.base.text import STOP_WORDS, split_identifier, words
from slipstream.base.text import stem as stem_word
from slipstream.map.fresh import View
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import CONTENT, FAILED, FLAGS, GENERATED, OVERLOAD, SKIPPED, FileEntry, Symbol
from slipstream.map.search_store import DEFINITIONS, WORDS, DefinitionSegment, WordSegment, plain_name, word_of
from slipstream.map.source import Unreadable, read_source

# What a match in a field counts; found by trying on sets made from repositories (tests/bench/search.py).
NAME, JOINED, EXACT, PARENT, DOC, SIGNATURE, PURPOSE, FILE_NAME, FOLDER = 3.0, 0.3, 1.0, 0.5, 1.5, 0.5, 0.3, 0.5, 0.2
MAX_STALE_SHARE = 0.1  # beyond it a whole new index costs less than carrying the old one along
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,40}|[0-9]{3,8}")
MAX_WORD_SHARE = 0.25  # a word in more files than this tells nothing


stem = functools.lru_cache(maxsize=200_000)(stem_word)  # a tree has few words, each of them often


def terms(text: str) -> list[str]:
    """As `base.text.terms`."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


class DefinitionBuilder(SegmentBuilder):
    COLUMNS = DefinitionSegment.COLUMNS


class WordBuilder(SegmentBuilder):
    COLUMNS = WordSegment.COLUMNS


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


def build_definitions(view: View, slots: list[int], builder: DefinitionBuilder, fields: Fields) -> None:
    """Adds every file of `slots` and its symbols."""
    for slot in slots:
        entry, content = view.entry(slot), view.records[slot][CONTENT]
        generated = 2 if view.records[slot][FLAGS] & GENERATED else 0
        counts = fields.file(entry)
        builder.add(counts, sum(counts.values()), {"place": 0, "slot": slot, "content": content, "weight": generated})
        for number, one in enumerate(entry.symbols, 1):
            if not one.flags & OVERLOAD:
                counts = fields.symbol(one, entry)
                builder.add(counts, sum(counts.values()), {"place": number, "slot": slot, "content": content,
                                                           "weight": generated | (1 if one.exported else 0)})


def mend_definitions(root: str, view: View) -> Segment:
    """The index of definitions, made anew or with the files that changed since."""
    builder = DefinitionBuilder()
    slots = _take_over(root, DEFINITIONS, DefinitionSegment, view, builder)
    build_definitions(view, slots, builder, Fields())
    return _keep(root, DEFINITIONS, builder.render(scanner_identity()), DefinitionSegment)


def mend_words(root: str, view: View) -> Segment:
    """The index of body words by file, made anew or with the files read again that changed since."""
    builder = WordBuilder()
    slots = _take_over(root, WORDS, WordSegment, view, builder)
    _add_words(root, view, slots, builder)
    return _keep(root, WORDS, builder.render(scanner_identity()), WordSegment)


def _take_over(root: str, name: str, kind: type[Segment], view: View, builder: SegmentBuilder) -> list[int]:
    """Puts what still holds of the stored index into the builder; returns the slots that are left to add."""
    slots = indexed_slots(view)
    try:
        found = kind(store_path(root, name), scanner_identity())
    except (DamagedIndex, OSError, SlipstreamError):
        return slots
    with found:
        there = dict(zip(found.columns["slot"], found.columns["content"]))
        now = {slot: view.records[slot][CONTENT] for slot in slots}
        stale = {slot for slot, content in there.items() if now.get(slot) != content}
        missing = [slot for slot in slots if there.get(slot) != now[slot]]
        if len(stale) + len(missing) > MAX_STALE_SHARE * len(slots) + 20:
            return slots
        builder.add_segment(found, {doc for doc, slot in enumerate(found.columns["slot"]) if slot in stale})
        return missing


def _add_words(root: str, view: View, slots: list[int], builder: WordBuilder) -> None:
    """One document a file: which words stand in it. Not through `add`: a large tree has a million pairs of word and file."""
    known: dict[bytes, tuple[str, ...]] = {}
    postings: dict[str, list[int]] = {}
    columns, first = builder.columns, len(builder)
    for slot in slots:
        try:
            data, _ = read_source(os.path.join(root, view.paths[slot]))
        except Unreadable:
            data = b""
        doc = len(builder)
        columns["length"].append(0)
        columns["slot"].append(slot)
        columns["content"].append(view.records[slot][CONTENT])
        for word in set(_WORD.findall(data)):
            stems = known.get(word)
            if stems is None:
                stems = known[word] = _stems(word.decode("ascii"))
            for one in stems:
                held = postings.get(one)
                if held is None:
                    postings[one] = [doc]
                elif held[-1] != doc:
                    held.append(doc)
    most = max(50, int(MAX_WORD_SHARE * len(builder)))
    for word, docs in postings.items():
        if len(docs) <= most or first:
            held_docs, counts = builder.postings.setdefault(word, (array("I"), bytearray()))
            held_docs.extend(docs)
            counts.extend(b"\4" * len(docs))


def _stems(word: str) -> tuple[str, ...]:
    parts = [stem(part) for part in split_identifier(word) if len(part) > 2 and part not in STOP_WORDS]
    return tuple(dict.fromkeys([*parts, word_of(word)]))


def _keep(root: str, name: str, data: bytes, kind: type[Segment]) -> Segment:
    """Writes the index and opens it; from a temporary folder where the store cannot be written."""
    try:
        path = store_path(root, name)
        write_atomic(path, data)
        return kind(path, scanner_identity())
    except (OSError, SlipstreamError):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            write_atomic(path, data)
            return kind(path, scanner_identity())
