"""JSON on the wire: strict in, UTF-8 out. Loaded at every start, so it does without `json`, whose import doubles a start.

CPython's own accelerator does the work, as `json` itself has it do; where there is none, `json` is imported.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse_constant(name: str) -> None:
    raise ValueError("%s is not JSON" % name)


try:
    from _json import encode_basestring, make_scanner
except ImportError:
    import json

    _decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def decode_text(text: str) -> Any:
        return _decoder.decode(text.strip(" \t\r\n"))

    def encode_value(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
else:
    class _Strict:
        strict, object_hook, object_pairs_hook, parse_float, parse_int = True, None, None, float, int
        parse_constant = staticmethod(_refuse_constant)
        memo: dict[str, str] = {}

    _scan: Any = make_scanner(_Strict)  # type: ignore[arg-type]

    def decode_text(text: str) -> Any:
        """The value that a text holds. ValueError when it is not one JSON value, RecursionError when it is too deep."""
        text = text.strip(" \t\r\n")
        try:
            value, end = _scan(text, 0)
        except StopIteration as stop:
            raise ValueError("no value at character %s" % stop.value) from None
        except SystemError:  # the accelerator looks for json's own exception, and `json` is not loaded
            raise ValueError("broken inside a value") from None
        if end != len(text):
            raise ValueError("more after the value, at character %d" % end)
        return value

    def encode_value(value: object) -> str:
        if isinstance(value, str):
            return encode_basestring(value)
        if isinstance(value, dict):
            return "{%s}" % ",".join([encode_basestring(key) + ":" + encode_value(one) for key, one in value.items()])
        if isinstance(value, (list, tuple)):
            return "[%s]" % ",".join([encode_value(one) for one in value])
        if value is None or isinstance(value, bool):
            return "null" if value is None else "true" if value else "false"
        return repr(value)  # an integer, or a finite float of ours


def decode_line(line: bytes) -> Any:
    """ValueError also for bytes that are not UTF-8."""
    return decode_text(line.decode("utf-8"))


def encode_message(message: object) -> bytes:
    """One line, newline included. A lone surrogate (from an escape in a request, or a file name) is escaped again."""
    text = encode_value(message)
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        import json
        raw = json.dumps(message, separators=(",", ":")).encode("ascii")
    return raw + b"\n"
