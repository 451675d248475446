"""The skill contract: frontmatter and body of one SKILL.md become a Skill and a list of issues with lines."""
from __future__ import annotations

import os
import re
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.frontmatter import parse_frontmatter
from slipstream.engine.find_rules import check_rule
from slipstream.engine.headings import instruction_lines, parse_headings, parse_links, section
from slipstream.engine.issue import ERROR, WARNING, Issue
from slipstream.engine.matter import MatterReader, key_lines

CATEGORIES = (
    "frontend", "backend", "supabase", "cloudflare", "vercel", "resend", "auth", "payments",
    "seo", "analytics", "git", "memory", "context",
)
GATE_KINDS = ("typecheck", "build", "test", "smoke", "healthcheck", "command")
GATELESS = ("memory", "context")
HOST_KEYS = (
    "name", "description", "when_to_use", "argument-hint", "arguments", "disable-model-invocation",
    "user-invocable", "allowed-tools", "disallowed-tools", "model", "effort", "context", "agent", "background",
    "hooks", "paths", "shell", "metadata", "license", "compatibility",
)
BLOCK_KEYS = ("category", "requires", "inputs", "verification", "tags")
GATE_KEYS = ("kind", "description", "command", "expect", "shell", "timeout", "effect", "cwd")
INPUT_KEYS = ("find", "default", "description", "split")
NAME_PATTERN = re.compile(r"^[a-z][a-z0-9-]*$")
NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1024
BODY_LINES_LIMIT = 500
TIMEOUT_LIMIT_S = 3600.0
TOKEN = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]*)\}\}")
_TRIGGER = re.compile(
    r"^(use (when|whenever|before|after|to|for|at|on|once|if|as|while)\b|(when|before|after|whenever|at the)\b)", re.I)
_PLACEHOLDER = re.compile(r"\b(TODO|TBD|FIXME|XXX|lorem ipsum)\b")


class Gate:
    """What proves a skill's work: a command, the text it must print, and how it may be run."""

    __slots__ = ("command", "cwd", "description", "effect", "expect", "kind", "shell", "timeout_s")

    def __init__(self, kind: str, description: str, command: str, expect: str = "", shell: bool = False,
                 timeout_s: float = 300.0, effect: str = "", cwd: str = "") -> None:
        self.kind = kind
        self.description = description
        self.command = command
        self.expect = expect
        self.shell = shell
        self.timeout_s = timeout_s
        self.effect = effect
        self.cwd = cwd


class GateInput:
    """A `{{name}}` of a gate: rules that find its value in the project, and what to use when none does."""

    __slots__ = ("default", "description", "find", "name", "split")

    def __init__(self, name: str, find: str, default: str | None, description: str, split: bool) -> None:
        self.name = name
        self.find = find
        self.default = default
        self.description = description
        self.split = split


class Skill:
    """A skill that satisfies the contract; `origin` is plugin, user, project or folder."""

    __slots__ = (
        "body",
        "category",
        "description",
        "digest",
        "gate",
        "inputs",
        "lines",
        "listed",
        "name",
        "origin",
        "path",
        "requires",
        "tags",
    )

    def __init__(self, name: str, description: str, category: str, body: str, path: str, origin: str) -> None:
        self.name = name
        self.description = description
        self.category = category
        self.requires: list[str] = []
        self.tags: list[str] = []
        self.gate: Gate | None = None
        self.inputs: dict[str, GateInput] = {}
        self.listed = True
        self.body = body
        self.path = path
        self.origin = origin
        self.lines: dict[str, int] = {}
        self.digest = ""

    @property
    def shown_name(self) -> str:
        """The name by which the skill is addressed: plain for the plugin's, `project:NAME` and the like for others."""
        return self.name if self.origin in ("plugin", "folder") else "%s:%s" % (self.origin, self.name)


