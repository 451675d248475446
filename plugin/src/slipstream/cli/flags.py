"""Flags for the query verbs, which cannot afford argparse: --name value, --name=value, -- and positionals."""
from __future__ import annotations

from slipstream.base.errors import SlipstreamError


class UsageError(SlipstreamError):
    """A call whose words are off: exit status 2."""


def parse_flags(argv: list[str], spec: dict[str, type]) -> tuple[list[str], dict[str, str | int | bool]]:
    """Splits argv (without the verb) by `spec`: flag name without dashes -> bool, int or str.

    Returns (positionals, values given). UsageError names an unknown flag, a missing or a non-numeric value.
    """
    positionals: list[str] = []
    values: dict[str, str | int | bool] = {}
    waiting = iter(argv)
    for word in waiting:
        if word == "--":
            positionals.extend(waiting)
        elif not word.startswith("--"):
            positionals.append(word)
        else:
            name, has_value, value = word[2:].partition("=")
            if name not in spec:
                known = " ".join("--" + flag for flag in spec)
                raise UsageError(f"unknown flag --{name} (known: {known})")
            if spec[name] is bool:
                if has_value:
                    raise UsageError(f"--{name} takes no value")
                values[name] = True
                continue
            if not has_value:
                value = next(waiting, "")
                if not value or value.startswith("--"):
                    raise UsageError(f"--{name} needs a value")
            if spec[name] is int:
                try:
                    values[name] = int(value)
                except ValueError:
                    raise UsageError(f"--{name} needs a whole number, not {value!r}") from None
            else:
                values[name] = value
    return positionals, values
