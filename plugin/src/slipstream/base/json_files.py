"""JSON in files that hold state: one object, or a record a line, appended under the file's lock."""
from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import BINARY, NOFOLLOW, open_regular, read_text

MAX_JSON_LINE_BYTES = 8_000_000


def dump_json(value: Any) -> str:
    """Compact JSON on one line, any script kept readable; a lone surrogate is escaped so that the line is valid UTF-8."""
    import json  # here and below: who only follows lines does without it
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, separators=(",", ":"))
    return text


def append_json_line(path: str, record: Any) -> int:
    """Appends one record in one write and returns the file's new size. The caller holds the lock.

    A torn last line, left by a killed writer, is closed first, so that it costs itself and not the new record.
    """
    raw = dump_json(record).encode("utf-8") + b"\n"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | NOFOLLOW | BINARY | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        end = os.lseek(fd, 0, os.SEEK_END)
        if end:
            os.lseek(fd, end - 1, os.SEEK_SET)
            if os.read(fd, 1) != b"\n":
                raw = b"\n" + raw
        written = os.write(fd, raw)
        if written < len(raw):  # a full disk: take the torn piece back
            os.ftruncate(fd, end)
            raise OSError(errno.ENOSPC, "no room to append", path)
        return end + len(raw)
    finally:
        os.close(fd)


def is_torn(path: str) -> bool:
    """Whether a file ends in a line without its end: its writer was killed."""
    with os.fdopen(open_regular(path), "rb") as stream:
        if not stream.seek(0, os.SEEK_END):
            return False
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) != b"\n"


def iter_lines(path: str, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yields (offset after the line, line) of whole lines from `offset` on; b"" for a line over MAX_JSON_LINE_BYTES.

    An unfinished last line is left for the next reader. OSError as open_regular's.
    """
    with os.fdopen(open_regular(path), "rb") as stream:
        stream.seek(offset)
        end = offset
        while True:
            line = stream.readline(MAX_JSON_LINE_BYTES)
            end += len(line)
            if line.endswith(b"\n"):
                yield end, line
                continue
            if len(line) < MAX_JSON_LINE_BYTES:
                return
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_JSON_LINE_BYTES)
                end += len(line)
            if not line:
                return
            yield end, b""


def iter_json_lines(path: str) -> Iterator[dict[str, Any] | None]:
    """Yields the records of a file; None where a line is not a JSON object.

    An unfinished last line is left for the next reader. A line over MAX_JSON_LINE_BYTES is a bad one.
    """
    import json
    for _, line in iter_lines(path):
        if line and not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            record = None
        yield record if isinstance(record, dict) else None


def read_object(path: str, limit: int) -> dict[str, Any]:
    """The object in a JSON file that a reader can do without: {} when it is absent or damaged."""
    try:
        text = read_text(path, limit)
        import json
        value = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def load_json(path: str) -> dict[str, Any] | None:
    """The object in a small JSON file; None when absent; SlipstreamError when it is not a JSON object."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        return None
    import json
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise SlipstreamError(error.msg, path, error.lineno, error.colno) from None
    except RecursionError:
        raise SlipstreamError("nested too deeply", path) from None
    if not isinstance(value, dict):
        raise SlipstreamError("not a JSON object", path)
    return value
