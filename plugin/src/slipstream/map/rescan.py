"""Scans files anew into the index; ranks by imports again only where that may change (lean: every edit loads it)."""
from __future__ import annotations

import os
import time

from slipstream.map.index_file import FLAGS, GENERATED, RACY, DamagedIndex, FileEntry, parse_rows
from slipstream.map.refresh import Refresh, TooMuch, load_for, write_index
from slipstream.map.scan import scan_file, scan_text

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.pool import Progress
    from slipstream.map.scanned import Scanned
    from slipstream.map.table import Table

FEW_FILES = 16
MANY_FILES = 120  # from here on other processes pay
PROJECT_FILES = frozenset(("package.json", "composer.json", "Cargo.toml", "pyproject.toml", "setup.cfg", "go.mod"))
BUILD_SUFFIXES = ("Package.swift", ".sbt", ".gradle", ".kts", "akefile", "ockerfile", "ontainerfile")
PACKAGE_KINDS = ([b"package"], [b"namespace"])
NAMED_PACKAGES = (b"kotlin", b"scala", b"csharp", b"php")  # who imports from them asks for the names, not for the files


def scan_paths(result: Refresh, paths: list[str], progress: Progress | None) -> list[Scanned]:
    """Results for `paths`, in their order; on all cores when they are many."""
    if len(paths) <= FEW_FILES:
        return [scan_file(result.root, path) for path in paths]
    if result.little and len(paths) >= MANY_FILES:
        raise TooMuch
    from slipstream.map.pool import scan_files
    return scan_files(result.root, paths, progress)


def scan_into(result: Refresh, paths: list[str], new: set[str], progress: Progress | None) -> None:
    """Scan `paths`, of which `new` are not in the index yet, and put them there."""
    table = result.table
    for path, scanned in zip(paths, scan_paths(result, paths, progress)):
        if scanned.stamp == (0, 0, 0, 0):
            if path in table.slots:
                result.forget(path)
            continue
        if path in new:
            result.modified_only = False
        else:
            _note_ties(table, path, scanned)
        table.put(path, scanned)
        result.scanned.append(path)
    if new or result.removed:
        table.meta["unranked"] = 1
    if table.meta.get("unranked"):
        from slipstream.map.recount import rank
        rank(result)


def _note_ties(table: Table, path: str, scanned: Scanned) -> None:
    """Note among what is not ranked yet whether a known file's change can tell who imports whom, or where the project starts.

    The note is 1, or for each file whose imports alone changed the row of those that were counted.
    """
    slot = table.slots[path]
    noted = table.meta.get("unranked") or {}
    old, now = table.section(slot), scanned.section()
    if (table.records[slot][FLAGS] ^ scanned.flags) & ~RACY or is_project_file(path) or _ties(path, old) != _ties(path, now):
        noted = 1
    elif isinstance(noted, dict) and path not in noted:
        before, after = (section.split(b"\n", 2)[1] for section in (old, now))
        if before != after:
            noted = {**noted, path: before.decode("utf-8", "replace")} if len(noted) < FEW_FILES else 1
    if noted:
        table.meta["unranked"] = noted


def is_project_file(path: str) -> bool:
    """Whether the name alone tells that imports or entry points may depend on what a source file says."""
    name = path.rpartition("/")[2]
    return name in PROJECT_FILES or name.endswith(BUILD_SUFFIXES) or (
        name.endswith(".json") and ("config" in name or "base" in name))


def _ties(path: str, section: bytes) -> list[bytes]:
    """What else other files may depend on: language and package; names at top where the package is known by them."""
    head, imports, *rows = section.split(b"\n")
    language = head.split(b"\t", 1)[0]
    packages = [cell for cell in imports.split(b"\t") if cell.split(b"\x1f")[1:2] in PACKAGE_KINDS]
    told = language not in NAMED_PACKAGES or (language == b"php" and path.rpartition("/")[2][:1].isupper())  # by its name
    named = [] if told else [row.split(b"\t", 7)[6] for row in rows[4:] if row[:2] == b"0\t"]
    return [language, *packages, *named]


def rescan_text(root: str, path: str, data: bytes, text: bytes, info: os.stat_result, known: bool) -> FileEntry:
    """Entry of a file a query has just read as `data` (`text` as UTF-8); goes into the stored index when `known` there."""
    scanned = scan_text(path, data, text, info, time.time_ns())
    if known:
        table = load_for(root)
        if table is not None and path in table.slots:
            result = Refresh(root)
            result.table = table
            try:
                _note_ties(table, path, scanned)  # a query does not wait for it
                table.put(path, scanned)
                write_index(result)
            except DamagedIndex:
                pass
    entry = FileEntry(path, -1, len(data))
    entry.generated = scanned.flags & GENERATED != 0
    return parse_rows(scanned.section().decode("utf-8", "replace").split("\n"), entry)
