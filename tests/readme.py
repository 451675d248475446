"""The README's tables, made from the code they describe: `python3 -m tests.readme` rewrites them, a test compares.

Each table stands between `<!-- NAME -->` and `<!-- /NAME -->`.
"""
from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import slipstream as launcher_or_package  # noqa: F401 -- the package, since tests/__init__ put it on the path first
from tests import ROOT

README = os.path.join(ROOT, "README.md")
ON_STANDARD_INPUT = {"hook": "hook EVENT", "statusline": "statusline", "mcp": "mcp"}  # no parser: every line of it is start-up
SHARED_FLAGS = {"--root", "--json", "--help", "-h"}


def load_launcher() -> Any:
    """The launcher, whose name the package has too."""
    spec = importlib.util.spec_from_file_location("slipstream_launcher", os.path.join(ROOT, "slipstream.py"))
    assert spec and spec.loader
    launcher = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launcher)
    return launcher


def load_verbs() -> dict[str, str]:
    """Verb -> module, from the launcher's table."""
    return {verb: module for module, verbs in load_launcher().VERBS.items() for verb in verbs.split()}


class _Caught(Exception):
    pass


def parser_of(module: Any, *words: str) -> argparse.ArgumentParser | None:
    """The argparse parser a verb builds, caught when it is asked for its help; None where a verb has none."""
    caught: list[argparse.ArgumentParser] = []

    def catch(self: argparse.ArgumentParser, file: object = None) -> None:
        caught.append(self)
        raise _Caught

    with mock.patch.object(argparse.ArgumentParser, "print_help", catch), mock.patch("sys.stdout"), mock.patch("sys.stderr"):
        try:
            module.main([*words, "--help"])
        except _Caught:
            pass
    return caught[0] if caught else None


def flags_of(parser: argparse.ArgumentParser) -> list[str]:
    """`--name VALUE` of every flag of its own, in the order of its help."""
    found = []
    for action in parser._actions:
        names = [name for name in action.option_strings if name.startswith("--")]
        if names and not set(action.option_strings) & SHARED_FLAGS and action.help != argparse.SUPPRESS:
            value = "" if action.nargs == 0 else " " + (action.metavar if isinstance(action.metavar, str) else
                                                        "|".join(map(str, action.choices)) if action.choices else action.dest.upper())
            found.append(names[0] + value)
    return found


def positionals_of(parser: argparse.ArgumentParser) -> str:
    words = []
    for action in parser._actions:
        if action.option_strings or isinstance(action, argparse._SubParsersAction):
            continue
        name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        words.append({"?": f"[{name}]", "*": f"[{name}...]", "+": f"{name}..."}.get(str(action.nargs), name))
    return " ".join(words)


def commands() -> Iterator[tuple[str, list[str], str]]:
    """(verb with arguments, flags, what it does) of every command and sub-command."""
    from slipstream.cli.help import SUMMARIES
    verbs = load_verbs()
    for verb, summary in SUMMARIES.items():
        module = importlib.import_module("slipstream." + verbs[verb])
        usages = getattr(module, "USAGE", None)
        if verb in ON_STANDARD_INPUT:
            yield ON_STANDARD_INPUT[verb], [], summary
            continue
        usage = usages.get(verb) if isinstance(usages, dict) else usages.removeprefix("usage: slipstream ") if isinstance(usages, str) else None
        if usage:
            flags = re.findall(r"\[(--[a-z-]+(?: [A-Z]+)?)\]", usage)
            yield usage.split(" [--")[0].strip(), [flag for flag in flags if flag.split()[0] not in SHARED_FLAGS], summary
            continue
        parser = parser_of(module, verb)
        if verb == "budget":  # `set` is a word of its own parser
            sub = parser_of(module, verb, "set")
            assert parser and sub
            yield "budget set", flags_of(sub), sub.description or ""
        if parser is None:
            yield verb, [], summary
            continue
        subparsers = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not subparsers or flags_of(parser) or positionals_of(parser):
            yield f"{verb} {positionals_of(parser)}".strip(), flags_of(parser), summary
        for action in subparsers:
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, sub in action.choices.items():
                yield f"{verb} {name} {positionals_of(sub)}".strip(), flags_of(sub), helps.get(name, "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip()


def table_commands() -> str:
    rows = [f"| `{_cell(words)}` | {' '.join(f'`{_cell(flag)}`' for flag in flags)} | {_cell(what)} |" for words, flags, what in commands()]
    return "\n".join(["| command | flags | what it does |", "| --- | --- | --- |", *rows])


def table_settings() -> str:
    from slipstream.base.settings import SETTINGS
    rows = [f"| `{key}` | `{json.dumps(default)}` | {'yes' if project else 'no'} | {_cell(what)} |" for key, (default, project, what) in SETTINGS.items()]
    return "\n".join(["| key | default | in a project file | what it does |", "| --- | --- | --- | --- |", *rows])


def table_languages() -> str:
    from slipstream.map.languages.registry import LANGUAGES
    full = [(row[0], row[3], row[4]) for row in LANGUAGES.values() if row[2] == "full"]
    outline = [(row[0], row[3], row[4]) for row in LANGUAGES.values() if row[2] != "full"]

    def listed(rows: list[tuple[str, tuple[str, ...], tuple[str, ...]]]) -> str:
        return "\n".join(f"| {name} | {' '.join(['`.' + one + '`' for one in extensions] + ['`' + one + '`' for one in names])} |" for name, extensions, names in rows)
    text = "| in full: definitions, members, ends, imports | files |\n| --- | --- |\n" + listed(full)
    return text + ("\n\n| outline only | files |\n| --- | --- |\n" + listed(outline) if outline else "")


TABLES = {"commands": table_commands, "settings": table_settings, "languages": table_languages}


def refresh(text: str) -> str:
    """The README with every table as the code has it now."""
    for name, make in TABLES.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda found, make=make: found.group(1) + make() + "\n" + found.group(2), text, flags=re.S)
    return text


def main() -> int:
    with open(README, encoding="utf-8") as stream:
        old = stream.read()
    new = refresh(old)
    if new != old:
        with open(README, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(new)
        print("README.md rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
