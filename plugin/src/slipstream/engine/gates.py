"""Gates that run: inputs filled from the project, one command with a timeout, its evidence kept, PASS or FAIL with a reason."""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from typing import IO, Any

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.paths import resolve_inside
from slipstream.engine.contract import TOKEN, Skill
from slipstream.engine.find_rules import find_value
from slipstream.engine.library import Library, order_requires
from slipstream.engine.places import slipstream_command
from slipstream.engine.processes import GROUP_OPTIONS, end_group
from slipstream.engine.trust import is_trusted, needs_trust
from slipstream.events.append import append_event
from slipstream.events.redact import redact_text

PASS = "PASS"
FAIL = "FAIL"
TAIL_LINES = 40
TAIL_BYTES = 16_000
SCAN_LIMIT_BYTES = 4_000_000
OWN_NAME = "slipstream"


class Filled:
    """A gate ready to run: the words of its command (one text when it wants a shell), and the values that filled it."""

    __slots__ = ("cwd", "expect", "shown", "values", "words")

    def __init__(self, words: list[str], shown: str, cwd: str, expect: str, values: dict[str, str]) -> None:
        self.words = words
        self.shown = shown
        self.cwd = cwd
        self.expect = expect
        self.values = values


class Evidence:
    """What a run showed; `status` is the exit status, None when the command did not start or was stopped."""

    __slots__ = ("command", "expect", "found", "reason", "result", "seconds", "skill", "status", "tail")

    def __init__(self, skill: str, result: str, reason: str, command: str, status: int | None, seconds: float,
                 expect: str, found: bool | None, tail: str) -> None:
        self.skill = skill
        self.result = result
        self.reason = reason
        self.command = command
        self.status = status
        self.seconds = seconds
        self.expect = expect
        self.found = found
        self.tail = tail

    def to_dict(self) -> dict[str, Any]:
        return {
            "skill": self.skill, "result": self.result, "reason": self.reason, "command": self.command,
            "exitStatus": self.status, "seconds": round(self.seconds, 3), "expect": self.expect or None,
            "expectFound": self.found, "outputTail": self.tail,
        }


