"""How full the context window is, from the tail of the host's transcript: the newest main-conversation reply's own usage."""

from __future__ import annotations

import os

from slipstream.base.fast_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TAIL_BYTES, MAX_BYTES = 131_072, 16_777_216
SYNTHETIC = "<synthetic>"


class Occupancy:
    """Tokens in the window; `tokens` is None after a compaction until the next reply, `estimate` not from a usage record."""

    __slots__ = (
        "cache_creation_tokens",
        "cache_read_tokens",
        "estimate",
        "input_tokens",
        "model",
        "output_tokens",
        "timestamp",
        "tokens",
    )

    def __init__(
        self,
        tokens: int | None,
        parts: tuple[int, int, int, int] = (0, 0, 0, 0),
        model: str = "",
        timestamp: str = "",
        estimate: bool = False,
    ):
        self.tokens, self.model, self.timestamp, self.estimate = tokens, model, timestamp, estimate
        self.input_tokens, self.cache_creation_tokens, self.cache_read_tokens, self.output_tokens = parts


def read_occupancy(transcript_path: str, limit: int = MAX_BYTES) -> Occupancy | None:
    """The newest reply's occupancy; None, never an error, where no reply can be read in the last `limit` bytes."""
    try:
        fd = os.open(transcript_path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(fd, "rb") as stream:
            size, window = os.fstat(fd).st_size, TAIL_BYTES
            while True:
                window = min(window, size, limit)
                stream.seek(size - window)
                lines = stream.read(window).split(b"\n")
                found = scan_backwards(lines if window == size else lines[1:])
                if found is not None or window >= min(size, limit):
                    return found
                window *= 8
    except (OSError, ValueError):
        return None


def scan_backwards(lines: list[bytes]) -> Occupancy | None:
    """The last line that tells the occupancy. The final line may be unfinished; it counts only when it is whole JSON."""
    for line in reversed(lines):
        if b'"usage"' not in line and b"compact_boundary" not in line:
            continue
        try:
            record = loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if not isinstance(record, dict) or record.get("isSidechain") is True:
            continue
        if record.get("type") == "system" and record.get("subtype") == "compact_boundary":
            details = record.get("compactMetadata") or record.get("compact_metadata")
            after = details.get("postTokens", details.get("post_tokens")) if isinstance(details, dict) else None
            return Occupancy(_count(after) or None, timestamp=str(record.get("timestamp") or ""), estimate=True)
        usage = reply_usage(record)
        if usage is not None:
            fresh, created, cached, output = (
                _count(usage.get(key + "_tokens")) for key in ("input", "cache_creation_input", "cache_read_input", "output")
            )
            if fresh + created + cached > 0:
                message = record.get("message")
                model = message.get("model") if isinstance(message, dict) else None
                return Occupancy(
                    fresh + created + cached,
                    (fresh, created, cached, output),
                    str(model or ""),
                    str(record.get("timestamp") or ""),
                )
    return None


def reply_usage(record: dict[str, Any]) -> dict[str, Any] | None:
    """The usage of a real reply; None for synthetic messages, API errors and lines without one."""
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else record.get("usage")
    if not isinstance(usage, dict) or record.get("isApiErrorMessage") is True:
        return None
    return None if isinstance(message, dict) and message.get("model") == SYNTHETIC else usage


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
