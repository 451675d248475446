"""Regular expressions that are compiled when they are first used: one file or text needs few of them all."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


class LazyPattern:
    """Stands for a pattern; each of its methods is looked up once, then as fast to call as the pattern's own."""

    def __init__(self, source: Any, flags: int = 0) -> None:
        self.source, self.options = source, flags

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(re.compile(self.source, self.options), name)
        return value


def pattern_of(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for a pattern that few files need: its methods are called, it is handed to no function of `re`."""
    return LazyPattern(source, flags)  # type: ignore[return-value]
