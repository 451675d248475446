"""Where a project starts: what its manifests name, its main packages and modules, and its scripts."""

from __future__ import annotations

from slipstream.map.index_file import ENTRY, FLAGS
from slipstream.map.table import Table

MANIFESTS = ("package.json", "pyproject.toml", "setup.cfg")


def find_entry_points(root: str, table: Table) -> list[str]:
    """Entry points, sorted."""
    return sorted(path for path, slot in table.slots.items() if table.records[slot][FLAGS] & ENTRY)
