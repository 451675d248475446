"""What was read of a long log, kept beside it, so that a new server goes on where the last one stopped. Derived and checked.

A file that is damaged, of another version, or no longer fits its log is ignored, and the log is read from its start.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zlib
from array import array
from typing import TYPE_CHECKING, Any

from slipstream.base.files import open_regular, read_bytes, write_atomic
from slipstream.base.store import store_path
from slipstream.build_info import VERSION
from slipstream.events.fold import Fold
from slipstream.events.log import log_path, view_path

if TYPE_CHECKING:
    from slipstream.dashboard.live import SessionView

FORMAT = 3
MIN_EVENTS = 4000
GROWTH = 1.15
MAX_BYTES = 64_000_000
PROBE_BYTES = 4096
COLUMNS = tuple(
    pair.split(":") for pair in ("seq:q", "offset:q", "ts:d", "ms:i", "agent:I", "tool:H", "kind:B", "outcome:B")
)


def cache_path(store_root: str, session: str) -> str:
    return store_path(store_root, "dashboard", os.path.basename(view_path(log_path(store_root, session))))


def log_mark(path: str, offset: int) -> str:
    """Tells this log from another under its name: hash of its first bytes and of those before an offset."""
    digest = hashlib.sha256()
    with open(open_regular(path), "rb") as stream:
        digest.update(stream.read(min(offset, PROBE_BYTES)))
        stream.seek(max(0, offset - PROBE_BYTES))
        digest.update(stream.read(min(offset, PROBE_BYTES)))
    return digest.hexdigest()


def save_view(store_root: str, view: SessionView) -> bool:
    """Keeps a long view when it grew enough since it was last kept. The caller holds the view's lock."""
    if len(view) < max(MIN_EVENTS, int(view.kept * GROWTH)):
        return False
    parts = [getattr(view, name).tobytes() for name, _ in COLUMNS]
    parts += [dumped for _, _, dumped in view._snapshots] + [zlib.compress(view.fold.dump(), 1)]
    reader = view._reader
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "byteorder": sys.byteorder,
        "events": len(view),
        "readTo": reader.offset,
        "lastSeq": reader.last_seq,
        "skipped": reader.skipped,
        "mark": log_mark(view.path, reader.offset),
        "words": [view.agents.list, view.tools.list, view.kinds.list, view.outcomes.list],
        "files": view.files,
        "firstAsk": view.first_ask,
        "emptied": view.emptied,
        "pending": [[*key, ts] for key, ts in view._pending.items()],
        "snapshots": [[count, offset] for count, offset, _ in view._snapshots],
        "every": view._snapshot_every,
        "sizes": [len(part) for part in parts],
    }
    body = b"".join(parts)
    head["crc"] = zlib.crc32(body)
    write_atomic(cache_path(store_root, view.session), json.dumps(head).encode("ascii") + b"\n" + body)
    view.kept = len(view)
    return True


def load_view(store_root: str, view: SessionView) -> bool:
    """Fills an empty view from what was kept; False, and the view as it was, when that does not fit the log."""
    try:
        path = cache_path(store_root, view.session)
        info = os.lstat(path)
        if os.name == "posix" and (info.st_uid != os.getuid() or info.st_mode & 0o077):
            return False  # it came with a clone, or others could have written it
        raw = read_bytes(path, MAX_BYTES)
        line, _, body = raw.partition(b"\n")
        head = json.loads(line)
        if head["format"] != FORMAT or head["version"] != VERSION or head["byteorder"] != sys.byteorder:
            return False
        sizes, count = head["sizes"], head["events"]
        if sum(sizes) != len(body) or zlib.crc32(body) != head["crc"] or os.path.getsize(view.path) < head["readTo"]:
            return False
        if log_mark(view.path, head["readTo"]) != head["mark"]:
            return False
        parts, at = [], 0
        for size in sizes:
            parts.append(body[at : at + size])
            at += size
        columns = []
        for (_, code), part in zip(COLUMNS, parts):
            column: array[Any] = array(code)
            column.frombytes(part)
            if len(column) != count:
                return False
            columns.append(column)
        dumps = parts[len(COLUMNS) :]
        fold = Fold.load(zlib.decompress(dumps[-1]))
        snapshots = [(int(n), int(offset), dumped) for (n, offset), dumped in zip(head["snapshots"], dumps)]
        words = [[str(word) for word in part] for part in head["words"]]
        bounds = [max(columns[index], default=0) for index in (4, 5, 6, 7)]
        if any(most >= len(part) for most, part in zip(bounds, words)):
            return False
        files = {str(name): int(times) for name, times in head["files"].items()}
        pending = {(str(agent), str(label)): float(ts) for agent, label, ts in head["pending"]}
        read_to, last_seq, skipped = int(head["readTo"]), int(head["lastSeq"]), int(head["skipped"])
        first_ask, every = str(head["firstAsk"]), max(1, int(head["every"]))
        emptied = [(int(seq), int(tokens)) for seq, tokens in head["emptied"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, zlib.error):
        return False
    for (name, _), column in zip(COLUMNS, columns):
        setattr(view, name, column)
    for target, known in zip((view.agents, view.tools, view.kinds, view.outcomes), words):
        target.fill(known)
    view.fold, view.files, view.first_ask, view.kept = fold, files, first_ask, count
    view.emptied = emptied
    view._pending, view._snapshots, view._snapshot_every = pending, snapshots, every
    view._reader.offset, view._reader.last_seq, view._reader.skipped = read_to, last_seq, skipped
    return True
