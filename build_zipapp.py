"""Builds plugin/slipstream.pyz: code only, sorted, one fixed timestamp, so every Python makes the same bytes.

What a hook, a query or the MCP server loads at its start is stored. The page and what only slower commands load is deflated,
by the compressor below and not by zlib, whose output differs between its builds; any unzip reads it.

Comments, docstrings and annotations stay in plugin/src, which travels with the plugin; line numbers are the same in both.

    python3 build_zipapp.py            write the file
    python3 build_zipapp.py --check    compare it with what the source builds; name what differs; exit status 1
"""
from __future__ import annotations

import importlib.util
import io
import os
import struct
import sys
import zipfile
import zlib

ROOT = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(ROOT, "plugin", "slipstream.pyz")
SOURCE = os.path.join(ROOT, "plugin", "src")
_spec = importlib.util.spec_from_file_location("slipstream_packing", os.path.join(SOURCE, "slipstream", "base", "packing.py"))
assert _spec and _spec.loader
packing = importlib.util.module_from_spec(_spec)  # by its file: who imports this module keeps its own path and package
_spec.loader.exec_module(packing)

SHEBANG = b"#!/usr/bin/env python3\n"
DOS_DATE = (2020 - 1980) << 9 | 1 << 5 | 1
DEFLATED = tuple("slipstream/" + start for start in (
    "dashboard/ engine/ doctor.py map/languages/ map/imports/ cli/ base/packing.py context/gc.py context/prices.py "
    "context/usage map/mindmap_html.py memory/forget.py memory/harvest.py memory/health.py memory/transfer.py").split())
STORED = {"slipstream/dashboard/" + name for name in ("__init__.py", "launch.py", "token.py")}  # a session's start loads them
STORED |= {"slipstream/cli/" + name + ".py" for name in ("__init__", "query", "query_file", "find", "flags", "memory_verbs")}
STORED.add("slipstream/mcp/tools.json")  # the server loads it, whose threads must never meet in zipimport's way to zlib
MAX_BYTES = 1_000_000
PACKED_SUFFIXES = (".py", ".html", ".js", ".css", ".json", ".svg", ".txt")


def source_files() -> dict[str, str]:
    """Archive name -> path on disk of everything that goes into the pyz."""
    files = {"__main__.py": os.path.join(ROOT, "slipstream.py"), "LICENSE": os.path.join(ROOT, "LICENSE")}
    for folder, subfolders, names in os.walk(SOURCE):
        subfolders[:] = sorted(name for name in subfolders if name != "__pycache__")
        for name in names:
            if name.endswith(PACKED_SUFFIXES):
                path = os.path.join(folder, name)
                files[os.path.relpath(path, SOURCE).replace(os.sep, "/")] = path
    return files


def packed(name: str, path: str) -> bytes:
    """What the archive holds of a file."""
    with open(path, "rb") as stream:
        data = stream.read().replace(b"\r\n", b"\n")
    if name == "__main__.py" or not name.endswith(".py"):
        return data  # the launcher keeps its form: any Python parses it, and it says so
    text: str = packing.pack_source(data.decode("utf-8"))
    return text.encode("utf-8")


def is_deflated(name: str) -> bool:
    if not name.endswith(".py"):
        return name.startswith("slipstream/") and name not in STORED
    return name.startswith(DEFLATED) and name not in STORED


def build_pyz() -> bytes:
    """The archive's bytes. Line ends are normalised, so a checkout with CRLF builds the same."""
    archive, directory = bytearray(SHEBANG), bytearray()
    files = sorted(source_files().items())
    for name, path in files:
        data, encoded = packed(name, path), name.encode("ascii")
        body = deflate(data) if is_deflated(name) else data
        method, sizes = 8 if body is not data else 0, (len(body), len(data), len(encoded))
        shared = struct.pack("<4H3L2H", 0, method, 0, DOS_DATE, zlib.crc32(data), *sizes, 0)
        directory += b"PK\1\2" + struct.pack("<BBH", 20, 3, 20) + shared
        directory += struct.pack("<3H2L", 0, 0, 0, 0o100644 << 16, len(archive)) + encoded
        archive += b"PK\3\4" + struct.pack("<H", 20) + shared + encoded + body
    end = struct.pack("<4H2LH", 0, 0, len(files), len(files), len(directory), len(archive), 0)
    data = bytes(archive + directory + b"PK\5\6" + end)
    if len(data) > MAX_BYTES:
        raise SystemExit(f"{TARGET}: {len(data)} bytes, more than the {MAX_BYTES} allowed")
    return data