def parse_skill(text: str, path: str, origin: str = "folder", shown: str = "") -> tuple[Skill | None, list[Issue]]:
    """Read one SKILL.md; never raises. The skill is None when an error makes it unusable.

    `path` is where the file is, `shown` how it is named in issues. Every rule is checked, whatever failed before.
    """
    shown = shown or path
    lines, body_line = key_lines(text)
    reader = MatterReader(shown, lines)
    try:
        matter, body = parse_frontmatter(text, shown)
    except SlipstreamError as error:
        reader.issues.append(Issue(shown, error.line or 1, ERROR, "frontmatter", error.message))
        return None, reader.issues
    if not matter:
        reader.issues.append(Issue(shown, 1, ERROR, "frontmatter", "no frontmatter between two `---` lines"))
        return None, reader.issues
    reader.unknown(matter, HOST_KEYS + ("slipstream",), "")
    name = reader.text(matter, "name", "name", required=True)
    _check_name(reader, name, path)
    description = reader.text(matter, "description", "description", required=True)
    _check_description(reader, description)
    if "slipstream" not in matter:
        reader.add("name", ERROR, "missing", "`slipstream` is missing: the block with the category and the gate")
    block = reader.mapping(matter, "slipstream", "slipstream")
    reader.unknown(block, BLOCK_KEYS, "slipstream")
    category = reader.text(block, "category", "slipstream.category", required="slipstream" in matter)
    if category and category not in CATEGORIES:
        reader.add("slipstream.category", ERROR, "category",
                   "category `%s` is not one of %s" % (category, ", ".join(CATEGORIES)))
    skill = Skill(name, description, category, body, path, origin)
    skill.lines = lines
    skill.requires = reader.names(block, "requires", "slipstream.requires")
    skill.tags = reader.names(block, "tags", "slipstream.tags")
    skill.listed = not reader.flag(matter, "disable-model-invocation", "disable-model-invocation", False)
    skill.inputs = _read_inputs(reader, block)
    skill.gate = _read_gate(reader, block, category)
    _check_tokens(reader, skill, body, body_line)
    _check_body(reader, body, body_line, path)
    usable = not any(issue.severity == ERROR for issue in reader.issues)
    return (skill if usable else None), reader.issues


def _check_name(reader: MatterReader, name: str, path: str) -> None:
    if not name:
        return
    if len(name) > NAME_LIMIT or not NAME_PATTERN.match(name):
        reader.add("name", ERROR, "name", "name `%s` must be 1 to %d characters of a-z, 0-9 and -, starting with a letter"
                   % (name, NAME_LIMIT))
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    if folder not in (name, "skills"):
        reader.add("name", ERROR, "folder", "the folder is `%s` but the skill is named `%s`" % (folder, name))


def _check_description(reader: MatterReader, description: str) -> None:
    if not description:
        return
    if len(description) > DESCRIPTION_LIMIT:
        reader.add("description", ERROR, "description",
                   "description has %d characters, at most %d are allowed" % (len(description), DESCRIPTION_LIMIT))
    if not _TRIGGER.match(description):
        reader.add("description", WARNING, "trigger",
                   "the description should start with when to use the skill, such as `Use when ...`")
    if len(description.split()) < 6:
        reader.add("description", WARNING, "trigger", "the description is too short to tell when the skill applies")
    if _PLACEHOLDER.search(description):
        reader.add("description", WARNING, "placeholder", "the description holds a placeholder")


def _read_inputs(reader: MatterReader, block: dict[str, Any]) -> dict[str, GateInput]:
    inputs: dict[str, GateInput] = {}
    for name in reader.mapping(block, "inputs", "slipstream.inputs"):
        dotted = "slipstream.inputs.%s" % name
        spec = reader.mapping(block["inputs"], name, dotted)
        reader.unknown(spec, INPUT_KEYS, dotted)
        if not TOKEN.fullmatch("{{%s}}" % name):
            reader.add(dotted, ERROR, "input", "input name `%s` must be letters, digits and _" % name)
        find = reader.text(spec, "find", dotted + ".find")
        for rule in filter(None, (part.strip() for part in find.split(" | "))):
            problem = check_rule(rule)
            if problem:
                reader.add(dotted + ".find", ERROR, "find", problem)
        default = spec.get("default")
        if not find and default is None and not spec.get("description"):
            reader.add(dotted, WARNING, "input", "input `%s` must be given by hand: say in `description` what it is" % name)
        inputs[name] = GateInput(
            name, find, None if default is None else reader.text(spec, "default", dotted + ".default"),
            reader.text(spec, "description", dotted + ".description"),
            reader.flag(spec, "split", dotted + ".split", False))
    return inputs


