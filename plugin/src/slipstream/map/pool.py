"""Scans many files on all cores: worker processes fed on standard input, which works from a zip and on every platform."""
from __future__ import annotations

import gc
import os
import struct
import sys
import threading
from typing import IO, TYPE_CHECKING, Callable

from slipstream.base.threads import hold_archive, is_archive_gone, let_threads_import
from slipstream.map.identity import scanner_identity
from slipstream.map.index_file import FAILED
from slipstream.map.scan import scan_file, skip_file
from slipstream.map.scanned import MAX_BLOCK_FILES, Block, Scanned, is_full, pack_block

if TYPE_CHECKING:
    import subprocess

MIN_FILES_PER_WORKER = 60
MAX_WORKERS = 16
CHUNK_FILES = 48
CHUNK_TIMEOUT_S = 120.0
NICENESS = 5
_LENGTH = struct.Struct("<I")
_BLOCK = struct.Struct("<II")
_RESULT = struct.Struct("<q8I")

OTHER_CODE = 3  # exit status of a process that found other code than that of the one which started it, or none
START = (f"import sys; sys.path.insert(0, sys.argv[1])\n"
         f"try: from slipstream.map.identity import scanner_identity; same = str(scanner_identity()) == sys.argv[2]\n"
         f"except Exception: same = False\n"
         f"if not same: sys.exit({OTHER_CODE})\n"
         f"__import__(sys.argv[3], fromlist=['serve']).serve(*sys.argv[4:])")

Progress = Callable[[int, int], None]


