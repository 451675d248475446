"""fast_json's two functions for an interpreter without CPython's accelerator."""
from __future__ import annotations

import json
from typing import Any


def loads(text: str) -> Any:
    """The value that `text` holds. ValueError when it is not JSON."""
    return json.loads(text, strict=False)


def dumps(value: object) -> str:
    """Compact JSON in ASCII; what is no JSON value becomes its text."""
    return json.dumps(value, separators=(",", ":"), default=str)
