"""Scans files anew into the index; ranks by imports again only where that may change (lean: every edit loads it)."""
from __future__ import annotations

import os
import time

from slipstream.map.index_file import FLAGS, GENERATED, RACY, DamagedIndex, FileEntry, parse_rows
from slipstream.map.refresh import Refresh, TooMuch, file_stamps, load_for, write_index
from slipstream.map.scan import scan_many, scan_text

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.pool import Progress
    from slipstream.map.scanned import Scanned
    from slipstream.map.table import Table

FEW_FILES = 16
MANY_FILES = 120  # from here on other processes pay
MAX_WATCHED = 200  # project files beyond the manifests at the root that are looked at each time
PROJECT_FILES = frozenset(("package.json", "composer.json", "Cargo.toml", "pyproject.toml", "setup.cfg", "go.mod"))
BUILD_SUFFIXES = (".swift", ".sbt", ".gradle", ".kts", "akefile", "ockerfile", "ontainerfile")
NAMED_PACKAGES = (b"kotlin", b"scala", b"csharp", b"php")  # who imports from them asks for the names, not for the files


def scan_paths(result: Refresh, paths: list[str], progress: Progress | None) -> list[Scanned]:
    """Results for `paths`, in their order; on all cores when they are many."""
    if len(paths) <= FEW_FILES:
        return scan_many(result.root, paths)
    if result.little and len(paths) >= MANY_FILES:
        raise TooMuch
    from slipstream.map.pool import scan_files
    return scan_files(result.root, paths, progress)


def scan_into(result: Refresh, paths: list[str], new: set[str], progress: Progress | None) -> None:
    """Scan `paths`, of which `new` are not in the index yet, and put them there."""
    table = result.table
    rerank = bool(new or result.removed or table.meta.get("unranked"))
    for path, scanned in zip(paths, scan_paths(result, paths, progress)):
        if scanned.stamp == (0, 0, 0, 0):
            if path in table.slots:
                result.forget(path)
            continue
        if path in new:
            result.modified_only = False
        else:
            rerank = rerank or _may_rank(table, path, scanned)
        table.put(path, scanned)
        result.scanned.append(path)
    if rerank or result.removed:
        table.meta.pop("unranked", None)
        table.changed = True
        rank(result)


def _may_rank(table: Table, path: str, scanned: Scanned) -> bool:
    """Whether what is now known of a known file can change who imports whom, or where the project starts."""
    if is_project_file(path):
        return True
    slot = table.slots[path]
    old = table.section(slot)
    return (table.records[slot][FLAGS] ^ scanned.flags) & ~RACY != 0 or _ties(old) != _ties(scanned.section())


def is_project_file(path: str) -> bool:
    """Whether the name alone tells that imports or entry points may depend on what a source file says."""
    name = path.rpartition("/")[2]
    return name in PROJECT_FILES or name.endswith(BUILD_SUFFIXES) or (
        name.endswith(".json") and ("config" in name or "base" in name))


def _ties(section: bytes) -> list[bytes]:
    """What other files may depend on: language, imports and re-exports; names at top where a package is known by them."""
    head, *rows = section.split(b"\n")
    language = head.split(b"\t", 1)[0]
    named = [row.split(b"\t", 7)[6] for row in rows[5:] if row[:2] == b"0\t"] if language in NAMED_PACKAGES else []
    return [language, *rows[:2], *named]


def rank(result: Refresh) -> None:
    """Count importers anew, and find the entry points."""
    from slipstream.map.entrypoints import MANIFESTS, find_entry_points
    from slipstream.map.graph import count_importers
    table, root = result.table, result.root
    seen: set[str] = set()
    table.set_importers(count_importers(root, table, seen))
    entry_points = find_entry_points(root, table, seen)
    told = [path for path in sorted(seen) if path not in table.slots or not is_project_file(path)]  # by no scan of a file
    manifests = file_stamps(root, dict.fromkeys([*MANIFESTS, *told[:MAX_WATCHED]]))
    if entry_points != table.meta.get("entryPoints") or manifests != table.meta.get("manifests"):
        table.meta["entryPoints"], table.meta["manifests"] = entry_points, manifests
        table.reshape()


def rescan_text(root: str, path: str, data: bytes, text: bytes, info: os.stat_result, known: bool) -> FileEntry:
    """Entry of a file a query has just read as `data` (`text` as UTF-8); goes into the stored index when `known` there."""
    scanned = scan_text(path, data, text, info, time.time_ns())
    if known:
        table = load_for(root)
        if table is not None and path in table.slots:
            result = Refresh(root)
            result.table = table
            try:
                if _may_rank(table, path, scanned):
                    table.meta["unranked"] = 1  # a query does not wait for it
                table.put(path, scanned)
                write_index(result)
            except DamagedIndex:
                pass
    entry = FileEntry(path, -1, len(data))
    entry.generated = scanned.flags & GENERATED != 0
    return parse_rows(scanned.section().decode("utf-8", "replace").split("\n"), entry)
