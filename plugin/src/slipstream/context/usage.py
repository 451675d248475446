"""Exact token totals from the host's transcripts: each reply counted once over all files, kept up to date by file offsets."""

from __future__ import annotations

import gc
import json
import os
import time
from array import array
from collections.abc import Iterable
from hashlib import blake2b
from struct import Struct
from typing import Any

from slipstream.base.errors import LockTimeout
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.instants import parse_iso
from slipstream.base.locks import FileLock
from slipstream.base.store import store_path
from slipstream.context.prices import LONG_PROMPT_TOKENS
from slipstream.context.usage_scan import find_transcripts, iter_replies
from slipstream.context.usage_shape import Shapes

VERSION = 1
CLASSES = ("input", "write5m", "write1h", "read", "output")
_KEY = Struct(">q")
_ROW = Struct("8q")
LOCK_TIMEOUT_S = 30.0
_NOTHING = (0,) * len(CLASSES)
_COLUMNS = 8  # of a reply's row: key, file, group, then the five classes


class UsageIndex:
    """Rows of replies, sums by group (session, agent, model, day, tier), and how far each file has been read.

    A reply's key is its message id, with the request id where there is one: lines that repeat it, in this file or another
    (forks copy
    old lines under a new session id), are the same reply. Its last line wins where the output grew. Its owner is the file
    whose own
    first time stamp is earliest.
    """

    def __init__(self) -> None:
        self.files: list[dict[str, Any]] = []  # path, session, agent, offset, inode, first (time stamp), shared, replies
        self.groups: list[tuple[str, str, str, str, str]] = []
        self.sums: list[list[int]] = []  # per group: replies, then the five classes
        self.rows = array("q")
        self._by_path: dict[str, int] = {}
        self._by_group: dict[tuple[str, str, str, str, str], int] = {}
        self._by_key: dict[int, int] | None = None
        self._days: dict[bytes, str] = {}  # of an hour, as time stamps begin: the local day, "" where the hour is on two
        self._near: dict[tuple[bytes, bytes, str, bool], int] = {}  # of the file being read: what a reply has -> group
        self._shapes = Shapes()

    # ---- reading transcripts

    def update(self, transcripts: Iterable[tuple[str, str, str]]) -> int:
        """Reads what is new in the given files; returns how many replies were seen."""
        fresh = []
        for path, session, agent in transcripts:
            try:
                stat = os.stat(path)
            except OSError:
                continue
            index = self._by_path.get(path)
            if index is not None:
                entry = self.files[index]
                if stat.st_size < entry["offset"] or stat.st_ino != entry["inode"]:
                    self._forget(index)
                elif stat.st_size == entry["offset"]:
                    continue
            first = self.files[index]["first"] if index is not None else _first_timestamp(path)
            fresh.append(
                (first, "" if index is not None else _last_timestamp(path, stat.st_size), path, session, agent, stat.st_ino)
            )
        collecting = gc.isenabled()
        gc.disable()  # what is made here by the ten thousand has no cycles, and to look for some costs a tenth of all
        try:
            return self._read_all(fresh)
        finally:
            if collecting:
                gc.enable()

    def _read_all(self, fresh: list[tuple[str, str, str, str, str, int]]) -> int:
        seen = 0
        for first, _, path, session, agent, inode in sorted(fresh):
            index = self._by_path.get(path)
            if index is None:
                index = self._by_path[path] = len(self.files)
                self.files.append(
                    {
                        "path": path,
                        "session": session,
                        "agent": agent,
                        "offset": 0,
                        "inode": inode,
                        "first": first,
                        "shared": {},
                        "replies": 0,
                    }
                )
            seen += self._read(index)
        return seen

    def _read(self, index: int) -> int:
        entry, seen, days = self.files[index], 0, self._days
        by_key, rows, near, sums, pack = self._keys(), self.rows, self._near, self.sums, _ROW.pack
        try:
            for offset, reply in iter_replies(entry["path"], entry["offset"], self._shapes):  # noqa: B007
                if reply is None:
                    continue
                seen += 1
                name, request, model, stamp, output, fresh, created, read, hour, five, words = reply
                one_hour = int(hour)
                counts = int(fresh), max(int(five), int(created) - one_hour), one_hour, int(read), int(output)
                name = name + b" " + request if request else name
                key: int = _KEY.unpack(blake2b(name, digest_size=8).digest())[0]
                long = counts[0] + counts[1] + one_hour + counts[3] > LONG_PROMPT_TOKENS
                row = by_key.get(key)
                if row is not None or counts == _NOTHING:
                    if row is not None and counts != _NOTHING:
                        self._repeat(row, index, counts, (model, stamp, words, long))
                    continue
                # an hour that is on one day is as good as the day
                group = near.get((stamp[:13], model, words, long)) if stamp[-1:] == b"Z" else None
                if group is None:
                    group = self._group(index, model, stamp, words, long)
                    if stamp[-1:] == b"Z" and days.get(stamp[:13]):
                        near[stamp[:13], model, words, long] = group
                by_key[key] = len(rows)
                rows.frombytes(pack(key, index, group, *counts))
                total = sums[group]
                total[0] += 1
                total[1] += counts[0]
                total[2] += counts[1]
                total[3] += one_hour
                total[4] += counts[3]
                total[5] += counts[4]
                entry["replies"] += 1
            entry["offset"] = offset
        except OSError:
            pass
        near.clear()
        return seen

    def _repeat(self, row: int, index: int, counts: tuple[int, ...], about: tuple[bytes, bytes, str, bool]) -> None:
        """A reply that has a row: by another of its lines, or by a file that shares it."""
        entry, owner = self.files[index], self.rows[row + 1]
        if owner != index:
            other = self.files[owner]
            if entry["first"] and (not other["first"] or entry["first"] < other["first"]):
                self._move(row, index, self._group(index, *about))
                entry, owner = other, index
            entry["shared"][str(owner)] = entry["shared"].get(str(owner), 0) + 1
        old = tuple(self.rows[row + 3 : row + _COLUMNS])
        if counts[4] >= old[4] and old != counts:  # a growing snapshot: the last and largest is final
            self._add(self.rows[row + 2], tuple(new - was for new, was in zip(counts, old)), 0)
            self.rows[row + 3 : row + _COLUMNS] = array("q", counts)

    def _group(self, index: int, model: bytes, stamp: bytes, words: str, long: bool) -> int:
        entry = self.files[index]
        tier = ("long " + words).strip() if long else words
        key = (entry["session"], entry["agent"], model.decode("utf-8", "replace"), self._day(stamp), tier)
        group = self._by_group.get(key)
        if group is None:
            group = self._by_group[key] = len(self.groups)
            self.groups.append(key)
            self.sums.append([0] * (len(CLASSES) + 1))
        return group

    def _day(self, stamp: bytes) -> str:
        """The local day of a time stamp; most are in an hour of which one is known already."""
        text = stamp.decode("ascii", "replace")
        if not text.endswith("Z"):
            return _local_day(text)
        day = self._days.get(stamp[:13])
        if day is None:
            first, last = _local_day(text[:13] + ":00:00Z"), _local_day(text[:13] + ":59:59Z")
            day = self._days[stamp[:13]] = first if first == last else ""
        return day or _local_day(text)

    def _add(self, group: int, counts: tuple[int, ...], replies: int) -> None:
        sums = self.sums[group]
        sums[0] += replies
        sums[1] += counts[0]
        sums[2] += counts[1]
        sums[3] += counts[2]
        sums[4] += counts[3]
        sums[5] += counts[4]

    def _move(self, row: int, index: int, group: int) -> None:
        """Gives a reply to the file that has it from the start."""
        counts = tuple(self.rows[row + 3 : row + _COLUMNS])
        self._add(self.rows[row + 2], tuple(-count for count in counts), -1)
        self.files[self.rows[row + 1]]["replies"] -= 1
        self.rows[row + 1], self.rows[row + 2] = index, group
        self._add(group, counts, 1)
        self.files[index]["replies"] += 1

    def _forget(self, index: int) -> None:
        """A file that shrank or was replaced is read anew: its rows go."""
        kept = array("q")
        for at in range(0, len(self.rows), _COLUMNS):
            row = self.rows[at : at + _COLUMNS]
            if row[1] == index:
                self._add(row[2], tuple(-count for count in row[3:]), -1)
            else:
                kept.extend(row)
        self.rows, self._by_key = kept, None
        entry = self.files[index]
        entry.update(offset=0, replies=0, shared={}, first=_first_timestamp(entry["path"]), inode=os.stat(entry["path"]).st_ino)

    def _keys(self) -> dict[int, int]:
        if self._by_key is None:
            keys = self.rows[::_COLUMNS]
            self._by_key = dict(zip(keys, range(0, len(self.rows), _COLUMNS)))
        return self._by_key

    # ---- keeping

    def dump(self) -> bytes:
        head = json.dumps(
            {
                "version": VERSION,
                "byteorder": _byte_order(),
                "zone": time.strftime("%z"),
                "files": self.files,
                "groups": self.groups,
                "sums": self.sums,
                "rows": len(self.rows),
            },
            separators=(",", ":"),
        )
        return head.encode("ascii") + b"\n" + self.rows.tobytes()

    @classmethod
    def load(cls, raw: bytes) -> UsageIndex:
        """An index from dump()'s bytes; an empty one where they are of another version, another time zone, or damaged."""
        index = cls()
        head, _, rows = raw.partition(b"\n")
        try:
            found = json.loads(head)
            whole = found["version"] == VERSION and found["byteorder"] == _byte_order() and found["zone"] == time.strftime("%z")
            if not whole or len(rows) != found["rows"] * 8 or found["rows"] % _COLUMNS:
                return index
            index.rows.frombytes(rows)
            index.files, index.sums = found["files"], found["sums"]
            index.groups = [(str(s), str(a), str(m), str(d), str(t)) for s, a, m, d, t in found["groups"]]
            bad = len(index.sums) != len(index.groups) or any(
                not 0 <= row < len(index.files) for row in set(index.rows[1::_COLUMNS])
            )
            kinds = {"path": str, "offset": int, "first": str, "shared": dict, "replies": int}
            bad = bad or any(type(entry[key]) is not kind for entry in index.files for key, kind in kinds.items())
            bad = bad or any(entry["offset"] < 0 for entry in index.files)
            bad = bad or any(len(row) != len(CLASSES) + 1 or set(map(type, row)) != {int} for row in index.sums)
            if bad or any(not 0 <= row < len(index.groups) for row in set(index.rows[2::_COLUMNS])):
                return cls()
            index._by_path = {entry["path"]: number for number, entry in enumerate(index.files)}
            index._by_group = {group: number for number, group in enumerate(index.groups)}
        except (ValueError, KeyError, TypeError):
            return cls()
        return index


