"""Instants as the stores write them: ISO 8601, UTC, milliseconds. HOT."""
from __future__ import annotations

import time


def now_iso(seconds: float | None = None) -> str:
    """`2026-05-31T20:00:00.000Z` for seconds since the epoch, or for now."""
    millis = int((time.time() if seconds is None else seconds) * 1000)
    return "%s.%03dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(millis // 1000)), millis % 1000)
