"""Facts as the agent is given them: read through a derived cache, so that only files that changed are parsed."""
from __future__ import annotations

import os
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, read_text, write_atomic
from slipstream.base.json_files import dump_json
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import ensure_store, store_path
from slipstream.memory.fact_index import render_index
from slipstream.memory.model import Fact

INDEX_NAME = "MEMORY.md"
LOCK_WAIT_S = 5.0
_HEALING_WAIT_S = 0.25  # nobody who reads waits long for an index
_CACHE_VERSION = 1
_FIELDS = ("name", "description", "type", "body", "tags", "created", "updated", "sources", "branch", "supersedes", "extra")


class FactStore:
    """Every readable fact, sorted by name, and what could not be read: [(file name, reason)]."""

    __slots__ = ("facts", "problems")

    def __init__(self, facts: list[Fact], problems: list[tuple[str, str]]):
        self.facts, self.problems = facts, problems

    def find(self, name: str) -> Fact | None:
        return next((fact for fact in self.facts if fact.name == name or file_stem(fact.path) == name), None)


def facts_dir(store_root: str) -> str:
    return os.path.join(store_dir(store_root), "memory")


def facts_lock(store_root: str, wait_s: float = LOCK_WAIT_S) -> FileLock:
    return FileLock(os.path.join(ensure_store(store_root), "memory"), wait_s)


def file_stem(path: str) -> str:
    return os.path.basename(path)[:-3]


def load_facts(store_root: str) -> FactStore:
    """Reads only the files that changed since the derived cache was written; the index is healed when it is out of date."""
    store, changed = _load(store_root)
    if changed:
        try:
            with facts_lock(store_root, _HEALING_WAIT_S):
                write_index(store_root)
        except (OSError, SlipstreamError):
            pass  # a read-only store is still read; whoever holds the lock writes the index too
    return store


def load_locked(store_root: str) -> FactStore:
    """As load_facts, for a caller that holds the lock."""
    return _load(store_root)[0]


def write_index(store_root: str) -> str:
    """Renders and writes the index; the caller holds the lock. Returns its text."""
    text = render_index(load_locked(store_root).facts)
    write_atomic(store_path(store_root, "memory", INDEX_NAME), text, only_if_changed=True)
    from slipstream.context.status import note_facts
    note_facts(store_root)
    return text


def _load(store_root: str) -> tuple[FactStore, bool]:
    """(store, whether any file or the index changed since the cache)."""
    folder = facts_dir(store_root)
    try:
        if os.path.islink(folder):
            return FactStore([], [("memory", "a symlink; refused")]), False
        entries = sorted((entry for entry in os.scandir(folder) if entry.name.endswith(".md")), key=lambda e: e.name)
    except OSError:
        return FactStore([], []), False
    cache_path = os.path.join(store_dir(store_root), "search", "facts.json")
    cached = _load_cache(cache_path)
    fresh: dict[str, Any] = {}
    facts, problems, changed = [], [], False
    for entry in entries:
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        stamp = [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
        held = cached.get(entry.name)
        if not (isinstance(held, list) and len(held) == 2 and held[0] == stamp):
            changed = True
            held = [stamp, None if entry.name == INDEX_NAME else _read_record(entry.path, info.st_size)]
        fresh[entry.name] = held
        if entry.name == INDEX_NAME:
            continue
        if isinstance(held[1], dict):
            fact = Fact(**held[1])
            fact.path = os.path.join(folder, entry.name)
            facts.append(fact)
        else:
            problems.append((entry.name, str(held[1])))
    changed = changed or fresh.keys() != cached.keys() or (bool(facts) and INDEX_NAME not in fresh)
    if changed:
        _save_cache(store_root, fresh)
    facts.sort(key=lambda fact: (fact.name.casefold(), fact.name, fact.path))
    return FactStore(facts, problems), changed


def _read_record(path: str, size: int) -> dict[str, Any] | str:
    from slipstream.memory.fact_file import MAX_FACT_BYTES, parse_fact
    if size > MAX_FACT_BYTES:
        return f"too large for a fact ({size} bytes)"
    try:
        raw = read_bytes(path)
        if b"\0" in raw:
            return "not a text file"
        fact = parse_fact(read_text(path).replace("\r\n", "\n"), os.path.basename(path))
    except SlipstreamError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    return {key: getattr(fact, key) for key in _FIELDS}


def _load_cache(path: str) -> dict[str, Any]:
    try:
        raw = read_bytes(path)
        import json
        value = json.loads(raw)
        files = value["files"] if value["version"] == _CACHE_VERSION else {}
        for held in files.values():
            if isinstance(held[1], dict):
                Fact(**held[1])
        return files if isinstance(files, dict) else {}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return {}


def _save_cache(store_root: str, files: dict[str, Any]) -> None:
    try:
        write_atomic(store_path(store_root, "search", "facts.json"), dump_json({"version": _CACHE_VERSION, "files": files}))
    except (OSError, SlipstreamError):
        pass
