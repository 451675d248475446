"""The map as Markdown under a token budget: the most connected files in detail, the rest rolled up by folder."""
from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

from slipstream.base.counts import count_of
from slipstream.base.paths import shown_path
from slipstream.base.tokens import BYTES_PER_TOKEN
from slipstream.map.index import Index
from slipstream.map.index_file import (
    ASIDE,
    EXPORTS,
    FAILED,
    FLAGS,
    GENERATED,
    IMPORTERS,
    SIZE,
    SKIPPED,
    SYMBOLS,
    WARNINGS,
    FileEntry,
    Symbol,
)
from slipstream.map.languages.text import cut_line
from slipstream.map.publish import DEFAULT_BUDGET_TOKENS

MIN_BUDGET_TOKENS = 100
DETAIL_SYMBOLS = 12
FEW_SYMBOLS = 2
MAX_ENTRY_POINTS = 12
MAX_MISSES = 25
MIN_ROW_BYTES = 24


class Page:
    """Lines that together stay under a number of bytes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self.lines: list[str] = []

    def add(self, lines: list[str]) -> bool:
        """Add all of `lines`, or none when they do not fit."""
        size = sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)
        if self.size + size > self.limit:
            return False
        self.lines += lines
        self.size += size
        return True


def shown_name(path: str) -> str:
    """A path as text on one line, inside a code span."""
    return shown_path(path).replace("`", "'")


def rank_files(index: Index, prefix: str = "") -> list[tuple[str, int]]:
    """(path, slot) of the files that hold something, the most connected first."""
    table = index.table
    entries = set(index.entry_points)
    rows = []
    for path, slot in table.slots.items():
        record = table.records[slot]
        if record[FLAGS] & (SKIPPED | FAILED | GENERATED) or not path.startswith(prefix):
            continue
        rows.append((record[FLAGS] & ASIDE, -record[IMPORTERS], path not in entries, -record[EXPORTS],
                     path.count("/"), path, slot))
    return [(row[5], row[6]) for row in sorted(rows)]


def render_map(index: Index, budget_tokens: int = DEFAULT_BUDGET_TOKENS, path: str | None = None) -> str:
    """The map of the project, or of the folder or file `path`, in at most `budget_tokens` (approximate) tokens."""
    limit = int(max(budget_tokens, MIN_BUDGET_TOKENS) * BYTES_PER_TOKEN)
    if path and path in index.table.slots:
        return _fit(_file_lines(index, path), limit)
    prefix = path.rstrip("/") + "/" if path and path != "." else ""
    files = rank_files(index, prefix)
    heading = f"# Project map: {cut_line(shown_name(index.title + ('/' + prefix if prefix else '')), 100)}"
    page = Page(limit - len(heading.encode("utf-8", "backslashreplace")) - 260)
    entry_points = _entry_lines(index, prefix, page.limit // 6)
    page.add(entry_points)
    body = Page(page.limit - page.size)
    shown, symbols = _fill_detail(index, files, body)
    rest = [(name, slot) for name, slot in files if name not in shown]
    roll = Page(page.limit - page.size - body.size)
    if rest:
        _fill_roll_up(index, rest, prefix, roll)
    all_symbols = sum(index.table.records[slot][SYMBOLS] for _, slot in files)
    total = sum(index.table.records[slot][SIZE] for _, slot in files)
    many_files, many_symbols = count_of(len(files), "file"), count_of(all_symbols, "symbol")
    head = [heading, "", f"{many_files}, {many_symbols}, {total / 1024:.1f} KiB of source. "
            f"Shown {symbols:,} of {many_symbols}, {len(shown):,} of {many_files} in detail.", ""]
    out = Page(limit)
    out.add(head)
    for block in (page.lines, body.lines, roll.lines):
        out.add(block)
    left_out = _left_out(index, prefix)
    if left_out:
        out.add([left_out])
    return "\n".join(out.lines).rstrip("\n") + "\n"


def _fit(lines: list[str], limit: int) -> str:
    page = Page(limit - 40)
    for at, line in enumerate(lines):
        if not page.add([line]):
            page.lines.append(f"- ... {len(lines) - at} more lines")
            break
    return "\n".join(page.lines) + "\n"


def _entry_lines(index: Index, prefix: str, room: int) -> list[str]:
    names, table = [name for name in index.entry_points if name.startswith(prefix)], index.table
    aside = {name for name in names if name in table.slots and table.records[table.slots[name]][FLAGS] & ASIDE}
    names.sort(key=lambda name: (name in aside, name.count("/"), name))
    if not names:
        return []
    page = Page(room)
    page.add(["## Entry points", ""])
    for at, name in enumerate(names):
        if at >= MAX_ENTRY_POINTS or not page.add([f"- `{shown_name(name)}`"]):
            page.lines.append(f"- and {len(names) - at} more")
            break
    return [*page.lines, ""] if len(page.lines) > 2 else []


def warning_lines(entry: FileEntry) -> list[str]:
    return [f"  - warning: {text}" for text, in entry.cells(WARNINGS)]


def file_line(entry: FileEntry, path: str) -> str:
    """A file in one bullet: size, importers, purpose."""
    facts = count_of(entry.lines, "line") + (f", imported by {entry.importers}" if entry.importers else "")
    purpose = f" - {cut_line(entry.purpose, 110)}" if entry.purpose else ""
    return f"- `{shown_name(path)}` ({facts}){purpose}"


def symbol_line(symbol: Symbol, width: int = 110) -> str:
    """A symbol in one bullet under its file: line, then signature."""
    text = cut_line(symbol.signature or f"{symbol.kind} {symbol.name}", width).replace("`", "'")
    mark = " (default)" if symbol.default else ""
    return f"{'  ' * (symbol.depth + 1)}- {symbol.line} `{text}`{mark}"


def _fill_detail(index: Index, files: list[tuple[str, int]], page: Page) -> tuple[set[str], int]:
    """The most connected files with their exported symbols; returns what was shown, and how many symbols."""
    for every, members in ((True, True), (True, False)):
        if len(files) * 60 > page.limit:
            break
        trial = Page(page.limit)
        count = 0
        trial.add(["## Files", ""])
        for path, _ in sorted(files):
            lines, symbols = _detail(index, path, every, members)
            if not trial.add(lines):
                break
            count += symbols
        else:
            page.lines, page.size = [*trial.lines, ""], trial.size + 1
            return {path for path, _ in files}, count
    room = Page(page.limit * 3 // 4)
    room.add(["## Most connected files", ""])
    shown: set[str] = set()
    count = misses = 0
    for path, _ in files:
        lines, symbols = _detail(index, path, False, False)
        if room.add(lines):
            shown.add(path)
            count += symbols
            misses = 0
            continue
        if len(lines) > 4 and room.add([*lines[:4], f"  - and {len(lines) - 4} more"]):
            shown.add(path)
            count += 3
        misses += 1
        if misses > MAX_MISSES:
            break
    if shown:
        page.add([*room.lines, ""])
    return shown, count


def _detail(index: Index, path: str, every: bool, members: bool) -> tuple[list[str], int]:
    entry = index.file(path)
    if entry is None:
        return [], 0
    chosen = [one for one in entry.symbols if one.exported and (one.depth == 0 or members)]
    if not members and len(chosen) <= FEW_SYMBOLS:  # a file that is one class is told by its methods
        chosen = [one for one in entry.symbols
                  if one.exported and one.depth < 2 and (one.depth == 0 or one.kind not in ("field", "const", "accessor"))]
    if members:
        chosen = [one for one in entry.symbols if one.depth == 0 or one.kind not in ("field", "const")]
    top = chosen if every else chosen[:DETAIL_SYMBOLS]
    lines = [file_line(entry, path), *warning_lines(entry), *(symbol_line(one) for one in top)]
    if len(chosen) > len(top):
        lines.append(f"  - and {len(chosen) - len(top)} more")
    return lines, len(top)


def _file_lines(index: Index, path: str) -> list[str]:
    entry = index.file(path)
    assert entry is not None
    lines = [f"# Map of {shown_name(path)}", "", file_line(entry, path)]
    if entry.skipped:
        lines.append(f"  - no symbols: {entry.skipped}")
    return lines + warning_lines(entry) + [symbol_line(one, 200) for one in entry.symbols]


class _Folders:
    """Counts of the files at and below each folder: files, symbols, files directly inside."""

    def __init__(self, index: Index, files: list[tuple[str, int]], prefix: str) -> None:
        self.prefix = prefix
        self.counts: dict[str, list[int]] = {}
        self.below: dict[str, set[str]] = {}
        direct: dict[str, list[int]] = {}
        for path, slot in files:
            tally = direct.setdefault(path[len(prefix):].rpartition("/")[0], [0, 0])
            tally[0] += 1
            tally[1] += index.table.records[slot][SYMBOLS]
        self.counts[""] = [0, 0, 0]
        for name, (count, symbols) in direct.items():
            folder = name + "/" if name else ""
            self._add(folder)
            self.counts[folder] = [count, symbols, count]
        for folder in sorted(self.counts, key=len, reverse=True):  # what lies deeper is longer
            if folder:
                above, sums = self.counts[_above(folder)], self.counts[folder]
                above[0] += sums[0]
                above[1] += sums[1]

    def _add(self, folder: str) -> None:
        """Know a folder, and those around it."""
        while folder not in self.counts:
            self.counts[folder] = [0, 0, 0]
            above = _above(folder)
            self.below.setdefault(above, set()).add(folder)
            folder = above

    def row(self, folder: str, own: bool = False, left: int = 0) -> str:
        """A folder in one bullet; `own` counts only the files directly inside, `left` says how many folders are not shown."""
        files, symbols, inside = self.counts[folder]
        files = inside if own else files
        tail = "" if own else ", " + count_of(symbols, "symbol")
        tail = ", and " + count_of(left, "more folder") if left else " here" if own else tail
        return f"- `{shown_name(self.prefix + folder) or './'}` {count_of(files, 'file')}{tail}"


def _fill_roll_up(index: Index, files: list[tuple[str, int]], prefix: str, page: Page) -> None:
    """Folders with counts: the largest opened up while there is room, in part where it has too many below."""
    if not page.add(["## Other files, by folder", ""]):
        return
    tree = _Folders(index, files, prefix)
    rows = {"": tree.row("")}
    room = page.limit - page.size - _size(rows[""]) - 1
    queue = [(-tree.counts[""][0], "")]
    while queue and room > MIN_ROW_BYTES:
        _, folder = heappop(queue)
        inner = sorted(tree.below.get(folder, ()), key=lambda name: (-tree.counts[name][0], name))
        shown = len(inner)
        while shown:
            new = {name: tree.row(name) for name in inner[:shown]}
            left = len(inner) - shown
            if left:
                new[folder] = tree.row(folder, True, left)
            elif tree.counts[folder][2]:
                new[folder] = tree.row(folder, True)
            grown = sum(map(_size, new.values())) - _size(rows[folder])
            if grown <= (room if not left else room // 2):
                del rows[folder]
                rows.update(new)
                room -= grown
                for name in inner[:shown]:
                    heappush(queue, (-tree.counts[name][0], name))
                break
            shown = 0 if shown <= 4 else min(shown * 2 // 3, room // 24)
    page.add([rows[name] for name in sorted(rows)])
    page.add([""])


def _above(folder: str) -> str:
    """The folder around one; both end with a slash, but the outermost, which is empty."""
    return folder[:folder.rfind("/", 0, -1) + 1]


def _size(line: str) -> int:
    return len(line.encode("utf-8", "backslashreplace")) + 1


def _left_out(index: Index, prefix: str) -> str:
    reasons: Counter[str] = Counter()
    for path, reason in index.skipped():
        if path.startswith(prefix):
            reasons[reason.split(":")[0] + (" folders" if path.endswith("/") else "")] += 1
    if not reasons:
        return ""
    parts = [f"{count} {reason}" for reason, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))]
    return cut_line("Left out: " + ", ".join(parts) + " (`map --all` names them).", 200)


def render_all(index: Index, path: str | None = None) -> str:
    """The whole map, unexported definitions and members included, without a budget."""
    prefix = path.rstrip("/") + "/" if path and path != "." else ""
    if path and path in index.table.slots:
        return "\n".join(_file_lines(index, path)) + "\n"
    stats = index.stats()
    lines = [f"# Project map: {cut_line(shown_name(index.title), 100)}", "",
             f"{count_of(stats['fileCount'], 'file')}, {count_of(stats['allSymbols'], 'symbol')}, "
             f"{stats['totalBytes'] / 1024:.1f} KiB of source.", ""]
    if index.entry_points:
        lines += ["## Entry points", "", *(f"- `{shown_name(name)}`" for name in index.entry_points), ""]
    lines += ["## Files", ""]
    for entry in index.files():
        if entry.path.startswith(prefix):
            lines += [file_line(entry, entry.path), *(symbol_line(one, 240) for one in entry.symbols)]
    skipped = [(name, reason) for name, reason in index.skipped() if name.startswith(prefix)]
    if skipped:
        lines += ["", "## Left out", "", *(f"- `{shown_name(name)}`: {reason}" for name, reason in skipped)]
        if index.table.meta["skippedCount"] > len(index.table.meta["skipped"]):
            lines.append(f"- and {index.table.meta['skippedCount'] - len(index.table.meta['skipped'])} more")
    return "\n".join(lines) + "\n"
