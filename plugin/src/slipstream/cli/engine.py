"""`slipstream skills | gate | validate | plugin-validate`: thin words over the engine's functions."""
from __future__ import annotations

import argparse
import os
import sys

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.cli.flags import FROM_1, parse_flags
from slipstream.cli.kinds import folder, input_value, seconds
from slipstream.cli.parser import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_USAGE,
    Checked,
    Parser,
    add_shared_flags,
    make_parser,
    print_json,
    roots,
    run,
)
from slipstream.engine.contract import CATEGORIES
from slipstream.engine.issue import NOTE, Issue, has_errors
from slipstream.engine.library import NOT_BESIDE, Library, default_folders, load_library


def main(argv: list[str]) -> int:
    verb, rest = argv[0], argv[1:]
    return run(lambda: {"skills": _skills, "gate": _gate, "validate": _validate,
                        "plugin-validate": _plugin_validate}[verb](rest))


def _home() -> str:
    return os.path.expanduser("~")


def _library(args: argparse.Namespace, tree_root: str) -> Library:
    """The skills asked for; an answer about none of them would send people looking for a name."""
    library = load_library([("folder", args.skills)] if args.skills else default_folders(tree_root, _home()))
    if not library.skills and not library.issues:
        raise SlipstreamError("no skill found" + (" below " + args.skills if args.skills else NOT_BESIDE))
    return library


def _add_skills_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skills", metavar="DIR", type=Checked(folder), help="use the skills below this folder only")


def _skills(argv: list[str]) -> int:
    parser = Parser(prog="slipstream skills", description="List, search and show skills.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|search|show")
    listing = actions.add_parser("list", help="all skills by category")
    search = actions.add_parser("search", help="the skills that fit a task, best first")
    search.add_argument("query", nargs="+", metavar="QUERY")
    search.add_argument("--limit", type=Checked(FROM_1), default=8, metavar="N", help="so many at most (default: 8)")
    show = actions.add_parser("show", help="one skill: what it needs, its gate and its text")
    show.add_argument("name", metavar="NAME")
    for action in (listing, search, show):
        _add_skills_flag(action)
        add_shared_flags(action)
    for action in (listing, search):
        action.add_argument("--category", type=Checked(CATEGORIES), metavar="CATEGORY", help="one of: " + " ".join(CATEGORIES))
    args = parser.parse_args(argv)
    from slipstream.engine.skill_search import render_hits, render_skill, search_skills, skill_record
    tree_root, _store_root = roots(args)
    library = _library(args, tree_root)
    if args.action == "show":
        skill = library.get(args.name)
        if args.json:
            print_json(skill_record(skill, body=True))
        else:
            print(render_skill(skill))
        return EXIT_DONE
    query = " ".join(args.query) if args.action == "search" else ""
    hits = search_skills(library, query, args.limit if query else len(library.skills), args.category or "")
    if args.json:
        print_json([{**skill_record(skill), "score": round(score, 3)} for skill, score in hits])
    else:
        print(render_hits(hits, query))
    return EXIT_DONE if hits else EXIT_FAILED


