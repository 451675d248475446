"""How a gate's input is found in the project: a rule is `KIND:ARGUMENT`, alternatives are joined by ` | `.
Values come from files the project controls, so they are only ever used as one argument of a command.
"""
from __future__ import annotations

import json
import os
import re
from typing import Any, Callable

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.base.git import read_head, run_git
from slipstream.base.paths import resolve_inside

READ_LIMIT_BYTES = 1_000_000
WALK_LIMIT = 20_000
GIT_TIMEOUT_S = 10.0
SKIPPED = frozenset(("node_modules", ".git", "dist", "build", ".next", "vendor", "target", ".venv", "venv", "__pycache__"))


def check_rule(rule: str) -> str:
    """What is wrong with a rule's form, or "" when it can be used."""
    kind, colon, argument = rule.partition(":")
    if not colon or kind not in FINDERS:
        return "`%s` is not a way to find a value; it must start with one of %s" % (
            rule, ", ".join(name + ":" for name in FINDERS))
    if kind in ("json", "match") and "#" not in argument:
        return "`%s` must name a file and, after #, %s" % (rule, "a dotted path" if kind == "json" else "a pattern")
    if kind == "match":
        try:
            if re.compile(argument.partition("#")[2]).groups != 1:
                return "the pattern of `%s` must have exactly one group" % rule
        except re.error as error:
            return "the pattern of `%s` is not a regular expression: %s" % (rule, error)
    if kind == "git" and argument not in ("branch", "base", "tag"):
        return "`git:` finds `branch`, `base` or `tag`, not `%s`" % argument
    if kind == "detect" and argument not in DETECTORS:
        return "`detect:` finds %s, not `%s`" % (", ".join(DETECTORS), argument)
    return "" if argument else "`%s` names nothing to look for" % rule


def find_value(rules: str, root: str) -> str | None:
    """The first value one of the rules finds in the project at `root`, or None. Raises nothing for absent files."""
    for rule in (part.strip() for part in rules.split(" | ")):
        kind, _colon, argument = rule.partition(":")
        finder = FINDERS.get(kind)
        if finder is None:
            continue
        value = finder(argument, root)
        if value:
            return value
    return None


def _read(root: str, name: str) -> str:
    try:
        return read_text(resolve_inside(root, name), READ_LIMIT_BYTES)
    except (OSError, SlipstreamError):
        return ""


def _find_env(argument: str, root: str) -> str | None:
    return os.environ.get(argument)


def _find_json(argument: str, root: str) -> str | None:
    name, _hash, dotted = argument.partition("#")
    try:
        value: Any = json.loads(_read(root, name) or "null")
    except ValueError:
        return None
    for key in dotted.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def _find_match(argument: str, root: str) -> str | None:
    name, _hash, pattern = argument.partition("#")
    match = re.search(pattern, _read(root, name), re.M)
    return match.group(1) if match else None


def _matching(pattern: str, root: str) -> list[str]:
    """Project files that match a glob (`*` inside one folder, `**` across folders), sorted, shallow ones first."""
    regex = re.compile("".join(
        "(?:.*/)?" if part == "**/" else ".*" if part == "**" else "[^/]*" if part == "*" else "[^/]" if part == "?"
        else re.escape(part) for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern)) + r"\Z")
    found: list[str] = []
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        for name in files + [entry + "/" for entry in folders]:
            path = name if relative == "." else "%s/%s" % (relative, name)
            if regex.match(path.rstrip("/")) and path.endswith("/") == pattern.endswith("/"):
                found.append(path.rstrip("/"))
            seen += 1
        if seen > WALK_LIMIT:
            break
    return sorted(found, key=lambda path: (path.count("/"), path))


def _find_path(argument: str, root: str) -> str | None:
    if "*" not in argument and "?" not in argument:
        return argument if os.path.exists(os.path.join(root, argument)) else None
    found = _matching(argument, root)
    return found[0] if found else None


def _find_folder(argument: str, root: str) -> str | None:
    found = _find_path(argument, root)
    return None if found is None else os.path.dirname(found) or "."


def _find_script(argument: str, root: str) -> str | None:
    """The command that runs a package.json script with the package manager the project uses."""
    try:
        scripts = json.loads(_read(root, "package.json") or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        return None
    for name in argument.split(","):
        if isinstance(scripts, dict) and scripts.get(name):
            return "%s run %s" % (_package_manager(root), name)
    return None


def _find_git(argument: str, root: str) -> str | None:
    if argument == "branch":
        return read_head(root)[0]
    if argument == "tag":
        return _git_line(["describe", "--tags", "--abbrev=0"], root)
    for ref in ("origin/HEAD", "origin/main", "origin/master", "main", "master"):
        if _git_line(["rev-parse", "--verify", "--quiet", ref + "^{commit}"], root):
            return ref
    return None


def _git_line(args: list[str], root: str) -> str | None:
    out = run_git(args, root, GIT_TIMEOUT_S)
    text = (out or b"").decode("utf-8", "replace").strip()
    return text.split("\n")[0] if text else None


def _package_manager(root: str) -> str:
    declared = _find_json("package.json#packageManager", root) or ""
    name = declared.split("@")[0]
    if name in ("npm", "pnpm", "yarn", "bun"):
        return name
    for lock, manager in (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")):
        if os.path.exists(os.path.join(root, lock)):
            return manager
    return "npm"


def _test_command(root: str) -> str | None:
    script = _find_script("test", root)
    if script:
        return script
    if os.path.exists(os.path.join(root, "go.mod")):
        return "go test ./..."
    if os.path.exists(os.path.join(root, "Cargo.toml")):
        return "cargo test"
    if os.path.exists(os.path.join(root, "pytest.ini")) or "[tool.pytest" in _read(root, "pyproject.toml"):
        return "python3 -m pytest -q"
    if _matching("**/test_*.py", root):
        return "python3 -m unittest"
    if re.search(r"^test:", _read(root, "Makefile"), re.M):
        return "make test"
    return None


DETECTORS: dict[str, Callable[[str], str | None]] = {
    "package-manager": _package_manager,
    "test-command": _test_command,
}


def _find_detect(argument: str, root: str) -> str | None:
    return DETECTORS[argument](root)


FINDERS: dict[str, Callable[[str, str], str | None]] = {
    "env": _find_env,
    "json": _find_json,
    "match": _find_match,
    "path": _find_path,
    "folder": _find_folder,
    "script": _find_script,
    "git": _find_git,
    "detect": _find_detect,
}
