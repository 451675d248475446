"""Regular expressions compiled at their first use: one text needs few of them, and compiling costs more than matching."""
from __future__ import annotations

import re
from typing import Any


class LazyPattern:
    """Stands for re.compile(source); `match`, `search` and the others come with the first use of any."""

    def __init__(self, source: str):
        self._source = source

    def __getattr__(self, name: str) -> Any:
        expression = re.compile(self._source)
        for method in ("match", "search", "fullmatch", "finditer", "findall", "sub"):
            setattr(self, method, getattr(expression, method))
        return getattr(expression, name)
