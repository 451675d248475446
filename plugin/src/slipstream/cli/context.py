"""`budget`, `savings`, `usage`, `gc`: how full the window is, what was saved, what was used, what may go."""
from __future__ import annotations

from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.cli.flags import FROM_0, FROM_1
from slipstream.cli.kinds import day, days, file, folder, share, tokens_or_none
from slipstream.cli.parser import Checked, make_parser, print_json, roots, run

AXES = ("session", "model", "day", "agent")


def main(argv: list[str]) -> int:
    command = {"budget": _budget, "savings": _savings, "usage": _usage, "gc": _gc}[argv[0]]
    return run(lambda: command(argv[1:]))


def _budget(argv: list[str]) -> int | None:
    if argv[:1] == ["set"]:
        return _budget_set(argv[1:])
    from slipstream.context.budget import budget_report, estimate_report, load_budget, render_budget
    parser = make_parser("budget", "how full the context window is, and who says so (`budget set` changes the thresholds)")
    parser.add_argument("--session", metavar="ID", help="a session other than the latest")
    parser.add_argument("--transcript", metavar="FILE", type=Checked(file), help="the host's transcript of that session")
    parser.add_argument("--bytes", type=Checked(FROM_0), metavar="N", help="instead: an estimate for N bytes of text")
    parser.add_argument("--window", type=Checked(FROM_1), metavar="TOKENS",
                        help="window for --bytes (default: the budget's target)")
    args = parser.parse_args(argv)
    _, store_root = roots(args)
    if args.bytes is not None:
        budget = load_budget(store_root)
        window = args.window or budget["targetTokens"]
        estimate = estimate_report(args.bytes, None, window, budget["warnPct"], budget["compactPct"])
        if args.json:
            print_json(estimate)
        else:
            print(f"about {estimate['approxTokens']:,} of {window:,} tokens (approximate, from bytes): {estimate['level']}")
            print(estimate.get("recommendation", estimate["advice"]))
        return None
    transcript = args.transcript or _find_transcript(store_root, args.session)
    report = budget_report(store_root, args.session, transcript)
    if args.session and report["source"] == "none":
        raise SlipstreamError(f"nothing is recorded of session {args.session}; `dashboard sessions` lists them")
    if args.json:
        print_json(report)
    else:
        print(render_budget(report))
    return None


def _budget_set(argv: list[str]) -> int | None:
    from slipstream.context.budget import MIN_TARGET_TOKENS, load_budget, save_budget
    parser = make_parser("budget set", "change target and thresholds in budget.json")
    parser.add_argument("--target", type=Checked(range(MIN_TARGET_TOKENS, FROM_1.stop)), metavar="TOKENS",
                        help="tokens the gauge fills towards")
    parser.add_argument("--warn", type=Checked(share), metavar="PCT", help="amber from this share on (1-99)")
    parser.add_argument("--compact", type=Checked(share), metavar="PCT", help="red from this share on, above --warn")
    parser.add_argument("--actual", type=Checked(tokens_or_none), default=..., metavar="TOKENS",
                        help="the editor's own figure, to calibrate; `none` forgets it")
    args = parser.parse_args(argv)
    changes: dict[str, Any] = {key: value for key, value in (
        ("targetTokens", args.target), ("warnPct", args.warn), ("compactPct", args.compact)) if value is not None}
    if args.actual is not ...:
        changes["actualTokens"] = args.actual
    if not changes:
        parser.error("nothing to set: give --target, --warn, --compact or --actual")
    _, store_root = roots(args)
    warn = args.warn or load_budget(store_root)["warnPct"]
    if args.compact is not None and args.compact <= warn:
        parser.error(f"--compact needs a share above --warn ({warn:g}), not {args.compact:g}")
    budget = save_budget(store_root, **changes)
    if args.json:
        print_json(budget)
    else:
        print(f"target {budget['targetTokens']:,} tokens, warn at {budget['warnPct']}%, compact at {budget['compactPct']}%"
              + (f", actual {budget['actualTokens']:,}" if "actualTokens" in budget else ""))
    return None


