"""The index as the rest of slipstream uses it: files, definitions, names; always up to date when opened."""
from __future__ import annotations

import os
from collections.abc import Iterator

from slipstream.base.roots import find_store_root
from slipstream.map.index_file import EXPORTS, FAILED, FLAGS, GENERATED, SIZE, SKIPPED, SYMBOLS, FileEntry, Symbol
from slipstream.map.name_table import key_of
from slipstream.map.refresh import Refresh, refresh_index

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.pool import Progress


class Index:
    """An up-to-date view of the tree at `root`. `refreshed` tells what had to be done for it."""

    def __init__(self, refreshed: Refresh) -> None:
        self.root = refreshed.root
        self.refreshed = refreshed
        self.table = refreshed.table
        self._entries: dict[str, FileEntry] = {}
        self._skipped: list[tuple[str, str]] | None = None
        self._stats: dict[str, int] = {}

    @property
    def title(self) -> str:
        """What a person calls the project."""
        from slipstream.base.settings import setting
        return str(setting(find_store_root(self.root), "project") or os.path.basename(self.root) or self.root)

    def paths(self) -> list[str]:
        """Every path that was looked at, sorted; those that gave no symbols too."""
        return sorted(self.table.slots)

    def file(self, path: str) -> FileEntry | None:
        """What is known of one file (relative path, forward slashes)."""
        entry = self._entries.get(path)
        if entry is None and path in self.table.slots:
            entry = self._entries[path] = self.table.entry(self.table.slots[path])
        return entry

    def parsed_paths(self) -> list[str]:
        """The files that were asked for by `file`, without those that were skipped."""
        return [path for path, entry in self._entries.items() if not entry.skipped]

    def forget(self, path: str) -> None:
        """Let go of what `file` has parsed."""
        self._entries.pop(path, None)

    def files(self) -> list[FileEntry]:
        """Every file with its symbols, sorted by path; not those that were skipped."""
        return [entry for path in self.paths() if (entry := self.file(path)) is not None and not entry.skipped]

    def definitions(self) -> Iterator[Symbol]:
        """Every definition, file by file, in the order of the lines."""
        for entry in self.files():
            yield from entry.symbols

    def find(self, name: str) -> list[Symbol]:
        """Definitions called `name`, or, when it holds a dot, whose qualified name ends so."""
        last = name.rpartition(".")[2]
        found = []
        for slot in self.table.find_slots(key_of(b":", last.encode("utf-8", "replace"))):
            entry = self.file(self.table.paths[slot])
            if entry is not None:
                found += [one for one in entry.symbols
                          if one.name == name or one.qualified == name or one.qualified.endswith("." + name)]
        return sorted(found, key=lambda one: (one.path, one.line))

    def skipped(self) -> list[tuple[str, str]]:
        """(path, reason) of all that was left out; folders end with a slash. Generated files are indexed and listed here."""
        if self._skipped is None:
            found = [(path, reason) for path, reason in self.table.meta["skipped"]]
            out, paths = SKIPPED | FAILED, self.table.paths
            for slot, record in enumerate(self.table.records):
                if record[FLAGS] & (out | GENERATED) and paths[slot]:
                    entry = self.file(paths[slot]) if record[FLAGS] & out else None
                    found.append((paths[slot], entry.skipped if entry is not None else "generated"))
            self._skipped = sorted(found)
        return self._skipped

    @property
    def entry_points(self) -> list[str]:
        return list(self.table.meta["entryPoints"])

    def stats(self) -> dict[str, int]:
        """fileCount, symbolCount (exported, top level), totalBytes as published; allSymbols counts every definition."""
        if not self._stats:
            out = SKIPPED | FAILED | GENERATED
            shown = [record for record, path in zip(self.table.records, self.table.paths) if path and not record[FLAGS] & out]
            self._stats = {"fileCount": len(shown), "symbolCount": sum(record[EXPORTS] for record in shown),
                           "totalBytes": sum(record[SIZE] for record in shown),
                           "allSymbols": sum(record[SYMBOLS] for record in shown)}
        return self._stats


def open_index(tree_root: str, store_root: str | None = None, write: bool = True, ask_git: bool = True,
               progress: Progress | None = None, little: bool = False) -> Index:
    """The index of `tree_root`, brought up to date. `write` False leaves the disk alone; `ask_git` False starts no git."""
    return Index(refresh_index(tree_root, write, ask_git, progress, little))


