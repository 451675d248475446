"""Whether the code that a fact cites is still what it was: fresh, moved, changed or gone, decided at read time."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.base.paths import relative_path, resolve_inside
from slipstream.map.lookup import locate_file

FRESH, MOVED, CHANGED, GONE = "fresh", "moved", "changed", "gone"
MAX_SOURCE_BYTES = 4_000_000
_MAX_ROWS = 200_000  # read again in search of a moved place, the nearest first


def as_recorded(tree_root: str, file: str, cwd: str = "") -> str:
    """A path as turns and facts name it: from the root; as it is given where it lies outside, which turns touch too."""
    try:
        return locate_file(tree_root, file, cwd)
    except SlipstreamError:
        return file


def cite(tree_root: str, place: str, cwd: str = "") -> dict[str, str]:
    """`path`, `path:10` or `path:10-20`, as seen from `cwd` or the root -> {file, lines, hash}. SlipstreamError when there is
    nothing to cite."""
    file, _, lines = place.rpartition(":")
    if not file or not lines.replace("-", "").isdecimal():
        file, lines = place, ""
    full = resolve_inside(tree_root, locate_file(tree_root, file, cwd or tree_root))
    rows = _rows(full)
    if rows is None:
        raise SlipstreamError("cannot be read" if os.path.lexists(full) else "no such file", file)
    first, last = _span(lines, len(rows))
    if lines and not 1 <= first <= last <= len(rows):
        raise SlipstreamError(f"has no lines {lines}", file)
    source = {"file": relative_path(os.path.realpath(tree_root), full)}
    if lines:
        source["lines"] = f"{first}-{last}"
    source["hash"] = _digest(rows[first - 1:last])
    return source


def mark_source(tree_root: str, source: dict[str, str]) -> tuple[str, str]:
    """(mark, where it is now as `file:a-b`). A source without a hash is fresh while its file is there."""
    file, lines, expected = source.get("file", ""), source.get("lines", ""), source.get("hash", "")
    place = f"{file}:{lines}" if lines else file
    try:
        full = resolve_inside(tree_root, file)
    except SlipstreamError:
        return GONE, place
    rows = _rows(full)
    if rows is None:
        return GONE, place
    if not expected:
        return FRESH, place
    first, last = _span(lines, len(rows))
    if _digest(rows[first - 1:last]) == expected:
        return FRESH, place
    if lines:
        size = max(1, last - first + 1)
        for start in sorted(range(max(0, len(rows) - size + 1)), key=lambda start: abs(start + 1 - first))[:_MAX_ROWS // size]:
            if _digest(rows[start:start + size]) == expected:
                return MOVED, f"{file}:{start + 1}-{start + size}"
    return CHANGED, place


def mark_sources(tree_root: str, sources: list[dict[str, str]]) -> str:
    """One bracketed note for a reader, "" without sources: `[changed since: src/a.py:1-9; fresh: src/b.py]`."""
    groups: dict[str, list[str]] = {}
    for source in sources:
        mark, place = mark_source(tree_root, source)
        groups.setdefault(mark, []).append(f"now {place}" if mark == MOVED else place)
    return "[" + "; ".join(f"{mark}: {', '.join(groups[mark])}" for mark in (GONE, CHANGED, MOVED, FRESH)
                           if mark in groups) + "]" if groups else ""


def _span(lines: str, count: int) -> tuple[int, int]:
    if not lines:
        return 1, count
    first, _, last = lines.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        return 1, count


def _rows(path: str) -> list[str] | None:
    try:
        return [row.rstrip() for row in read_text(path, MAX_SOURCE_BYTES).split("\n")]
    except OSError:
        return None


def _digest(rows: list[str]) -> str:
    import hashlib
    return hashlib.sha256("\n".join(rows).strip("\n").encode("utf-8", "surrogatepass")).hexdigest()[:16]
