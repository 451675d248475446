"""map, mindmap, status: the project as a whole."""
from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from typing import TYPE_CHECKING

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.paths import relative_path, resolve_inside
from slipstream.base.roots import find_tree_root
from slipstream.cli.flags import FROM_1
from slipstream.cli.parser import Checked, Parser, make_parser, print_json, roots, run

if TYPE_CHECKING:
    from slipstream.map.index import Index

PROGRESS_AFTER_S = 1.0
PROJECT_MARKS = ((".git",), (".claude", "slipstream"))


def make_map_parser() -> Parser:
    """Flags of `map`."""
    parser = make_parser("map", "Refresh map.json and map.md, and print the map under a token budget.")
    parser.add_argument("path", nargs="?", metavar="PATH",
                        help="a folder or file of the project to drill into, or a project folder")
    parser.add_argument("--budget", type=Checked(range(100, FROM_1.stop)), metavar="TOKENS",
                        help="approximate size of the map (default: 4000)")
    parser.add_argument("--all", action="store_true", help="everything, unexported definitions and members included")
    parser.add_argument("--no-write", action="store_true", help="leave the disk alone, for a read-only tree")
    return parser


def make_mindmap_parser() -> Parser:
    """Flags of `mindmap`."""
    parser = make_parser("mindmap", "Print the project as a Mermaid mind map, or write it as one self-contained page.")
    parser.add_argument("--html", metavar="FILE", help="write a page with an inline drawing there instead; needs no network")
    return parser


def make_status_parser() -> Parser:
    """Flags of `status`."""
    return make_parser("status", "Files, context budget, memory and savings of the project at a glance.")


PARSERS = {"map": make_map_parser, "mindmap": make_mindmap_parser, "status": make_status_parser}


def main(argv: list[str]) -> int:
    """Run one of the verbs."""
    gc.set_threshold(100_000)  # an index is many small tuples without cycles, looked through again and again as it is loaded
    parser = PARSERS[argv[0]]()
    return run(lambda: _COMMANDS[argv[0]](parser.parse_args(argv[1:])))


def _target(args: argparse.Namespace) -> tuple[str, str | None]:
    """(tree root, relative path to drill into). A folder that lies in no known project is a project of its own."""
    if args.path is None or args.root is not None:
        root, _ = roots(args)
        full = resolve_inside(root, args.path) if args.path else root
    else:
        full = os.path.realpath(args.path)
        root = find_tree_root(None)
        within = (full + os.sep).startswith(root.rstrip(os.sep) + os.sep)
        if "CLAUDE_PROJECT_DIR" not in os.environ or not within:
            folder = full if os.path.isdir(full) else os.path.dirname(full)
            own = find_tree_root(None, env={}, cwd=folder)
            known = own != folder or any(os.path.exists(os.path.join(own, *mark)) for mark in PROJECT_MARKS)
            if not known and os.path.isfile(full) and not within:  # a store beside any file of the disk is nobody's wish
                raise SlipstreamError("outside the project, and in none of its own", args.path)
            root = own if known or not within else root
    if args.path and not os.path.lexists(full):
        raise SlipstreamError("no such file or folder", args.path)
    return root, relative_path(root, full) if full != root else None


class _Progress:
    """One line on a terminal's standard error, for work over a second."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self.started > PROGRESS_AFTER_S:
            sys.stderr.write(f"\rscanned {done:,} of {total:,} files")
            sys.stderr.flush()
            self.shown = True

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _map(args: argparse.Namespace) -> int:
    from slipstream.map.publish import DEFAULT_BUDGET_TOKENS, refresh_map
    root, path = _target(args)
    progress = _Progress() if sys.stderr.isatty() else None
    index, text = refresh_map(root, write=not args.no_write, progress=progress)
    if progress is not None:
        progress.clear()
    if args.json:
        _print_map_json(index, args.all, path)
    elif args.all:
        from slipstream.map.render import render_all
        _write(render_all(index, path))
    elif path is None and args.budget in (None, DEFAULT_BUDGET_TOKENS):
        _write(text)
    else:
        from slipstream.map.render import render_map
        _write(render_map(index, args.budget or DEFAULT_BUDGET_TOKENS, path))
    if index.refreshed.note:
        print(f"slipstream: {index.refreshed.note}", file=sys.stderr)
    return 0


def _print_map_json(index: Index, everything: bool, path: str | None) -> None:
    from slipstream.base.clock import now_iso
    from slipstream.map.map_json import iter_all_json, iter_json
    make = iter_all_json if everything else iter_json
    for line in make(index, now_iso(), path):
        _write(line + "\n")


def _write(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))


def _mindmap(args: argparse.Namespace) -> int:
    from slipstream.map.index import open_index
    from slipstream.map.mindmap import render_mermaid
    from slipstream.memory.overview import map_tree
    if args.html == "":
        raise UsageError("--html needs a file's name")
    root, _ = roots(args)
    index = open_index(root)
    tree = map_tree(index)
    if args.html is None:
        text = render_mermaid(tree)
        if args.json:
            print_json({"mermaid": text})
        else:
            _write(text if text.endswith("\n") else text + "\n")
        return 0
    from slipstream.base.files import write_atomic
    from slipstream.map.mindmap_html import render_html
    stats = index.stats()
    facts = {"files": f"{stats['fileCount']:,}", "exported symbols": f"{stats['symbolCount']:,}",
             "source": f"{stats['totalBytes'] / 1024:,.1f} KiB", "entry points": f"{len(index.entry_points):,}"}
    target = os.path.abspath(args.html)
    if os.path.isdir(target):
        raise SlipstreamError("a folder, not a file", args.html)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    did = "replaced" if os.path.lexists(target) else "wrote"
    page = render_html(tree, facts).encode("utf-8", "backslashreplace")
    write_atomic(target, page, mode=0o644)
    if args.json:
        print_json({"html": target, "bytes": len(page)})
    else:
        print(f"{did} {target} ({len(page):,} bytes)")
    return 0


def _status(args: argparse.Namespace) -> int:
    from slipstream.map.index import open_index
    from slipstream.memory.overview import build_overview, render_overview
    root, store_root = roots(args)
    overview = build_overview(open_index(root), store_root)
    if args.json:
        print_json(overview)
    else:
        _write(render_overview(overview))
    return 0


_COMMANDS = {"map": _map, "mindmap": _mindmap, "status": _status}