def deflate(data: bytes) -> bytes:
    """One block of raw deflate with the fixed codes (RFC 1951, 3.2.6): hash chains, one byte of lazy matching."""
    out, bits, count = bytearray(), 0, 0

    def put(value: int, size: int) -> None:
        nonlocal bits, count
        bits |= value << count
        count += size
        while count >= 8:
            out.append(bits & 255)
            bits >>= 8
            count -= 8

    def find(at: int) -> tuple[int, int]:
        """(length, distance) of the longest earlier match; (0, 0) without one."""
        best = distance = 0
        room = min(258, len(data) - at)
        for start in reversed(places.get(data[at:at + 3], ()) if room > 2 else ()):
            if at - start > 32768:
                break
            if best and data[start + best] != data[at + best]:
                continue
            size = 3
            while size < room and data[start + size] == data[at + size]:
                size += 1
            if size > best:
                best, distance = size, at - start
                if size == room:
                    break
        return best, distance

    def note(at: int) -> None:
        places.setdefault(data[at:at + 3], []).append(at)
        del places[data[at:at + 3]][:-96]

    places: dict[bytes, list[int]] = {}
    put(3, 3)  # the last block, fixed codes
    at = 0
    while at < len(data):
        size, distance = find(at)
        note(at)
        if size < 3 or (at + 1 < len(data) and find(at + 1)[0] > size):
            put(*LITERALS[data[at]])
            at += 1
            continue
        code, base, extra = LENGTHS[size]
        put(*LITERALS[257 + code])
        put(size - base, extra)
        code, base, extra = next(row for row in reversed(DISTANCES) if row[1] <= distance)
        put(_reversed(code, 5), 5)
        put(distance - base, extra)
        for passed in range(at + 1, at + size):
            note(passed)
        at += size
    put(*LITERALS[256])
    put(0, 7)
    return bytes(out)


def _reversed(code: int, size: int) -> int:
    return int(format(code, f"0{size}b")[::-1], 2)


def _rows(base: int, extras: list[int]) -> list[tuple[int, int, int]]:
    """(code, first value, extra bits) of a table of RFC 1951."""
    rows = []
    for code, extra in enumerate(extras):
        rows.append((code, base, extra))
        base += 1 << extra
    return rows


_CODES = ((0, 144, 48, 8), (144, 256, 400, 9), (256, 280, 0, 7), (280, 288, 192, 8))  # symbols from, to, first code, bits
LITERALS = [(_reversed(first + symbol - low, size), size) for low, high, first, size in _CODES for symbol in range(low, high)]
_LENGTH_ROWS = [*_rows(3, [0] * 8 + [extra for extra in range(1, 6) for _ in range(4)])[:28], (28, 258, 0)]
LENGTHS = {size: max(row for row in _LENGTH_ROWS if row[1] <= size) for size in range(3, 259)}
DISTANCES = _rows(1, [0, 0] + [extra for extra in range(14) for _ in range(2)])


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def find_differences(wanted: bytes, found: bytes) -> list[str]:
    """Names of the entries that differ, or what is wrong with the archive as a whole."""
    try:
        old = entries(found)
    except zipfile.BadZipFile as error:
        return [f"not a readable archive: {error}"]
    new = entries(wanted)
    names = [f"{name}: {'missing' if name not in old else 'not in the source' if name not in new else 'differs'}"
             for name in sorted(set(old) | set(new)) if old.get(name) != new.get(name)]
    return names or ["same files, other bytes around them"]


def main(argv: list[str]) -> int:
    if argv not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    data = build_pyz()
    if argv:
        try:
            with open(TARGET, "rb") as stream:
                found = stream.read()
        except FileNotFoundError:
            found = b""
        if found == data:
            return 0
        print("plugin/slipstream.pyz is not what the source builds (run build_zipapp.py):")
        print("\n".join(f"  {line}" for line in find_differences(data, found)))
        return 1
    temporary = TARGET + ".tmp"
    with open(temporary, "wb") as stream:
        stream.write(data)
    os.replace(temporary, TARGET)
    print(f"plugin/slipstream.pyz: {len(data)} bytes, {len(entries(data))} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
