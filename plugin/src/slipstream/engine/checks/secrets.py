"""Checks about secrets: none in tracked files, local secret files ignored, every variable named in the example file."""
from __future__ import annotations

import os
import re

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.base.git import run_git
from slipstream.engine.find_rules import SKIPPED
from slipstream.events.redact import redact_text

FILE_LIMIT_BYTES = 1_000_000
LOCAL_FILES = ".env,.env.local,.dev.vars"
SOURCES = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".py")
_READS = re.compile(
    r"""(?:process\.env|import\.meta\.env|Bun\.env)(?:\.([A-Z][A-Z0-9_]*)\b|\[["']([A-Z][A-Z0-9_]*)["']\])"""
    r"""|Deno\.env\.get\(["']([A-Z][A-Z0-9_]*)["']\)|os\.environ(?:\.get\(|\[)["']([A-Z][A-Z0-9_]*)["']"""
    r"""|os\.getenv\(["']([A-Z][A-Z0-9_]*)["']""")
_PUBLIC = re.compile(r"^(NEXT_PUBLIC|VITE|PUBLIC|NUXT_PUBLIC|REACT_APP|EXPO_PUBLIC)_")
_SECRET_NAME = re.compile(r"(SECRET|PASSWORD|PRIVATE|SERVICE_ROLE|TOKEN|API_KEY)")
_GIVEN = frozenset(("NODE_ENV", "PORT", "HOST", "CI", "HOME", "PATH", "DEV", "PROD", "MODE", "SSR", "BASE_URL",
                    "VERCEL_ENV", "VERCEL_URL"))


def list_files(folder: str) -> list[str]:
    """Files git tracks below the folder, or all of them outside a repository; relative, forward slashes."""
    out = run_git(["ls-files", "-z"], folder)
    if out is not None:
        return sorted(name for name in out.decode("utf-8", "replace").split("\0") if name)
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        found += [os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/") for name in names]
    return sorted(found)


def check_secrets(dir: str = ".", ignored: str = LOCAL_FILES) -> tuple[list[str], str]:
    if not os.path.isdir(dir):
        raise SlipstreamError("no such folder", dir)
    problems: list[str] = []
    files = list_files(dir)
    for name in files:
        try:
            text = read_text(os.path.join(dir, name), FILE_LIMIT_BYTES)
        except OSError:
            continue
        if "\0" in text[:1024]:
            continue
        if redact_text(text)[1]:
            lines = [number for number, line in enumerate(text.split("\n"), 1) if redact_text(line)[1]]
            problems += ["%s:%d: looks like a secret" % (name, number) for number in lines or [1]]
    if run_git(["rev-parse", "--git-dir"], dir) is not None:
        for name in filter(None, (part.strip() for part in ignored.split(","))):
            if name in files:
                problems.append("%s is tracked by git" % name)
            elif run_git(["check-ignore", "-q", name], dir) is None:
                problems.append("%s is not ignored by git" % name)
    return problems, count_of(len(files), "file")


def check_env_example(dir: str = ".", example: str = ".env.example") -> tuple[list[str], str]:
    path = os.path.join(dir, example)
    try:
        listed = set(re.findall(r"^\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=", read_text(path), re.M))
    except OSError:
        raise SlipstreamError("there is no such file; list every variable in it, without values", path) from None
    used: dict[str, str] = {}
    for name in list_files(dir):
        if name.endswith(SOURCES) and not re.search(r"\.(test|spec)\.", name):
            try:
                text = read_text(os.path.join(dir, name), FILE_LIMIT_BYTES)
            except OSError:
                continue
            for number, line in enumerate(text.split("\n"), 1):
                for match in _READS.finditer(line):
                    used.setdefault(next(group for group in match.groups() if group), "%s:%d" % (name, number))
    problems = ["%s: %s is read but not in %s" % (where, name, example)
                for name, where in sorted(used.items()) if name not in listed and name not in _GIVEN]
    problems += ["%s: %s is sent to every browser but is named like a secret" % (used.get(name, example), name)
                 for name in sorted(listed | set(used)) if _PUBLIC.match(name) and _SECRET_NAME.search(name)]
    problems += ["%s: %s is listed but nothing reads it" % (example, name) for name in sorted(listed - set(used))] \
        if used else ["no source file reads an environment variable"]
    if redact_text(read_text(path))[1]:
        problems.append("%s holds a real value" % example)
    return problems, count_of(len(used), "variable")
