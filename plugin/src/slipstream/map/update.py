"""Brings an index up to date with a changed tree: walks what changed, scans it, ranks by imports, and notes what it saw."""
from __future__ import annotations

import os
import time

from slipstream.map.index_file import ENTRY, FLAGS, GENERATED, DamagedIndex, FileEntry, parse_rows
from slipstream.map.languages.registry import language_of, needs_shebang
from slipstream.map.refresh import Refresh, changed_folders, file_stamps, load_for, rules_changed, stale_files, write_index
from slipstream.map.scan import scan_many, scan_text
from slipstream.map.table import Table

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.pool import Progress
    from slipstream.map.scanned import Scanned
    from slipstream.map.walk import Walk, Walker

FEW_FILES = 16
HEAD_BYTES = 256


def is_source_in(root: str, path: str) -> bool:
    """Whether the file's name, or its first line where it has no extension, tells a language."""
    if language_of(path) is not None:
        return True
    if not needs_shebang(path):
        return False
    try:
        handle = os.open(os.path.join(root, path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        head = os.read(handle, HEAD_BYTES)
    except OSError:
        return False
    finally:
        os.close(handle)
    return language_of(path, head) is not None


def _scan(root: str, paths: list[str], progress: Progress | None) -> list[Scanned]:
    if len(paths) <= FEW_FILES:
        return scan_many(root, paths)
    from slipstream.map.pool import scan_files
    return scan_files(root, paths, progress)


def refresh_all(result: Refresh, ask_git: bool, progress: Progress | None) -> None:
    """Scan the whole tree."""
    result.complete, result.modified_only = True, False
    from slipstream.map.walk import Walker
    walker = Walker(result.root, lambda path: is_source_in(result.root, path))
    walk = walker.walk(ask_git)
    table = result.table
    table.folders = walk.folders
    _note_walk(table, walk, walker, None)
    for path, scanned in zip(walk.files, _scan(result.root, walk.files, progress)):
        if scanned.stamp != (0, 0, 0, 0):
            table.put(path, scanned)
            result.scanned.append(path)
    _rank(result)
    table.changed = True


def refresh_known(result: Refresh, ask_git: bool, progress: Progress | None) -> None:
    """Bring the loaded index up to date."""
    table, root = result.table, result.root
    changed, gone = result.folders
    new: list[str] = []
    other_rules = rules_changed(result)
    if other_rules or changed or gone or (ask_git and table.meta.get("unasked")):
        from slipstream.map.walk import Walker
        walker = Walker(root, lambda path: is_source_in(root, path))
        if other_rules or table.meta.get("unasked"):
            walk = walker.walk(ask_git)
            found = set(walk.files)
            for path in [path for path in table.slots if path not in found]:
                if ask_git or not walker.git_dirs:
                    result.forget(path)
                else:  # git may track what its rules leave out: it is asked next time
                    _keep_folders(table, walk, path)
                    table.meta["unasked"] = 1
            table.folders = walk.folders
            _note_walk(table, walk, walker, None)
        else:
            if gone:
                _drop_folders(result, gone)
            changed = [folder for folder in changed if folder in table.folders]
            walk = walker.walk_folders(changed, table.folders, table.slots, ask_git)
            if any(path not in table.meta["rules"] for path in walk.watched):
                table.meta["rules"] = {}  # a new pattern file: everything below it may be judged otherwise
                result.folders = changed_folders(table, root)
                return refresh_known(result, ask_git, progress)
            table.folders.update(walk.folders)
            _note_walk(table, walk, walker, set(walk.folders) | set(gone))
        new = [path for path in walk.files if path not in table.slots]
        if new and walker.git_dirs and not ask_git:
            table.meta["unasked"] = 1
        if ask_git:
            table.meta.pop("unasked", None)
        table.changed = True
    stale = stale_files(result) if result.stale is None else result.stale
    _scan_into(result, sorted(set(new) | set(stale)), set(new), progress)
    manifests = file_stamps(root, table.meta["manifests"])
    if not result.modified_only or manifests != table.meta["manifests"]:
        _enter(table, root)
    return None


def _scan_into(result: Refresh, paths: list[str], new: set[str], progress: Progress | None) -> None:
    table = result.table
    rerank = bool(new) or bool(result.removed)
    entries_before = {path for path in paths if path not in new and table.records[table.slots[path]][FLAGS] & ENTRY}
    imports_before = {path: _imports(table.section(table.slots[path])) for path in paths if path not in new}
    for path, scanned in zip(paths, _scan(result.root, paths, progress)):
        if scanned.stamp == (0, 0, 0, 0):
            if path in table.slots:
                result.forget(path)
            continue
        table.put(path, scanned)
        result.scanned.append(path)
        if path in new:
            result.modified_only = False
        else:
            rerank = rerank or imports_before[path] != _imports(scanned.section())
            if (path in entries_before) != bool(scanned.flags & ENTRY):
                _enter(table, result.root)
    if rerank or result.removed:
        _rank(result)


def _imports(section: bytes) -> list[bytes]:
    return section.split(b"\n", 3)[1:3]


def _rank(result: Refresh) -> None:
    from slipstream.map.graph import count_importers
    result.table.set_importers(count_importers(result.root, result.table))
    _enter(result.table, result.root)


def _enter(table: Table, root: str) -> None:
    from slipstream.map.entrypoints import MANIFESTS, find_entry_points
    entry_points = find_entry_points(root, table)
    manifests = file_stamps(root, table.meta.get("manifests") or dict.fromkeys(MANIFESTS))
    if entry_points != table.meta.get("entryPoints") or manifests != table.meta.get("manifests"):
        table.meta["entryPoints"], table.meta["manifests"] = entry_points, manifests
        table.changed = True


def _note_walk(table: Table, walk: Walk, walker: Walker, walked: set[str] | None) -> None:
    """Keep what a walk of the folders `walked` (None: all) says about rules and left out paths."""
    from slipstream.map.walk import IGNORE_FILE
    meta = table.meta
    if walked is None:
        rules, skipped = [IGNORE_FILE], []
        if walker.git_dirs:
            rules.append(os.path.join(walker.git_dirs[1], "info", "exclude"))
        meta["skippedCount"] = 0
    else:
        rules = [path for path in meta["rules"] if path.rpartition("/")[0] not in walked or not path.endswith(IGNORE_FILE)]
        rules.append(IGNORE_FILE)
        kept = [one for one in meta["skipped"] if one[0].rstrip("/").rpartition("/")[0] not in walked]
        meta["skippedCount"] -= len(meta["skipped"]) - len(kept)
        skipped = kept
    meta["rules"] = file_stamps(walker.root, dict.fromkeys([*rules, *walk.watched]))
    meta["skipped"] = sorted(skipped + [list(one) for one in walk.skipped])
    meta["skippedCount"] += walk.skipped_count
    meta["git"] = walker.git_dirs is not None


def _keep_folders(table: Table, walk: Walk, path: str) -> None:
    folder = path.rpartition("/")[0]
    while folder not in walk.folders:
        walk.folders[folder] = table.folders[folder]
        folder = folder.rpartition("/")[0]


def _drop_folders(result: Refresh, gone: list[str]) -> None:
    starts = tuple(folder + "/" for folder in gone)
    for path in [path for path in result.table.slots if path.startswith(starts)]:
        result.forget(path)
    folders = result.table.folders
    for folder in [folder for folder in folders if (folder + "/").startswith(starts)]:
        del folders[folder]


def rescan_text(root: str, path: str, data: bytes, text: bytes, info: os.stat_result, known: bool) -> FileEntry:
    """Entry of a file a query has just read as `data` (`text` as UTF-8); goes into the stored index when `known` there."""
    scanned = scan_text(path, data, text, info, time.time_ns())
    if known:
        table = load_for(root)
        if table is not None and path in table.slots:
            result = Refresh(root)
            result.table = table
            try:
                table.put(path, scanned)
                write_index(result)
            except DamagedIndex:
                pass
    entry = FileEntry(path, -1, len(data))
    entry.generated = scanned.flags & GENERATED != 0
    return parse_rows(scanned.section().decode("utf-8", "replace").split("\n"), entry)
