"""Scans files one by one: read, judge, extract, encode. Runs in this process and in the workers alike."""
from __future__ import annotations

import os
import time
from binascii import crc32

from slipstream.map.index_file import ASIDE, ENTRY, FAILED, GENERATED, LOW, RACY, SKIPPED, stamp_of
from slipstream.map.languages.registry import scan_source
from slipstream.map.scanned import Block, Scanned, is_full, is_racy, keys_in, pack_block
from slipstream.map.section import encode_section, encode_skipped
from slipstream.map.skips import find_data_reason, is_aside, is_generated, is_minified
from slipstream.map.source import Unreadable, decode_source, read_source


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


def scan_file(root: str, path: str) -> Scanned:
    """Scan `path` below `root`; never raises for what is in the tree."""
    full = os.path.join(root, path)
    now = time.time_ns()
    try:
        data, info = read_source(full)
    except Unreadable as error:
        return skipped_file(root, path, str(error))
    try:
        return scan_text(path, data, decode_source(data), info, now)
    except Unreadable as error:
        return Scanned(stamp_of(info), crc32(data), SKIPPED | RACY, encode_skipped(path, str(error)))


def scan_text(path: str, data: bytes, text: bytes, info: os.stat_result, now: int) -> Scanned:
    """Scan a file that was read as `data` at `now` (ns), `text` being the same as UTF-8."""
    stamp, content = stamp_of(info), crc32(data)
    flags = RACY if is_racy(info.st_mtime_ns, now) or info.st_size != len(data) else 0
    reason = find_data_reason(path, len(data))
    if reason is not None:
        return Scanned(stamp, content, flags | SKIPPED, encode_skipped(path, reason))
    if is_minified(path, text):
        return Scanned(stamp, content, flags | SKIPPED, encode_skipped(path, "minified"))
    if is_generated(text):
        flags |= GENERATED
    try:
        scan = scan_source(path, text)
        section, symbols, exports = encode_section(path, scan)
    except RecursionError:
        return Scanned(stamp, content, flags | FAILED, encode_skipped(path, "failed: nested too deeply"))
    except Exception as error:  # one file's surprise must not end the map; it is reported with the file
        return Scanned(stamp, content, flags | FAILED, encode_skipped(path, f"failed: {type(error).__name__}: {error}"))
    if scan.hints:
        flags |= ENTRY
    if is_aside(path):
        flags |= ASIDE
    return Scanned(stamp, content, flags, section, keys_in(section), symbols, exports)


def skipped_file(root: str, path: str, reason: str, flags: int = SKIPPED) -> Scanned:
    """Result for a file that could not be read or scanned; the stamp is all zero when it is gone."""
    try:
        info = os.lstat(os.path.join(root, path))
    except OSError:
        return Scanned((0, 0, 0, 0), 0, FAILED, encode_skipped(path, "gone"))
    return Scanned((info.st_mtime_ns, info.st_ctime_ns & LOW, info.st_ino & LOW, info.st_size & LOW), 0, flags,
                   encode_skipped(path, reason))
