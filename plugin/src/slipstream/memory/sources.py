"""Which files the search index is made of, and how each is turned into documents. Every one is read-only here."""
from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping

from slipstream.base.roots import store_dir

OBSERVATIONS, FACTS, CONVERSATIONS, HOST = "obs", "fact", "chat", "host"
_SUFFIX = {OBSERVATIONS: ".jsonl", FACTS: ".md", CONVERSATIONS: ".json", HOST: ".md"}
MAX_HOST_FILES = 200
_INDEX_NAME = "MEMORY.md"  # generated from the facts, so not searched beside them


def host_memory_dir(root: str, env: Mapping[str, str] = os.environ) -> str:
    """The host's own notes on this project: its folder name is the path with every other character as `-`."""
    home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return os.path.join(home, "projects", re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(root)), "memory")


def source_folders(store_root: str) -> dict[str, str]:
    store = store_dir(store_root)
    return {OBSERVATIONS: os.path.join(store, "observations"), FACTS: os.path.join(store, "memory"),
            CONVERSATIONS: os.path.join(store, "conversations"), HOST: host_memory_dir(store_root)}


def scan_sources(store_root: str, kinds: Collection[str] = tuple(_SUFFIX)) -> dict[str, tuple[int, int, int, int]]:
    """{`kind/file`: (size, mtime, ctime, inode)} of everything there is to search. Symlinks are left out."""
    found: dict[str, tuple[int, int, int, int]] = {}
    for kind, folder in source_folders(store_root).items():
        if kind not in kinds:
            continue
        suffix, count = _SUFFIX[kind], 0
        try:
            if os.path.islink(folder):
                continue
            entries = os.scandir(folder)
        except OSError:
            continue
        with entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(suffix) or (kind == FACTS and name == _INDEX_NAME):
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if not stat.S_ISREG(info.st_mode):
                    continue
                count += 1
                if kind == HOST and count > MAX_HOST_FILES:
                    break
                found[f"{kind}/{name}"] = (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
    return found


def source_path(store_root: str, source: str) -> str:
    """Path of a source named in the index; an odd name gives a path that does not exist, never one outside its folder."""
    kind, _, name = source.partition("/")
    folder = source_folders(store_root).get(kind)
    if folder is None or not name or "/" in name or os.sep in name or "\0" in name or name in (".", ".."):
        return os.path.join(store_dir(store_root), "search", "-")
    return os.path.join(folder, name)