def _read_gate(reader: MatterReader, block: dict[str, Any], category: str) -> Gate | None:
    key = "slipstream.verification"
    if block.get("verification") in (None, ""):
        if category in CATEGORIES and category not in GATELESS:
            reader.add("slipstream", ERROR, "gate", "a %s skill needs a `verification` gate" % category)
        return None
    spec = reader.mapping(block, "verification", key)
    reader.unknown(spec, GATE_KEYS, key)
    kind = reader.text(spec, "kind", key + ".kind", required=True)
    if kind and kind not in GATE_KINDS:
        reader.add(key + ".kind", ERROR, "gate", "kind `%s` is not one of %s" % (kind, ", ".join(GATE_KINDS)))
    timeout = 300.0
    given = reader.text(spec, "timeout", key + ".timeout")
    if given:
        try:
            timeout = float(given)
        except ValueError:
            timeout = -1.0
        if not 0 < timeout <= TIMEOUT_LIMIT_S:
            reader.add(key + ".timeout", ERROR, "gate", "timeout must be seconds between 0 and %d" % TIMEOUT_LIMIT_S)
    gate = Gate(
        kind,
        reader.text(spec, "description", key + ".description", required=True),
        reader.text(spec, "command", key + ".command", required=True),
        reader.text(spec, "expect", key + ".expect"),
        reader.flag(spec, "shell", key + ".shell", False),
        timeout,
        reader.text(spec, "effect", key + ".effect"),
        reader.text(spec, "cwd", key + ".cwd"))
    if gate.command and not gate.shell and re.search(r"(^|\s)(&&|\|\||\||;|>|<|2>&1)(\s|$)", gate.command):
        reader.add(key + ".command", WARNING, "gate",
                   "the command holds shell syntax but runs without a shell; set `shell: true` or use one command")
    return gate


def _check_tokens(reader: MatterReader, skill: Skill, body: str, body_line: int) -> None:
    used: dict[str, tuple[str, int]] = {}
    if skill.gate:
        for key in ("command", "expect", "cwd", "description"):
            for name in TOKEN.findall(getattr(skill.gate, key)):
                used.setdefault(name, ("slipstream.verification.%s" % key, 0))
    for number, text in instruction_lines(body):
        for name in TOKEN.findall(text):
            used.setdefault(name, ("", body_line + number - 1))
    for name, (key, line) in used.items():
        if name not in skill.inputs:
            at = line or reader.line(key)
            reader.issues.append(Issue(reader.path, at, ERROR, "token",
                                       "`{{%s}}` is not declared under `slipstream.inputs`" % name))
    for name in skill.inputs:
        if name not in used:
            reader.add("slipstream.inputs.%s" % name, WARNING, "input", "input `%s` is never used" % name)


def _check_body(reader: MatterReader, body: str, body_line: int, path: str) -> None:
    if not body.strip():
        reader.issues.append(Issue(reader.path, body_line, ERROR, "body", "the body is empty"))
        return
    seconds = {text.lower(): line for level, text, line in parse_headings(body) if level == 2}
    for wanted in ("Steps", "Verify"):
        if wanted.lower() not in seconds:
            reader.issues.append(Issue(reader.path, body_line, ERROR, "section",
                                       "no level-two heading `## %s`" % wanted))
        elif not section(body, wanted):
            reader.issues.append(Issue(reader.path, body_line + seconds[wanted.lower()] - 1, ERROR, "section",
                                       "section `## %s` is empty" % wanted))
    count = len(body.split("\n"))
    if count > BODY_LINES_LIMIT:
        reader.issues.append(Issue(reader.path, body_line, WARNING, "length",
                                   "the body has %d lines; move detail into files beside it" % count))
    folder = os.path.dirname(os.path.abspath(path))
    for target, line in parse_links(body):
        if re.match(r"^([a-zA-Z][a-zA-Z0-9+.-]*:|#|/|\$)", target):
            continue
        if not os.path.exists(os.path.join(folder, target.split("#")[0])):
            reader.issues.append(Issue(reader.path, body_line + line - 1, ERROR, "link",
                                       "link to `%s`, which does not exist beside the skill" % target))
    for offset, text in enumerate(body.split("\n")):
        if _PLACEHOLDER.search(text) and "`" not in text:
            reader.issues.append(Issue(reader.path, body_line + offset, WARNING, "placeholder",
                                       "the body holds a placeholder"))
