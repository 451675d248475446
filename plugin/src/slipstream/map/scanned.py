"""What a scan gives for one file, and how long a stamp must have rested to be trusted."""
from __future__ import annotations

import zlib

from slipstream.map.index_file import HEAD_ROWS, Stamp, unpack_block
from slipstream.map.name_table import key_of

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from collections.abc import Iterable

# A stamp is trusted when the file had been left alone this long before it was read (coarse clocks of file systems).
SETTLED_NS = 2_000_000_000
BLOCK_FILES, BLOCK_BYTES, MAX_BLOCK_FILES = 8, 6_000, 48  # a block holds so many, and so much of short sections


class Block:
    """The packed sections of a few files."""

    __slots__ = ("packed",)

    def __init__(self, packed: bytes) -> None:
        self.packed = packed


class Scanned:
    """Result for one file: stamp, CRC of its bytes, flags, keys of its names, counts; its section is in `block` at `place`."""

    __slots__ = ("block", "content", "exports", "flags", "keys", "place", "stamp", "symbols")

    def __init__(self, stamp: Stamp, content: int, flags: int, section: bytes, keys: Iterable[int] = (), symbols: int = 0,
                 exports: int = 0) -> None:
        self.stamp, self.content, self.flags, self.keys = stamp, content, flags, keys
        self.symbols, self.exports = min(symbols, 65_535), min(exports, 65_535)
        self.block: Block | bytes = section  # packed together with its neighbours afterwards
        self.place = 0

    def section(self) -> bytes:
        """Text of the section."""
        return unpack_block(self.block.packed)[self.place] if isinstance(self.block, Block) else self.block


def is_racy(mtime_ns: int, read_ns: int) -> bool:
    """Whether a later edit could have left this stamp unchanged."""
    return mtime_ns + SETTLED_NS > read_ns


def is_full(count: int, size: int) -> bool:
    """Whether a block of `count` sections, `size` bytes in all, takes no more."""
    return (count >= BLOCK_FILES and size >= BLOCK_BYTES) or count >= MAX_BLOCK_FILES


def pack_block(sections: list[bytes]) -> bytes:
    """A block as stored."""
    return zlib.compress(b"\0".join(sections), 6)


def keys_in(text: bytes) -> set[int]:
    """Keys of the names defined in a section's text."""
    found = set()
    for row in text.split(b"\n")[HEAD_ROWS:]:
        cells = row.split(b"\t", 7)
        if len(cells) > 6:
            found.add(key_of(b":", cells[6]))
    return found
