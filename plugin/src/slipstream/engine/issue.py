"""One finding about a file, with its place and severity, shared by the skill, plugin and set-up validators."""
from __future__ import annotations

ERROR = "error"
WARNING = "warning"
NOTE = "note"


class Issue:
    """A finding: `path` as shown to the user, `line` (1-based, 0 when the whole file is meant), `rule` a stable id."""

    __slots__ = ("line", "message", "path", "rule", "severity")

    def __init__(self, path: str, line: int, severity: str, rule: str, message: str) -> None:
        self.path = path
        self.line = line
        self.severity = severity
        self.rule = rule
        self.message = message

    def to_dict(self) -> dict[str, str | int]:
        return {
            "path": self.path,
            "line": self.line,
            "severity": self.severity,
            "rule": self.rule,
            "message": self.message,
        }

    def __str__(self) -> str:
        place = "%s:%d" % (self.path, self.line) if self.line else self.path
        return "%s: %s: %s [%s]" % (place, self.severity, self.message, self.rule)


def has_errors(issues: list[Issue]) -> bool:
    """True when at least one finding makes the validated thing wrong (warnings and notes do not)."""
    return any(issue.severity == ERROR for issue in issues)


def sort_issues(issues: list[Issue]) -> list[Issue]:
    """By file, then line, then rule."""
    return sorted(issues, key=lambda issue: (issue.path, issue.line, issue.rule, issue.message))


def closest(word: str, known: list[str]) -> str:
    """The known word a typo most likely meant, or "" when none is near."""
    import difflib

    folded = {name.lower().replace("_", "-"): name for name in known}
    found = difflib.get_close_matches(word.lower().replace("_", "-"), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else ""


def unknown_key(path: str, line: int, where: str, key: str, known: list[str]) -> Issue:
    """The warning for a key nobody reads, with the key it was probably meant to be."""
    near = closest(key, known)
    hint = ", did you mean `%s`?" % near if near else ""
    return Issue(path, line, WARNING, "unknown-key", "unknown key `%s`%s%s" % (key, where and " in %s" % where, hint))
