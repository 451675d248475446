"""The search index on disk: which pieces there are, what of each source is in them, and how new bytes are taken in.

Derived and never needed for correctness: whatever is damaged is built again. All of it lives in the store's `search/`.
"""
from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import dump_json, open_regular, read_bytes, write_atomic
from slipstream.base.locks import FileLock, LockTimeout
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.memory.documents import KINDS, Document, count_terms, iter_observations
from slipstream.memory.fact_reading import load_facts
from slipstream.memory.segment import DamagedIndex, Segment
from slipstream.memory.sources import (
    CONVERSATIONS,
    FACTS,
    HOST,
    OBSERVATIONS,
    scan_sources,
    source_folders,
    source_path,
    whole_documents,
)

if TYPE_CHECKING:
    from slipstream.memory.segment_build import SegmentBuilder

_VERSION = 1
_MERGE_RATIO = 6  # the newest piece is merged into the one before it while that one is less than this many times larger
_LOCK_TIMEOUT_S = 2.0
_TAIL_CHECK_BYTES = 256
_RESCAN_S = 2.0

# A source's entry: [stamp, offset taken in, checksum of the bytes before it] for observations,
# [stamp, {position: [signature, piece, document]}] for one that is replaced as a whole.


class Catalog:
    """The opened index. `segments` are (piece name, Segment, deleted documents)."""

    def __init__(self, store_root: str):
        self.store_root = store_root
        self.folder = os.path.join(store_dir(store_root), "search")
        self.sources: dict[str, list[Any]] = {}
        self.segments: list[tuple[str, Segment, set[int]]] = []
        self.next_piece = 1
        self._manifest_stamp: tuple[int, int] | None = None
        self._observed: tuple[int, float, dict[str, tuple[int, int, int, int]]] | None = None

    def refresh(self) -> None:
        """Makes the index say what the files say, reading only what is new. Without a writable store, as far as it can."""
        self._load_manifest()
        found = self._scan()
        if not self._stale(found):
            return
        try:
            with FileLock(store_path(self.store_root, "search", "index"), _LOCK_TIMEOUT_S):
                self._load_manifest()
                found = scan_sources(self.store_root)
                if self._stale(found):
                    self._update(found, save=True)
        except LockTimeout:
            return  # somebody else is taking the same bytes in
        except (OSError, SlipstreamError):
            self._update(found, save=False)

    def _scan(self) -> dict[str, tuple[int, int, int, int]]:
        """Every file's stamp; observation files, which may be thousands, at most every other second while no capture ended.

        A capture replaces its counter file, so the folder's own time tells of it.
        """
        now = time.monotonic()
        try:
            stamp = os.stat(source_folders(self.store_root)[OBSERVATIONS]).st_mtime_ns
        except OSError:
            stamp = 0
        held = self._observed
        if held is None or held[0] != stamp or now - held[1] > _RESCAN_S:
            held = self._observed = (stamp, now, scan_sources(self.store_root, (OBSERVATIONS,)))
        return {**held[2], **scan_sources(self.store_root, (FACTS, CONVERSATIONS, HOST))}

    def documents(self) -> int:
        return sum(segment.count - len(deleted) for _, segment, deleted in self.segments)

    def rebuild(self) -> None:
        """Forgets everything derived; the next refresh starts from the files."""
        self.close()
        self.sources, self._manifest_stamp = {}, None
        for name in _listdir(self.folder):
            if name.endswith(".seg") or name == "manifest.json":
                try:
                    os.unlink(os.path.join(self.folder, name))
                except OSError:
                    pass

    def _stale(self, found: dict[str, tuple[int, int, int, int]]) -> bool:
        if found.keys() != self.sources.keys():
            return True
        return any(self.sources[name][0] != list(stamp) for name, stamp in found.items())

    def _load_manifest(self) -> None:
        path = os.path.join(self.folder, "manifest.json")
        try:
            info = os.lstat(path)
        except OSError:
            if self._manifest_stamp is not None or not self.segments:
                self.close()
                self.sources, self._manifest_stamp = {}, None
            return
        if self._manifest_stamp == (info.st_mtime_ns, info.st_ino):
            return
        self.close()
        try:
            value = json.loads(read_bytes(path))
            if value["version"] != _VERSION:
                raise DamagedIndex(path)
            sources = {str(name): list(entry) for name, entry in value["sources"].items()}
            for entry in sources.values():
                if not isinstance(entry[0], list) or not ((len(entry) == 2 and isinstance(entry[1], dict))
                                                          or (len(entry) == 3 and isinstance(entry[1], int))):
                    raise DamagedIndex(path)
            for piece, deleted in value["segments"]:
                if not str(piece).isdigit():
                    raise DamagedIndex(path)
                segment = Segment(os.path.join(self.folder, f"{piece}.seg"))
                self.segments.append((str(piece), segment, {int(doc) for doc in deleted}))
            self.sources, self.next_piece = sources, int(value["next"])
            self._manifest_stamp = (info.st_mtime_ns, info.st_ino)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, DamagedIndex):
            self.close()
            self.sources, self._manifest_stamp = {}, None
            self.next_piece = 1 + max([0, *(int(name[:-4]) for name in _listdir(self.folder)
                                            if name.endswith(".seg") and name[:-4].isdigit())])

    def _update(self, found: dict[str, tuple[int, int, int, int]], save: bool) -> None:
        from slipstream.memory.segment_build import SegmentBuilder
        builder, entries, piece = SegmentBuilder(), dict(self.sources), str(self.next_piece)
        facts = load_facts(self.store_root)
        for source in [name for name in entries if name not in found]:
            self._delete_source(source)
            del entries[source]
        for source in sorted(found):
            stamp, entry = list(found[source]), entries.get(source)
            if entry is not None and entry[0] == stamp:
                continue
            if source.startswith(OBSERVATIONS + "/"):
                entries[source] = self._take_lines(builder, source, stamp, entry)
            else:
                entries[source] = self._take_whole(builder, source, stamp, entry, piece,
                                                   whole_documents(self.store_root, source, facts))
        self.sources = entries
        if len(builder):
            self._add_piece(builder, save)
        if save:
            self._merge()
            self._save_manifest()

    def _take_lines(self, builder: SegmentBuilder, source: str, stamp: list[int], entry: list[Any] | None) -> list[Any]:
        path = source_path(self.store_root, source)
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
        for piece, segment, deleted in self.segments:
            if piece == place[1] and isinstance(place[2], int) and 0 <= place[2] < segment.count:
                deleted.add(place[2])

    def _delete_source(self, source: str) -> None:
        for _, segment, deleted in self.segments:
            if source in segment.strings["source"]:
                wanted = segment.strings["source"].index(source)
                deleted.update(doc for doc, number in enumerate(segment.columns["source"]) if number == wanted)

    def _add_piece(self, builder: SegmentBuilder, save: bool) -> None:
        piece = str(self.next_piece)
        if save:
            path = store_path(self.store_root, "search", f"{piece}.seg")
            write_atomic(path, builder.render())
        else:
            import tempfile
            descriptor, path = tempfile.mkstemp(prefix="slipstream-", suffix=".seg")
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(builder.render())
        self.segments.append((piece, Segment(path), set()))
        if not save:
            os.unlink(path)  # its open descriptor serves this process
        self.next_piece += 1

    def _merge(self) -> None:
        """Newest pieces first, so that a new record costs its own bytes and a share of a logarithm of the rest."""
        while True:
            sizes = [segment.count - len(deleted) for _, segment, deleted in self.segments]
            if self.segments and sizes[-1] == 0:
                self._drop_pieces(len(self.segments) - 1)
            elif len(sizes) > 1 and sizes[-2] < _MERGE_RATIO * sizes[-1]:
                self._join(len(sizes) - 2)
            else:
                hollow = next((i for i, (_, segment, deleted) in enumerate(self.segments)
                               if len(deleted) > segment.count // 2), None)
                if hollow is None:
                    return
                self._join(hollow)

    def _join(self, first: int) -> None:
        from slipstream.memory.segment_build import SegmentBuilder
        builder, moved = SegmentBuilder(), {}
        for piece, segment, deleted in self.segments[first:]:
            moved[piece] = builder.add_segment(segment, deleted)
        name = str(self.next_piece)
        self._drop_pieces(first)
        for entry in self.sources.values():
            if len(entry) == 2:
                for place in entry[1].values():
                    if place[1] in moved:
                        place[2] = moved[place[1]].get(place[2], -1)
                        place[1] = name
        if len(builder):
            self._add_piece(builder, save=True)

    def _drop_pieces(self, first: int) -> None:
        for _, segment, _ in self.segments[first:]:
            segment.close()
        del self.segments[first:]

    def _save_manifest(self) -> None:
        value = {"version": _VERSION, "next": self.next_piece, "sources": self.sources,
                 "segments": [[piece, sorted(deleted)] for piece, _, deleted in self.segments]}
        path = store_path(self.store_root, "search", "manifest.json")
        write_atomic(path, dump_json(value))
        info = os.lstat(path)
        self._manifest_stamp = (info.st_mtime_ns, info.st_ino)
        live = {f"{piece}.seg" for piece, _, _ in self.segments}
        for name in _listdir(self.folder):
            if name.endswith(".seg") and name not in live:
                try:
                    os.unlink(os.path.join(self.folder, name))
                except OSError:
                    pass  # open elsewhere on a platform that minds; the next save tries again

    def close(self) -> None:
        self._drop_pieces(0)


def _add(builder: SegmentBuilder, document: Document, source: str) -> int:
    from slipstream.base.instants import parse_iso
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


def _listdir(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
