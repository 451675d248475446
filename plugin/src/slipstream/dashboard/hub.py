"""Follows the logs and hands every change to all streams: one reader, however many browsers look."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.json_files import dump_json
from slipstream.dashboard.cache import save_view
from slipstream.dashboard.live import SessionView, Views
from slipstream.events.log import list_sessions, log_folder, log_path

BUSY_S = 0.015
FAST_S = 0.04
CALM_S = 0.09
SLOW_S = 2.0
SWEEP_S = 3.0
HOT_S = 3600.0
MAX_HOT = 12
RING = 1024
SLICE = 2000
MAX_STREAMS = 16


class Hub:
    """Ticks count the frames sent; a stream that knows its last tick goes on from there while the ring still holds it."""

    def __init__(self, views: Views, make_delta: Callable[[SessionView, list[dict[str, Any]], int], dict[str, Any]]) -> None:
        self.views = views
        self.make_delta = make_delta
        self.tick = 0
        self.epoch = os.urandom(6).hex()
        self.ready = threading.Condition()
        self.frames: deque[tuple[int, str, int, bytes]] = deque(maxlen=RING)
        self.streams = 0
        self.last_change = time.monotonic()
        self._hot: dict[str, tuple[int, int, int]] = {}
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hub", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        with self.ready:
            self.ready.notify_all()
        self._thread.join(1)

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def enter(self) -> bool:
        """Takes one of the places for streams; False when all are taken."""
        with self.ready:
            if self.streams >= MAX_STREAMS:
                return False
            self.streams += 1
        self._wake.set()
        return True

    def leave(self) -> None:
        with self.ready:
            self.streams -= 1

    def followed(self) -> list[str]:
        return list(self._hot)

    def catch_up(self, session: str, wait_s: float = 60.0) -> SessionView:
        """The session read to its end before somebody is shown it, for at most a while; the follower reads the rest."""
        view = self.views.get(session)
        self._read_on(view, time.monotonic() + wait_s)
        return view

    def send(self, name: str, session: str, last: int, value: dict[str, Any]) -> None:
        """Adds a frame: `event:` name, its JSON; the id comes from the tick."""
        with self.ready:
            self.tick += 1
            body = "event: %s\nid: %s-%d\ndata: %s\n\n" % (name, self.epoch, self.tick, dump_json(value))
            self.frames.append((self.tick, session, last, body.encode("utf-8", "replace")))
            self.ready.notify_all()

    def since(self, tick: int) -> list[tuple[int, str, int, bytes]] | None:
        """Frames after a tick; None when the ring no longer reaches back that far."""
        if tick > self.tick or (self.frames and tick < self.frames[0][0] - 1) or (not self.frames and tick < self.tick):
            return None
        return [frame for frame in self.frames if frame[0] > tick]

    # ---- the follower

    def _run(self) -> None:
        swept, folder = 0.0, -1
        while not self._stop.is_set():
            now = time.monotonic()
            stamp = _folder_stamp(self.views.store_root)
            if now - swept >= SWEEP_S or stamp != folder:
                swept, folder = now, stamp
                self._sweep()
            changed = False
            for session in list(self._hot):
                changed = self._follow(session) or changed
            if changed:
                self.last_change = time.monotonic()
            quiet = time.monotonic() - self.last_change
            pause = SLOW_S if not self.streams else BUSY_S if quiet < 2 else FAST_S if quiet < 20 else CALM_S
            if self._wake.wait(pause):
                self._wake.clear()

    def _sweep(self) -> None:
        """Which logs are alive: the newest ones, and all that are being looked at."""
        try:
            listed = list_sessions(self.views.store_root)
        except OSError:
            return
        alive = time.time() - HOT_S
        looked_at = {view.session for view in self.views.known()}
        exists = {row["session"] for row in listed}
        fresh = [row["session"] for row in listed[:MAX_HOT] if row["modified"] > alive]
        if listed and not fresh:
            fresh = [listed[0]["session"]]
        for session in fresh:
            if session not in self._hot:
                self._hot[session] = (0, 0, 0)
        for session in list(self._hot):
            if session not in exists:
                self._follow(session)  # tells those who look that it is gone
            if session not in fresh and (session not in looked_at or session not in exists):
                del self._hot[session]

    def _stamp(self, session: str) -> tuple[int, int, int]:
        try:
            found = os.stat(log_path(self.views.store_root, session), follow_symlinks=False)
        except (OSError, ValueError):
            return (0, 0, -1)
        return (found.st_size, found.st_mtime_ns, found.st_ino)

    def _follow(self, session: str) -> bool:
        return self._hot.get(session) != self._stamp(session) and self._read_on(self.views.get(session))

    def _read_on(self, view: SessionView, until: float | None = None) -> bool:
        """Reads a log to its end, or to a moment in time, a slice after the other: a long log holds nobody up.

        Whether there was anything to read.
        """
        changed = False
        while not self._stop.is_set():
            with view.lock:
                stamp = self._stamp(view.session)
                at_end = view.stamp == stamp
                if not at_end:
                    changed = True
                    at_end = self._slice(view, view.stamp, stamp)
                    view.stamp = stamp if at_end else (0, 0, stamp[2])
                self._hot[view.session] = view.stamp
            if at_end or (until is not None and time.monotonic() >= until):
                break
            time.sleep(0.002)  # lets those in who wait for the lock
        return changed

    def _slice(self, view: SessionView, before: tuple[int, int, int], stamp: tuple[int, int, int]) -> bool:
        """Reads at most SLICE events and tells the streams what is news; whether the log's end was reached."""
        # A log that was still empty when it was first read begins like any other: its session is news, not a change.
        generation, was_complete = view.generation, view.complete and len(view) > 0
        if before[2] not in (0, -1, stamp[2]) or (stamp[2] == -1 and len(view)):
            view.replaced()  # another file under the name: nothing that was read counts
        events, total = view.refresh(limit=SLICE)
        view.complete = total < SLICE
        if view.generation != generation:
            self.send("resync", view.session, -1, {"session": view.session})
        elif total and was_complete:
            view.complete = True
            self.send("delta", view.session, view.last_seq, self.make_delta(view, events, total))
        elif view.complete and len(view):
            self._keep(view)
            self.send("sessions", view.session, view.last_seq, {"session": view.session})
        return total < SLICE

    def _keep(self, view: SessionView) -> None:
        """Keeps what was read of a long log for the next server; a store that cannot be written keeps nothing."""
        try:
            save_view(self.views.store_root, view)
        except (OSError, SlipstreamError):
            pass

    def keep_all(self) -> None:
        for view in self.views.known():
            if view.lock.acquire(timeout=0.5):
                try:
                    self._keep(view)
                finally:
                    view.lock.release()


def _folder_stamp(store_root: str) -> int:
    """Changes when a log appears or goes: a new session is seen at once, the rest at the next sweep."""
    try:
        return os.stat(log_folder(store_root)).st_mtime_ns
    except OSError:
        return 0
