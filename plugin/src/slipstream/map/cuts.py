"""A piece of a file as it is served (hot): lines of the text just read, a page at most."""
from __future__ import annotations

from slipstream.base.paths import shown_path
from slipstream.map.lookup import read_file

PAGE_BYTES = 24_000
HEADER_BYTES = 80


class Slice:
    """Lines `start` to `end` of a file; `rest` is the next line to ask for when the symbol goes on, else 0."""

    __slots__ = ("code", "end", "file_bytes", "kind", "note", "path", "rest", "start", "symbol")

    def __init__(self, path: str, symbol: str, kind: str, start: int, end: int, code: str, file_bytes: int,
                 note: str = "", rest: int = 0) -> None:
        self.path, self.symbol, self.kind, self.start, self.end = path, symbol, kind, start, end
        self.code, self.file_bytes, self.note, self.rest = code, file_bytes, note, rest

    def to_json(self) -> dict[str, object]:
        """The published shape, with `note` and `nextLine` where they say something."""
        value: dict[str, object] = {"path": self.path, "symbol": self.symbol, "kind": self.kind, "startLine": self.start,
                                    "endLine": self.end, "code": self.code}
        if self.note:
            value["note"] = self.note
        if self.rest:
            value["nextLine"] = self.rest
        return value


def page_of(lines: list[bytes], first: int) -> tuple[str, int]:
    """Text of the lines from `first` on that fit one page, at least one, and the number of the last."""
    size, last = 0, first - 1
    for line in lines[first - 1:]:
        size += len(line) + 1
        if size > PAGE_BYTES and last >= first:
            break
        last += 1
    return b"\n".join(line.rstrip(b"\r") for line in lines[first - 1:last]).decode("utf-8", "replace"), last


def slice_lines(root: str, file: str, start: int, end: int) -> Slice:
    """Lines `start` to `end` of `file` (relative path), both clamped to the file."""
    _, text, info = read_file(root, file)
    lines = text.split(b"\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    note = beyond(start, len(lines), f"the file has lines 1-{len(lines)}")
    start = min(max(start, 1), len(lines))
    end = min(max(end, start), len(lines))
    code, last = page_of(lines[:end], start)
    return Slice(file, f"lines {start}-{last}", "default", start, last, code, info.st_size, note, last + 1 if last < end else 0)


def beyond(line: int, count: int, there: str) -> str:
    """What is said where the last of `count` lines is given instead of one that is not there."""
    return f"line {line} is beyond the end: {there}" if line > count else ""


def render_slice(one: Slice, with_kind: bool = True, with_rest: bool = True) -> str:
    """A slice for a reader: a header of at most HEADER_BYTES, then the code; what must be known stands after it.

    Where the path is too long for it, the kind gives way, then whole folders from the left.
    """
    path, tail = shown_path(one.path), f":{one.start}-{one.end}"
    raw, kind = path.encode("utf-8", "backslashreplace"), f" ({one.kind})" if with_kind else ""
    room = HEADER_BYTES - 5 - len(tail)
    if len(raw) + len(kind) > room:
        kind = ""
    if len(raw) > room:
        end = raw[3 - room:]
        path = "..." + end[max(0, end.find(b"/")):].decode("utf-8", "ignore")
    lines = [f"// {path}{tail}{kind}", one.code]
    if one.rest and with_rest:
        lines.append(f"// goes on: --from {one.rest}")
    if one.note:
        lines.append(f"// {one.note}")
    return "\n".join(lines)
