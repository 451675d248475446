"""Typed reading of a Markdown file's frontmatter: each value checked, each finding with the line of its key."""
from __future__ import annotations

import re
from typing import Any

from slipstream.engine.issue import ERROR, Issue, unknown_key


def key_lines(text: str) -> tuple[dict[str, int], int]:
    """Line of each frontmatter key by dotted path (`slipstream.verification.kind`), and the body's first line."""
    lines = text.replace("\r\n", "\n").split("\n")
    found: dict[str, int] = {}
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return found, 1
    stack: list[tuple[int, str]] = []
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == "---":
            return found, number + 1
        match = re.match(r"^( *)([\"']?)([A-Za-z_$][^:\"']*?)\2\s*:(?:\s|$)", line)
        if not match:
            continue
        indent = len(match.group(1))
        while stack and stack[-1][0] >= indent:
            stack.pop()
        stack.append((indent, match.group(3)))
        found.setdefault(".".join(key for _indent, key in stack), number)
    return found, 1


class MatterReader:
    """Collects the issues of one file while its values are read with their types checked."""

    def __init__(self, path: str, lines: dict[str, int]) -> None:
        self.path = path
        self.lines = lines
        self.issues: list[Issue] = []

    def line(self, key: str) -> int:
        while key:
            if key in self.lines:
                return self.lines[key]
            key = key.rpartition(".")[0]
        return 1

    def add(self, key: str, severity: str, rule: str, message: str) -> None:
        self.issues.append(Issue(self.path, self.line(key), severity, rule, message))

    def text(self, block: dict[str, Any], key: str, dotted: str, required: bool = False) -> str:
        value = block.get(key)
        if value is None or value == "":
            if required:
                self.add(dotted, ERROR, "missing", "`%s` is missing or empty" % dotted)
            return ""
        if isinstance(value, (dict, list)):
            self.add(dotted, ERROR, "type", "`%s` must be text" % dotted)
            return ""
        return str(value).strip()

    def mapping(self, block: dict[str, Any], key: str, dotted: str) -> dict[str, Any]:
        value = block.get(key)
        if value is None or value == "":
            return {}
        if not isinstance(value, dict):
            self.add(dotted, ERROR, "type", "`%s` must be a mapping" % dotted)
            return {}
        return value

    def names(self, block: dict[str, Any], key: str, dotted: str) -> list[str]:
        value = block.get(key)
        if value is None or value == "":
            return []
        if not isinstance(value, list) or any(isinstance(item, (dict, list)) for item in value):
            self.add(dotted, ERROR, "type", "`%s` must be a list of names" % dotted)
            return []
        return [str(item).strip() for item in value]

    def flag(self, block: dict[str, Any], key: str, dotted: str, default: bool) -> bool:
        value = block.get(key)
        if value is None or value == "":
            return default
        text = str(value).lower()
        if text in ("true", "yes", "on"):
            return True
        if text in ("false", "no", "off"):
            return False
        self.add(dotted, ERROR, "type", "`%s` must be true or false" % dotted)
        return default

    def unknown(self, block: dict[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for key in block:
            if key not in known:
                dotted = "%s.%s" % (prefix, key) if prefix else key
                self.issues.append(unknown_key(self.path, self.line(dotted), prefix, key, list(known)))