def _gate(argv: list[str]) -> int:
    if argv[:1] == ["check"]:
        return _check(argv[1:])
    parser = Parser(prog="slipstream gate", description="Run the verification gates of skills.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="run|plan|trust|untrust|check")
    run_action = actions.add_parser("run", help="fill the inputs, run the gate, print PASS or FAIL with the reason")
    run_action.add_argument("--yes", action="store_true", help="agree to a gate that deploys, spends or changes an account")
    run_action.add_argument("--timeout", type=Checked(seconds), metavar="S", help="seconds, instead of the gate's own limit")
    plan = actions.add_parser("plan", help="the chain of skills and gates up to this one, in order; runs nothing")
    trust = actions.add_parser("trust", help="allow the gate of a project's skill, as it is now, in this project")
    untrust = actions.add_parser("untrust", help="take the permission back")
    actions.add_parser("check", help="one of the checks gates are made of; `gate check` alone lists them")
    for action in (run_action, plan, trust, untrust):
        action.add_argument("skill", metavar="SKILL")
        _add_skills_flag(action)
        add_shared_flags(action)
    for action in (run_action, plan):
        action.add_argument("--set", action="append", default=[], type=Checked(input_value), metavar="INPUT=VALUE",
                            help="give an input by hand")
    args = parser.parse_args(argv)
    from slipstream.engine import gates
    from slipstream.engine import trust as trusted
    tree_root, store_root = roots(args)
    library = _library(args, tree_root)
    skill = library.get(args.skill)
    if args.action in ("trust", "untrust"):
        trusting, needed = args.action == "trust", trusted.needs_trust(skill) and skill.gate is not None
        changed = needed and trusted.save_trust(_home(), tree_root, skill, trusting)
        if args.json:
            print_json({"skill": skill.shown_name, "needed": needed, "trusted": trusting or not needed, "changed": changed})
        elif not needed or skill.gate is None:
            print("%s needs no permission" % skill.shown_name)
        else:
            print("%s%s: %s" % ("trusted" if trusting else "no longer trusted", "" if changed else " (as before)",
                                skill.gate.command))
        return EXIT_DONE
    given = dict(args.set)
    if args.action == "plan":
        steps = gates.plan_gates(library, skill, tree_root, given, _home(), store_root)
        if args.json:
            print_json(steps)
        else:
            print(gates.render_plan(steps))
        return EXIT_DONE
    evidence = gates.run_gate(skill, tree_root, given, _home(), args.yes, args.timeout, store_root)
    gates.record_evidence(store_root, evidence)
    if args.json:
        print_json(evidence.to_dict())
    else:
        print(gates.render_evidence(evidence))
    return EXIT_DONE if evidence.result == gates.PASS else EXIT_FAILED


def _check(argv: list[str]) -> int:
    from slipstream.engine.checks.table import CHECKS, load_check
    wanted = [word for word in argv if word not in ("--help", "-h")]
    if not wanted or (wanted != argv and wanted[0] in CHECKS):
        width = max(map(len, CHECKS))
        for name, (_module, _function, flags, positionals, proves) in CHECKS.items():
            if name in wanted or not wanted:
                print("  %-*s  %s  (%s%s)" % (width, name, proves, " ".join("--" + flag for flag in flags),
                                              " CASE..." if positionals else ""))
        return EXIT_DONE
    function, flags, positionals = load_check(wanted[0])
    try:
        words, values = parse_flags(argv[1:], flags)
        if words and not positionals:
            raise UsageError("unexpected `%s`" % words[0])
        problems, looked_at = function(*words, **{name.replace("-", "_"): value for name, value in values.items()})
    except UsageError as error:
        print("slipstream gate check %s: %s" % (argv[0], error), file=sys.stderr)
        return EXIT_USAGE
    for problem in problems:
        print(problem)
    print("%s: %s (%s)" % (argv[0], count_of(len(problems), "problem") if problems else "ok", looked_at))
    return EXIT_FAILED if problems else EXIT_DONE


def _print_issues(issues: list[Issue], what: str, as_json: bool, extra: dict[str, object]) -> int:
    failed = has_errors(issues)
    if as_json:
        print_json({"ok": not failed, **extra, "issues": [issue.to_dict() for issue in issues]})
    else:
        for issue in issues:
            print(issue)
        counts = [sum(1 for issue in issues if issue.severity == level) for level in ("error", "warning", NOTE)]
        found = [count_of(count, name) for count, name in zip(counts, ("error", "warning", "note"))]
        print("%s: %s" % (what, ", ".join(found) if any(counts) else "ok"))
    return EXIT_FAILED if failed else EXIT_DONE


def _validate(argv: list[str]) -> int:
    parser = make_parser("validate", "Check every skill against the contract.")
    _add_skills_flag(parser)
    args = parser.parse_args(argv)
    tree_root, _store_root = roots(args)
    library = _library(args, tree_root)
    return _print_issues(library.issues, count_of(len(library.skills), "skill"), args.json,
                         {"skills": sorted(library.skills)})


def _plugin_validate(argv: list[str]) -> int:
    parser = make_parser("plugin-validate", "Check a plugin or marketplace folder as the client reads it.")
    parser.add_argument("folder", nargs="?", metavar="DIR", type=Checked(folder),
                        help="the plugin's folder (default: slipstream's own)")
    args = parser.parse_args(argv)
    from slipstream.engine.places import plugin_root
    from slipstream.engine.plugin_validate import render_provided, validate_plugin
    chosen = args.folder or plugin_root()
    if not chosen:
        raise SlipstreamError("this slipstream is not inside a plugin folder; name one")
    issues, provided = validate_plugin(chosen)
    return _print_issues(issues, "plugin (%s)" % render_provided(provided), args.json, {"provides": provided})
