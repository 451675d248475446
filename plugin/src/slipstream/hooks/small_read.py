"""What the read guard lets pass before anything else is loaded. HOT."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SMALL_READ_BYTES = 16_000


def is_small_read(asked: dict[str, Any]) -> bool:
    """Whether a Read asks for a file that the guard would not speak of, or for none that is there."""
    path = str(asked.get("file_path"))
    return not os.path.isfile(path) or os.path.getsize(path) <= SMALL_READ_BYTES
