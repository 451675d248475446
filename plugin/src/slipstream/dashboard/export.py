"""A session as a file to show a colleague."""

from __future__ import annotations

from slipstream.base.errors import SlipstreamError


def export_session(store_root: str, tree_root: str, session: str, out: str | None) -> tuple[str, int]:
    """Writes the file and returns (path, bytes)."""
    raise SlipstreamError("not available yet")
