"""JSON without importing `json`, whose regular expressions cost as much as a bare start of Python. HOT."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner  # CPython's own, which `json` itself calls
except ImportError:
    from slipstream.base.plain_json import encode_basestring_ascii, make_encoder, make_scanner  # type: ignore[assignment]


class _Options:
    strict, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant = False, None, None, float, int, float


_scan: Any = make_scanner(_Options)  # type: ignore[arg-type]
_encode: Any = make_encoder(None, str, encode_basestring_ascii, None, ":", ",", False, False, False)


def loads(text: str) -> Any:
    """The value that `text` holds. ValueError when it is not JSON."""
    try:
        value, end = _scan(text.lstrip(), 0)
    except (StopIteration, SystemError):  # the accelerator wants json.JSONDecodeError, which is not loaded
        raise ValueError("not JSON") from None
    if text.lstrip()[end:].strip():
        raise ValueError("more than one JSON value")
    return value


def dumps(value: object) -> str:
    """Compact JSON in ASCII; what is no JSON value becomes its text."""
    try:
        return "".join(_encode(value, 0))
    except (TypeError, ValueError):  # a name that is no text, or a number that JSON does not have
        from slipstream.base.plain_json import dumps as dumps_slowly
        return dumps_slowly(value)