def _savings(argv: list[str]) -> int | None:
    from slipstream.context.savings import load_savings, render_savings, savings_cost, summarize_savings
    parser = make_parser("savings", "what scoped reads have saved, as published and counted carefully")
    parser.add_argument("--money", action="store_true", help="with the amount at the input list price")
    args = parser.parse_args(argv)
    _, store_root = roots(args)
    summary = summarize_savings(load_savings(store_root))
    if args.json:
        print_json({**summary, "cost": savings_cost(summary["honest"]["savedTokens"])} if args.money else summary)
    else:
        print(render_savings(summary, args.money))
    return None


def _usage(argv: list[str]) -> int | None:
    from slipstream.context.usage import load_usage
    from slipstream.context.usage_report import build_usage, project_folders, render_usage
    parser = make_parser("usage", "exact tokens of this project's sessions, from the host's transcripts")
    parser.add_argument("--by", type=Checked(AXES), default="session", metavar="|".join(AXES),
                        help="one row for each (default: session)")
    parser.add_argument("--day", type=Checked(day), metavar="YYYY-MM-DD", help="only this day, local time")
    parser.add_argument("--all", action="store_true", help="every project of this machine")
    parser.add_argument("--transcripts", metavar="DIR", type=Checked(folder), action="append",
                        help="this folder of transcripts instead (repeatable)")
    parser.add_argument("--money", action="store_true", help="with list prices")
    args = parser.parse_args(argv)
    tree_root, store_root = roots(args)
    folders = args.transcripts or project_folders([tree_root, store_root], args.all)
    report = build_usage(load_usage(store_root, folders, args.all or bool(args.transcripts)), args.by, args.day)
    if args.json:
        if not args.money:
            for row in [*report["rows"], report["total"]]:
                row.pop("usd")
        print_json(report)
    else:
        print(render_usage(report, args.money))
    return None


def _gc(argv: list[str]) -> int | None:
    from slipstream.context.gc import plan_gc, remove_leftovers, remove_logs, render_gc
    from slipstream.memory.observe import capture
    parser = make_parser("gc", "remove the event logs of old sessions, once their turns are captured; never memory")
    parser.add_argument("--older-than", type=Checked(days), default=30.0, metavar="DAYS",
                        help="only logs not written for so long (30)")
    parser.add_argument("--dry-run", action="store_true", help="only say which")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    args = parser.parse_args(argv)
    _, store_root = roots(args)
    plan = plan_gc(store_root, args.older_than, lambda root, session: capture(root, session, flush_open=True), dry=args.dry_run)
    removing = plan["remove"] and not args.dry_run and (args.yes or _ask(len(plan["remove"])))
    freed = remove_logs(store_root, plan["remove"]) if removing else 0
    if not args.dry_run:
        remove_leftovers(store_root)
    if args.json:
        print_json({**plan, "freed": freed, "done": bool(removing)})
    else:
        print(render_gc(plan, bool(removing), freed))
    return None


def _ask(count: int) -> bool:
    import sys
    if not sys.stdin.isatty():
        raise SlipstreamError(f"{count} event logs would go; say --yes, or --dry-run to see which")
    return input(f"remove {count} event logs? [y/N] ").strip().lower() in ("y", "yes")


def _find_transcript(store_root: str, session: str | None) -> str | None:
    """The host's transcript of a session, found by its file's name among this project's."""
    import os

    from slipstream.context.usage_report import project_folders
    from slipstream.events.log import list_sessions
    if session is None:
        rows = list_sessions(store_root)
        session = rows[0]["session"] if rows else None
    if not session or os.sep in session or session.startswith("."):
        return None
    paths = [os.path.join(folder, session + ".jsonl") for folder in project_folders([store_root])]
    return next((path for path in paths if os.path.isfile(path)), None)
