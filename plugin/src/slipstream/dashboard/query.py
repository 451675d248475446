"""Reads the fields of a query under bounds."""

from __future__ import annotations

from slipstream.base.errors import SlipstreamError

Fields = dict[str, str]


def number(fields: Fields, name: str, default: int, low: int, high: int) -> int:
    """A whole number from a query, kept inside its bounds. SlipstreamError when it is none."""
    text = fields.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise SlipstreamError("%s is not a whole number" % name)
    return max(low, min(high, int(text)))


def optional_number(fields: Fields, name: str) -> int | None:
    return number(fields, name, 0, 0, 10**15) if fields.get(name) else None
