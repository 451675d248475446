"""One session's log as the page needs it: the fold at its end, any earlier fold, and columns of what each event was.

The log is read once and then followed from its end. Labels stay on disk: per event only numbers are kept, about 40 bytes.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from typing import Any

from slipstream.base.files import open_regular
from slipstream.base.instants import parse_iso
from slipstream.base.json_files import MAX_JSON_LINE_BYTES
from slipstream.dashboard.cache import load_view
from slipstream.events.fold import Fold
from slipstream.events.log import LogReader, log_path, parse_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from slipstream.events.log import Event

SNAPSHOT_EVENTS = 250
SNAPSHOT_BYTES = 6_000_000
MAX_PENDING = 500
MAX_WORDS, MAX_BYTE = 60_000, 256
OUTCOMES = {"error": "failed"}
CALL_KINDS = frozenset(("pre-tool", "post-tool", "tool-failure"))
UNTOLD = {"tool-failure": "failed", "post-tool": "ok"}  # the outcome of a kind whose event does not tell one


class Words(dict[str, int]):
    """Strings as small numbers: words[text]; beyond the limit everything is the empty string."""

    def __init__(self, limit: int = MAX_WORDS) -> None:
        super().__init__({"": 0})
        self.list, self._limit = [""], limit

    def __missing__(self, word: str) -> int:
        if len(self.list) >= self._limit:
            return 0
        found = self[word] = len(self.list)
        self.list.append(word)
        return found

    def fill(self, words: list[str]) -> None:
        self.list = words
        self.clear()
        self.update((word, number) for number, word in enumerate(words))

    def find(self, word: str) -> int:
        return self.get(word, -1)


def light_dump(fold: Fold) -> bytes:
    """The fold without the last events and calls, most of its size: replay shows the events themselves."""
    state = {**fold.inside, "calls": []}
    state["agents"] = {name: {**agent, "activity": []} for name, agent in state["agents"].items()}
    return json.dumps(state, separators=(",", ":")).encode("ascii")


class SessionView:
    """What is known of one session. Every method takes the lock; none is slow but the first refresh of a long log."""

    def __init__(self, store_root: str, session: str, snapshots: bool = True) -> None:
        self.session = session
        self._snapshots_wanted = snapshots
        self.path = log_path(store_root, session)
        self.lock = threading.RLock()
        self.generation = 0
        self.stamp = (0, 0, -1)  # (size, mtime in ns, inode) of the log when its end was reached; inode -1: there is none
        self.kept = 0  # events in the file that cache.py wrote for it
        self.complete = False  # whether its end was reached once, so that what comes now is news
        self._reset()

    def _reset(self) -> None:
        self.fold = Fold(self.session)
        self.seq, self.offset, self.ts = array("q"), array("q"), array("d")
        self.ms, self.agent, self.tool = array("i"), array("I"), array("H")
        self.kind, self.outcome = array("B"), array("B")
        self.agents, self.tools, self.kinds, self.outcomes = Words(), Words(), Words(MAX_BYTE), Words(MAX_BYTE)
        self.files: dict[str, int] = {}
        self.first_ask = ""
        # (event, approximate tokens that main had read by then) of each moment at which its window was emptied
        self.emptied: list[tuple[int, int]] = []
        self._pending: dict[tuple[str, str], float] = {}
        self._minute: tuple[str, float | None] = ("", None)
        self._snapshots: list[tuple[int, int, bytes]] = []  # (events folded, offset to read on from, dumped fold)
        self._snapshot_every = SNAPSHOT_EVENTS
        self._reader = LogReader(self.path)

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def last_seq(self) -> int:
        return self.seq[-1] if self.seq else -1

    @property
    def skipped(self) -> int:
        return self._reader.skipped

    def behind(self) -> float:
        """The part of the log that is still to be read, 0 to 1; 0 once its end was reached, whatever was appended since."""
        if self.complete:
            return 0.0
        try:
            size = os.stat(self.path).st_size
        except OSError:
            return 0.0
        return max(0.0, 1 - self._reader.offset / size) if size else 0.0

    def refresh(self, keep: int = 400, limit: int | None = None) -> tuple[list[dict[str, Any]], int]:
        """Folds what was appended, at most `limit` events: (the last `keep` of them as rows for the page, how many)."""
        with self.lock:
            fresh: deque[tuple[int, Event]] = deque(maxlen=keep)
            total = 0
            try:
                for start, event in self._reader.read_with_offsets():
                    if self._reader.restarted:  # a shorter log is another log
                        reader, self.generation = self._reader, self.generation + 1
                        self._reset()
                        self._reader, reader.restarted = reader, False
                    self._take(start, event)
                    total += 1
                    fresh.append((len(self.seq) - 1, event))
                    if total == limit:
                        break
            except OSError:  # removed or replaced while it was read: the next refresh sees what is there
                pass
            return [self.row(index, event) for index, event in fresh], total

    def replaced(self) -> None:
        """Forgets what was read: the log was removed or another file has its name."""
        with self.lock:
            self.generation += 1
            self.kept, self.complete = 0, False
            self._reset()

    def _take(self, start: int, event: Event) -> None:
        # A wide fold is dumped less often: what its dumps cost then grows with the log, and not with log times agents.
        apart = max(self._snapshot_every, len(self.fold.inside["agents"]))
        if self._snapshots_wanted and len(self.seq) - (self._snapshots[-1][0] if self._snapshots else 0) >= apart:
            self._snapshot(start)
        self.fold.apply(event)
        data = event.get("data") or {}
        kind, agent = event["kind"], event["agent"]
        ts = self._seconds(event["ts"])
        tool = data.get("tool")
        if not isinstance(tool, str) or not tool:
            tool = event["label"].split(" ", 1)[0][:80] if kind in CALL_KINDS else ""
        outcome = data.get("outcome")
        outcome = OUTCOMES.get(outcome, outcome) if isinstance(outcome, str) else "failed" if data.get("failed") else ""
        if not outcome:
            outcome = UNTOLD.get(kind, "")
        self.seq.append(event["seq"])
        self.offset.append(start)
        self.ts.append(ts)
        self.ms.append(self._duration(kind, agent, event["label"], ts, data))
        self.agent.append(self.agents[agent])
        self.tool.append(self.tools[tool])
        self.kind.append(self.kinds[kind[:80]])
        self.outcome.append(self.outcomes[outcome[:40]])
        if kind == "compact" or (kind == "session-start" and data.get("start") == "clear"):
            self._note_emptied(event["seq"])
        file = data.get("file")
        if isinstance(file, str) and file and (file in self.files or len(self.files) < 5000):
            self.files[file] = self.files.get(file, 0) + 1
        if kind == "user-prompt" and not self.first_ask:
            self.first_ask = event["label"][:240]

    def take(self, event: Event) -> int:
        """Takes in one event that is read elsewhere and returns its position: for an export, which reads on its own."""
        self._take(0, event)
        return len(self.seq) - 1

    def _note_emptied(self, seq: int) -> None:
        main = self.fold.inside["agents"].get("main")
        tokens = main["approxTokens"] if main else 0
        if self.emptied and self.emptied[-1][1] == tokens:
            return  # the start and the end of one compaction
        self.emptied.append((seq, tokens))
        del self.emptied[:-MAX_PENDING]

    def window_estimate(self, fold: Fold) -> tuple[int, list[tuple[int, int]]]:
        """(approximate tokens that main has read since its window was last emptied, (event, tokens) when it was emptied)."""
        main = fold.inside["agents"].get("main")
        marks, before = [], 0
        for seq, tokens in self.emptied:
            if seq > fold.last_seq:
                break
            marks.append((seq, tokens - before))
            before = tokens
        return max(0, (main["approxTokens"] if main else 0) - before), marks

    def _seconds(self, text: str) -> float:
        """Seconds since the epoch; the minute is parsed once, for thousands of events share it."""
        if len(text) == 24 and text[19] == ".":
            if text[:17] != self._minute[0]:
                self._minute = (text[:17], parse_iso(text[:17] + "00Z"))
            try:
                if self._minute[1] is not None:
                    return self._minute[1] + float(text[17:23])
            except ValueError:
                pass
        found = parse_iso(text)
        return found if found is not None else self.ts[-1] if self.ts else 0.0

    def _duration(self, kind: str, agent: str, label: str, ts: float, data: dict[str, Any]) -> int:
        """Milliseconds that a call took: the host's own figure, else the distance to its pre-tool event; -1 unknown."""
        if kind == "pre-tool":
            self._pending[agent, label] = ts
            if len(self._pending) > MAX_PENDING:
                del self._pending[next(iter(self._pending))]
            return -1
        given = data.get("duration_ms")
        begun = self._pending.pop((agent, label), None) if self._pending and kind in CALL_KINDS else None
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            return int(min(max(given, 0), 2**31 - 1))
        return int(min(max((ts - begun) * 1000, 0), 2**31 - 1)) if begun is not None else -1

    def _snapshot(self, start: int) -> None:
        self._snapshots.append((len(self.seq), start, zlib.compress(light_dump(self.fold), 1)))
        if sum(len(item[2]) for item in self._snapshots) > SNAPSHOT_BYTES:  # wide folds: keep every other one
            del self._snapshots[::2]
            self._snapshot_every *= 2

    def row(self, index: int, event: Event) -> dict[str, Any]:
        """One event for the page: numbers, times in ms since the epoch, its label; the rest is a click away."""
        return {
            "seq": self.seq[index],
            "ts": int(self.ts[index] * 1000),
            "agent": event["agent"],
            "kind": event["kind"],
            "label": event["label"][:500],
            "tool": self.tools.list[self.tool[index]],
            "outcome": self.outcomes.list[self.outcome[index]],
            "ms": self.ms[index],
        }

    def read(self, indexes: list[int]) -> list[Event | None]:
        """The events at these positions, read from disk."""
        found: list[Event | None] = []
        try:
            with open(open_regular(self.path), "rb") as stream:
                for index in indexes:
                    stream.seek(self.offset[index])
                    event = parse_event(stream.readline(MAX_JSON_LINE_BYTES))
                    if event is not None:
                        event["seq"] = self.seq[index]
                    found.append(event)
        except OSError:
            found += [None] * (len(indexes) - len(found))
        return found

    def rows(self, indexes: list[int]) -> list[dict[str, Any]]:
        return [self.row(i, event) for i, event in zip(indexes, self.read(indexes)) if event is not None]

    def position(self, seq: int) -> int:
        """Index of the first event numbered `seq` or higher."""
        return bisect_left(self.seq, seq)

    def exact_fold_at(self, at: int) -> Fold:
        """The fold up to an event with everything in it, folded from the start: for the published state."""
        return _fold_on(Fold(self.session), LogReader(self.path), at)

    def fold_at(self, at: int | None) -> Fold:
        """The fold of all events up to number `at`: the nearest snapshot and what follows it. The live one for None."""
        if at is None or at >= self.last_seq:
            return self.fold
        count = bisect_right(self.seq, at)
        usable = [item for item in self._snapshots if item[0] <= count]
        fold, folded, offset = Fold(self.session), 0, 0
        if usable:
            folded, offset, dumped = usable[-1]
            fold = Fold.load(zlib.decompress(dumped))
        return _fold_on(fold, LogReader(self.path, offset, self.seq[folded - 1] if folded else -1), at)


def _fold_on(fold: Fold, reader: LogReader, at: int) -> Fold:
    """The fold with what a reader still gives, up to event number `at`."""
    try:
        for _, event in reader.read_with_offsets():
            if event["seq"] > at:
                break
            fold.apply(event)
    except OSError:
        pass
    return fold


class Views:
    """The sessions that are looked at, newest use last; older ones are dropped and read again when asked for."""

    MAX = 16

    def __init__(self, store_root: str) -> None:
        self.store_root = store_root
        self._views: dict[str, SessionView] = {}
        self._lock = threading.Lock()

    def get(self, session: str) -> SessionView:
        with self._lock:
            view = self._views.pop(session, None)
            if view is None:  # an empty one counts: the follower holds it and reads on
                view = self._open(session)
            self._views[session] = view
            while len(self._views) > self.MAX:
                del self._views[next(iter(self._views))]
            return view

    def _open(self, session: str) -> SessionView:
        view = SessionView(self.store_root, session)
        if os.path.exists(view.path):
            load_view(self.store_root, view)
        return view

    def drop(self, session: str) -> None:
        with self._lock:
            self._views.pop(session, None)

    def known(self) -> list[SessionView]:
        with self._lock:
            return list(self._views.values())
