"""Brings the index up to date: what changed is found by stamps and folder times, scanned, ranked and written back."""
from __future__ import annotations

import os
import stat
import time
from binascii import crc32

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.map.entrypoints import MANIFESTS, find_entry_points
from slipstream.map.graph import count_importers
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import (
    CONTENT,
    ENTRY,
    FLAGS,
    GENERATED,
    INDEX_NAME,
    LOW,
    RACY,
    DamagedIndex,
    FileEntry,
    parse_section,
    stamp_of,
)
from slipstream.map.languages.registry import language_of, needs_shebang
from slipstream.map.pool import Progress, scan_files
from slipstream.map.scan import is_racy, scan_text
from slipstream.map.source import Unreadable, read_source
from slipstream.map.table import Table, load_table
from slipstream.map.walk import IGNORE_FILE, Walk, Walker

HEAD_BYTES = 256


class Refresh:
    """What a refresh did, and the table it leaves."""

    __slots__ = ("complete", "modified_only", "note", "removed", "root", "scanned", "table", "written")

    def __init__(self, root: str) -> None:
        self.root = root
        self.table = Table()
        self.complete = False  # everything was scanned anew
        self.scanned: list[str] = []
        self.removed: list[str] = []
        self.written = False
        self.note = ""
        self.modified_only = True  # no file came or went


def index_path(root: str) -> str:
    """Where the index of the tree at `root` lies; OSError when the store may not be trusted."""
    return os.path.join(store_dir(root), INDEX_NAME)


def load_for(root: str) -> Table | None:
    """The stored index of `root`, or None."""
    try:
        return load_table(index_path(root), scanner_identity())
    except OSError:
        return None


def refresh_index(root: str, write: bool = True, ask_git: bool = True, progress: Progress | None = None) -> Refresh:
    """The index of `root`, brought up to date; written back when `write` and something changed."""
    result = Refresh(root)
    table = load_for(root)
    if table is not None:
        try:
            result.table = table
            _refresh_known(result, ask_git, progress)
        except DamagedIndex:
            table = None
            result = Refresh(root)
    if table is None:
        _refresh_all(result, ask_git, progress)
    if result.table.changed and write:
        write_index(result)
    return result


def write_index(result: Refresh) -> None:
    """Write the table; a store that cannot be written costs the next call time and is told in `note`."""
    try:
        pieces = result.table.render(scanner_identity())
        if sum(len(piece) for piece in pieces) > LOW:
            result.note = "index not written: larger than its offsets"
            return
        write_atomic(store_path(result.root, INDEX_NAME), b"".join(pieces))
        result.written = True
        result.table.changed = False
    except (OSError, SlipstreamError) as error:
        result.note = f"index not written: {error}"


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


def _refresh_all(result: Refresh, ask_git: bool, progress: Progress | None) -> None:
    result.complete, result.modified_only = True, False
    walker = Walker(result.root, lambda path: is_source_in(result.root, path))
    walk = walker.walk(ask_git)
    table = result.table
    table.folders = walk.folders
    _note_walk(table, walk, walker, None)
    for path, scanned in zip(walk.files, scan_files(result.root, walk.files, progress)):
        if scanned.stamp != (0, 0, 0, 0):
            table.put(path, scanned)
            result.scanned.append(path)
    _rank(result)
    table.changed = True


def _refresh_known(result: Refresh, ask_git: bool, progress: Progress | None) -> None:
    table, root = result.table, result.root
    changed, gone = _changed_folders(table, root)
    new: list[str] = []
    rules_changed = not table.meta["rules"] or _stamps(root, table.meta["rules"]) != table.meta["rules"]
    if rules_changed or changed or gone or (ask_git and table.meta.get("unasked")):
        walker = Walker(root, lambda path: is_source_in(root, path))
        if rules_changed or table.meta.get("unasked"):
            walk = walker.walk(ask_git)
            found = set(walk.files)
            for path in [path for path in table.slots if path not in found]:
                if ask_git or not walker.git_dirs:
                    _remove(result, path)
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
                return _refresh_known(result, ask_git, progress)
            table.folders.update(walk.folders)
            _note_walk(table, walk, walker, set(walk.folders) | set(gone))
        new = [path for path in walk.files if path not in table.slots]
        if new and walker.git_dirs and not ask_git:
            table.meta["unasked"] = 1
        if ask_git:
            table.meta.pop("unasked", None)
        table.changed = True
    stale = _stale_files(result)
    _scan_into(result, sorted(set(new) | set(stale)), set(new), progress)
    manifests = _stamps(root, table.meta["manifests"])
    if not result.modified_only or manifests != table.meta["manifests"]:
        _enter(table, root)
    return None


