"""One file's symbols, proved against the text just read (hot): the stored index where it still holds, else a new scan."""
from __future__ import annotations

import os
from binascii import crc32

from slipstream.base.errors import SlipstreamError
from slipstream.base.paths import relative_path, resolve_inside, shown_path
from slipstream.base.roots import store_dir
from slipstream.map import index_file as stored
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import DamagedIndex, FileEntry, IndexFile, Record
from slipstream.map.name_table import find_slots, key_of
from slipstream.map.source import Unreadable, decode_source, read_source

MAX_READ_BYTES = 64_000_000
Known = tuple[int, Record, bytes]


class Found:
    """A file's entry and its text, read together. `note` says what a reader must know of how it was found."""

    __slots__ = ("entry", "note", "size", "text")

    def __init__(self, entry: FileEntry, text: bytes, size: int, note: str = "") -> None:
        self.entry, self.text, self.size, self.note = entry, text, size, note


def open_stored(root: str) -> IndexFile | None:
    """The stored index of the tree at `root`, as it is; None when there is none that can be used."""
    try:
        return stored.open_index_file(os.path.join(store_dir(root), stored.INDEX_NAME), scanner_identity())
    except OSError:
        return None


def locate_file(root: str, name: str, cwd: str | None = None, folders: bool = False) -> str:
    """Relative path of the file, or folder, a user means: as seen from `cwd` when it is there, else from the root."""
    full = os.path.join(cwd or os.getcwd(), name)
    if os.path.lexists(full) and (folders or not os.path.isdir(full)):
        try:
            return relative_path(os.path.realpath(root), resolve_inside(root, full))
        except SlipstreamError:
            pass
    return relative_path(os.path.realpath(root), resolve_inside(root, name))


def read_record(index: IndexFile, slot: int) -> Record:
    """The fixed record of a slot."""
    if slot >= index.slots:
        raise DamagedIndex("slot")
    return stored.RECORD.unpack(index.read(index.parts["records"][0] + slot * stored.RECORD.size, stored.RECORD.size))


def find_record(index: IndexFile, path: str) -> Known | None:
    """Slot, record and section of a path."""
    for slot in find_slots(index, key_of(b"=", os.fsencode(path))):
        record = read_record(index, slot)
        section = index.section(record)
        if stored.path_in(section) == path:
            return slot, record, section
    return None


def read_file(root: str, path: str) -> tuple[bytes, bytes, os.stat_result]:
    """(bytes, text as UTF-8, state) of a file below `root`; SlipstreamError in one line when it cannot be had."""
    try:
        data, info = read_source(os.path.join(root, path), MAX_READ_BYTES)
        return data, decode_source(data), info
    except Unreadable as error:
        raise SlipstreamError(str(error), path) from None


def find_file(root: str, path: str, index: IndexFile | None, known: Known | None = None) -> Found:
    """Entry and text of `path`, `known` to the index or not. What is not, or has changed, is scanned; the note says so."""
    try:
        known = known or (find_record(index, path) if index is not None else None)
        data, text, info = read_file(root, path)
        if index is not None and known is not None:
            slot, record, section = known
            same = stored.stamp_of(info) == record[:stored.SIZE + 1]  # mtime, ctime, inode, size
            if (same and not record[stored.FLAGS] & stored.RACY) or crc32(data) == record[stored.CONTENT]:
                return Found(stored.entry_of(section, slot, record), text, len(data))
    except DamagedIndex:
        known = None
        data, text, info = read_file(root, path)
    except SlipstreamError as error:
        if known is not None and not os.path.lexists(os.path.join(root, path)):
            raise SlipstreamError(f"{shown_path(path)} is gone: it was in the index, and is no longer on disk") from None
        raise error
    from slipstream.map.rescan import rescan_text
    return Found(rescan_text(root, path, data, text, info, known is not None), text, len(data),
                 "rescanned: changed since the index was made" if known is not None else "")


def find_named(index: IndexFile, name: str) -> list[tuple[str, Known]]:
    """(path, what `find_record` finds) of the files that, by the index, may define the last part of `name`; by path."""
    key = key_of(b":", name.rpartition(".")[2].encode("utf-8", "replace"))
    records = [(read_record(index, slot), slot) for slot in find_slots(index, key)]
    blocks = {record[stored.BLOCK]: record for record, _ in records}
    sections = {at: index.block(record) for at, record in blocks.items()}
    found = [(slot, record, index.section(record, sections[record[stored.BLOCK]])) for record, slot in records]
    return sorted((stored.path_in(one[2]), one) for one in found)


def leads_elsewhere(root: str, path: str) -> bool:
    """Whether a link on the way leads a path of the index to another one."""
    root = os.path.realpath(root)
    return os.path.realpath(os.path.join(root, path)) != os.path.join(root, path)
