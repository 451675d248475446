"""Outlines of files told by their lines: Makefile, Dockerfile, YAML and TOML."""
from __future__ import annotations

import re

from slipstream.map.languages.lexer import quoted
from slipstream.map.languages.summaries import hash_header
from slipstream.map.languages.text import lines_of, unescaped
from slipstream.map.model import FileScan, OutlineEntry

TITLE_LIMIT_CHARS = 300
_REFERENCE = re.compile(r"\\:|\$(?:\((?:[^()\n]|\([^()\n]{0,300}\)){0,300}\)|\{[^{}\n]{0,300}\})")
_INCLUDE = re.compile(r"(?:-|s)?include[ \t]")
_NAME = re.compile(r"\S+")
_DEFINE = re.compile(r"[ ]{0,8}(?:(?:export|override|private)[ \t]+){0,3}define[ \t]+[^:=]")
_ASSIGNED = re.compile(r"[ \t]*(?:export |override |private )*[\w.-]+[ \t]*[:+?!]?:?=")
_STAGE = re.compile(r"FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?", re.I)
_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*`", re.I)
_WITH_DOCUMENT = re.compile(r"(?:RUN|COPY|ADD|ONBUILD)\b", re.I)
_DOCUMENT = re.compile(r"(?<!<)<<(?!<)(-?)[\"']?([A-Za-z_]\w{0,60})[\"']?")
_YAML_TAGS = re.compile(r"(?:[!&][^\s]*[ \t]+){0,3}")
_NO_SCALAR = ("", "{", "[", "|", ">", "-", "&", "*", "!", '"', "'", "#")
_YAML_COLON = re.compile(r":(?=[ \t]|\Z)")
_TOML_TABLE = re.compile(r"[ \t]*\[\[?((?:[^\]\"'\n]|\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'){1,600})\]\]?[ \t]*(?:#.*)?\Z")
_TOML_KEY = re.compile(r"[ \t]*((?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|\"[^\"\n]*\"|"
                       r"'[^'\n]*'))*)[ \t]*=[ \t]*(.*)\Z")
_DOUBLE = quoted('"')
_HIDDEN = re.compile(_DOUBLE + r"|'[^'\n]*'?|\#.*")
_CLOSING = {'"': re.compile(r"[^\"\\]*(?:\\.[^\"\\]*){0,9999}\""), "'": re.compile(r"[^']*(?:''[^']*){0,9999}'(?!')")}


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline` and the purpose."""
    lines = lines_of(text)
    if out.language == "makefile":
        _makefile(lines, out)
    elif out.language == "dockerfile":
        _dockerfile(lines, out)
    elif out.language == "yaml":
        _yaml(lines, out)
    else:
        _toml(lines, out)
    if not out.purpose:
        out.purpose = hash_header(text)


def _last(lines: list[str], after: int, before: int, comment: str = "#") -> int:
    """The last line number in after..before (1-based) that is neither blank nor a comment."""
    while before > after and (not lines[before - 1].strip() or lines[before - 1].lstrip().startswith(comment)):
        before -= 1
    return before


def _makefile(lines: list[str], out: FileScan) -> None:
    last_endef = max((number for number, line in enumerate(lines, 1) if line.strip().startswith("endef")), default=0)
    define = False
    joined = False
    head: list[tuple[int, str]] = []        # the lines of a rule's head up to its colon
    rule: list[OutlineEntry] = []           # the targets of the rule being read
    for number, line in enumerate(lines, 1):
        goes_on, joined = joined, line.endswith("\\")
        if define:
            define = not line.strip().startswith("endef")
            continue
        if goes_on and head:
            pass
        elif goes_on or line.startswith("\t"):
            if rule and (rule[-1].end == number - 1 if goes_on else line.strip() != ""):
                for entry in rule:
                    entry.end = number
            continue
        elif number < last_endef and _DEFINE.match(line):
            define = True
            continue
        elif not line or line[0] in " #" or _ASSIGNED.match(line):
            continue
        elif _INCLUDE.match(line):
            out.imports += [(name, "include", ()) for name in line.split()[1:]]
            continue
        head.append((number, line.rstrip("\\") if joined else line))
        masked = _REFERENCE.sub(lambda found: "_" * len(found.group()), line)
        colon = masked.find(":")
        if colon < 0:
            if not joined or "=" in masked or "#" in masked:
                head = []
            continue
        after = masked[colon:].lstrip(":")
        if "=" in masked[:colon] or "#" in masked[:colon] or after[:1] == "=" or _ASSIGNED.match(after):
            head = []
            continue
        rule = []
        for at, text in head:
            masked = _REFERENCE.sub(lambda found: "_" * len(found.group()), text)
            for found in _NAME.finditer(masked if at != number else masked[:colon].rstrip("&")):
                name = text[found.start():found.end()]
                if not name.startswith(".") or "/" in name:
                    rule.append(OutlineEntry(name, "target", at, number))
        out.outline += rule
        head = []


def _dockerfile(lines: list[str], out: FileScan) -> None:
    documents: list[tuple[str, bool]] = []      # the heredocs whose text follows: (their last line, whether tabs go)
    joined = False
    escape = "\\"
    whole = {line.lstrip("\t") for line in lines}
    for number, line in enumerate(lines, 1):
        if documents:
            last, tabs = documents[0]
            if (line.lstrip("\t") if tabs else line) == last:
                documents.pop(0)
            continue
        bare = line.strip()
        if bare.startswith("#"):
            if number < 10 and _ESCAPE.match(bare):
                escape = "`"
            continue
        stage = _STAGE.match(bare) if not joined else None
        if stage is not None:
            out.outline.append(OutlineEntry(stage.group(2) or stage.group(1), "stage", number, number))
            out.imports.append((stage.group(1), "import", ()))
        elif "<<" in line and (joined or _WITH_DOCUMENT.match(bare)):
            documents = [(found.group(2), bool(found.group(1))) for found in _DOCUMENT.finditer(line)
                         if found.group(2) in whole]
        joined = (bool(bare) and bare.endswith(escape)) or (joined and not bare)
    for entry, later in zip(out.outline, [e.line for e in out.outline[1:]] + [len(lines) + 1]):
        entry.end = _last(lines, entry.line, later - 1)


def _yaml(lines: list[str], out: FileScan) -> None:
    skip = _Skip(lines)
    for number, line in enumerate(lines, 1):
        if number <= skip.line or not line or line[0] in " \t#%":
            continue
        if (line[0] == "-" and line.startswith(("---", "- "))) or line.startswith("..."):
            line = line[4:].lstrip() if line.startswith("--- ") else line[:0]
        if line[:1] in ("{", "["):
            skip.flow(line, number)
            continue
        name, value = _yaml_key(line)
        if not name:
            continue
        out.outline.append(OutlineEntry(name[:TITLE_LIMIT_CHARS], "key", number, number))
        tags = _YAML_TAGS.match(value)
        value = value[tags.end():] if tags is not None else value
        if value[:1] in _CLOSING:
            skip.quote(value, number)
        elif value[:1] in ("{", "["):
            skip.flow(value, number)
    for entry, later in zip(out.outline, [e.line for e in out.outline[1:]] + [len(lines) + 1]):
        entry.end = max(entry.line, _last(lines, entry.line, later - 1))
        while entry.end > entry.line and lines[entry.end - 1].startswith("---"):
            entry.end = _last(lines, entry.line, entry.end - 1)


def _yaml_key(line: str) -> tuple[str, str]:
    """The key a line begins with and what follows its colon; nothing when it has none."""
    if line.startswith("? ") and line[2:].strip()[:1] not in _NO_SCALAR:
        return line[2:].strip(), ""
    tags = _YAML_TAGS.match(line)
    line = line[tags.end():] if tags is not None else line
    mark = line[:1]
    if mark in _CLOSING:
        closing = _CLOSING[mark].match(line, 1)
        colon = _YAML_COLON.match(line[closing.end():].lstrip()) if closing is not None else None
        if closing is None or colon is None:
            return "", ""
        name = line[1:closing.end() - 1]
        return (unescaped(name) if mark == '"' else name.replace("''", "'")), line[closing.end():].lstrip()[1:].lstrip()
    if not mark or (mark in "#,[]{}&*!|>%@`:?-" and (mark not in ":?-" or line[1:2] in ("", " ", "\t"))):
        return "", ""
    colon = _YAML_COLON.search(line)
    name = line[:colon.start()].rstrip() if colon is not None else ""
    return ("", "") if colon is None or " #" in name else (name, line[colon.end():].strip())


class _Skip:
    """Lines that belong to a value begun on a line above: up to `line`. A value without an end takes no lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.line = 0
        self.endless: set[str] = set()

    def quote(self, value: str, number: int, quotes: str = "") -> None:
        mark = quotes or value[0]
        closing = None if quotes else _CLOSING[mark]
        rest = value[len(mark):]
        if mark in self.endless:
            return
        for later in range(number, len(self.lines) + 1):
            if later > number:
                rest = self.lines[later - 1]
            if mark in rest and (closing is None or closing.match(rest)):
                self.line = later
                return
        self.endless.add(mark)

    def flow(self, value: str, number: int) -> None:
        depth = 0
        if "[" in self.endless:
            return
        for later in range(number, len(self.lines) + 1):
            line = value if later == number else self.lines[later - 1]
            if any(mark in line for mark in "[]{}"):
                plain = _HIDDEN.sub("", line)
                depth += plain.count("[") + plain.count("{") - plain.count("]") - plain.count("}")
            if depth <= 0:
                self.line = later
                return
        self.endless.add("[")


def _toml(lines: list[str], out: FileScan) -> None:
    skip = _Skip(lines)
    table = False
    for number, line in enumerate(lines, 1):
        if number <= skip.line:
            continue
        header = _TOML_TABLE.match(line)
        if header is not None:
            table = True
            out.outline.append(OutlineEntry(header.group(1).strip(), "table", number, number))
            continue
        key = _TOML_KEY.match(line)
        if key is None:
            continue
        if not table:
            name = key.group(1)
            if name[0] in "\"'" and name.find(name[0], 1) == len(name) - 1:
                name = name[1:-1]
            out.outline.append(OutlineEntry(name[:TITLE_LIMIT_CHARS], "key", number, number))
        value = key.group(2)
        if value.startswith(('"""', "'''")):
            skip.quote(value, number, value[:3])
        elif value[:1] in ("[", "{"):
            skip.flow(value, number)
    for entry, later in zip(out.outline, [e.line for e in out.outline[1:]] + [len(lines) + 1]):
        entry.end = _last(lines, entry.line, later - 1)
