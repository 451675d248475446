"""The user's own patterns, redact.json: checked when loaded, so that none of them can hang a hook. Security-relevant."""

from __future__ import annotations

import json
import os
import re
import warnings
from typing import Any

from slipstream.base.files import read_text
from slipstream.base.roots import store_dir

MAX_RULES, MAX_CHARS = 100, 65536
_cache: dict[str, tuple[tuple[int, int], list[tuple[str, re.Pattern[str]]]]] = {}


def rules_path(store_root: str) -> str:
    return os.path.join(store_dir(store_root), "redact.json")


def apply_rules(store_root: str, text: str) -> tuple[str, int]:
    """(text, count) after the project's own rules; a pattern sees at most 64 KB at once, cut at a line's end."""
    rules = load_rules(store_root)
    if not rules:
        return text, 0
    pieces, total = [], 0
    for piece in _slices(text):
        for label, expression in rules:
            piece, count = expression.subn(f"[redacted:{label}]", piece)
            total += count
        pieces.append(piece)
    return "".join(pieces), total


def load_rules(store_root: str) -> list[tuple[str, re.Pattern[str]]]:
    """The usable rules, kept until the file changes."""
    path = rules_path(store_root)
    try:
        found = os.lstat(path)
    except OSError:
        return []
    stamp = (found.st_mtime_ns, found.st_size)
    if path not in _cache or _cache[path][0] != stamp:
        _cache[path] = (stamp, check_rules(path)[0])
    return _cache[path][1]


def check_rules(path: str) -> tuple[list[tuple[str, re.Pattern[str]]], list[str]]:
    """(usable rules, one line for each that is refused and why) of a redact.json; doctor shows the second."""
    try:
        content = json.loads(read_text(path, 1_000_000))
    except (OSError, ValueError, RecursionError) as error:
        return [], [f"{path}: not readable as JSON: {error}"]
    entries = content.get("patterns") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        return [], [f"{path}: no list named patterns"]
    rules, refused = [], []
    for number, entry in enumerate(entries[:MAX_RULES], 1):
        reason, expression = _compile(entry)
        if expression is None:
            refused.append(f"{path}: pattern {number} refused: {reason}")
        else:
            label = re.sub(r"[^A-Za-z0-9_.-]+", "-", str(entry.get("label") or "custom")).strip("-")[:40] or "custom"
            rules.append((label, expression))
    if len(entries) > MAX_RULES:
        refused.append(f"{path}: only the first {MAX_RULES} patterns are used")
    return rules, refused


def _compile(entry: Any) -> tuple[str, re.Pattern[str] | None]:
    if not isinstance(entry, dict) or not isinstance(entry.get("pattern"), str) or not entry["pattern"]:
        return "no text named pattern", None
    flags = 0
    for letter in str(entry.get("flags") or ""):
        flags |= {"i": re.I, "m": re.M, "s": re.S}.get(letter, 0)
    source = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", entry["pattern"])  # a named group as JavaScript writes it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reason = find_danger(source, flags)
            expression = re.compile(source, flags)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error), None
    if reason:
        return reason, None
    if expression.search(""):
        return "it matches the empty text", None
    return "", expression


def find_danger(pattern: str, flags: int = 0) -> str:
    """Why a pattern could run for ever, or "": an unbounded repeat inside another, a back-reference, chained wide repeats."""
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:
        import sre_parse as parser
    return _walk(parser.parse(pattern, flags), False)


def _walk(node: Any, inside: bool) -> str:
    repeats = 0
    for operation, argument in node:
        name = str(operation)
        if name.startswith("GROUPREF"):
            return "a back-reference"
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = argument
            unbounded = int(most) - int(least) > 32
            if unbounded and inside:
                return "an unbounded repeat inside another"
            repeats += unbounded
            if repeats > 2:
                return "more than two unbounded repeats in one sequence"
            reason = _walk(body, inside or int(most) > 1)
        else:
            reason = next((why for part in _parts(argument) for why in [_walk(part, inside)] if why), "")
        if reason:
            return reason
    return ""


def _parts(argument: Any) -> list[Any]:
    """Sub-patterns anywhere in an operation's argument (groups, branches, look-arounds)."""
    if hasattr(argument, "data"):
        return [argument]
    if isinstance(argument, (list, tuple)):
        return [part for item in argument for part in _parts(item)]
    return []


def _slices(text: str) -> list[str]:
    slices, start = [], 0
    while len(text) - start > MAX_CHARS:
        end = text.rfind("\n", start + MAX_CHARS // 2, start + MAX_CHARS) + 1 or start + MAX_CHARS
        slices.append(text[start:end])
        start = end
    return [*slices, text[start:]]