def scan_files(root: str, paths: list[str], progress: Progress | None = None,
               workers: int | None = None) -> list[Scanned]:
    """Results for `paths`, in their order. `workers` overrides the number of processes.

    `progress` gets (done, all); what it raises ends the scan and comes out of here: so a scan is called off.
    """
    count = min(workers if workers is not None else _cores(), len(paths) // MIN_FILES_PER_WORKER, MAX_WORKERS)
    hold_archive()
    if count < 2 or not sys.executable:
        results: list[Scanned] = []
        for at in range(0, len(paths), CHUNK_FILES):
            results += scan_many(root, paths[at:at + CHUNK_FILES])
            if progress:
                progress(len(results), len(paths))
        return results
    return _Pool(root, paths, progress).run(count)


def scan_many(root: str, paths: list[str]) -> list[Scanned]:
    """Scan `paths` below `root`; the sections of neighbours share a block."""
    results = [scan_file(root, path) for path in paths]
    group: list[Scanned] = []
    size = 0
    for at, result in enumerate(results):
        group.append(result)
        size += len(result.section())
        if is_full(len(group), size) or at == len(results) - 1:
            block = Block(pack_block([one.section() for one in group]))
            for place, one in enumerate(group):
                one.block, one.place = block, place
            group, size = [], 0
    return results


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class _Pool:
    def __init__(self, root: str, paths: list[str], progress: Progress | None) -> None:
        self.root, self.paths, self.progress = root, paths, progress
        self.results: list[Scanned | None] = [None] * len(paths)
        self.chunks = [range(at, min(at + CHUNK_FILES, len(paths))) for at in range(0, len(paths), CHUNK_FILES)][::-1]
        self.lock = threading.Lock()
        self.done = 0
        self.stopped: BaseException | None = None

    def run(self, count: int) -> list[Scanned]:
        let_threads_import()
        threads = [threading.Thread(target=self._drive, daemon=True) for _ in range(min(count, len(self.chunks)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.stopped is not None:
            raise self.stopped
        return [result or self._lost(i) for i, result in enumerate(self.results)]

    def _lost(self, at: int) -> Scanned:
        return skip_file(self.root, self.paths[at], "failed: the scan ended early", FAILED)

    def _drive(self) -> None:
        worker: Worker | None = None
        try:
            while True:
                with self.lock:
                    if not self.chunks:
                        return
                    chunk = self.chunks.pop()
                parts = [chunk]
                while parts:
                    part = parts.pop()
                    if worker is None:
                        worker = Worker(self.root)
                    paths = [self.paths[i] for i in part]
                    answer = worker.scan(paths)
                    if answer is None and (worker.is_other() or is_archive_gone()):
                        answer = scan_many(self.root, paths)
                    if answer is not None:
                        self.results[part.start:part.stop] = answer
                        self._report(len(part))
                        continue
                    worker.close()  # it died or hangs: go on with a new one, and find the file that does it
                    worker = None
                    if len(part) > 1:
                        middle = part.start + len(part) // 2
                        parts += [range(middle, part.stop), range(part.start, middle)]
        finally:
            if worker is not None:
                worker.close()

    def _report(self, count: int) -> None:
        with self.lock:
            self.done += count
            if self.progress and self.stopped is None:
                try:
                    self.progress(self.done, len(self.paths))
                except BaseException as error:
                    self.stopped = error
                    self.chunks.clear()


class Worker:
    """One worker process; it ends when its standard input does, whatever happens to this process."""

    def __init__(self, root: str) -> None:
        self.process = start_process("slipstream.map.pool", root)
        _live.add(self)

    def scan(self, paths: list[str]) -> list[Scanned] | None:
        """Results for `paths`; None when the worker is gone or has taken longer than CHUNK_TIMEOUT_S."""
        timer = threading.Timer(CHUNK_TIMEOUT_S, self.process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert self.process.stdin and self.process.stdout
            _write_frame(self.process.stdin, b"\0".join(os.fsencode(path) for path in paths))
            answer = _read_frame(self.process.stdout)
            return None if answer is None else parse_results(answer, len(paths))
        except OSError:
            return None
        finally:
            timer.cancel()

    def is_other(self) -> bool:
        """Whether it ended at its start, because the code was replaced; one that did not answer is ended here."""
        self.process.kill()
        return self.process.wait() == OTHER_CODE

    def close(self) -> None:
        """End the process and wait for it."""
        _live.discard(self)
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                if stream:
                    stream.close()
            except OSError:
                pass
        self.process.wait()


_live: set[Worker] = set()


def kill_workers() -> None:
    """For a process that ends at once: its workers end with it, not only after the files they have in hand."""
    for worker in list(_live):
        worker.process.kill()


def start_process(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Runs `serve` of a module in a process of its own; one that would run other code than this one ends at once."""
    import subprocess
    command = [sys.executable, "-I", "-S", "-c", START, package_place(), str(scanner_identity()), module, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def package_place() -> str:
    """What goes on a worker's path: the pyz this module was loaded from, or the folder that holds the package."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _write_frame(stream: IO[bytes], data: bytes) -> None:
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _read_frame(stream: IO[bytes]) -> bytes | None:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    data: bytes = stream.read(_LENGTH.unpack(head)[0])
    return data if len(data) == _LENGTH.unpack(head)[0] else None


def render_results(results: list[Scanned]) -> bytes:
    """Results as one frame: each block, how many files it holds, then those."""
    parts = []
    last = None
    for at, one in enumerate(results):
        assert isinstance(one.block, Block)
        if one.block is not last:
            last = one.block
            count = sum(1 for other in results[at:at + MAX_BLOCK_FILES] if other.block is last)
            parts += [_BLOCK.pack(count, len(last.packed)), last.packed]
        keys = list(one.keys)
        parts += [_RESULT.pack(*one.stamp, one.content, one.flags, one.symbols, one.exports, len(keys)),
                  struct.pack(f"<{len(keys)}I", *keys)]
    return b"".join(parts)


def parse_results(frame: bytes, count: int) -> list[Scanned] | None:
    """Results in a frame; None unless it holds exactly `count`."""
    results: list[Scanned] = []
    at = 0
    while at + _BLOCK.size <= len(frame):
        files, length = _BLOCK.unpack_from(frame, at)
        at += _BLOCK.size + length
        block = Block(frame[at - length:at])
        for place in range(files):
            mtime, ctime, inode, size, content, flags, symbols, exports, named = _RESULT.unpack_from(frame, at)
            at += _RESULT.size
            keys = struct.unpack_from(f"<{named}I", frame, at)
            at += 4 * named
            one = Scanned((mtime, ctime, inode, size), content, flags, b"", keys, symbols, exports)
            one.block, one.place = block, place
            results.append(one)
    return results if len(results) == count and at == len(frame) else None


def step_back() -> None:
    """Whoever waits for this process may have hooks to answer meanwhile."""
    if hasattr(os, "nice"):
        os.nice(max(0, NICENESS - os.nice(0)))


def serve(root: str) -> None:
    """A worker's whole life: read a frame of paths, answer with a frame of results, until the input ends."""
    step_back()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    gc.set_threshold(100_000)  # a scan makes many short-lived tuples and no cycles worth hunting
    while True:
        frame = _read_frame(source)
        if frame is None:
            break
        _write_frame(sink, render_results(scan_many(root, [os.fsdecode(path) for path in frame.split(b"\0")])))
    os._exit(0)
