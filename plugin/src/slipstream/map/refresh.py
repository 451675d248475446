"""Finds what changed since the index was written, by stamps and folder times; `update` is loaded only when something did."""
from __future__ import annotations

import os
import stat
import time
from binascii import crc32

from slipstream.base.errors import SlipstreamError
from slipstream.base.roots import store_dir
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import CONTENT, FLAGS, INDEX_NAME, LOW, RACY, DamagedIndex, stamp_of
from slipstream.map.scanned import is_racy
from slipstream.map.source import Unreadable, read_source
from slipstream.map.table import Table, load_table

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.pool import Progress


class TooMuch(Exception):
    """More has to be done than the caller wants to have done in its own process."""


class Refresh:
    """What a refresh did, and the table it leaves. One that is to do `little` raises TooMuch before it does more."""

    __slots__ = ("complete", "folders", "little", "modified_only", "note", "removed", "root", "scanned", "stale", "table",
                 "written")

    def __init__(self, root: str, little: bool = False) -> None:
        self.root = root
        self.little = little
        self.table = Table()
        self.complete = False  # everything was scanned anew
        self.scanned: list[str] = []
        self.removed: list[str] = []
        self.written = False
        self.note = ""
        self.modified_only = True  # no file came or went
        self.folders: tuple[list[str], list[str]] = ([], [])  # changed, gone
        self.stale: list[str] | None = None  # None: not looked for yet

    def forget(self, path: str) -> None:
        """Take a file out of the index."""
        self.table.remove(path)
        self.removed.append(path)
        self.modified_only = False


def index_path(root: str) -> str:
    """Where the index of the tree at `root` lies; OSError when the store may not be trusted."""
    return os.path.join(store_dir(root), INDEX_NAME)


def forget_index(root: str) -> None:
    """Take the stored index of `root` away: it is damaged where only its readers look."""
    try:
        os.unlink(index_path(root))
    except OSError:
        pass


def load_for(root: str) -> Table | None:
    """The stored index of `root`, or None."""
    try:
        return load_table(index_path(root), scanner_identity())
    except OSError:
        return None


def refresh_index(root: str, write: bool = True, ask_git: bool = True, progress: Progress | None = None,
                  little: bool = False) -> Refresh:
    """The index of `root`, brought up to date; written back when `write` and something changed."""
    result = Refresh(root, little)
    table = load_for(root)
    if table is not None:
        try:
            result.table = table
            if not is_settled(result, ask_git):
                from slipstream.map.update import refresh_known
                refresh_known(result, ask_git, progress)
            elif result.stale:
                from slipstream.map.rescan import scan_into
                scan_into(result, sorted(result.stale), set(), progress)
        except DamagedIndex:
            table = None
            result = Refresh(root, little)
    if table is None:
        from slipstream.map.update import refresh_all
        refresh_all(result, ask_git, progress)
    if result.table.changed and write:
        write_index(result)
    return result


def is_settled(result: Refresh, ask_git: bool) -> bool:
    """Whether no more changed than the bytes of known files, `result.stale`; what only looks changed is stamped anew."""
    table, root = result.table, result.root
    result.folders = changed_folders(table, root)
    if any(result.folders) or rules_changed(result) or table.meta.get("unranked") or (ask_git and table.meta.get("unasked")):
        return False
    result.stale = stale_files(result, False)
    return bool(file_stamps(root, table.meta["manifests"]) == table.meta["manifests"])


def rules_changed(result: Refresh) -> bool:
    """Whether a pattern file of git's ignore rules changed, came or went."""
    rules = result.table.meta["rules"]
    return not rules or file_stamps(result.root, rules) != rules


def write_index(result: Refresh) -> None:
    """Write the table; a store that cannot be written costs the next call time and is told in `note`."""
    from slipstream.base.files import write_atomic
    from slipstream.base.store import store_path
    try:
        pieces = result.table.render(scanner_identity())
        if sum(len(piece) for piece in pieces) > LOW:
            result.note = "index not written: larger than its offsets"
            return
        write_atomic(store_path(result.root, INDEX_NAME), pieces)
        result.written = True
        result.table.changed = False
    except (OSError, SlipstreamError) as error:
        result.note = f"index not written: {error}"


def file_stamps(root: str, paths: dict[str, object]) -> dict[str, object]:
    """Path -> [mtime in ns, size], or None where there is no file."""
    found: dict[str, object] = {}
    for path in paths:
        try:
            info = os.stat(os.path.join(root, path))
            found[path] = [info.st_mtime_ns, info.st_size]
        except OSError:
            found[path] = None
    return found


def changed_folders(table: Table, root: str) -> tuple[list[str], list[str]]:
    """(folders whose entries changed, or a file that a first line would make source; folders that are gone)."""
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
    plain = table.meta.get("plain", {})
    changed += {path.rpartition("/")[0] for path, stamp in file_stamps(root, plain).items() if stamp != plain[path]}
    return changed, gone


def stale_files(result: Refresh, remove: bool = True) -> list[str]:
    """Files whose bytes are no longer those the index knows; those that are none any more leave the table, or are changed."""
    table, before = result.table, result.root + "/"
    stale: list[str] = []
    lstat = os.lstat
    for path, slot in list(table.slots.items()):
        record = table.records[slot]
        try:
            info = lstat(before + path)
        except OSError:
            if remove:
                result.forget(path)
            else:
                stale.append(path)
            continue
        same = (record[0] == info.st_mtime_ns and record[1] == info.st_ctime_ns & LOW and record[2] == info.st_ino & LOW
                and record[3] == info.st_size & LOW)
        if same and not record[FLAGS] & RACY:
            continue
        if not stat.S_ISREG(info.st_mode) and remove:
            result.forget(path)  # a link, a pipe or a folder in its place: the walk of its folder says so
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
            table.restamp(slot, stamp_of(opened), record[FLAGS] & ~RACY | racy)
    return stale
