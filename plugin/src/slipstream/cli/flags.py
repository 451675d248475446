"""Flags and exit statuses of the query verbs, which cannot afford argparse (query path)."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.roots import find_tree_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
Flags = dict[str, "Any"]
SHARED: dict[str, Any] = {"root": str, "json": bool, "help": bool}
FROM_0, FROM_1 = range(1 << 62), range(1, 1 << 62)  # whole numbers


def run_query(verb: str, argv: list[str], usage: str, spec: dict[str, Any], act: Callable[[str, list[str], Flags], int]) -> int:
    """Runs a query verb with (tree root, positionals, flags); 2 for a call whose words are off, 1 for an error."""
    try:
        words, flags = parse_flags(argv, {**spec, **SHARED})
        if flags.get("help"):
            from slipstream.cli.help import query_help
            return print_text(query_help(verb, usage, spec))
        if not os.path.isdir(flags.get("root", ".")):
            raise UsageError(f"--root needs a folder that exists, not {flags['root']!r}")
        return act(find_tree_root(flags.get("root")), words, flags)
    except UsageError as error:
        print(f"slipstream {verb}: {error}\nusage: slipstream {usage}", file=sys.stderr)
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


def parse_flags(argv: list[str], spec: dict[str, Any]) -> tuple[list[str], Flags]:
    """(positionals, values by flag name) of argv without the verb; UsageError names what is off. Kinds: see module `kinds`."""
    positionals: list[str] = []
    values: Flags = {}
    waiting = iter(argv)
    for word in waiting:
        if word == "--":
            positionals.extend(waiting)
        elif word == "-h" or not word.startswith("--"):
            positionals.append(word)
            values.update({"help": True} if word == "-h" and "help" in spec else {})
        else:
            name, has_value, value = word[2:].partition("=")
            if name not in spec:
                raise UsageError(f"unknown flag --{name} (known: --{' --'.join(spec)})")
            if spec[name] is bool:
                if has_value:
                    raise UsageError(f"--{name} takes no value")
                values[name] = True
                continue
            if not has_value:
                value = next(waiting, "")
                if not value or value.startswith("--"):
                    raise UsageError(f"--{name} needs a value")
            if spec[name] is not str:
                from slipstream.cli.kinds import parse_value
                value = parse_value(spec[name], value, f"--{name} ")
            values[name] = value
    return positionals, values
