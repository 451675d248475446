"""Flags and exit statuses of the query verbs, which cannot afford argparse (query path)."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable

from slipstream.base.errors import SlipstreamError
from slipstream.base.roots import find_tree_root

Flags = dict[str, "str | int | bool"]
SHARED: dict[str, type] = {"root": str, "json": bool, "help": bool}


class UsageError(SlipstreamError):
    """A call whose words are off: exit status 2."""


def run_query(argv: list[str], usage: str, spec: dict[str, type], verb: Callable[[str, list[str], Flags], int]) -> int:
    """Runs a query verb with (tree root, positionals, flags); 2 for a call whose words are off, 1 for an error."""
    try:
        words, flags = parse_flags(argv[1:], {**spec, **SHARED})
        if flags.get("help"):
            return print_text(f"usage: slipstream {usage}\n")
        wanted = str(flags.get("root", "")) or None
        if wanted and not os.path.isdir(wanted):
            raise SlipstreamError("--root is not a folder", wanted)
        return verb(find_tree_root(wanted), words, flags)
    except UsageError as error:
        print(f"slipstream {argv[0]}: {error}\nusage: slipstream {usage}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except (SlipstreamError, OSError) as error:
        print(f"slipstream: {error}", file=sys.stderr)
        return 1


def print_text(text: str) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    return 0


def print_json(value: object) -> int:
    import json
    return print_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def parse_flags(argv: list[str], spec: dict[str, type]) -> tuple[list[str], Flags]:
    """(positionals, values by flag name) of argv without the verb; UsageError names what is off. --name=value works too."""
    positionals: list[str] = []
    values: Flags = {}
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
            if spec[name] is int and not value.removeprefix("-").isdecimal():
                raise UsageError(f"--{name} needs a whole number, not {value!r}")
            values[name] = spec[name](value)
    return positionals, values
