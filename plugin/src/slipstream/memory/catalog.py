"""The search index on disk: which pieces there are, what of each source is in them, whether they say what the files say.

Derived and never needed for correctness: whatever is damaged is built again. All of it lives in the store's `search/`.
"""
from __future__ import annotations

import json
import os
import time
from typing import Any

from slipstream.base.errors import LockTimeout, SlipstreamError
from slipstream.base.files import read_bytes
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.memory.segment import DamagedIndex, Segment
from slipstream.memory.sources import CONVERSATIONS, FACTS, HOST, OBSERVATIONS, scan_sources, source_folders

VERSION = 1
_LOCK_TIMEOUT_S = 2.0
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
        self.manifest_stamp: tuple[int, int] | None = None
        self._observed: tuple[int, float, dict[str, tuple[int, int, int, int]]] | None = None

    def refresh(self) -> None:
        """Makes the index say what the files say, reading only what is new. Without a writable store, as far as it can."""
        self._load_manifest()
        found = self._scan()
        if not self._stale(found):
            return
        from slipstream.memory.catalog_update import CatalogUpdate
        try:
            with FileLock(store_path(self.store_root, "search", "index"), _LOCK_TIMEOUT_S):
                self._load_manifest()
                found = scan_sources(self.store_root)
                if self._stale(found):
                    CatalogUpdate(self).run(found, save=True)
        except LockTimeout:
            return  # somebody else is taking the same bytes in
        except (OSError, SlipstreamError):
            CatalogUpdate(self).run(found, save=False)

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
        self.sources, self.manifest_stamp = {}, None
        for name in list_dir(self.folder):
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
            if self.manifest_stamp is not None or not self.segments:
                self.close()
                self.sources, self.manifest_stamp = {}, None
            return
        if self.manifest_stamp == (info.st_mtime_ns, info.st_ino):
            return
        self.close()
        try:
            value = json.loads(read_bytes(path))
            if value["version"] != VERSION:
                raise DamagedIndex(path)
            sources = {str(name): list(entry) for name, entry in value["sources"].items()}
            for entry in sources.values():
                if not isinstance(entry[0], list) or not ((len(entry) == 2 and isinstance(entry[1], dict))
                                                          or (len(entry) == 3 and isinstance(entry[1], int))):
                    raise DamagedIndex(path)
            for piece, deleted in value["segments"]:
                if not str(piece).isdecimal():
                    raise DamagedIndex(path)
                segment = Segment(os.path.join(self.folder, f"{piece}.seg"))
                self.segments.append((str(piece), segment, {int(doc) for doc in deleted}))
            self.sources, self.next_piece = sources, int(value["next"])
            self.manifest_stamp = (info.st_mtime_ns, info.st_ino)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, DamagedIndex):
            self.close()
            self.sources, self.manifest_stamp = {}, None
            self.next_piece = 1 + max([0, *(int(name[:-4]) for name in list_dir(self.folder)
                                            if name.endswith(".seg") and name[:-4].isdecimal())])

    def drop_pieces(self, first: int) -> None:
        for _, segment, _ in self.segments[first:]:
            segment.close()
        del self.segments[first:]

    def close(self) -> None:
        self.drop_pieces(0)


def list_dir(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
