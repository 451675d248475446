"""The index as it is on disk, proved current by one stat per file and folder, else brought up to date (hot; starts no git)."""
from __future__ import annotations

import os
import struct
import zlib

from slipstream.base.roots import store_dir
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import (
    CTIME,
    FLAGS,
    INDEX_NAME,
    INODE,
    LOW,
    MTIME,
    RACY,
    RECORD,
    SIZE,
    DamagedIndex,
    FileEntry,
    IndexFile,
    Record,
    entry_of,
    open_index_file,
)

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.table import Table


MAX_PART_BYTES = 256_000_000


class View:
    """Records and paths by slot (an empty path: no file), and the entry of a slot."""

    __slots__ = ("paths", "records", "refreshed", "source")

    def __init__(self, source: IndexFile | Table, records: list[Record], paths: list[str], refreshed: bool) -> None:
        self.source, self.records, self.paths, self.refreshed = source, records, paths, refreshed

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self.source, IndexFile):
            self.source.handle.close()

    def entry(self, slot: int) -> FileEntry:
        if isinstance(self.source, IndexFile):
            record = self.records[slot]
            return entry_of(self.source.section(record), slot, record)
        return self.source.entry(slot)


def open_view(root: str) -> View:
    """An up-to-date view of the tree at `root`."""
    try:
        index = open_index_file(os.path.join(store_dir(root), INDEX_NAME), scanner_identity())
        view = _view_of(index) if index is not None else None
        if index is not None and view is not None and _is_current(root, index, view):
            return view
        if index is not None:
            index.handle.close()
    except (DamagedIndex, OSError, ValueError, struct.error):
        pass
    from slipstream.map.refresh import refresh_index
    table = refresh_index(root, ask_git=False).table
    return View(table, table.records, table.paths, True)


def unpack_part(packed: bytes) -> bytes:
    """A compressed part; raises DamagedIndex."""
    try:
        return zlib.decompressobj().decompress(packed, MAX_PART_BYTES)
    except zlib.error:
        raise DamagedIndex("part") from None


def _view_of(index: IndexFile) -> View:
    records = list(RECORD.iter_unpack(index.part("records")))
    paths = os.fsdecode(unpack_part(index.part("paths"))).split("\0") if records else []
    if len(paths) != len(records):
        raise DamagedIndex("paths")
    return View(index, records, paths, False)


def _is_current(root: str, index: IndexFile, view: View) -> bool:
    before, lstat = root.rstrip("/") + "/", os.lstat
    for record, path in zip(view.records, view.paths):
        if path:
            info = lstat(before + path)
            if (info.st_mtime_ns != record[MTIME] or info.st_size & LOW != record[SIZE] or info.st_ino & LOW != record[INODE]
                    or info.st_ctime_ns & LOW != record[CTIME] or record[FLAGS] & RACY):
                return False
    data = unpack_part(index.part("folders"))
    count = index.folder_count
    mtimes, names = struct.unpack_from(f"<{count}q", data), data[8 * count:].split(b"\0") if count else []
    start = os.fsencode(before)
    return all(os.stat(start + name).st_mtime_ns == mtime for name, mtime in zip(names, mtimes))
