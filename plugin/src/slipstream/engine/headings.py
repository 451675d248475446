"""Markdown headings and links read as structure: text inside code fences and comments never counts."""
from __future__ import annotations

import re

_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)\n]*\)")
_SHELL = (None, "", "sh", "bash", "shell", "console", "zsh")
_INLINE_CODE = re.compile(r"(`+)(?:(?!\1).)*?\1")


def prose_lines(text: str) -> list[tuple[int, str]]:
    """(1-based line number, line) of every line outside code fences and HTML comments."""
    return [(number, line) for number, line, language in _lines(text) if language is None]


def instruction_lines(text: str) -> list[tuple[int, str]]:
    """Prose and shell code: where a `{{token}}` is the skill's own; in other languages braces may be the code's."""
    return [(number, line) for number, line, language in _lines(text) if language in _SHELL]


def _lines(text: str) -> list[tuple[int, str, str | None]]:
    """(line number, line, language of the code fence it is in or None); fence lines and comments are left out."""
    out: list[tuple[int, str, str | None]] = []
    language = ""
    fence = ""
    in_comment = False
    for number, line in enumerate(text.split("\n"), 1):
        opened = _FENCE.match(line)
        if fence:
            if opened and opened.group(1).startswith(fence) and line.strip() == opened.group(1):
                fence = ""
            else:
                out.append((number, line, language))
            continue
        if in_comment:
            in_comment = "-->" not in line
            continue
        if opened:
            fence = opened.group(1)
            language = line.strip().lstrip("`~").strip().split(" ")[0].lower()
            continue
        if line.lstrip().startswith("<!--"):
            in_comment = "-->" not in line
            continue
        out.append((number, line, None))
    return out


def parse_headings(text: str) -> list[tuple[int, str, int]]:
    """(level, text, 1-based line) of each ATX or underlined heading, in order."""
    found: list[tuple[int, str, int]] = []
    previous = (0, "")
    for number, line in prose_lines(text):
        match = _ATX.match(line)
        if match:
            found.append((len(match.group(1)), (match.group(2) or "").strip(), number))
        elif (previous[0] == number - 1 and _UNDERLINE.match(line) and previous[1].strip()
              and not previous[1].lstrip().startswith(("#", ">", "-", "*", "+", "|"))):
            found.append((1 if "=" in line else 2, previous[1].strip(), previous[0]))
        previous = (number, line)
    return found


def parse_links(text: str) -> list[tuple[str, int]]:
    """(target, 1-based line) of each inline link outside code."""
    found: list[tuple[str, int]] = []
    for number, line in prose_lines(text):
        for match in _LINK.finditer(_INLINE_CODE.sub("", line)):
            found.append((match.group(1), number))
    return found


def section(text: str, title: str) -> str:
    """The lines under the level-two heading `title` (any case), up to the next heading of that level or above."""
    headings = parse_headings(text)
    lines = text.split("\n")
    for position, (level, name, line) in enumerate(headings):
        if level == 2 and name.lower() == title.lower():
            end = len(lines)
            for other_level, _name, other_line in headings[position + 1:]:
                if other_level <= 2:
                    end = other_line - 1
                    break
            return "\n".join(lines[line:end]).strip()
    return ""
