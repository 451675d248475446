"""Takes new bytes into the search index: what is new of each source, pieces merged so that the work stays small."""
from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import Any

from slipstream.base.files import open_regular, read_text, write_atomic
from slipstream.base.instants import parse_iso
from slipstream.base.json_files import dump_json
from slipstream.base.store import store_path
from slipstream.memory.catalog import VERSION, Catalog, list_dir
from slipstream.memory.documents import Document, conversation_documents, count_terms, iter_observations, markdown_documents
from slipstream.memory.fact_reading import FactStore, load_facts
from slipstream.memory.model import Fact
from slipstream.memory.segment import Segment
from slipstream.memory.segment_build import SegmentBuilder
from slipstream.memory.sources import CONVERSATIONS, FACTS, OBSERVATIONS, source_path
from slipstream.memory.terms import KINDS

_MERGE_RATIO = 6  # the newest piece is merged into the one before it while that one is less than this many times larger
MAX_PIECE, MAX_MERGED = 30_000, 12_000  # documents: bounds the memory to build a piece, and how long a search may merge two
_TAIL_CHECK_BYTES = 256
MAX_NOTE_BYTES = 1_000_000


class CatalogUpdate:
    """One update of a catalog; the caller holds the index's lock, or saves nothing."""

    def __init__(self, catalog: Catalog):
        self.catalog = catalog

    def run(self, found: dict[str, tuple[int, int, int, int]], save: bool) -> None:
        """Takes in what `found` (see scan_sources) says is new; `save`: into the store, else for this process alone."""
        builder, entries, piece = SegmentBuilder(), dict(self.catalog.sources), str(self.catalog.next_piece)
        facts = load_facts(self.catalog.store_root)
        for source in [name for name in entries if name not in found]:
            self._delete_source(source)
            del entries[source]
        for source in sorted(found):  # observations come last: what is replaced as a whole is in the first piece
            stamp, entry = list(found[source]), entries.get(source)
            if entry is not None and entry[0] == stamp:
                continue
            if source.startswith(OBSERVATIONS + "/"):
                entries[source] = self._take_lines(builder, source, stamp, entry)
                if save and len(builder) >= MAX_PIECE:
                    self._add_piece(builder, save)
                    builder = SegmentBuilder()
            else:
                entries[source] = self._take_whole(builder, source, stamp, entry, piece,
                                                   whole_documents(self.catalog.store_root, source, facts))
        self.catalog.sources = entries
        if len(builder):
            self._add_piece(builder, save)
        if save:
            self._merge()
            self._save_manifest()

    def _take_lines(self, builder: SegmentBuilder, source: str, stamp: list[int], entry: list[Any] | None) -> list[Any]:
        path = source_path(self.catalog.store_root, source)
        offset = entry[1] if entry is not None and len(entry) == 3 else 0
        if entry is not None and (entry[0][3] != stamp[3] or offset > stamp[0] or _tail_check(path, offset) != entry[2]):
            self._delete_source(source)  # replaced or rewritten: taken in from the start
            offset = 0
        end = offset
        try:
            for place, document in iter_observations(path, offset):
                end = place
                if document is not None:
                    _add(builder, document, source)
        except OSError:
            pass
        return [stamp, end, _tail_check(path, end)]

    def _take_whole(self, builder: SegmentBuilder, source: str, stamp: list[int], entry: list[Any] | None, piece: str,
                    documents: Iterable[Document]) -> list[Any]:
        held = entry[1] if entry is not None and len(entry) == 2 else {}
        kept: dict[str, list[Any]] = {}
        for document in documents:
            key, signature = str(document.place), document.signature()
            old = held.get(key)
            if isinstance(old, list) and len(old) == 3 and old[0] == signature:
                kept[key] = old
            else:
                kept[key] = [signature, piece, _add(builder, document, source)]
        for key, old in held.items():
            if kept.get(key) is not old:
                self._delete(old)
        return [stamp, kept]

    def _delete(self, place: list[Any]) -> None:
        for piece, segment, deleted in self.catalog.segments:
            if piece == place[1] and isinstance(place[2], int) and 0 <= place[2] < segment.count:
                deleted.add(place[2])

    def _delete_source(self, source: str) -> None:
        for _, segment, deleted in self.catalog.segments:
            if source in segment.strings["source"]:
                wanted = segment.strings["source"].index(source)
                deleted.update(doc for doc, number in enumerate(segment.columns["source"]) if number == wanted)

    def _add_piece(self, builder: SegmentBuilder, save: bool) -> None:
        piece = str(self.catalog.next_piece)
        if save:
            path = store_path(self.catalog.store_root, "search", f"{piece}.seg")
            write_atomic(path, builder.render())
        else:
            import tempfile
            descriptor, path = tempfile.mkstemp(prefix="slipstream-", suffix=".seg")
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(builder.render())
        self.catalog.segments.append((piece, Segment(path), set()))
        if not save:
            os.unlink(path)  # its open descriptor serves this process
        self.catalog.next_piece += 1

    def _merge(self) -> None:
        """Newest pieces first, so that a new record costs its own bytes and a share of a logarithm of the rest."""
        while True:
            sizes = [segment.count - len(deleted) for _, segment, deleted in self.catalog.segments]
            if self.catalog.segments and sizes[-1] == 0:
                self.catalog.drop_pieces(len(self.catalog.segments) - 1)
            elif len(sizes) > 1 and sizes[-2] < _MERGE_RATIO * sizes[-1] and sizes[-2] + sizes[-1] <= MAX_MERGED:
                self._join(len(sizes) - 2)
            else:
                hollow = next((i for i, (_, segment, deleted) in enumerate(self.catalog.segments)
                               if len(deleted) > segment.count // 2), None)
                if hollow is None:
                    return
                self._join(hollow)

    def _join(self, first: int) -> None:
        builder, moved = SegmentBuilder(), {}
        for piece, segment, deleted in self.catalog.segments[first:]:
            moved[piece] = builder.add_segment(segment, deleted)
        name = str(self.catalog.next_piece)
        self.catalog.drop_pieces(first)
        for entry in self.catalog.sources.values():
            if len(entry) == 2:
                for place in entry[1].values():
                    if place[1] in moved:
                        place[2] = moved[place[1]].get(place[2], -1)
                        place[1] = name
        if len(builder):
            self._add_piece(builder, save=True)

    def _save_manifest(self) -> None:
        value = {"version": VERSION, "next": self.catalog.next_piece, "sources": self.catalog.sources,
                 "segments": [[piece, sorted(deleted)] for piece, _, deleted in self.catalog.segments]}
        path = store_path(self.catalog.store_root, "search", "manifest.json")
        write_atomic(path, dump_json(value))
        info = os.lstat(path)
        self.catalog.manifest_stamp = (info.st_mtime_ns, info.st_ino)
        live = {f"{piece}.seg" for piece, _, _ in self.catalog.segments}
        for name in list_dir(self.catalog.folder):
            if name.endswith(".seg") and name not in live:
                try:
                    os.unlink(os.path.join(self.catalog.folder, name))
                except OSError:
                    pass  # open elsewhere on a platform that minds; the next save tries again


def _add(builder: SegmentBuilder, document: Document, source: str) -> int:
    counts, length, title = count_terms(document)
    ts = parse_iso(document.ts) if document.ts else None
    return builder.add_document(counts, length, title, KINDS.index(document.kind), source, document.session, document.branch,
                                int(ts or 0), document.number, document.place, document.size)


def _tail_check(path: str, offset: int) -> int:
    """Checksum of the bytes before an offset: whether a file that grew is still the one whose start was taken in."""
    try:
        with os.fdopen(open_regular(path), "rb") as stream:
            stream.seek(max(0, offset - _TAIL_CHECK_BYTES))
            return zlib.crc32(stream.read(min(offset, _TAIL_CHECK_BYTES)))
    except OSError:
        return 0


def fact_document(fact: Fact) -> Document:
    keys = [*fact.tags, *(source["file"] for source in fact.sources), fact.type, fact.name]
    return Document("digest" if fact.is_digest else "fact", fact.description, keys, fact.body, branch=fact.branch,
                    ts=fact.updated or fact.created)


def whole_documents(store_root: str, source: str, facts: FactStore) -> list[Document]:
    """Documents of a source that is replaced as a whole (a fact, a chat, a note of the host)."""
    kind, _, name = source.partition("/")
    path = source_path(store_root, source)
    if kind == FACTS:
        return [fact_document(fact) for fact in facts.facts if os.path.basename(fact.path) == name]
    if kind == CONVERSATIONS:
        return conversation_documents(path)
    try:
        if os.path.getsize(path) > MAX_NOTE_BYTES:
            return []
        return markdown_documents(read_text(path))
    except OSError:
        return []
