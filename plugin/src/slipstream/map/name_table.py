"""The index's hash table of names and paths: which files define a name (query path)."""
from __future__ import annotations

import struct
from binascii import crc32

from slipstream.map.index_file import BUCKET, IndexFile

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.table import Table

NAME = struct.Struct("<II")


def key_of(kind: bytes, name: bytes) -> int:
    """Hash under which a symbol's name (kind `:`) or a path (kind `=`) is stored."""
    return crc32(kind + name)


def find_slots(index: IndexFile | Table, key: int) -> list[int]:
    """Slots of the files stored under `key`, see `key_of`; another name may share it. DamagedIndex."""
    if not isinstance(index, IndexFile):
        return index.find_slots(key)
    if not index.buckets:
        return []
    offset, length, crc = BUCKET.unpack(index.read(index.parts["buckets"][0] + BUCKET.size * (key % index.buckets), 12))
    blob = index.read(index.parts["names"][0] + offset, length, crc)
    return [slot for stored, slot in NAME.iter_unpack(blob[:len(blob) & ~7]) if stored == key]
