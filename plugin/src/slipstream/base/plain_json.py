"""What fast_json needs of `json` on an interpreter without CPython's accelerator, and for what the accelerator refuses."""
from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as encode_basestring_ascii
from typing import Any


def make_scanner(_options: object) -> Any:
    """Reads one value of a text from an index on: (value, where it ends). StopIteration or ValueError when there is none."""
    return json.JSONDecoder(strict=False).raw_decode


def make_encoder(*_options: object) -> Callable[[object, int], tuple[str, ...]]:
    """A value -> pieces of compact JSON."""
    return lambda value, _level: (dumps(value),)


def dumps(value: object) -> str:
    """Compact JSON in ASCII; what is no JSON value, such as a number without end, becomes its text."""
    return json.dumps(_as_json(value), separators=(",", ":"))


def _as_json(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _as_json(value[key]) for key in value}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    known = value is None or isinstance(value, (str, int)) or (isinstance(value, float) and value - value == 0)
    return value if known else str(value)
