"""The index on disk: layout, checked reads, one file's section as values (hot: every query verb loads it).

One little-endian file: a header; compressed blocks that hold the text sections of a few source files each; a hash table of
names and paths (blobs of hash and slot, then buckets); fixed records, one per file, by slot; the paths, and the folders and
git's pattern files with their times, compressed; and a JSON part with what concerns the whole project. Whatever is read is
checked against its CRC, every offset against the length of the file.
"""
from __future__ import annotations

import os
import stat
import struct
import zlib
from binascii import crc32

INDEX_NAME = "map.index"
MAGIC = b"SLIPMAP3"
PARTS = ("blocks", "names", "buckets", "records", "paths", "folders", "meta")
HEADER = struct.Struct(f"<8s6I{3 * len(PARTS)}II")
RECORD = struct.Struct("<q4I6H3I")
# Places in a record; ctime_ns and inode are kept by their low 32 bits, BLOCK counts from the start of the blocks.
(MTIME, CTIME, INODE, SIZE, CONTENT, FLAGS, PLACE, IMPORTERS, SYMBOLS, EXPORTS, LIVE, BLOCK, BLOCK_LENGTH,
 BLOCK_CRC) = range(14)
BUCKET = struct.Struct("<III")
MAX_PART_BYTES = 256_000_000
RACY, FAILED, SKIPPED, GENERATED, ENTRY, ASIDE = 1, 2, 4, 8, 16, 32
EXPORTED, DEFAULT, OVERLOAD = 1, 2, 4
FILE, IMPORTS, REEXPORTS, HINTS, OUTLINE, WARNINGS = range(6)
# Of a section: file; imports (specifier, kind, names); re-exports (name, line, specifier, name there); hints (text);
HEAD_ROWS = 6  # outline (name, kind, line, end, level); warnings (text); then a row per definition
LOW = 0xFFFFFFFF
KINDS = {"f": "function", "c": "class", "i": "interface", "t": "type", "k": "const", "e": "enum", "C": "component",
         "d": "default", "m": "method", "p": "field", "a": "accessor"}

Record = tuple[int, ...]
Stamp = tuple[int, int, int, int]


class DamagedIndex(Exception):
    """The index file does not hold what its header promises."""


class Symbol:
    """A definition as the index holds it; `qualified` names its parents too, `depth` 0 is top level."""

    __slots__ = ("depth", "doc", "end", "flags", "kind", "line", "name", "path", "qualified", "signature", "start")

    def __init__(self, path: str, name: str, qualified: str, kind: str, line: int, start: int, end: int, depth: int,
                 flags: int, signature: str, doc: str) -> None:
        self.path, self.name, self.qualified, self.kind = path, name, qualified, kind
        self.line, self.start, self.end, self.depth = line, start, end, depth
        self.flags, self.signature, self.doc = flags, signature, doc

    @property
    def exported(self) -> bool:
        return self.flags & EXPORTED != 0

    @property
    def default(self) -> bool:
        return self.flags & DEFAULT != 0


class FileEntry:
    """What the index knows of one file: `skipped` is the reason it holds no symbols, or empty."""

    __slots__ = tuple("bytes generated heads importers language lines path purpose skipped slot symbols".split())

    def __init__(self, path: str, slot: int = -1, size: int = 0, importers: int = 0) -> None:
        self.path, self.slot, self.bytes, self.importers = path, slot, size, importers
        self.language = self.purpose = self.skipped = ""
        self.lines = 0
        self.heads: list[str] = []
        self.symbols: list[Symbol] = []
        self.generated = False

    def cells(self, row: int) -> list[list[str]]:
        """Entries of a head row, see HEAD_ROWS."""
        text = self.heads[row] if row < len(self.heads) else ""
        return [cell.split("\x1f") for cell in text.split("\t")] if text else []


def stamp_of(info: os.stat_result) -> Stamp:
    """What must be unchanged for a file to count as unchanged: mtime, ctime, inode, size."""
    return info.st_mtime_ns, info.st_ctime_ns & LOW, info.st_ino & LOW, info.st_size & LOW


