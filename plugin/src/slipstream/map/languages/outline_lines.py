"""Outlines of files told by their lines: Markdown, Makefile, Dockerfile, YAML and TOML."""
from __future__ import annotations

import re

from slipstream.map.languages.text import hash_header, summary
from slipstream.map.model import FileScan, OutlineEntry

_FENCE = re.compile(r"[ ]{0,3}(?:[-*+>] {0,3})?(`{3,}|~{3,})([^`\n]*)")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:(=+)|(-+))[ \t]*\Z")
_MARKS = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,500}\)|<[^<>\n]{0,300}>|[*`]|(?<!\w)_|_(?!\w)")
_TARGET = re.compile(r"([^\s:#=][^:#=]*?)[ \t]*::?(?![=:])(.*)\Z")
_ASSIGNED = re.compile(r"[ \t]*(?:export |override |private )*[\w.-]+[ \t]*[:+?!]?:?=")
_STAGE = re.compile(r"FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?", re.I)
_YAML_KEY = re.compile(r"(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'|([^\s#\-?:,\[\]{}&*!|>'\"%@`][^#\n]*?|"
                       r"-[^\s#][^#\n]*?))[ \t]*:(?=[ \t]|\Z)")
_TOML_TABLE = re.compile(r"[ \t]*(\[\[?)[ \t]*([^\]\n]+?)[ \t]*\]\]?[ \t]*(?:#.*)?\Z")
_TOML_KEY = re.compile(r"[ \t]*((?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|\"[^\"\n]*\"|"
                       r"'[^'\n]*'))*)[ \t]*=[ \t]*(.*)\Z")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline` and the purpose."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    lines = [line.rstrip("\r") for line in lines]
    if out.language == "markdown":
        _markdown(lines, out)
    elif out.language == "makefile":
        _makefile(lines, out)
    elif out.language == "dockerfile":
        _dockerfile(lines, out)
    elif out.language == "yaml":
        _yaml(lines, out)
    else:
        _toml(lines, out)
    if out.language != "markdown" and not out.purpose:
        out.purpose = hash_header(text)


def _last(lines: list[str], after: int, before: int, comment: str = "#") -> int:
    """The last line number in after..before (1-based) that is neither blank nor a comment."""
    while before > after and (not lines[before - 1].strip() or lines[before - 1].lstrip().startswith(comment)):
        before -= 1
    return before


def _markdown(lines: list[str], out: FileScan) -> None:
    fence = ""
    number = 0
    paragraph: list[str] = []
    start = 0
    if lines and lines[0].strip() == "---":
        for index in range(1, min(len(lines), 400)):
            if lines[index].strip() in ("---", "..."):
                start = index + 1
                break
    comment = False
    for number, line in enumerate(lines[start:], start + 1):
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if comment:
            comment = "-->" not in line
            continue
        mark = _FENCE.match(line)
        if mark is not None:
            fence = mark.group(1)
            paragraph = []
            continue
        if line.lstrip().startswith("<!--"):
            comment = "-->" not in line
            continue
        heading = _HEADING.match(line)
        if heading is not None:
            _heading(out, heading.group(2) or "", len(heading.group(1)), number)
            paragraph = []
            continue
        underline = _UNDERLINE.match(line) if paragraph else None
        if underline is not None and not (underline.group(2) and len(paragraph) > 1 and "|" in paragraph[-1]):
            _heading(out, " ".join(paragraph), 1 if underline.group(1) else 2, number - len(paragraph))
            paragraph = []
            continue
        stripped = line.strip()
        if not stripped or (line.startswith(("    ", "\t")) and not paragraph) or re.match(r"[ ]{0,3}(?:[-*+>]|\d+[.)])[ \t]",
                                                                                           line):
            if paragraph and not out.purpose and not stripped:
                out.purpose = summary([_MARKS.sub(r"\1", text) for text in paragraph])
            paragraph = []
        else:
            paragraph.append(stripped)
    if paragraph and not out.purpose:
        out.purpose = summary([_MARKS.sub(r"\1", text) for text in paragraph])
    for index, entry in enumerate(out.outline):
        entry.end = next((later.line - 1 for later in out.outline[index + 1:] if later.level <= entry.level), len(lines))
        entry.end = max(entry.line, _last(lines, entry.line, entry.end, "\0"))


def _heading(out: FileScan, title: str, level: int, number: int) -> None:
    title = " ".join(_MARKS.sub(r"\1", title).split())
    if title:
        out.outline.append(OutlineEntry(title, "heading", number, number, level))


def _makefile(lines: list[str], out: FileScan) -> None:
    define = False
    joined = False
    for number, line in enumerate(lines, 1):
        goes_on, joined = joined, line.endswith("\\")
        if define:
            define = not line.strip().startswith("endef")
            continue
        if line.startswith("define"):
            define = True
            continue
        if goes_on or line.startswith("\t"):
            more = out.outline[-1].end == number - 1 if out.outline and goes_on else line.strip() != ""
            if out.outline and more:
                out.outline[-1].end = number
            continue
        if _ASSIGNED.match(line):
            continue
        target = _TARGET.match(line)
        if target is None or line.startswith((" ", "#")) or _ASSIGNED.match(target.group(2)):
            continue
        for name in target.group(1).split():
            if not name.startswith(".") or "/" in name:
                out.outline.append(OutlineEntry(name, "target", number, number))


def _dockerfile(lines: list[str], out: FileScan) -> None:
    for number, line in enumerate(lines, 1):
        stage = _STAGE.match(line.lstrip())
        if stage is not None:
            out.outline.append(OutlineEntry(stage.group(2) or stage.group(1), "stage", number, number))
            out.imports.append((stage.group(1), "import", ()))
    for entry, later in zip(out.outline, [e.line for e in out.outline[1:]] + [len(lines) + 1]):
        entry.end = _last(lines, entry.line, later - 1)


def _yaml(lines: list[str], out: FileScan) -> None:
    quote = ""
    depth = 0
    for number, line in enumerate(lines, 1):
        if quote:
            if quote in line:
                quote = ""
            continue
        if not line or line[0] in " \t#%" or line.startswith(("---", "...", "- ")):
            depth = _flow(line, depth)
            continue
        key = _YAML_KEY.match(line) if not depth else None
        if key is not None:
            name = key.group(1) or (key.group(2) or "").replace("''", "'") or key.group(3) or ""
            out.outline.append(OutlineEntry(name.strip(), "key", number, number))
            value = line[key.end():].strip()
            if value[:1] in ("'", '"') and value.count(value[0]) % 2 and not value.endswith("\\" + value[0]):
                quote = value[0]
            depth = _flow(value, depth) if value[:1] in ("{", "[") else 0
        else:
            depth = _flow(line, depth)
    for entry, later in zip(out.outline, [e.line for e in out.outline[1:]] + [len(lines) + 1]):
        entry.end = max(entry.line, _last(lines, entry.line, later - 1))
        while entry.end > entry.line and lines[entry.end - 1].startswith("---"):
            entry.end = _last(lines, entry.line, entry.end - 1)


def _flow(line: str, depth: int) -> int:
    """How deep in flow brackets the text is after a line."""
    if depth or line[:1] in ("{", "["):
        plain = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|#.*", "", line)
        depth += plain.count("{") + plain.count("[") - plain.count("}") - plain.count("]")
    return max(0, depth)


def _toml(lines: list[str], out: FileScan) -> None:
    inside = ""
    depth = 0
    table = False
    for number, line in enumerate(lines, 1):
        if inside:
            if inside in line:
                inside = ""
            continue
        if depth:
            depth = _toml_depth(line, depth)
            continue
        header = _TOML_TABLE.match(line)
        if header is not None:
            table = True
            out.outline.append(OutlineEntry(header.group(2), "table", number, number))
            continue
        key = _TOML_KEY.match(line)
        if key is None:
            continue
        if not table:
            out.outline.append(OutlineEntry(key.group(1).strip("\"'"), "key", number, number))
        value = key.group(2)
        for quotes in ('"""', "'''"):
            if value.startswith(quotes) and value.count(quotes) == 1:
                inside = quotes
        depth = _toml_depth(value, 0) if value.startswith(("[", "{")) else 0
    for entry, later in zip(out.outline, [e.line for e in out.outline[1:]] + [len(lines) + 1]):
        entry.end = _last(lines, entry.line, later - 1)


def _toml_depth(text: str, depth: int) -> int:
    plain = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|#.*", "", text)
    return max(0, depth + plain.count("[") + plain.count("{") - plain.count("]") - plain.count("}"))
