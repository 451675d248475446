"""python3 -m tests.clients.claude_code install|validate|run: the real client from a shell.

    install --into DIR [--version V]        put the npm client into a folder and print its binary's path
    run SCENARIO... [--out DIR] [--fixtures DIR]   play scenarios (names or files) and check their expectations
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .checks import check, report
from .fixtures import write_fixtures
from .session import HERE, QUIET, SYSTEM_PATH, Session, find_client, load_scenario

PACKAGE = "@anthropic-ai/claude-code"
OLDEST_VERSION = "2.1.328"
PLUGIN = HERE.parents[2] / "plugin"


def install(folder: Path, version: str) -> int:
    """npm installs the client; where it runs no install scripts the binary of the platform's package works all the same."""
    folder.mkdir(parents=True, exist_ok=True)
    argv = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "%s@%s" % (PACKAGE, version)]
    code = subprocess.run(argv, check=False, stdout=sys.stderr).returncode
    if code:
        return code
    scope = folder / "node_modules" / "@anthropic-ai"
    binary = next((p for p in sorted(scope.glob("claude-code-*/claude*")) if os.access(p, os.X_OK)), None)
    if binary is None:
        print("no native package for this platform came with it", file=sys.stderr)
        return 1
    env = dict(QUIET, PATH=SYSTEM_PATH, HOME=str(folder))
    done = subprocess.run([str(binary), "--version"], env=env, stdout=sys.stderr, check=False)
    print(binary)
    return done.returncode


def run(client: str, path: Path, out: Path, fixtures: Path | None, plugin: Path) -> bool:
    """Play one scenario and print its report; True when every expectation held."""
    session = Session(out, client, plugin, load_scenario(path))
    session.run()
    result = report(session, check(session))
    print(json.dumps({key: result[key] for key in ("scenario", "ok", "events", "recorded", "wrong")}, indent=1))
    print("recorded in %s" % session.root, file=sys.stderr)
    if fixtures:
        print("new fixtures: %s" % ", ".join(write_fixtures(session, fixtures)), file=sys.stderr)
    return bool(result["ok"])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    installing = commands.add_parser("install")
    installing.add_argument("--into", type=Path, required=True)
    installing.add_argument("--version", default=OLDEST_VERSION)
    running = commands.add_parser("run")
    running.add_argument("scenario", nargs="+", help="a name under scenarios/, or a file")
    running.add_argument("--client", default=find_client())
    running.add_argument("--out", type=Path)
    running.add_argument("--fixtures", type=Path)
    running.add_argument("--plugin", type=Path, default=PLUGIN)
    args = parser.parse_args(argv)
    if args.command == "install":
        return install(args.into.resolve(), args.version)
    if not args.client:
        parser.error("no client: install one, or name its binary in SLIPSTREAM_CLAUDE")
    good = True
    for name in args.scenario:
        path = Path(name) if name.endswith(".json") else HERE / "scenarios" / (name + ".json")
        out = args.out / path.stem if args.out else Path(tempfile.mkdtemp(prefix="slipstream-client-"))
        good = run(args.client, path, out, args.fixtures, args.plugin) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
