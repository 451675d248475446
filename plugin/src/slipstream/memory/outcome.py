"""What a tool call came to: the first error line, the tests run, the lines changed."""
from __future__ import annotations

import re
from typing import Any

_MAX_LINE_CHARS = 200
_ERROR_LINE = re.compile(r"(?i)\b(?:error|exception|failed|failure|fatal|panic|traceback|denied|not found|cannot|undefined)\b"
                         r"|^E\s|Error:")
_NO_ERROR = re.compile(r"(?i)\b(?:0|no) (?:errors?|failures?|failed)\b|^Traceback \(most recent")
# Summary lines of the test runners in common use, as (pattern, what it counts). The last match in the output wins.
_TEST_LINES = (
    re.compile(r"(?m)^=+ .*\b\d+ (?:passed|failed|error|errors|skipped)\b.*=+$"),  # pytest
    re.compile(r"(?m)^\d+ (?:passed|failed)(?:, \d+ \w+)* in [\d.]+s"),  # pytest -q
    re.compile(r"(?m)^Ran \d+ tests? in [\d.]+s\s+^(?:OK|FAILED)\b.*$"),  # unittest
    re.compile(r"(?m)^Tests:\s+.*\d+ total$"),  # jest
    re.compile(r"(?m)^\s*Tests\s+\d+ .*\(\d+\)$"),  # vitest
    re.compile(r"(?m)^test result: .*$"),  # cargo
    re.compile(r"(?m)^\s+\d+ passing(?: \(.*\))?(?:\n\s+\d+ failing)?"),  # mocha
    re.compile(r"(?m)^(?:ok|FAIL)\s+\S+\s+[\d.]+s$"),  # go test
    re.compile(r"(?m)^# (?:pass|fail) \d+$"),  # node --test
    re.compile(r"(?m)^Tests run: \d+, Failures: \d+, Errors: \d+.*$"),  # maven
    re.compile(r"(?m)^\d+ examples?, \d+ failures?.*$"),  # rspec
)


def tool_outcome(tool_result: Any, text: str) -> dict[str, Any]:
    """{tests, added, removed}, only those known, of one finished call: `tool_result` as the host keeps it, `text` as shown."""
    fields: dict[str, Any] = _line_counts(tool_result) if isinstance(tool_result, dict) else {}
    tests = tests_line(text)
    if tests:
        fields["tests"] = tests
    return fields


def first_error_line(text: str) -> str:
    """The first line that reads like an error, else the first line with words; clipped."""
    lines = [line.strip() for line in text[:65536].split("\n") if line.strip()]
    for line in lines:
        if _ERROR_LINE.search(line) and not _NO_ERROR.search(line):
            return clip(line, _MAX_LINE_CHARS)
    return clip(lines[0], _MAX_LINE_CHARS) if lines else ""


def tests_line(text: str) -> str:
    """The test runner's own summary, on one line; "" when there is none."""
    tail = text[-65536:]
    best: tuple[int, str] | None = None
    for pattern in _TEST_LINES:
        for match in pattern.finditer(tail):
            if best is None or match.start() >= best[0]:
                best = (match.start(), match.group())
    return clip(best[1].strip("= \n"), _MAX_LINE_CHARS) if best else ""


def clip(text: str, limit: int) -> str:
    """White space collapsed; longer than `limit` is cut and ends in one ellipsis character."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit - 1] + "…"


def _line_counts(response: dict[str, Any]) -> dict[str, int]:
    patch = response.get("structuredPatch")
    if isinstance(patch, list) and patch:
        rows = [row for hunk in patch if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list)
                for row in hunk["lines"] if isinstance(row, str)]
        return {"added": sum(row.startswith("+") for row in rows), "removed": sum(row.startswith("-") for row in rows)}
    content = response.get("content")
    if response.get("type") == "create" and isinstance(content, str):
        return {"added": len(content.splitlines()), "removed": 0}
    return {}
