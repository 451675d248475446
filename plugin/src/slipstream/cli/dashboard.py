"""`slipstream dashboard` and `slipstream export`: the live page from a terminal."""
from __future__ import annotations

import argparse
import sys
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.cli.flags import FROM_0
from slipstream.cli.help import SUMMARIES
from slipstream.cli.kinds import event_kind, folder, page_or_zip
from slipstream.cli.parser import EXIT_FAILED, Checked, Parser, add_shared_flags, make_parser, print_json, roots, run
from slipstream.engine.places import page_command
from slipstream.events.log import KINDS

NO_BROWSER = "No browser was found to open. The link works once, for one minute:"


def main(argv: list[str]) -> int:
    return run(lambda: export(argv[1:]) if argv[0] == "export" else dashboard(argv[1:]))


def dashboard(argv: list[str]) -> int | None:
    parser = Parser(prog="slipstream dashboard", description=SUMMARIES["dashboard"])
    verbs = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=text, description=text)
        add_shared_flags(sub)
        sub.add_argument("folder", nargs="?", metavar="DIR", type=Checked(folder), help="project folder, as --root")
        return sub

    start = action("start", "start the page's server, or find the one that runs; prints its address")
    start.add_argument("--foreground", action="store_true", help="stay in this terminal")
    start.add_argument("--open", action="store_true", help="open the page in a browser")
    action("stop", "stop the server and end every browser's session")
    action("status", "whether a server runs, and where")
    action("open", "open the page in a browser, with a code that works once")
    replay = action("replay", "print a session event by event")
    replay.add_argument("--session", help="which session (default: the newest)")
    replay.add_argument("--at", type=Checked(FROM_0), metavar="SEQ", help="the state after this event")
    action("sessions", "list recorded sessions, newest first")
    emit = action("emit", "append one event to a session's log")
    emit.add_argument("--session", default="main", help="which session (default: main)")
    emit.add_argument("--agent", default="main", help="who did it (default: main)")
    emit.add_argument("--kind", type=Checked(event_kind), required=True, help=" ".join(KINDS) + ", or a word of yours")
    emit.add_argument("--label", default="", help="what was done, in a few words")
    emit.add_argument("--bytes", type=Checked(FROM_0), metavar="N", help="how much text it brought")
    out = action("export", "write a session as one HTML file or a zip")
    _export_flags(out)
    args = parser.parse_args(argv)
    if args.root is None and args.folder is not None:
        args.root = args.folder
    actions = {"start": _start, "stop": _stop, "status": _status, "open": _open, "replay": _replay}
    actions.update(sessions=_sessions, emit=_emit, export=_export)
    return actions[args.action](args)


def export(argv: list[str]) -> int | None:
    parser = make_parser("export", SUMMARIES["export"])
    _export_flags(parser)
    parser.add_argument("name", nargs="?", metavar="SESSION", help="which session (default: the newest)")
    args = parser.parse_args(argv)
    args.session = args.session or args.name
    return _export(args)


def _export_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", help="which session (default: the newest)")
    parser.add_argument("--out", type=Checked(page_or_zip), metavar="FILE",
                        help="file.html or file.zip (default: a new SESSION.html in this folder)")


def _start(args: argparse.Namespace) -> int | None:
    from slipstream.dashboard import launch

    tree_root, store_root = roots(args)
    if args.foreground:
        from slipstream.dashboard.runner import run_foreground

        return run_foreground(store_root, tree_root, args.open)
    address, started = launch.start(store_root, tree_root, wait_s=10.0)
    if args.json:
        print_json({"url": address, "started": started})
    else:
        print(address)
        print("started" if started else "already running", file=sys.stderr)
    return _open(args) if args.open else None


def _stop(args: argparse.Namespace) -> int | None:
    from slipstream.dashboard import launch
    from slipstream.dashboard.token import remove_secrets

    _, store_root = roots(args)
    stopped = launch.stop(store_root)
    silent = None if stopped else launch.find_silent(store_root)
    if silent is not None:  # its token stays, or nobody could ask it to stop once it goes on
        raise SlipstreamError(launch.SILENT % silent)
    remove_secrets(store_root)
    if args.json:
        print_json({"stopped": stopped})
    else:
        print("stopped" if stopped else "no dashboard runs for this project")
    return None


def _status(args: argparse.Namespace) -> int | None:
    from slipstream.dashboard import launch

    _, store_root = roots(args)
    record = launch.live_record(store_root)
    if args.json:
        shown = {} if record is None else {key: record[key] for key in ("pid", "port", "startedAt", "version", "project")}
        print_json({"running": record is not None, "url": record and launch.address(record["port"]), **shown})
    elif record is None:
        silent = launch.find_silent(store_root)
        print(launch.SILENT % silent if silent is not None
              else "no dashboard runs for this project; `slipstream dashboard start` starts it")
    else:
        print("%s  (process %d, since %s)" % (launch.address(record["port"]), record["pid"], record["startedAt"]))
        print("over SSH: ssh -N -L %d:127.0.0.1:%d HOST, then the same address here" % (record["port"], record["port"]))
    return None if record is not None else EXIT_FAILED


