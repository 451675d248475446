"""What every argparse command family shares: --root and --json, and the one boundary that turns errors into exit statuses."""
from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.roots import find_store_root, find_tree_root
from slipstream.base.threads import hold_archive
from slipstream.cli.kinds import folder, parse_value

if TYPE_CHECKING:
    from slipstream.cli.kinds import Kind

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_BUG = 0, 1, 2, 70


class Parser(argparse.ArgumentParser):
    """No abbreviated flags: an unknown one is an error, and a script keeps working when a flag is added."""

    def __init__(self, *args: Any, **kwargs: Any):
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        words = message.removeprefix("argument ").replace(": needs ", " needs ", 1)  # as the verbs without argparse say it
        verbs = next((action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction)), ())
        told = f"one of: {' '.join(verbs)}\n" if verbs and "invalid choice" not in words else ""
        self.exit(EXIT_USAGE, f"{self.prog}: {words}\n{told}{self.format_usage()}")


class Checked:
    """A kind of module `kinds` as argparse's `type`, so that every verb refuses a bad value in the same words with status 2."""

    def __init__(self, kind: Kind):
        self.kind = kind

    def __call__(self, text: str) -> Any:
        try:
            return parse_value(self.kind, text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None


def make_parser(verb: str, summary: str) -> Parser:
    parser = Parser(prog=f"slipstream {verb}", description=summary)
    add_shared_flags(parser)
    return parser


def add_shared_flags(parser: argparse.ArgumentParser) -> None:
    """--root and --json; for a verb with sub-commands, call it on each of those instead."""
    parser.add_argument("--root", metavar="DIR", type=Checked(folder), help="project folder (default: discovered from here)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def roots(args: argparse.Namespace) -> tuple[str, str]:
    """(tree root, store root) for parsed arguments."""
    tree_root = find_tree_root(args.root)
    return tree_root, find_store_root(tree_root)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def run(command: Callable[[], int | None]) -> int:
    """Runs a command: its own status; with one line 2 for a call whose words are off and 1 for any other SlipstreamError or
    OSError; 70 with a traceback for a bug."""
    hold_archive()
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        return command() or EXIT_DONE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_DONE
    except BrokenPipeError:
        return EXIT_DONE
    except KeyboardInterrupt:
        return 130
    except (SlipstreamError, OSError) as error:
        print(f"slipstream: {error}", file=sys.stderr)
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
    except Exception:
        traceback.print_exc()
        print("slipstream: this is a bug; the lines above say where", file=sys.stderr)
        return EXIT_BUG
