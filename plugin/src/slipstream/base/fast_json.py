"""JSON without importing `json`, whose regular expressions cost as much as a bare start of Python. HOT."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_scanner  # CPython's own accelerator, which `json` itself calls
except ImportError:
    from slipstream.base.plain_json import dumps as dumps
    from slipstream.base.plain_json import loads as loads
else:
    class _Options:
        strict, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant = False, None, None, float, int, float
        memo: dict[str, str] = {}

    _scan: Any = make_scanner(_Options)  # type: ignore[arg-type]

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
        if type(value) is dict:
            return "{" + ",".join([encode_basestring_ascii(str(key)) + ":" + dumps(value[key]) for key in value]) + "}"
        if type(value) is list or type(value) is tuple:
            return "[" + ",".join([dumps(item) for item in value]) + "]"
        if value is None or value is True or value is False:
            return {None: "null", True: "true", False: "false"}[value]
        number = type(value) is int or (type(value) is float and value - value == 0)
        return repr(value) if number else encode_basestring_ascii(str(value))