def _open(args: argparse.Namespace) -> int | None:
    """The code goes to the browser alone; only a person at a terminal without an opener is shown the link."""
    from slipstream.dashboard import launch
    from slipstream.dashboard.browser import find_opener, open_page

    tree_root, store_root = roots(args)
    address, _ = launch.start(store_root, tree_root, wait_s=10.0)
    can_print = sys.stdout.isatty() and not args.json
    if find_opener() is None and not can_print:
        raise SlipstreamError("no browser to open here; in a terminal this prints a link: " + page_command(tree_root))
    code = launch.one_time_code(store_root)
    opened = open_page(address + "#code=" + code)
    if args.json:
        print_json({"url": address, "opened": opened})
    elif opened:
        print("opened " + address)
    elif can_print:
        print(NO_BROWSER)
        print(address + "#code=" + code)
    else:
        raise SlipstreamError("the browser could not be opened; in a terminal this prints a link: " + page_command(tree_root))
    return None


def _session_of(args: argparse.Namespace, store_root: str) -> str:
    from slipstream.events.log import list_sessions

    known = [row["session"] for row in list_sessions(store_root)]
    if not known:
        raise SlipstreamError("nothing is recorded in this project yet")
    if args.session is None:
        return str(known[0])
    if args.session not in known:
        raise SlipstreamError("no such session: %s (`slipstream dashboard sessions` lists them)" % args.session)
    return str(args.session)


def _replay(args: argparse.Namespace) -> int | None:
    from slipstream.events.fold import Fold
    from slipstream.events.log import read_events

    _, store_root = roots(args)
    session = _session_of(args, store_root)
    fold = Fold(session)
    shown = []
    for event in read_events(store_root, session):
        if args.at is not None and event["seq"] > args.at:
            break
        fold.apply(event)
        shown.append(event)
    state = fold.state()
    if args.json:
        print_json(state)
        return None
    for event in shown:
        head = "%6d  %s  %-10.10s  %-14s" % (event["seq"], event["ts"], event["agent"], event["kind"])
        print(head + "  " + plain(event["label"]))
    print()
    print("session %s: %s, %s" % (session, count_of(len(state["agents"]), "agent"), count_of(len(shown), "event")))
    for agent in state["agents"]:
        calls = max(agent["toolCalls"], agent["finishedCalls"])  # as the page counts: some hosts tell of no call's beginning
        figures = "%14s  about %s" % (count_of(calls, "tool call"), count_of(agent["approxTokens"], "token"))
        print("  %-20s %-8s %s  %s" % (plain(agent["id"], 20), agent["status"], figures, plain(agent["task"], 60)))
    return None


def _sessions(args: argparse.Namespace) -> int | None:
    from slipstream.base.clock import now_iso
    from slipstream.events.log import list_sessions

    _, store_root = roots(args)
    found = [
        {"session": row["session"], "lastTs": now_iso(row["modified"]), "bytes": row["bytes"]}
        for row in list_sessions(store_root)
    ]
    if args.json:
        print_json({"sessions": found})
    elif not found:
        print("nothing is recorded in this project yet")
    else:
        for row in found:
            print("%s  %10s bytes  %s" % (row["lastTs"], format(row["bytes"], ","), plain(row["session"])))
    return None


def _emit(args: argparse.Namespace) -> int | None:
    from slipstream.base.git import read_place
    from slipstream.events.append import append_event

    tree_root, store_root = roots(args)
    data: dict[str, Any] = {"source": "cli", **read_place(tree_root)}
    if args.bytes is not None:
        data["bytes"] = args.bytes
    number = append_event(store_root, args.session, args.agent, args.kind, args.label, data)
    if args.json:
        print_json({"seq": number})
    else:
        print(number)
    return None


def _export(args: argparse.Namespace) -> int | None:
    from slipstream.dashboard.export import export_session

    _, store_root = roots(args)
    session = _session_of(args, store_root)
    path, size, replaced = export_session(store_root, session, args.out)
    if args.json:
        print_json({"file": path, "bytes": size, "session": session, "replaced": replaced})
    else:
        print("%s %s (%s bytes)" % ("replaced" if replaced else "wrote", path, format(size, ",")))
    return None


def plain(text: str, limit: int = 160) -> str:
    """Text from a log for a terminal: no control characters, one line."""
    return "".join(char if char.isprintable() else "?" for char in text[:limit].replace("\n", " "))