def _scan_into(result: Refresh, paths: list[str], new: set[str], progress: Progress | None) -> None:
    table = result.table
    rerank = bool(new) or bool(result.removed)
    entries_before = {path for path in paths if path not in new and table.records[table.slots[path]][FLAGS] & ENTRY}
    imports_before = {path: _imports(table.section(table.slots[path])) for path in paths if path not in new}
    for path, scanned in zip(paths, scan_files(result.root, paths, progress)):
        if scanned.stamp == (0, 0, 0, 0):
            if path in table.slots:
                _remove(result, path)
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


def _remove(result: Refresh, path: str) -> None:
    result.table.remove(path)
    result.removed.append(path)
    result.modified_only = False


def _rank(result: Refresh) -> None:
    result.table.set_importers(count_importers(result.root, result.table))
    _enter(result.table, result.root)


def _enter(table: Table, root: str) -> None:
    entry_points = find_entry_points(root, table)
    manifests = _stamps(root, table.meta.get("manifests") or dict.fromkeys(MANIFESTS))
    if entry_points != table.meta.get("entryPoints") or manifests != table.meta.get("manifests"):
        table.meta["entryPoints"], table.meta["manifests"] = entry_points, manifests
        table.changed = True


def _note_walk(table: Table, walk: Walk, walker: Walker, walked: set[str] | None) -> None:
    """Keep what a walk of the folders `walked` (None: all) says about rules and left out paths."""
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
    meta["rules"] = _stamps(walker.root, dict.fromkeys([*rules, *walk.watched]))
    meta["skipped"] = sorted(skipped + [list(one) for one in walk.skipped])
    meta["skippedCount"] += walk.skipped_count
    meta["git"] = walker.git_dirs is not None


def _stamps(root: str, paths: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in paths:
        try:
            info = os.stat(os.path.join(root, path))
            found[path] = [info.st_mtime_ns, info.st_size]
        except OSError:
            found[path] = None
    return found


def _changed_folders(table: Table, root: str) -> tuple[list[str], list[str]]:
    changed, gone = [], []
    before = root + "/"
    for folder, mtime in table.folders.items():
        try:
            info = os.lstat(before + folder)
        except OSError:
            gone.append(folder)
            continue
        if not stat.S_ISDIR(info.st_mode):
            gone.append(folder)  # a link now: never followed
        elif info.st_mtime_ns != mtime:
            changed.append(folder)
    return changed, gone


def _keep_folders(table: Table, walk: Walk, path: str) -> None:
    folder = path.rpartition("/")[0]
    while folder not in walk.folders:
        walk.folders[folder] = table.folders[folder]
        folder = folder.rpartition("/")[0]


def _drop_folders(result: Refresh, gone: list[str]) -> None:
    starts = tuple(folder + "/" for folder in gone)
    for path in [path for path in result.table.slots if path.startswith(starts)]:
        _remove(result, path)
    folders = result.table.folders
    for folder in [folder for folder in folders if (folder + "/").startswith(starts)]:
        del folders[folder]


def _stale_files(result: Refresh) -> list[str]:
    """Files whose bytes are no longer those the index knows; the ones that are gone leave the table."""
    table, before = result.table, result.root + "/"
    stale, restamped = [], 0
    lstat = os.lstat
    for path, slot in list(table.slots.items()):
        record = table.records[slot]
        try:
            info = lstat(before + path)
        except OSError:
            _remove(result, path)
            continue
        same = (record[0] == info.st_mtime_ns and record[1] == info.st_ctime_ns & LOW and record[2] == info.st_ino & LOW
                and record[3] == info.st_size & LOW)
        if same and not record[FLAGS] & RACY:
            continue
        now = time.time_ns()
        try:
            data, opened = read_source(before + path)
        except Unreadable:
            if not same:
                stale.append(path)
            continue
        if crc32(data) != record[CONTENT] or len(data) != record[3]:
            stale.append(path)
            continue
        racy = RACY if is_racy(opened.st_mtime_ns, now) else 0
        if not same or not racy:
            restamped += 1
            table.restamp(slot, stamp_of(opened), record[FLAGS] & ~RACY | racy)
    return stale


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
    entry.rescanned = True
    entry.generated = scanned.flags & GENERATED != 0
    return parse_section(scanned.section(), entry)
