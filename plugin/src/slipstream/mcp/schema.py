"""Checks a tool's arguments against its own inputSchema: the part of JSON Schema that tools.json uses, nothing more."""
from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
                                       "array": (list,), "object": (dict,)}
MAX_STRING_CHARS = 200_000


def check_arguments(schema: dict[str, Any], arguments: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """(arguments with defaults filled in, what is wrong with them or None).

    An absent optional argument may be sent as null. The message names the argument and what was expected.
    """
    properties = schema["properties"]
    checked = {name: one["default"] for name, one in properties.items() if "default" in one}
    for name, value in arguments.items():
        if name not in properties:
            return checked, 'unknown argument "%s"; this tool takes %s' % (name[:80], ", ".join(properties))
        if value is None and name not in schema.get("required", ()):
            continue
        problem, checked[name] = _check(properties[name], value)
        if problem:
            return checked, 'argument "%s" %s' % (name, problem)
    for name in schema.get("required", ()):
        if name not in arguments:
            return checked, 'argument "%s" is missing: %s' % (name, expected(properties[name]))
    return checked, None


def expected(rule: dict[str, Any]) -> str:
    """A rule in words: `an integer from 1 to 50`, `one of "text", "json"`."""
    if "enum" in rule:
        return "one of " + ", ".join('"%s"' % choice for choice in rule["enum"])
    kinds = rule.get("type", "any value")
    words = " or ".join(_article(kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    if "minimum" in rule and "maximum" in rule:
        words += " from %s to %s" % (rule["minimum"], rule["maximum"])
    elif "minimum" in rule:
        words += " of at least %s" % rule["minimum"]
    if "minLength" in rule:
        words += " that is not empty"
    if "items" in rule:
        words += " of which each is " + expected(rule["items"])
    if "minItems" in rule:
        words += ", at least %d" % rule["minItems"]
    if "maxItems" in rule:
        words += ", at most %d" % rule["maxItems"]
    return words


def _check(rule: dict[str, Any], value: Any) -> tuple[str | None, Any]:
    """(problem or None, the value as the tool gets it)."""
    wanted = "must be %s" % expected(rule)
    kinds = rule.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds:
        if isinstance(value, float) and value == value and abs(value) < 2**53 and value == int(value):
            value = int(value)  # JSON has one kind of number: 3.0 is the integer 3
        fits = [kind for kind in kinds if isinstance(value, _TYPES[kind])
                and not (isinstance(value, bool) and kind != "boolean")]
        if not fits:
            return wanted, value
    if "enum" in rule and value not in rule["enum"]:
        return wanted, value
    if isinstance(value, str):
        if len(value) > MAX_STRING_CHARS:
            return "is longer than %d characters" % MAX_STRING_CHARS, value
        if "\0" in value:
            return "holds a NUL character", value
        if not _is_text(value):
            return "holds half a surrogate pair", value
        if len(value.strip()) < rule.get("minLength", 0):
            return wanted, value
    elif isinstance(value, (int, float)):
        if not (rule.get("minimum", value) <= value <= rule.get("maximum", value)):
            return wanted, value
    elif isinstance(value, list):
        if not (rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))):
            return wanted, value
        for index, item in enumerate(value):
            problem, value[index] = _check(rule["items"], item)
            if problem:
                return wanted, value
    return None, value


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _article(kind: str) -> str:
    return ("an " if kind[0] in "aeiou" else "a ") + kind
