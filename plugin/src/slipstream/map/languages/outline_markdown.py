"""The outline of Markdown and MDX: headings, with fences, front matter, comments and blocks of HTML passed over."""
from __future__ import annotations

import re

from slipstream.map.languages.summaries import summary
from slipstream.map.languages.text import lines_of
from slipstream.map.model import FileScan, OutlineEntry

TITLE_LIMIT_CHARS = 300
_FENCE = re.compile(r"([ ]{0,3}(?:> ?|[-*+] {1,4}|\d{1,9}[.)] {1,4}){0,4}[ ]{0,3})(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)\Z")
_QUOTE = re.compile(r"[ ]{0,3}> ?")
_HTML = re.compile(r"[ ]{0,3}<(pre|script|style|textarea)\b", re.I)
_NOT_TEXT = re.compile(r"[ ]{0,3}(?:[-*+>]|\d+[.)])[ \t]")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?=[ \t]|\Z)")
_SCRIPT = re.compile(r"(?:import|export)\b[ \t{*]")
_IMPORT = re.compile(r"(?:import\b[^\"'\n]{0,1000}|(?:export\b[^\"'\n]{0,1000})?\}[ \t]*from[ \t]*)[\"']([^\"'\n]+)[\"']"
                     r";?[ \t]*\Z")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:(=+)|(-+))[ \t]*\Z")
_MARKS = re.compile(r"(`+)(?!`)([^\n]{1,300}?)(?<!`)\1(?!`)|!?\[([^\]\n]{0,300})\]\([^)\n]{0,500}\)|</?[a-zA-Z][^<>\n]{0,300}>|"
                    r"[*`]|(?<!\w)(_{1,3})(?=[^\s_])([^\n]{1,300}?)(?<=[^\s_])\4(?!\w)")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out.outline`, the purpose and, for MDX, the imports."""
    lines = lines_of(text)
    mdx = path.endswith(".mdx")
    script = False          # whether a line is in the imports and exports of MDX
    fence = ""
    number = 0
    paragraph: list[str] = []
    start = 0
    if lines and lines[0].strip() == "---":
        for index in range(1, min(len(lines), 400)):
            if lines[index].strip() in ("---", "..."):
                start = index + 1
                break
    until = ""              # what ends a comment or a block of HTML
    inside = ""             # the list item or quotation a fence stands in
    for number, line in enumerate(lines[start:], start + 1):
        if fence:
            bare = line.strip()
            ended = False       # the list item or quotation, and the fence with it
            if ">" in inside:
                quote = _QUOTE.match(line)
                ended = quote is None
                bare = line[quote.end():].strip() if quote is not None else ""
            elif inside.strip():
                ended = bare != "" and line[0] not in " \t" and not bare.startswith(fence)
            if not ended:
                if bare.startswith(fence) and not bare.strip(fence[0]):
                    fence = ""
                continue
            fence = ""
        if until:
            if until in line.lower():
                until = ""
            continue
        mark = _FENCE.match(line)
        if mark is not None:
            inside, fence = mark.group(1), mark.group(2) or mark.group(3)
            paragraph = []
            continue
        opened = line.lstrip()[:4]
        if opened[:1] in ("<", "{"):
            html = _HTML.match(line)
            if opened == "<!--":
                paragraph = []
                until = "-->" if line.rfind("<!--") > line.rfind("-->") else ""
                continue
            if opened[:3] == "{/*" and "*/}" not in line:
                until = "*/}"
                continue
            if html is not None and f"</{html.group(1).lower()}>" not in line.lower():
                until = f"</{html.group(1).lower()}>"
                continue
        if mdx and (script or (not paragraph and _SCRIPT.match(line))):
            script = bool(line.strip())
            imported = _IMPORT.match(line)
            if imported is not None:
                out.imports.append((imported.group(1), "import", ()))
            continue
        heading = _HEADING.match(line)
        if heading is not None:
            _heading(out, line[heading.end():].strip(), len(heading.group(1)), number)
            paragraph = []
            continue
        underline = _UNDERLINE.match(line) if paragraph else None
        if underline is not None and not (underline.group(2) and len(paragraph) > 1 and "|" in paragraph[-1]):
            _heading(out, " ".join(paragraph), 1 if underline.group(1) else 2, number - len(paragraph))
            paragraph = []
            continue
        stripped = line.strip()
        if not stripped or (line.startswith(("    ", "\t")) and not paragraph) or _NOT_TEXT.match(line):
            if paragraph and not out.purpose and not stripped:
                out.purpose = summary([_plain(text) for text in paragraph])
            paragraph = []
        else:
            paragraph.append(stripped)
    if paragraph and not out.purpose:
        out.purpose = summary([_plain(text) for text in paragraph])
    open_entries: list[OutlineEntry] = []
    for entry in out.outline:
        while open_entries and open_entries[-1].level >= entry.level:
            _end_before(lines, open_entries.pop(), entry.line)
        open_entries.append(entry)
    for entry in open_entries:
        _end_before(lines, entry, len(lines) + 1)


def _end_before(lines: list[str], entry: OutlineEntry, number: int) -> None:
    entry.end = _last(lines, entry.line, number - 1)


def _last(lines: list[str], after: int, before: int) -> int:
    """The last line number in after..before (1-based) that is not blank."""
    while before > after and not lines[before - 1].strip():
        before -= 1
    return before


def _plain(text: str) -> str:
    """Text without its marks and tags; code and the words of links stay."""
    return _MARKS.sub(_unmarked, text)


def _unmarked(mark: re.Match[str]) -> str:
    return mark.group(2) or _plain(mark.group(3) or mark.group(5) or "")


def _heading(out: FileScan, title: str, level: int, number: int) -> None:
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":       # closing marks
        title = bare
    title = title[:TITLE_LIMIT_CHARS]
    title = " ".join(_plain(title).split()) or title.strip()
    if title:
        out.outline.append(OutlineEntry(title, "heading", number, number, level))
