"""A refresh that takes long, in a process of its own: for a server, whose other threads wait while one computes."""
from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Callable, TypeVar

from slipstream.base.errors import SlipstreamError
from slipstream.base.store import ensure_store
from slipstream.map.index import Index, open_index
from slipstream.map.publish import refresh_map
from slipstream.map.refresh import Refresh, TooMuch, refresh_index

if TYPE_CHECKING:
    import subprocess

    from slipstream.map.pool import Progress

LOOK_UP_S = 0.1  # how often `progress` is called, which may call the work off
END_S = 1.0  # within which a process ends by itself when its input does
Result = TypeVar("Result")
_live: set[subprocess.Popen[bytes]] = set()


def open_index_apart(root: str, progress: Progress) -> Index:
    """As `open_index`."""
    return _little_here("index", root, progress, lambda little: open_index(root, progress=progress, little=little))


def refresh_map_apart(root: str, progress: Progress) -> tuple[Index, str]:
    """As `refresh_map`."""
    return _little_here("map", root, progress, lambda little: refresh_map(root, progress=progress, little=little))


def refresh_view_apart(root: str) -> Refresh:
    """As `refresh_index` without git."""
    return _little_here("view", root, lambda *_: None, lambda little: refresh_index(root, ask_git=False, little=little))


def _little_here(job: str, root: str, progress: Progress, work: Callable[[bool], Result]) -> Result:
    """What little there is to do is done here; of more, the result is read here once another process has stored it."""
    try:
        return work(True)
    except TooMuch:
        if _can_write(root):
            _run(job, root, progress)
        return work(False)


def _can_write(root: str) -> bool:
    try:
        return os.access(ensure_store(root), os.W_OK)
    except (OSError, SlipstreamError):
        return False


def _run(job: str, root: str, progress: Progress) -> None:
    """Does the job in another process, as far as that can be had. What `progress` raises ends the process."""
    from slipstream.map.pool import start_process
    try:
        process = start_process(__name__, job, root)
    except OSError:
        return
    _live.add(process)
    steps = [(0, 0)]
    reader = threading.Thread(target=_read_steps, args=(process, steps), daemon=True)
    reader.start()
    try:
        while reader.is_alive():
            reader.join(LOOK_UP_S)
            progress(*steps[-1])
    finally:
        _end(process)
        reader.join()


def _read_steps(process: subprocess.Popen[bytes], steps: list[tuple[int, int]]) -> None:
    assert process.stdout
    with process.stdout:
        for line in process.stdout:
            done, mark, total = line.partition(b" ")
            if mark and total.endswith(b"\n"):  # not the last one of a process that was ended
                steps[0] = int(done), int(total)


def _end(process: subprocess.Popen[bytes]) -> None:
    """By the end of its input, so that it ends its workers first."""
    import subprocess
    _live.discard(process)
    assert process.stdin
    process.stdin.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def end_all() -> None:
    """For a process that ends at once."""
    for process in list(_live):
        _end(process)


def serve(job: str, root: str) -> None:
    """The whole life of such a process: a line for each step; it ends early when its input does."""
    from slipstream.map.pool import step_back
    threading.Thread(target=_watch, daemon=True).start()
    step_back()
    if job == "map":
        refresh_map(root, progress=_tell)
    else:
        refresh_index(root, ask_git=job != "view", progress=_tell)
    os._exit(0)


def _tell(done: int, total: int) -> None:
    sys.stdout.write("%d %d\n" % (done, total))
    sys.stdout.flush()


def _watch() -> None:
    sys.stdin.buffer.read()
    from slipstream.map.pool import kill_workers
    kill_workers()
    os._exit(1)