def fill_inputs(skill: Skill, root: str, given: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """(values, names without a value): what was given by hand, else found in the project, else the default."""
    for name in given:
        if name not in skill.inputs:
            raise UsageError("%s has no input `%s` (its inputs: %s)" % (
                skill.shown_name, name, ", ".join(skill.inputs) or "none"))
    values: dict[str, str] = {}
    missing: list[str] = []
    for name, spec in skill.inputs.items():
        value: str | None = given.get(name)
        if value is None and spec.find:
            value = find_value(spec.find, root)
            if value is not None and (value.startswith("-") or "\0" in value or "\n" in value):
                raise UsageError("input `%s`: the project gives %r, which could act as an option; use --set %s=..."
                                      % (name, value[:60], name))
        if value is None:
            value = spec.default
        if value is None:
            missing.append(name)
        else:
            values[name] = value
    return values, missing


def _replace(text: str, values: Mapping[str, str], quote: bool = False) -> str:
    return TOKEN.sub(lambda match: (shlex.quote if quote else str)(values[match.group(1)]), text)


def fill_gate(skill: Skill, root: str, given: Mapping[str, str]) -> Filled:
    """The gate with its inputs filled; UsageError names every input that has no value."""
    gate = skill.gate
    if gate is None:
        raise SlipstreamError("%s has no gate: its Verify section is read, not run" % skill.shown_name)
    values, missing = fill_inputs(skill, root, given)
    used = set(TOKEN.findall(" ".join((gate.command, gate.expect, gate.cwd))))
    missing = [name for name in missing if name in used]
    if missing:
        hints = "; ".join("--set %s=... (%s)" % (
            name, skill.inputs[name].description or "looked for: %s" % (skill.inputs[name].find or "nothing"))
            for name in missing)
        raise UsageError("no value for %s: %s" % (", ".join(missing), hints))
    cwd = resolve_inside(root, _replace(gate.cwd, values)) if gate.cwd else os.path.realpath(root)
    expect = _replace(gate.expect, values)
    if gate.shell:
        text = _replace(gate.command, values, quote=True)
        return Filled([text], text, cwd, expect, values)
    words: list[str] = []
    for word in shlex.split(gate.command):
        alone = TOKEN.fullmatch(word)
        if alone and skill.inputs[alone.group(1)].split:
            words.extend(shlex.split(values[alone.group(1)]))
        else:
            words.append(_replace(word, values))
    if not words:
        raise SlipstreamError("the gate of %s is an empty command" % skill.shown_name)
    shown = " ".join(shlex.quote(word) for word in words)
    if words[0] == OWN_NAME:
        words[:1] = slipstream_command()
    elif os.name == "nt":
        words[0] = shutil.which(words[0]) or words[0]  # npm and its like are .cmd files there
    return Filled(words, shown, cwd, expect, values)


def run_gate(skill: Skill, root: str, given: Mapping[str, str], home: str, yes: bool = False,
             timeout_s: float | None = None, store_root: str | None = None) -> Evidence:
    """Run the gate; what it shows is redacted, by the store's own patterns too.

    Before anything ran, UsageError for a missing input or `--yes`, SlipstreamError for missing trust.
    """
    gate = skill.gate
    if gate is not None and needs_trust(skill) and not is_trusted(home, root, skill):
        raise SlipstreamError("the gate of %s came with this project and would run: %s\nRead it, then allow it with: "
                              "slipstream gate trust %s" % (skill.shown_name, gate.command, skill.shown_name))
    filled = fill_gate(skill, root, given)
    assert gate is not None
    if gate.effect and not yes:
        raise UsageError("the gate of %s %s; run it with --yes to agree: %s" % (
            skill.shown_name, gate.effect, redact_text(filled.shown, store_root)[0]))
    limit_s = timeout_s or gate.timeout_s
    started = time.monotonic()
    status, output, problem = _run_process(filled, gate.shell, limit_s)
    seconds = time.monotonic() - started
    text = output.decode("utf-8", "replace")
    found = None if not filled.expect else filled.expect in text
    if problem:
        result, reason = FAIL, problem
    elif status != 0:
        result, reason = FAIL, "exit status %s" % status
    elif found is False:
        result, reason = FAIL, "exit status 0, but the output does not hold `%s`" % filled.expect
    else:
        result = PASS
        reason = "exit status 0" + (" and the output holds `%s`" % filled.expect if found else "")
    reason, shown, expect, text = (redact_text(part, store_root)[0] for part in (
        reason, filled.shown, filled.expect, text[-8 * TAIL_BYTES:]))
    tail = "\n".join(text[-TAIL_BYTES:].rstrip().split("\n")[-TAIL_LINES:])
    return Evidence(skill.shown_name, result, reason, shown, status, seconds, expect, found, tail)


def _run_process(filled: Filled, shell: bool, limit_s: float) -> tuple[int | None, bytes, str]:
    """(exit status, output, problem): standard output and error in one file, the whole process group ended on time-out."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(filled.words[0] if shell else filled.words, cwd=filled.cwd, shell=shell,
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, **GROUP_OPTIONS)
        except OSError as error:
            name = "the shell" if shell else filled.words[0]
            return None, b"", "%s cannot be started: %s" % (name, error.strerror or error)
        try:
            status: int | None = process.wait(limit_s)
            problem = ""
        except subprocess.TimeoutExpired:
            status, problem = None, "no result within %g s; stopped" % limit_s
        finally:
            end_group(process)
        return status, _read_ends(output), problem


def _read_ends(output: IO[bytes]) -> bytes:
    size = output.seek(0, os.SEEK_END)
    if size <= SCAN_LIMIT_BYTES:
        output.seek(0)
        return output.read()
    output.seek(0)
    head = output.read(SCAN_LIMIT_BYTES // 2)
    output.seek(size - SCAN_LIMIT_BYTES // 2)
    return head + b"\n" + output.read()


def plan_gates(library: Library, skill: Skill, root: str, given: Mapping[str, str], home: str,
               store_root: str | None = None) -> list[dict[str, Any]]:
    """The chain of skills up to this one in the order of `requires`, each with its filled command or what it lacks."""
    steps: list[dict[str, Any]] = []
    for step in order_requires(library, skill):
        entry: dict[str, Any] = {"skill": step.shown_name, "category": step.category, "gate": None}
        if step.gate:
            entry["gate"] = {"kind": step.gate.kind, "description": step.gate.description, "command": step.gate.command,
                             "expect": redact_text(step.gate.expect, store_root)[0] or None, "effect": step.gate.effect or None,
                             "trusted": is_trusted(home, root, step)}
            if entry["gate"]["trusted"]:
                own = {name: value for name, value in given.items() if name in step.inputs}
                try:
                    entry["gate"]["command"] = redact_text(fill_gate(step, root, own).shown, store_root)[0]
                except SlipstreamError as error:
                    entry["gate"]["problem"] = error.message
        steps.append(entry)
    return steps


def render_evidence(evidence: Evidence) -> str:
    lines = ["$ %s" % evidence.command]
    if evidence.tail:
        lines += ["  " + line for line in evidence.tail.split("\n")]
    lines.append("%s %s: %s (%.1f s)" % (evidence.result, evidence.skill, evidence.reason, evidence.seconds))
    return "\n".join(lines)


def render_plan(steps: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for number, step in enumerate(steps, 1):
        gate = step["gate"]
        lines.append("%d. %s (%s)%s" % (number, step["skill"], step["category"], "" if gate else ": no gate"))
        if gate:
            lines.append("   %s" % gate["description"])
            lines.append("   $ %s" % gate["command"])
            if gate["expect"]:
                lines.append("   must print: %s" % gate["expect"])
            if gate["effect"]:
                lines.append("   %s: needs --yes" % gate["effect"])
            if not gate["trusted"]:
                lines.append("   came with this project: slipstream gate trust %s" % step["skill"])
            if gate.get("problem"):
                lines.append("   not ready: %s" % gate["problem"])
    return "\n".join(lines)


def record_evidence(store_root: str, evidence: Evidence, env: Mapping[str, str] = os.environ) -> None:
    """Put the run into the session's event log, where the page, the digest and the observations find it."""
    session = env.get("CLAUDE_CODE_SESSION_ID") or "main"
    data = evidence.to_dict()
    data["tool"] = "gate"
    append_event(store_root, session, "main", "post-tool", "gate %s %s: %s" % (
        evidence.skill, evidence.result, evidence.reason), data)
