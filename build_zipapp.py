"""Builds plugin/slipstream.pyz: code only, stored, sorted, one fixed timestamp, so every Python makes the same bytes.

Comments, docstrings and annotations stay in plugin/src, which travels with the plugin; line numbers are the same in both.

    python3 build_zipapp.py            write the file
    python3 build_zipapp.py --check    compare it with what the source builds; name what differs; exit status 1
"""
from __future__ import annotations

import io
import os
import sys
import zipfile

ROOT = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(ROOT, "plugin", "slipstream.pyz")
SOURCE = os.path.join(ROOT, "plugin", "src")
sys.path.insert(0, SOURCE)  # before this folder, whose launcher would hide the package
sys.modules.pop("slipstream", None)
from slipstream.base.packing import pack_source  # noqa: E402

SHEBANG = b"#!/usr/bin/env python3\n"
TIMESTAMP = (2020, 1, 1, 0, 0, 0)
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
    return pack_source(data.decode("utf-8")).encode("utf-8")


def build_pyz() -> bytes:
    """The archive's bytes. Line ends are normalised, so a checkout with CRLF builds the same."""
    buffer = io.BytesIO()
    buffer.write(SHEBANG)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        for name, path in sorted(source_files().items()):
            info = zipfile.ZipInfo(name, TIMESTAMP)
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, packed(name, path))
    data = buffer.getvalue()
    if len(data) > MAX_BYTES:
        raise SystemExit(f"{TARGET}: {len(data)} bytes, more than the {MAX_BYTES} allowed")
    return data


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
