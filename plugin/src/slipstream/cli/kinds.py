"""What a flag can take beside any text, one rule for every verb: a value that is none of its kind is a usage error.

A kind is a `range` (a whole number of it), a `tuple` (one of its texts) or a function from the text to the value.
"""
from __future__ import annotations

import os
from typing import Any

from slipstream.base.errors import UsageError
from slipstream.cli.flags import FROM_1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Union
    Kind = Union[range, tuple[str, ...], Callable[[str], Any]]


def parse_value(kind: Kind, text: str, name: str = "") -> Any:
    """The value a text stands for; UsageError, beginning with the flag's name, where the text is none of its kind."""
    try:
        if isinstance(kind, range):
            return whole(kind, text)
        if isinstance(kind, tuple):
            return one_of(kind, text)
        return kind(text)
    except UsageError as error:
        raise UsageError(name + str(error)) from None


def whole(among: range, text: str) -> int:
    """A whole number; thousands may be marked by commas."""
    digits = text.replace(",", "")
    if digits.isdecimal() and len(digits) < 19 and int(digits) in among:
        return int(digits)
    until = "on" if among.stop == FROM_1.stop else f"to {among[-1]}"
    raise UsageError(f"needs a whole number from {among.start} {until}, not {text!r}")


def one_of(names: tuple[str, ...], text: str) -> str:
    if text in names:
        return text
    from slipstream.engine.issue import closest
    near = closest(text, list(names))
    many = "one of" if names[1:] else "to be"
    raise UsageError(f"needs {many} {', '.join(names)}, not {text!r}" + (f"; did you mean {near}?" if near else ""))


def share(text: str) -> float:
    """A percentage."""
    return _number(text, 1, 100, "a share from 1 to 100")


def days(text: str) -> float:
    return _number(text, 0, 1_000_000, "a number of days")


def seconds(text: str) -> float:
    return _number(text, 0.001, 1_000_000, "a number of seconds above zero")


def _number(text: str, low: float, high: float, wanted: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if low <= number <= high:
        return number
    raise UsageError(f"needs {wanted}, not {text!r}")


def tokens_or_none(text: str) -> int | None:
    """A number of tokens; `none` is None."""
    return None if text == "none" else whole(range(FROM_1.stop), text)


def date(text: str) -> str:
    """A date or instant, as it was given."""
    from slipstream.base.instants import parse_iso
    if parse_iso(text) is None:
        raise UsageError(f"needs a date (2026-05-31, or an ISO instant), not {text!r}")
    return text


def day(text: str) -> str:
    from datetime import date as calendar_day
    try:
        return calendar_day.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"needs a day (2026-05-31), not {text!r}") from None


def event_kind(text: str) -> str:
    if len(text) <= 60 and text.replace("-", "").replace("_", "").replace(".", "").isalnum():
        return text
    raise UsageError(f"needs one word of letters, figures, - _ and ., not {text[:80]!r}")


def folder(text: str) -> str:
    if not os.path.isdir(text):
        raise UsageError(f"needs a folder that exists, not {text!r}")
    return text


def file(text: str) -> str:
    if not os.path.isfile(text):
        raise UsageError(f"needs a file that exists, not {text!r}")
    return text


def page_or_zip(text: str) -> str:
    if not text.endswith((".html", ".htm", ".zip")):
        raise UsageError(f"needs a file's name that ends in .html or .zip, not {text!r}")
    return text


def input_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"needs INPUT=VALUE, not {text!r}")
    return name, value