def parse_rows(rows: list[str], entry: FileEntry) -> FileEntry:
    """Fill `entry` from the rows of a text section; ValueError or DamagedIndex when it is none."""
    head = rows[0].split("\t")
    if len(head) < 5:
        raise DamagedIndex(entry.path)
    entry.language, entry.lines, entry.skipped, entry.purpose = head[0], int(head[1]), head[2], head[3]
    entry.heads = rows[:HEAD_ROWS]
    parents: list[str] = []
    path, kinds, symbols = entry.path, KINDS, entry.symbols
    for row in rows[HEAD_ROWS:]:
        cells = row.split("\t")
        if len(cells) != 9:
            raise DamagedIndex(path)
        depth, line, name = int(cells[0]), int(cells[3]), cells[6]
        del parents[depth:]
        qualified = ".".join(parents) + "." + name if parents else name
        parents.append(name)
        symbols.append(Symbol(path, name, qualified, kinds.get(cells[1], cells[1]), line, line - int(cells[4]),
                              line + int(cells[5]), depth, int(cells[2]), cells[7], cells[8]))
    return entry


def unpack(packed: bytes) -> bytes:
    """A compressed part or block; raises DamagedIndex."""
    try:
        return zlib.decompressobj().decompress(packed, MAX_PART_BYTES)
    except zlib.error:
        raise DamagedIndex("part") from None


def unpack_block(packed: bytes) -> list[bytes]:
    """Sections in a stored block; raises DamagedIndex."""
    return unpack(packed).split(b"\0")


def path_in(section: bytes) -> str:
    """The path a section belongs to, relative to the root."""
    raw = section.split(b"\n", 1)[0].rpartition(b"\t")[2]
    if b"\\" in raw:
        raw = b"\\".join(part.replace(b"\\n", b"\n").replace(b"\\t", b"\t") for part in raw.split(b"\\\\"))
    return os.fsdecode(raw)


class CheckedFile:
    """A regular file of the store, no link, opened to be read in parts; OSError, and DamagedIndex as `load` raises it."""

    def __init__(self, path: str, identity: int) -> None:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        self.handle = open(os.open(path, flags), "rb", buffering=0)
        info = os.fstat(self.handle.fileno())
        self.length = info.st_size if stat.S_ISREG(info.st_mode) else 0
        try:
            self.load(identity)
        except BaseException:
            self.handle.close()
            raise

    def load(self, identity: int) -> None:
        """Reads the header; DamagedIndex when its numbers do not fit the file or another `identity` wrote it."""
        raise NotImplementedError

    def read(self, offset: int, length: int, crc: int | None = None) -> bytes:
        """`length` bytes at `offset`; raises DamagedIndex when they are not there, or are not those of the CRC."""
        if not 0 <= length <= self.length - offset:
            raise DamagedIndex("offset")
        self.handle.seek(offset)
        data = self.handle.read(length)
        if len(data) != length or (crc is not None and crc32(data) != crc):
            raise DamagedIndex("checksum")
        return data


class IndexFile(CheckedFile):
    """An open index; close its `handle`."""

    def load(self, identity: int) -> None:
        head = self.read(0, HEADER.size)
        fields = HEADER.unpack(head)
        if fields[0] != MAGIC or fields[1] != identity or fields[2] != self.length or crc32(head[:-4]) != fields[-1]:
            raise DamagedIndex("another version")
        self.slots, self.buckets, self.folder_count, self.state = fields[3:7]
        self.parts = {name: fields[7 + 3 * i:10 + 3 * i] for i, name in enumerate(PARTS)}
        if self.parts["records"][1] != self.slots * RECORD.size or self.parts["buckets"][1] != self.buckets * BUCKET.size:
            raise DamagedIndex("sizes")

    def part(self, name: str) -> bytes:
        """One whole part."""
        return self.read(*self.parts[name])

    def block(self, record: Record) -> list[bytes]:
        """The sections stored together with that of a record."""
        return unpack_block(self.read(self.parts["blocks"][0] + record[BLOCK], record[BLOCK_LENGTH], record[BLOCK_CRC]))

    def section(self, record: Record, sections: list[bytes] | None = None) -> bytes:
        """Text section of the file a record belongs to; out of its block where that was read."""
        sections = sections or self.block(record)
        if record[PLACE] >= len(sections):
            raise DamagedIndex("place")
        return sections[record[PLACE]]


def entry_of(section: bytes, slot: int, record: Record) -> FileEntry:
    """The file a section describes, with its symbols."""
    entry = FileEntry(path_in(section), slot, record[SIZE], record[IMPORTERS])
    entry.generated = record[FLAGS] & GENERATED != 0
    try:
        return parse_rows(section.decode("utf-8", "replace").split("\n"), entry)
    except ValueError:
        raise DamagedIndex(entry.path) from None


def open_index_file(path: str, identity: int) -> IndexFile | None:
    """The index at `path`, or None when it is absent, damaged, a link, or of another scanner."""
    try:
        return IndexFile(path, identity)
    except (DamagedIndex, OSError):
        return None
