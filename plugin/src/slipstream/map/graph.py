"""Who imports whom."""

from __future__ import annotations

from slipstream.map.table import Table


def count_importers(root: str, table: Table) -> dict[int, int]:
    """Number of files that import each slot."""
    return {}
