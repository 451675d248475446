"""status.json: the few figures the status line shows, kept by whoever changes one, rebuilt from the store when absent."""
from __future__ import annotations

import os
from typing import Any

from slipstream.base.files import load_json, write_atomic
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path

NAME = "status.json"
LOCK_TIMEOUT_S = 0.5
KEYS = "memoryCount observationCount optimizationPct warnPct compactPct stepHistory windowTokens activeSkill".split()


def load_status(store_root: str) -> dict[str, Any]:
    """The figures as last kept; {} where nobody kept any or the file is damaged."""
    try:
        return load_json(os.path.join(store_dir(store_root), NAME)) or {}
    except Exception:
        return {}


def update_status(store_root: str, **figures: Any) -> None:
    """Changes some of KEYS; None takes a figure away. Never raises: the figures are a convenience, rebuilt when absent."""
    unknown = set(figures) - set(KEYS)
    if unknown:
        raise ValueError(f"unknown figures: {sorted(unknown)}")
    try:
        path = store_path(store_root, NAME)
        with FileLock(path, LOCK_TIMEOUT_S):
            merged = {key: value for key, value in {**load_status(store_root), **figures}.items() if value is not None}
            write_atomic(path, _dump(merged), only_if_changed=True)
    except Exception:
        pass


def rebuild_status(store_root: str) -> dict[str, Any]:
    """The figures counted from the store's own files, and kept, so that the next reader finds them."""
    folder = store_dir(store_root)
    found: dict[str, Any] = {
        "memoryCount": sum(name.endswith(".md") and name != "MEMORY.md" for name in _names(os.path.join(folder, "memory"))),
        "observationCount": sum(_count_lines(os.path.join(folder, "observations", name))
                                for name in _names(os.path.join(folder, "observations")) if name.endswith(".jsonl"))}
    budget, savings = _object(os.path.join(folder, "budget.json")), _object(os.path.join(folder, "savings.json"))
    for key in ("warnPct", "compactPct"):
        if isinstance(budget.get(key), (int, float)) and 0 < budget[key] <= 100:
            found[key] = budget[key]
    full, served = savings.get("fullBytes"), savings.get("servedBytes")
    if isinstance(full, (int, float)) and isinstance(served, (int, float)) and full > 0:
        found["optimizationPct"] = max(0, round(100 * (full - served) / full))
    update_status(store_root, **found)
    return found


def _dump(value: dict[str, Any]) -> str:
    import json
    return json.dumps(value, separators=(",", ":"), sort_keys=True) + "\n"


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _object(path: str) -> dict[str, Any]:
    try:
        return load_json(path) or {}
    except Exception:
        return {}


def _count_lines(path: str) -> int:
    try:
        with open(path, "rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    except OSError:
        return 0