def load_usage(store_root: str, folders: list[str], apart: bool = False) -> UsageIndex:
    """The index brought up to date with every transcript below `folders`; saved where something was new.

    `apart`: these folders are not the project's own, so they get an index of their own. Where the store cannot be written,
    all is read anew and nothing saved. LockTimeout.
    """
    name = "usage.index"
    if apart:
        which = "\0".join(sorted(folders)).encode("utf-8", "surrogatepass")
        name = f"usage-{blake2b(which, digest_size=8).hexdigest()}.index"
    try:
        path = store_path(store_root, "context", name)
        with FileLock(path, LOCK_TIMEOUT_S):
            try:
                index = UsageIndex.load(read_bytes(path))
            except OSError:
                index = UsageIndex()
            before = [(entry["path"], entry["offset"]) for entry in index.files]
            index.update(find_transcripts(folders))
            if [(entry["path"], entry["offset"]) for entry in index.files] != before:
                write_atomic(path, index.dump())
    except LockTimeout:
        raise
    except OSError:
        index = UsageIndex()
        index.update(find_transcripts(folders))
    return index


def _first_timestamp(path: str) -> str:
    """The first time stamp among a transcript's first lines; "" without one.

    A fork's copied lines keep their old stamps: of two files that begin alike, the one that also ended first is taken for
    the original.
    """
    try:
        with open(path, "rb") as stream:
            for _ in range(200):
                line = stream.readline(1_000_000)
                if not line:
                    break
                at = line.find(b'"timestamp"')
                if at >= 0:
                    value = line[at + 11 : at + 60].partition(b'"')[2].partition(b'"')[0].decode("ascii", "replace")
                    if value:
                        return value
    except OSError:
        pass
    return ""


def _last_timestamp(path: str, size: int) -> str:
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, size - 65_536))
            tail = stream.read(65_536)
    except OSError:
        return ""
    at = tail.rfind(b'"timestamp"')
    return tail[at + 11 : at + 60].partition(b'"')[2].partition(b'"')[0].decode("ascii", "replace") if at >= 0 else ""


def _local_day(timestamp: str) -> str:
    seconds = parse_iso(timestamp)
    return time.strftime("%Y-%m-%d", time.localtime(seconds)) if seconds is not None else ""


def _byte_order() -> str:
    import sys

    return sys.byteorder
