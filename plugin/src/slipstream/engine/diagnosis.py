"""What doctor says of one thing: a level, a detail, a remedy, and sometimes a safe repair; and the report made of them."""
from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

OK, WARN, FAIL = "ok", "warn", "fail"
LEVELS = (OK, WARN, FAIL)


class Finding:
    """`fix` repairs what is safe to repair and returns a line that says what it did."""

    __slots__ = ("check", "detail", "fix", "level", "ms", "remedy")

    def __init__(self, check: str, level: str, detail: str, remedy: str = "", fix: Callable[[], str] | None = None) -> None:
        self.check = check
        self.level = level
        self.detail = detail
        self.remedy = remedy
        self.fix = fix
        self.ms = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {"check": self.check, "level": self.level, "detail": self.detail, "remedy": self.remedy or None,
                "fixable": self.fix is not None, "ms": round(self.ms, 1)}


class Patient:
    """The install under examination: roots, home, environment and the plugin's places."""

    __slots__ = ("command", "env", "home", "plugin", "pyz", "store_root", "tree_root")

    def __init__(self, tree_root: str, store_root: str, home: str, env: dict[str, str], plugin: str, pyz: str,
                 command: list[str]) -> None:
        self.tree_root = tree_root
        self.store_root = store_root
        self.home = home
        self.env = env
        self.plugin = plugin
        self.pyz = pyz
        self.command = command

    def short(self, path: str) -> str:
        """A path as one may paste it: the home folder as ~."""
        return "~" + path[len(self.home):] if path.startswith(self.home + os.sep) else path


Check = Callable[[Patient], "list[Finding]"]


def examine(patient: Patient, checks: dict[str, Check], only: list[str]) -> list[Finding]:
    """Run the checks in order; one that breaks is itself a finding and keeps no other from running."""
    findings: list[Finding] = []
    for name, check in checks.items():
        if only and name not in only:
            continue
        begun = time.perf_counter()
        try:
            found = check(patient)
        except Exception as error:
            found = [Finding(name, FAIL, "could not be examined: %s: %s" % (type(error).__name__, error),
                             "the line above is what went wrong; `slipstream doctor --only %s` tries again" % name)]
        for finding in found:
            finding.ms = (time.perf_counter() - begun) * 1000 / len(found)
        findings += found
    return findings


def render_report(header: list[str], findings: list[Finding]) -> str:
    width = max([len(finding.check) for finding in findings] or [0])
    lines = header + [""]
    for finding in findings:
        lines.append("%-4s  %-*s  %s" % (finding.level, width, finding.check, finding.detail))
        if finding.level != OK and finding.remedy:
            lines.append("      %*s  -> %s%s" % (width, "", finding.remedy, " (or --fix)" if finding.fix else ""))
    counts = ["%d %s" % (sum(1 for finding in findings if finding.level == level), level) for level in LEVELS]
    return "\n".join(lines + ["", ", ".join(counts)])
