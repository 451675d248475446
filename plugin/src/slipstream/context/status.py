"""status.json: the few figures the status line shows, kept by the writers so that rendering it costs one small read."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text, write_atomic
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path

NAME = "status.json"
# Keys: memoryCount, observationCount, optimizationPct, targetTokens, warnPct, compactPct, windowTokens (the host's, latest
# session),
# stepHistory (approximate tokens of the last turns), lastCapture (seconds), activeSkill, redacted, errors. An absent key
# is unknown.


def load_status(store_root: str) -> dict[str, Any]:
    """The figures as they were left; {} when absent or damaged."""
    try:
        value = json.loads(read_text(os.path.join(store_dir(store_root), NAME), 65_536))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def update_status(store_root: str, **figures: Any) -> None:
    """Sets some figures (None removes one). Called by writers at turning points, never on every event; silent when it
    cannot write."""
    try:
        path = store_path(store_root, NAME)
        with FileLock(path, 1.0):
            old = load_status(store_root)
            new = {key: value for key, value in {**old, **figures}.items() if value is not None}
            if new != old:
                write_atomic(path, json.dumps(new, separators=(",", ":")))
    except (OSError, SlipstreamError):  # LockTimeout is an OSError
        return


def rebuild_status(store_root: str) -> dict[str, Any]:
    """Counts everything anew, writes it and returns it. For a store whose status.json is absent."""
    from slipstream.context.budget import load_budget
    from slipstream.context.savings import load_savings, summarize_savings

    store = store_dir(store_root)
    budget = load_budget(store_root)
    figures: dict[str, Any] = {
        "memoryCount": sum(name.endswith(".md") and name != "MEMORY.md" for name in _names(os.path.join(store, "memory"))),
        "observationCount": sum(
            _count_lines(os.path.join(store, "observations", name))
            for name in _names(os.path.join(store, "observations"))
            if name.endswith(".jsonl")
        ),
        "optimizationPct": summarize_savings(load_savings(store_root))["pct"],
        **{key: budget[key] for key in ("targetTokens", "warnPct", "compactPct")},
    }
    if os.path.isdir(store):
        update_status(store_root, **figures)
    return {**load_status(store_root), **figures}


def note_turn(store_root: str, steps: list[int], now: float | None = None) -> None:
    """At the end of a turn: the last turns' tokens and when something was last captured."""
    update_status(store_root, stepHistory=steps[-5:], lastCapture=int(time.time() if now is None else now))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder) if not os.path.islink(folder) else []
    except OSError:
        return []


def _count_lines(path: str) -> int:
    if os.path.islink(path):
        return 0
    try:
        with open(path, "rb") as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(1_048_576), b""))
    except OSError:
        return 0
