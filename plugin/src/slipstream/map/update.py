"""Brings an index up to date with a changed tree: walks what changed, scans it, ranks by imports, and notes what it saw."""
from __future__ import annotations

import os

from slipstream.map.languages.registry import language_of, needs_shebang
from slipstream.map.refresh import Refresh, changed_folders, file_stamps, rules_changed, stale_files
from slipstream.map.rescan import scan_into, scan_paths
from slipstream.map.table import Table

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from collections.abc import Callable

    from slipstream.map.pool import Progress
    from slipstream.map.walk import Walk, Walker

HEAD_BYTES = 256
MAX_PLAIN = 500  # files without extension or language that are watched, for one may become a script


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


def _judge(root: str, plain: list[str]) -> Callable[[str], bool]:
    """`is_source_in` for a walk, which leaves in `plain` the files that a first line would make source."""
    def is_source(path: str) -> bool:
        found = is_source_in(root, path)
        if not found and needs_shebang(path):
            plain.append(path)
        return found
    return is_source


def refresh_all(result: Refresh, ask_git: bool, progress: Progress | None) -> None:
    """Scan the whole tree."""
    result.complete, result.modified_only = True, False
    from slipstream.map.walk import Walker
    plain: list[str] = []
    walker = Walker(result.root, _judge(result.root, plain))
    walk = walker.walk(ask_git)
    table = result.table
    table.folders = walk.folders
    _note_walk(table, walk, walker, None, plain)
    if walker.git_dirs and not ask_git:
        table.meta["unasked"] = 1  # what git tracks although its rules leave it out
    for path, scanned in zip(walk.files, scan_paths(result, walk.files, progress)):
        if scanned.stamp != (0, 0, 0, 0):
            table.put(path, scanned)
            result.scanned.append(path)
    from slipstream.map.recount import rank
    rank(result)
    table.changed = True


def refresh_known(result: Refresh, ask_git: bool, progress: Progress | None) -> None:
    """Bring the loaded index up to date."""
    table, root = result.table, result.root
    changed, gone = result.folders
    new: list[str] = []
    other_rules = rules_changed(result)
    if other_rules or changed or gone or (ask_git and table.meta.get("unasked")):
        from slipstream.map.walk import Walker
        plain: list[str] = []
        walker = Walker(root, _judge(root, plain))
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
            _note_walk(table, walk, walker, None, plain)
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
            _note_walk(table, walk, walker, set(walk.folders) | set(gone), plain)
        new = [path for path in walk.files if path not in table.slots]
        if new and walker.git_dirs and not ask_git:
            table.meta["unasked"] = 1
        if ask_git:
            table.meta.pop("unasked", None)
        table.changed = True
    stale = stale_files(result) if result.stale is None else result.stale
    scan_into(result, sorted(set(new) | set(stale)), set(new), progress)
    if file_stamps(root, table.meta["manifests"]) != table.meta["manifests"]:
        from slipstream.map.recount import rank
        rank(result)
    return None


def _note_walk(table: Table, walk: Walk, walker: Walker, walked: set[str] | None, plain: list[str]) -> None:
    """Keep what a walk of the folders `walked` (None: all) says about rules, left out paths and `plain` files."""
    from slipstream.map.walk import IGNORE_FILE
    meta = table.meta
    if walked is None:
        rules, skipped = [IGNORE_FILE], []
        if walker.git_dirs:
            rules.append(os.path.join(walker.git_dirs[1], "info", "exclude"))
        meta["skippedCount"] = 0
    else:
        plain = [path for path in meta.get("plain", ()) if path.rpartition("/")[0] not in walked] + plain
        rules = [path for path in meta["rules"] if path.rpartition("/")[0] not in walked or not path.endswith(IGNORE_FILE)]
        rules.append(IGNORE_FILE)
        kept = [one for one in meta["skipped"] if one[0].rstrip("/").rpartition("/")[0] not in walked]
        meta["skippedCount"] -= len(meta["skipped"]) - len(kept)
        skipped = kept
    meta["plain"] = file_stamps(walker.root, dict.fromkeys(plain[:MAX_PLAIN]))
    meta["rules"] = file_stamps(walker.root, dict.fromkeys([*rules, *walk.watched]))
    skipped, before = sorted(skipped + [list(one) for one in walk.skipped]), meta.get("skipped")
    meta["skipped"] = skipped
    meta["skippedCount"] += walk.skipped_count
    if skipped != before:
        table.reshape()
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
