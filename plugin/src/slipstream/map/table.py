"""The whole index in memory, to be changed and written back; what did not change is copied as bytes, never parsed."""
from __future__ import annotations

import json
import os
import struct
import zlib
from array import array
from binascii import crc32
from collections.abc import Iterable
from typing import Any

from slipstream.map.index_file import (
    BLOCK,
    BLOCK_CRC,
    BLOCK_LENGTH,
    BUCKET,
    CONTENT,
    FAILED,
    FLAGS,
    GENERATED,
    HEADER,
    IMPORTERS,
    LIVE,
    MAGIC,
    PARTS,
    PLACE,
    RECORD,
    SKIPPED,
    DamagedIndex,
    FileEntry,
    IndexFile,
    Record,
    entry_of,
    open_index_file,
    unpack,
    unpack_block,
)
from slipstream.map.name_table import NAME, key_of
from slipstream.map.scanned import BLOCK_FILES, Block, Scanned, is_full, keys_in, pack_block

KEYS_PER_BUCKET = 64
MAX_UNPUBLISHED = 60
MAX_IMPORTERS = 65_535
MAX_LOOSE = 64  # changes, each of which may leave a block without a use
MAX_LOOSE_BYTES = 65_536
_EMPTY: Record = (0,) * 14


class Table:
    """Every record, path, folder and section. Slots of removed files stay empty until `compact`."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.paths: list[str] = []
        self.slots: dict[str, int] = {}
        self.folders: dict[str, int] = {}
        self.meta: dict[str, Any] = {}
        self.blocks = bytearray()
        self.buckets: list[bytes] = []
        self.changed = False
        self._unsorted: list[tuple[int, int]] = []
        self._open: tuple[int, list[bytes]] = (-1, [])  # the block read last, by its offset
        self.before: dict[str, tuple[Record, bytes]] = {}  # record and section of a changed file, as last published; none
        self._packed_blocks = (0, 0)  # length and CRC of the blocks as loaded; only behind them some are added
        self._packed_records: tuple[list[Record], bytes] = ([], b"")  # as loaded
        self._packed_paths = b""  # as loaded, until a file comes or goes
        self._packed_folders: tuple[list[tuple[str, int]], bytes] = ([], b"")
        self._placed: tuple[Block | None, int, int, int] = (None, 0, 0, 0)  # the block written last, and where it lies

    # -- one file ---------------------------------------------------------------------------------------------------

    def section(self, slot: int) -> bytes:
        """Section text of a slot; raises DamagedIndex when its CRC does not fit."""
        record = self.records[slot]
        offset = record[BLOCK]
        if self._open[0] != offset:
            packed = bytes(self.blocks[offset:offset + record[BLOCK_LENGTH]])
            if len(packed) != record[BLOCK_LENGTH] or crc32(packed) != record[BLOCK_CRC]:
                raise DamagedIndex(self.paths[slot])
            self._open = (offset, unpack_block(packed))
        if record[PLACE] >= len(self._open[1]):
            raise DamagedIndex(self.paths[slot])
        return self._open[1][record[PLACE]]

    def entry(self, slot: int) -> FileEntry:
        """The file of a slot with its symbols."""
        return entry_of(self.section(slot), slot, self.records[slot])

    def live(self) -> Iterable[tuple[int, str]]:
        """(slot, path) of every file, in the order of the paths."""
        return ((slot, path) for path, slot in sorted(self.slots.items()))

    def put(self, path: str, scanned: Scanned) -> int:
        """Add a file or replace what is known of it; returns its slot."""
        slot = self.slots.get(path)
        new = set(scanned.keys)
        old: set[int] = set()
        importers = 0
        if slot is None:
            slot = len(self.records)
            self.records.append(_EMPTY)
            self.paths.append(path)
            self.slots[path] = slot
            self._packed_paths = b""
            new.add(key_of(b"=", os.fsencode(path)))
            if path not in (self.meta.get("unpublished") or ()):
                self.before[path] = (_EMPTY, b"")
        else:
            importers = self.records[slot][IMPORTERS]
            if self.buckets:
                section = self.section(slot)
                old = keys_in(section)
                if path not in (self.meta.get("unpublished") or ()):
                    self.before[path] = (self.records[slot], section)
        self.records[slot] = (*scanned.stamp, scanned.content, scanned.flags, scanned.place, importers, scanned.symbols,
                              scanned.exports, 1, *self._place(scanned.block))
        if self.buckets:
            self._rename(slot, old - new, new - old)
        else:
            self._unsorted.extend((key, slot) for key in new)
        self._note_change(path)
        return slot

    def _place(self, block: Block | bytes) -> tuple[int, int, int]:
        """Offset, length and CRC of a block, added to the others unless it was the last one."""
        if not isinstance(block, Block):
            block = Block(pack_block([block]))
        if self._placed[0] is not block:
            self._placed = (block, len(self.blocks), len(block.packed), crc32(block.packed))
            self.blocks += block.packed
        return self._placed[1:]

    def remove(self, path: str) -> None:
        """Forget a file."""
        slot = self.slots.pop(path)
        section = self.section(slot)
        if path not in (self.meta.get("unpublished") or ()):
            self.before[path] = (self.records[slot], section)
        self._fill_buckets()
        self._rename(slot, keys_in(section) | {key_of(b"=", os.fsencode(path))}, set())
        self.records[slot] = _EMPTY
        self.paths[slot] = ""
        self._packed_paths = b""
        self._note_change(path)

    def _note_change(self, path: str) -> None:
        """Count the edition, and remember which files map.json does not show yet (None: too many to tell)."""
        self.changed = True
        self.meta["loose"] = self.meta.get("loose", 0) + 1
        self.meta["edition"] = self.meta.get("edition", 0) + 1
        waiting = self.meta.setdefault("unpublished", [])
        if waiting is not None and path not in waiting:
            self.meta["unpublished"] = [*waiting, path] if len(waiting) < MAX_UNPUBLISHED else None

    def reshape(self) -> None:
        """More changed than single files: what was published is made anew."""
        self.changed = True
        self.meta["edition"], self.meta["unpublished"] = self.meta.get("edition", 0) + 1, None

    def restamp(self, slot: int, stamp: tuple[int, int, int, int], flags: int) -> None:
        """The file's bytes are the same, its state is not."""
        record = self.records[slot]
        self.records[slot] = (*stamp, record[CONTENT], flags, *record[FLAGS + 1:])
        self.changed = True

    def set_importers(self, counts: dict[int, int]) -> None:
        """How many files import each slot."""
        for slot, record in enumerate(self.records):
            if record[LIVE]:
                self.add_importers({slot: min(counts.get(slot, 0), MAX_IMPORTERS) - record[IMPORTERS]})

    def add_importers(self, difference: dict[int, int]) -> None:
        """So many more files import each slot, or fewer; map.json does not tell."""
        for slot, more in difference.items():
            if more:
                record = self.records[slot]
                self.records[slot] = (*record[:IMPORTERS], record[IMPORTERS] + more, *record[IMPORTERS + 1:])
                self.changed, self.meta["recounted"] = True, 1
                self.meta["edition"] = self.meta.get("edition", 0) + 1

    # -- names ------------------------------------------------------------------------------------------------------

    def _rename(self, slot: int, gone: set[int], new: set[int]) -> None:
        for key in gone | new:
            at = key % len(self.buckets)
            pair = NAME.pack(key, slot)
            blob = self.buckets[at]
            if key in new:
                self.buckets[at] = blob + pair
            else:
                self.buckets[at] = b"".join(NAME.pack(*one) for one in NAME.iter_unpack(blob) if one != (key, slot))

    def find_slots(self, key: int) -> list[int]:
        """Slots stored under `key`, see `key_of`; another name may share it."""
        self._fill_buckets()
        return [slot for stored, slot in NAME.iter_unpack(self.buckets[key % len(self.buckets)]) if stored == key]

    def _fill_buckets(self) -> None:
        if self.buckets:
            return
        count = max(16, len(self._unsorted) // KEYS_PER_BUCKET)
        grouped: list[list[bytes]] = [[] for _ in range(count)]
        pack = NAME.pack
        for key, slot in self._unsorted:
            grouped[key % count].append(pack(key, slot))
        self.buckets = [b"".join(group) for group in grouped]
        self._unsorted = []

    # -- disk -------------------------------------------------------------------------------------------------------

    def compact(self) -> None:
        """Drop the bytes of replaced and removed files when they are many; looked at only after some changes."""
        if self.meta.get("loose", 0) < MAX_LOOSE and len(self.blocks) - self._packed_blocks[0] < MAX_LOOSE_BYTES:
            return
        self.meta["loose"] = 0
        used = sum(length for _, length in {(record[BLOCK], record[BLOCK_LENGTH]) for record in self.records})
        small = len({record[BLOCK] for record in self.records}) > len(self.slots) // BLOCK_FILES * 2 + 64
        if not small and len(self.blocks) <= used * 1.25 + 65_536 and len(self.records) <= len(self.slots) * 1.25 + 256:
            return
        fresh = Table()
        waiting: list[tuple[Record, bytes]] = []
        for slot, path in self.live():
            section = self.section(slot)
            fresh.slots[path] = len(fresh.paths)
            fresh._unsorted += [(key, len(fresh.paths)) for key in keys_in(section) | {key_of(b"=", os.fsencode(path))}]
            fresh.paths.append(path)
            waiting.append((self.records[slot], section))
            if is_full(len(waiting), sum(len(one) for _, one in waiting)):
                fresh._add_block(waiting)
        fresh._add_block(waiting)
        self.records, self.paths, self.slots, self.blocks = fresh.records, fresh.paths, fresh.slots, fresh.blocks
        self._packed_paths = b""
        self._packed_records = ([], b"")
        self._packed_blocks = (0, 0)
        self.buckets, self._unsorted, self._open, self._placed = [], fresh._unsorted, fresh._open, fresh._placed

    def _add_block(self, waiting: list[tuple[Record, bytes]]) -> None:
        block = Block(pack_block([section for _, section in waiting]))
        for place, (record, _) in enumerate(waiting):
            self.records.append((*record[:PLACE], place, *record[PLACE + 1:BLOCK], *self._place(block)))
        waiting.clear()

    def _pack_records(self) -> bytes:
        """The records as stored; only those are packed that are not as loaded."""
        known, packed = self._packed_records
        pieces = bytearray(packed)
        for slot, (record, old) in enumerate(zip(self.records, known)):
            if record is not old:
                RECORD.pack_into(pieces, slot * RECORD.size, *record)
        return bytes(pieces) + b"".join([RECORD.pack(*record) for record in self.records[len(known):]])

    def state(self) -> int:
        """32 bits over what a search index is made from: each slot's path, bytes and kind; not the times of files."""
        kinds = bytes([record[FLAGS] & (SKIPPED | FAILED | GENERATED) for record in self.records])
        contents = array("I", [record[CONTENT] for record in self.records]).tobytes()
        return crc32("\0".join(self.paths).encode("utf-8", "surrogateescape"), crc32(contents, crc32(kinds)))

    def _watched(self) -> list[tuple[str, int]]:
        """(path, mtime in ns) of the folders, then of git's pattern files that are there: one that comes changes its folder."""
        rules = self.meta.get("rules") or {}
        return sorted(self.folders.items()) + [(path, rules[path][0]) for path in sorted(rules) if rules[path]]

    def render(self, identity: int) -> list[bytes | memoryview]:
        """The bytes of the index file, in pieces."""
        self.compact()
        self._fill_buckets()
        table, at = [], 0
        for blob in self.buckets:
            table.append(BUCKET.pack(at, len(blob), crc32(blob)))
            at += len(blob)
        if not self._packed_paths:
            self._packed_paths = zlib.compress(b"\0".join(os.fsencode(path) for path in self.paths), 1)
        watched = self._watched()
        if watched != self._packed_folders[0] or not self._packed_folders[1]:
            times = struct.pack(f"<{len(watched)}q", *(mtime for _, mtime in watched))
            names = b"\0".join(os.fsencode(name) for name, _ in watched)
            self._packed_folders = (watched, zlib.compress(times + names, 1))
        parts: dict[str, bytes | memoryview] = {
            "blocks": memoryview(self.blocks), "names": b"".join(self.buckets), "buckets": b"".join(table),
            "records": self._pack_records(), "paths": self._packed_paths,
            "folders": self._packed_folders[1],
            "meta": json.dumps(self.meta, separators=(",", ":")).encode(),
        }
        fields, at, (known, crc) = [], HEADER.size, self._packed_blocks
        for name in PARTS:
            fields += [at, len(parts[name]), crc32(parts[name][known:], crc)]
            at += len(parts[name])
            known = crc = 0  # the blocks are the first part
        head = HEADER.pack(MAGIC, identity, at, len(self.records), len(self.buckets), len(watched), self.state(), *fields,
                           0)[:-4]
        return [head, struct.pack("<I", crc32(head)), *(parts[name] for name in PARTS)]


def load_table(path: str, identity: int) -> Table | None:
    """The index at `path` in memory; None when there is none of this identity, or it is damaged."""
    index = open_index_file(path, identity)
    if index is None:
        return None
    with index.handle:
        try:
            return _load(index)
        except (DamagedIndex, OSError, ValueError, KeyError, TypeError, RecursionError, struct.error):
            return None


def _load(index: IndexFile) -> Table:
    table = Table()
    table.meta = json.loads(index.part("meta"))
    count = index.folder_count
    packed = index.part("folders")
    folders = unpack(packed)
    names = folders[8 * count:].split(b"\0") if count else []
    if len(names) != count:
        raise DamagedIndex("folders")
    watched = list(zip([os.fsdecode(name) for name in names], struct.unpack_from(f"<{count}q", folders)))
    table.folders = dict(watched[:count - sum(map(bool, _rules_of(table.meta)))])
    table._packed_folders = (watched, packed)
    packed = index.part("records")
    table.records = list(RECORD.iter_unpack(packed))
    table._packed_records = (list(table.records), packed)
    table._packed_paths = index.part("paths")
    table.paths = os.fsdecode(unpack(table._packed_paths)).split("\0") if table.records else []
    table.slots = {path: slot for slot, path in enumerate(table.paths) if path}
    if len(table.paths) != len(table.records):
        raise DamagedIndex("paths")
    _check(table)
    table.blocks = bytearray(index.part("blocks"))
    table._packed_blocks = (len(table.blocks), index.parts["blocks"][2])
    names_blob = index.part("names")
    for offset, length, crc in BUCKET.iter_unpack(index.part("buckets")):
        blob = names_blob[offset:offset + length]
        if crc32(blob) != crc or len(blob) % NAME.size:
            raise DamagedIndex("names")
        table.buckets.append(blob)
    return table


def _rules_of(meta: dict[str, Any]) -> list[Any]:
    """The stamps of git's pattern files: None, or mtime and size; DamagedIndex when they are something else."""
    stamps = list(meta["rules"].values()) if isinstance(meta["rules"], dict) else [0]
    if not all(stamp is None or (isinstance(stamp, list) and [type(one) for one in stamp] == [int, int]) for stamp in stamps):
        raise DamagedIndex("notes")
    return stamps


def _check(table: Table) -> None:
    """An index may have come with a clone: it names nothing outside the tree, and its own notes have their types."""
    for path in table.slots:
        if path.rpartition("/")[0] not in table.folders:
            raise DamagedIndex("a file without its folder")
    for folder in table.folders:
        pieces = folder.split("/")
        if folder and ("" in pieces or ".." in pieces or "." in pieces or "/".join(pieces[:-1]) not in table.folders):
            raise DamagedIndex("a folder without the one above")
    if table.paths and any(path.rpartition("/")[2] in ("", ".", "..") for path in table.slots):
        raise DamagedIndex("a file without a name")
    meta = table.meta
    lists = (meta["skipped"], meta["entryPoints"])
    if not all(isinstance(one, list) for one in lists) or not all(
            isinstance(meta.get(name, {}), dict) for name in ("manifests", "plain")):
        raise DamagedIndex("notes")
    if not all(isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], str)
               for one in meta["skipped"]) or not all(isinstance(one, str) for one in meta["entryPoints"]):
        raise DamagedIndex("notes")
    if not all(isinstance(meta.get(name, 0), int) for name in ("skippedCount", "edition", "loose")):
        raise DamagedIndex("notes")
    if not isinstance(meta.get("unpublished"), (list, type(None))):
        raise DamagedIndex("notes")
