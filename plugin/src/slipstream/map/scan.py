"""Scans files one by one: read, judge, extract, encode. Runs in this process and in the workers alike."""
from __future__ import annotations

import os
import time
from binascii import crc32
from collections.abc import Iterable

from slipstream.map.index_file import ENTRY, FAILED, GENERATED, LOW, RACY, SKIPPED, Stamp, stamp_of, unpack_block
from slipstream.map.languages.registry import scan_source
from slipstream.map.section import encode_section, encode_skipped, keys_in, pack_block
from slipstream.map.skips import is_generated, is_minified
from slipstream.map.source import Unreadable, decode_source, read_source

# A stamp is trusted when the file had been left alone this long before it was read (coarse clocks of file systems).
SETTLED_NS = 2_000_000_000
BLOCK_FILES = 8


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


def scan_many(root: str, paths: list[str]) -> list[Scanned]:
    """Scan `paths` below `root`; the sections of neighbours share a block."""
    results = [scan_file(root, path) for path in paths]
    for at in range(0, len(results), BLOCK_FILES):
        group = results[at:at + BLOCK_FILES]
        block = Block(pack_block([one.section() for one in group]))
        for place, one in enumerate(group):
            one.block, one.place = block, place
    return results


def is_racy(mtime_ns: int, read_ns: int) -> bool:
    """Whether a later edit could have left this stamp unchanged."""
    return mtime_ns + SETTLED_NS > read_ns


def scan_file(root: str, path: str) -> Scanned:
    """Scan `path` below `root`; never raises for what is in the tree."""
    full = os.path.join(root, path)
    now = time.time_ns()
    try:
        data, info = read_source(full)
    except Unreadable as error:
        return skipped_file(root, path, str(error))
    try:
        return scan_text(path, data, decode_source(data), info, now)
    except Unreadable as error:
        return Scanned(stamp_of(info), crc32(data), SKIPPED | RACY, encode_skipped(path, str(error)))


def scan_text(path: str, data: bytes, text: bytes, info: os.stat_result, now: int) -> Scanned:
    """Scan a file that was read as `data` at `now` (ns), `text` being the same as UTF-8."""
    stamp, content = stamp_of(info), crc32(data)
    flags = RACY if is_racy(info.st_mtime_ns, now) or info.st_size != len(data) else 0
    if is_minified(path, text):
        return Scanned(stamp, content, flags | SKIPPED, encode_skipped(path, "minified"))
    if is_generated(text):
        flags |= GENERATED
    try:
        scan = scan_source(path, text)
        section, symbols, exports = encode_section(path, scan)
    except RecursionError:
        return Scanned(stamp, content, flags | FAILED, encode_skipped(path, "failed: nested too deeply"))
    except Exception as error:  # one file's surprise must not end the map; it is reported with the file
        return Scanned(stamp, content, flags | FAILED, encode_skipped(path, f"failed: {type(error).__name__}: {error}"))
    if scan.hints:
        flags |= ENTRY
    return Scanned(stamp, content, flags, section, keys_in(section), symbols, exports)


def skipped_file(root: str, path: str, reason: str, flags: int = SKIPPED) -> Scanned:
    """Result for a file that could not be read or scanned; the stamp is all zero when it is gone."""
    try:
        info = os.lstat(os.path.join(root, path))
    except OSError:
        return Scanned((0, 0, 0, 0), 0, FAILED, encode_skipped(path, "gone"))
    return Scanned((info.st_mtime_ns, info.st_ctime_ns & LOW, info.st_ino & LOW, info.st_size & LOW), 0, flags,
                   encode_skipped(path, reason))
