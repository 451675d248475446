"""`memory ...`, `observe`, `digest`, `harvest`, `recall-signal`: what is remembered, written and forgotten."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.shown import shown_text
from slipstream.cli.flags import FROM_1
from slipstream.cli.kinds import date, file
from slipstream.cli.memory import FLAGS
from slipstream.cli.parser import EXIT_FAILED, Checked, Parser, add_shared_flags, make_parser, print_json, roots, run
from slipstream.memory.model import FACT_TYPES, is_number
from slipstream.memory.terms import KINDS

Command = Callable[[argparse.Namespace, str, str], "int | None"]
_METAVARS = {"file": "PATH", "since": "DATE"}
_HELPS = {"kind": " ".join(KINDS), "session": "only this session", "branch": "only this branch",
          "limit": "so many rows at most", "file": "only what touches it", "since": "only from then on",
          "window": "turns before and after"}


def main(argv: list[str]) -> int:
    verb, rest = argv[0], argv[1:]
    if verb == "memory":
        return run(lambda: _run_memory(rest))
    build = {"observe": _observe_parser, "digest": _digest_parser, "harvest": _harvest_parser, "recall-signal": _signal_parser}
    act: dict[str, Command] = {"observe": _observe, "digest": _digest, "harvest": _harvest, "recall-signal": _recall_signal}
    return run(lambda: _call(act[verb], build[verb]().parse_args(rest)))


def _call(command: Command, args: argparse.Namespace) -> int | None:
    tree_root, store_root = roots(args)
    return command(args, tree_root, store_root)


def _run_memory(argv: list[str]) -> int | None:
    args = memory_parser().parse_args(argv)
    return _call(args.command, args)


def memory_parser() -> Parser:
    parser = Parser(prog="slipstream memory", description="Facts, past turns and chats of this project.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def add(name: str, command: Command, summary: str) -> argparse.ArgumentParser:
        child: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        add_shared_flags(child)
        child.set_defaults(command=command)
        return child

    child = add("add", _add, "write a fact; the same name or description replaces it")
    _fact_flags(child, required=True)
    child = add("update", _update, "change fields of a fact")
    child.add_argument("name", metavar="NAME")
    _fact_flags(child, required=False)
    child = add("supersede", _supersede, "write a fact that replaces an outdated one, which stays on disk")
    child.add_argument("old", metavar="NAME")
    _fact_flags(child, required=False)
    child = add("list", _list, "all facts, one a line")
    child.add_argument("--type", metavar="TYPE", type=Checked(FACT_TYPES), help="only this type")
    add("show", _show, "one item in full: a fact's name, an observation's number, chat:SESSION:N, host:FILE:N").add_argument(
        "item", metavar="ITEM")
    child = add("recall", _recall, "facts that fit a text, in full")
    child.add_argument("query", metavar="QUERY", nargs="+")
    child.add_argument("--limit", type=Checked(FROM_1), default=5, metavar="N")
    add("prune", _prune, "delete one fact").add_argument("name", metavar="NAME")
    child = add("forget", _forget, "delete facts, or with --observations past turns, that meet every condition")
    child.add_argument("names", metavar="NAME", nargs="*", help="names of facts, or numbers of observations")
    child.add_argument("--query", default="", help="all these words")
    child.add_argument("--before", metavar="DATE", type=Checked(date), help="written before that")
    child.add_argument("--file", default="", metavar="PATH", help="citing or touching this file")
    child.add_argument("--observations", action="store_true", help="past turns instead of facts")
    child.add_argument("--dry-run", action="store_true", help="only say what would go")
    add("index", _index, "rebuild MEMORY.md and print it")
    add("doctor", _doctor, "unreadable, duplicate, stale and outdated facts; status 1 when there are any")
    add("export", _export, "every fact as a JSON line")
    add("import", _import, "facts from our export, the reference memory server's JSONL or claude-mem's export").add_argument(
        "file", metavar="FILE")
    add("share", _share, "let git track the facts, and only them")
    for name, word, summary in (("search", "QUERY", "search facts, past turns, digests, chats and the host's own notes"),
                                ("timeline", "ID|QUERY", "the turns around one"),
                                ("observations", "ID", "past turns in full")):
        child = add(name, _fast, summary)
        child.add_argument("words", metavar=word, nargs="+")
        for flag, kind in FLAGS[name].items():
            shown = _METAVARS.get(flag, "N" if isinstance(kind, range) else flag.upper())
            child.add_argument(f"--{flag}", metavar=shown, type=str if kind is str else Checked(kind), help=_HELPS.get(flag))
    child = add("lessons", _lessons, "topics that come up again and again")
    child.add_argument("--min", type=Checked(FROM_1), default=3, metavar="N", help="so many times at least")
    child.add_argument("--limit", type=Checked(FROM_1), default=10, metavar="N")
    return parser


def _fact_flags(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument("--type", required=required, metavar="TYPE", type=Checked(FACT_TYPES), help=" ".join(FACT_TYPES))
    parser.add_argument("--desc", required=required, metavar="TEXT", help="one line that says it: what searches and lists show")
    parser.add_argument("--body", required=required, metavar="TEXT", help="the whole of it, with the reason")
    parser.add_argument("--tags", metavar="A,B", help="words it is also found by")
    parser.add_argument("--source", action="append", metavar="PATH[:A-B]", help="code it speaks of; may be given again")
    if required:
        parser.add_argument("--name", help="its name (default: made from --desc)")


def _observe_parser() -> Parser:
    parser = make_parser("observe", "Turn new events into observations.")
    parser.add_argument("--session", default="main", help="which session (default: main); `dashboard sessions` lists them")
    parser.add_argument("--all", action="store_true", help="every session")
    parser.add_argument("--ci", action="store_true", help="one JSON line a new observation, nothing else, status 0")
    return parser


def _digest_parser() -> Parser:
    parser = make_parser("digest", "Save a session's digest.")
    parser.add_argument("--session", help="which session (default: the newest)")
    parser.add_argument("--trigger", default="manual", type=Checked(("auto", "manual")), metavar="auto|manual")
    parser.add_argument("--activity", default="", metavar="A||B", help="what was said or done, instead of a log")
    parser.add_argument("--files", default="", metavar="A,B", help="files that were changed")
    parser.add_argument("--open-task", default="", metavar="TEXT", help="what is left to do")
    parser.add_argument("--transcript", metavar="FILE", type=Checked(file), help="the host's transcript")
    return parser


def _harvest_parser() -> Parser:
    parser = make_parser("harvest", "Take in this project's earlier Claude Code transcripts.")
    parser.add_argument("--since", metavar="DATE", type=Checked(date), help="only what was said from then on")
    parser.add_argument("--dry-run", action="store_true", help="only say which")
    return parser


def _signal_parser() -> Parser:
    parser = make_parser("recall-signal", "Facts that fit the work at hand, as a session start gives them.")
    parser.add_argument("--branch", metavar="NAME", help="instead of the branch that is checked out")
    parser.add_argument("--files", metavar="A,B", help="instead of the files that git calls changed")
    parser.add_argument("--prompt", default="", metavar="TEXT", help="what was asked for")
    parser.add_argument("--budget", type=Checked(FROM_1), default=1200, metavar="TOKENS",
                        help="size of the answer at most (default: 1200)")
    return parser


def _split(text: str | None, mark: str = ",") -> list[str]:
    return [part.strip() for part in (text or "").split(mark) if part.strip()]


def _sources(args: argparse.Namespace, tree_root: str) -> list[dict[str, str]]:
    from slipstream.memory.freshness import cite
    return [cite(tree_root, place, os.getcwd()) for place in args.source or []]


def _tell(args: argparse.Namespace, value: Any, text: str) -> None:
    if args.json:
        print_json(value)
    else:
        print(shown_text(text))


def _add(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.base.git import read_place
    from slipstream.memory.facts import add_fact
    fact = add_fact(store_root, args.desc, args.type, args.body, args.name, _split(args.tags), _sources(args, tree_root),
                    read_place(tree_root))
    _tell(args, fact.to_record(), f'remembered "{fact.name}" ({fact.type})')


def _some_field(args: argparse.Namespace) -> None:
    if not any((args.type, args.desc, args.body, args.tags is not None, args.source)):
        raise UsageError("nothing to change: give --desc, --body, --type, --tags or --source")


def _update(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.facts import update_fact
    _some_field(args)
    tags = None if args.tags is None else _split(args.tags)
    fact = update_fact(store_root, args.name, description=args.desc, body=args.body, type=args.type, tags=tags,
                       sources=_sources(args, tree_root) or None)
    _tell(args, fact.to_record(), f'updated "{fact.name}" ({fact.type})')


def _supersede(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.base.git import read_place
    from slipstream.memory.facts import get_fact, supersede_fact
    _some_field(args)
    old = get_fact(store_root, args.old)
    fact = supersede_fact(store_root, args.old, args.desc or old.description, args.body or old.body, args.type,
                          tags=None if args.tags is None else _split(args.tags), sources=_sources(args, tree_root),
                          place=read_place(tree_root))
    _tell(args, fact.to_record(), f'"{fact.name}" supersedes "{args.old}"')


def _list(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.fact_index import superseded_names
    from slipstream.memory.fact_reading import load_facts
    store = load_facts(store_root)
    facts = [fact for fact in store.facts if args.type in (None, fact.type)]
    replaced = superseded_names(store.facts)
    lines = [f"{fact.name} ({fact.type}): {' '.join(fact.description.split())}"
             + (f" [superseded by {replaced[fact.name]}]" if fact.name in replaced else "") for fact in facts]
    for name, reason in store.problems[:20]:
        print(f"slipstream: {name}: {reason}", file=sys.stderr)
    nothing = f"no memories of type {args.type}" if args.type else "no memories yet"
    _tell(args, [fact.to_record() for fact in facts], "\n".join(lines) or nothing)


def _show(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.briefing import render_facts
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.search import find_records, show_item
    item = args.item.strip().lstrip("#")
    store = load_facts(store_root)
    fact = None if is_number(item) else store.find(item.partition(":")[2] if item.startswith("fact:") else item)
    if fact is not None:
        _tell(args, fact.to_record(), render_facts(store_root, tree_root, [fact], store))
        return
    text = show_item(store_root, item)
    if text is None:
        raise SlipstreamError(f'nothing is remembered as "{args.item}"')
    _tell(args, find_records(store_root, [int(item)])[0] if is_number(item) else {"id": item, "text": text}, text)


def _recall(args: argparse.Namespace, tree_root: str, store_root: str) -> int | None:
    from slipstream.memory.briefing import render_facts
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.recall import rank_by_text
    store = load_facts(store_root)
    facts = rank_by_text(store.facts, " ".join(args.query), args.limit)
    _tell(args, [fact.to_record() for fact in facts], render_facts(store_root, tree_root, facts, store))
    return None if facts else EXIT_FAILED


def _prune(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.facts import prune_fact
    if not prune_fact(store_root, args.name):
        raise SlipstreamError(f'no memory named "{args.name}"')
    _tell(args, {"forgot": args.name}, f'forgot "{args.name}"')


def _forget(args: argparse.Namespace, tree_root: str, store_root: str) -> int | None:
    from slipstream.memory.forget import forget_facts, forget_observations, select_facts
    verb = "would forget" if args.dry_run else "forgot"
    gone: list[Any]
    if args.observations:
        ids = [int(name.lstrip("#")) for name in args.names if is_number(name.lstrip("#"))]
        if len(ids) != len(args.names):
            raise UsageError("observations are named by their numbers")
        if not (ids or args.query or args.before or args.file):
            raise UsageError("forget which? ID..., --query, --before or --file")
        gone = list(forget_observations(store_root, ids, args.before or "", args.file, args.query, args.dry_run))
    else:
        if not (args.names or args.query or args.before or args.file):
            raise UsageError("forget what? NAME..., --query, --before or --file")
        facts = select_facts(store_root, args.names, args.query, args.before or "", args.file)
        how = " ".join(key for key in ("names", "query", "before", "file") if getattr(args, key))
        gone = list(forget_facts(store_root, facts, how, args.dry_run))
    text = f"{verb} {len(gone)}: {', '.join(map(str, gone))}" if gone else "nothing fits"
    _tell(args, {"dryRun": args.dry_run, "forgot": gone}, text)
    return None if gone else EXIT_FAILED


def _index(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.facts import rebuild_index
    text = rebuild_index(store_root)
    _tell(args, {"index": text}, text.rstrip("\n"))


def _doctor(args: argparse.Namespace, tree_root: str, store_root: str) -> int | None:
    from slipstream.memory.health import check_memory, render_health
    report = check_memory(store_root, tree_root)
    _tell(args, report, render_health(report))
    return EXIT_FAILED if any(report[key] for key in ("problems", "duplicates", "stale", "outdated", "torn")) else None


def _export(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.transfer import export_facts
    sys.stdout.write(export_facts(store_root))


def _import(args: argparse.Namespace, tree_root: str, store_root: str) -> int | None:
    from slipstream.memory.transfer import import_file
    added, known, bad = import_file(store_root, args.file)
    for line in bad[:20]:
        print(f"slipstream: {args.file}: {line}", file=sys.stderr)
    _tell(args, {"added": added, "known": known, "bad": bad}, f"added {added}, {known} already there, {len(bad)} not taken")
    return EXIT_FAILED if bad and not added and not known else None


def _share(args: argparse.Namespace, tree_root: str, store_root: str) -> int | None:
    from slipstream.memory.share import find_ignore_rule, find_unshared, share_memory
    paths, rule = share_memory(store_root), find_ignore_rule(store_root)
    text = "git may now track the facts:"
    if rule:
        text = f"{rule} still keeps the facts out of git; put `.claude/*` and `!.claude/slipstream/` in its place, then"
    text += "\n  git add " + " ".join(paths)
    unshared = [] if rule else find_unshared(store_root)
    if unshared:
        text += "\nit tracks your digests or the index from before:\n  git rm --cached --ignore-unmatch " \
                '".claude/slipstream/memory/session-digest-*" .claude/slipstream/memory/MEMORY.md'
    _tell(args, {"paths": paths, "ignoredBy": rule, "unshared": unshared}, text)
    return EXIT_FAILED if rule else None


def _fast(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    raise SlipstreamError("handled by cli.memory")


def _lessons(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.lessons import find_lessons, render_lessons
    lessons = find_lessons(store_root, args.min, args.limit)
    _tell(args, [lesson.to_record() for lesson in lessons], render_lessons(lessons))


def _observe(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.base.json_files import dump_json
    from slipstream.memory.observe import capture, capture_all
    records = capture_all(store_root, tree_root=tree_root) if args.all else \
        capture(store_root, args.session, tree_root=tree_root)
    if args.ci:
        for record in records:
            print(dump_json(record))
        return
    lines = [f"#{record['id']} [{record['kind']}] {record['summary']}" for record in records]
    nothing = "no new observations" + ("" if args.all else f" in session {args.session}; --all takes in every session")
    _tell(args, records, "\n".join(lines) or nothing)


def _digest(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.digest import digest_result, take_digest
    digest, fact = take_digest(store_root, args.session, args.trigger, args.transcript, args.open_task, tree_root,
                               extra_activity=_split(args.activity, "||"), extra_files=_split(args.files),
                               may_be_empty=False)
    _tell(args, {**digest_result(digest, fact), "digest": digest.to_record()}, f"saved {fact.name}\n\n{fact.body}")


def _harvest(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.base.instants import parse_iso
    from slipstream.memory.harvest import harvest, render_harvest
    report = harvest(store_root, parse_iso(args.since) if args.since else None, args.dry_run)
    _tell(args, report.to_record(), render_harvest(report, args.dry_run))


def _recall_signal(args: argparse.Namespace, tree_root: str, store_root: str) -> None:
    from slipstream.memory.authors import find_authors
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.freshness import mark_sources
    from slipstream.memory.recall import current_facts, rank_by_signal, render_recall
    from slipstream.memory.signal import Signal, read_signal
    given = args.branch is not None or args.files is not None
    signal = Signal(args.branch or "", _split(args.files), args.prompt) if given else read_signal(tree_root, args.prompt)
    hits = rank_by_signal(current_facts(load_facts(store_root).facts), signal)
    text, taken = render_recall(hits, args.budget, lambda fact: mark_sources(tree_root, fact.sources), find_authors(store_root))
    if not taken and not args.json:
        print("no fact fits", file=sys.stderr)
        return
    by_name = {hit.fact.name: {"name": hit.fact.name, "score": hit.score, "reasons": hit.reasons} for hit in hits}
    _tell(args, [by_name[fact.name] for fact in taken], text)
