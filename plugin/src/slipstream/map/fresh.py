"""The index as it is on disk, proved current by stats of all it is made from, else brought up to date (hot; starts no git)."""
from __future__ import annotations

import os
import struct

from slipstream.base.roots import store_dir
from slipstream.map import index_file as stored
from slipstream.map.identity import scanner_identity

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from slipstream.map.table import Table
    Source = stored.IndexFile | Table
    Result = TypeVar("Result")

MAX_BLOCKS = 200
STAMP = struct.Struct("<q3I4xH22x")  # of a record: mtime, ctime, inode, size, flags

keeper: Any = None  # the module `keep`, in a process that lives long


class Records:
    """The fixed records of an index by slot, each taken apart when it is asked for."""

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def __getitem__(self, slot: int) -> stored.Record:
        return stored.RECORD.unpack_from(self.raw, slot * stored.RECORD.size)


class View:
    """Records and paths by slot (an empty path: no file), and the entry of a slot. `state` is that of `Table.state`."""

    __slots__ = ("blocks", "indexes", "kept", "paths", "records", "source", "state")

    def __init__(self, source: Source, records: Records | list[stored.Record], paths: list[str], state: int) -> None:
        self.source, self.records, self.paths, self.state = source, records, paths, state
        self.blocks: dict[int, list[bytes]] = {}  # read lately, by their places
        self.kept = False  # by a server
        self.indexes: dict[str, Any] = {}  # the search indexes kept with it

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self.source, stored.IndexFile) and not self.kept:
            self.source.handle.close()

    def entry(self, slot: int) -> stored.FileEntry:
        return stored.entry_of(self.section(slot), slot, self.records[slot])

    def section(self, slot: int) -> bytes:
        """The text section of a slot; several lie in one block."""
        if not isinstance(self.source, stored.IndexFile):
            return self.source.section(slot)
        record = self.records[slot]
        if record[stored.BLOCK] not in self.blocks:
            if len(self.blocks) == MAX_BLOCKS:
                self.blocks.clear()
            self.blocks[record[stored.BLOCK]] = self.source.block(record)
        return self.source.section(record, self.blocks[record[stored.BLOCK]])


def open_view(root: str) -> View:
    """An up-to-date view of the tree at `root`."""
    index = None
    try:
        kept: View | None = keeper and keeper.find_kept(root)
        if kept and _is_current(root, kept):
            return kept
        index = stored.open_index_file(os.path.join(store_dir(root), stored.INDEX_NAME), scanner_identity())
        if index is not None and _is_current(root, view := _view_of(index)):
            if keeper:
                keeper.keep(root, view)
            return view
    except (stored.DamagedIndex, OSError, ValueError, struct.error):
        pass
    if index is not None:
        index.handle.close()  # before it is written: Windows replaces no open file
    if keeper:
        table = keeper.refresh(root).table
    else:
        from slipstream.map.refresh import refresh_index
        table = refresh_index(root, ask_git=False).table
    return View(table, table.records, table.paths, table.state())


def with_view(root: str, ask: Callable[[View], Result]) -> Result:
    """What `ask` makes of an up-to-date view; asked again when the stored index proves damaged while it is read."""
    try:
        with open_view(root) as view:
            return ask(view)
    except stored.DamagedIndex:
        from slipstream.map.search_files import discard
        discard(root)
        with open_view(root) as view:
            return ask(view)


def _view_of(index: stored.IndexFile) -> View:
    paths = os.fsdecode(stored.unpack(index.part("paths"))).split("\0") if index.slots else []
    if len(paths) != index.slots:
        raise stored.DamagedIndex("paths")
    return View(index, Records(index.part("records")), paths, index.state)


def _is_current(root: str, view: View) -> bool:
    before, lstat = root.rstrip("/") + "/", os.lstat
    index: Any = view.source
    for (mtime, ctime, inode, size, flags), path in zip(STAMP.iter_unpack(view.records.raw), view.paths):  # type: ignore[union-attr]
        if path:
            info = lstat(before + path)
            if (info.st_mtime_ns != mtime or info.st_size & stored.LOW != size or info.st_ino & stored.LOW != inode
                    or info.st_ctime_ns & stored.LOW != ctime or flags & stored.RACY):
                return False
    data = stored.unpack(index.part("folders"))
    count = index.folder_count
    mtimes, names = struct.unpack_from(f"<{count}q", data), data[8 * count:].split(b"\0") if count else []
    top, join = os.fsencode(before), os.path.join  # git keeps its own files anywhere
    return all(os.stat(join(top, name)).st_mtime_ns == mtime for name, mtime in zip(names, mtimes))
