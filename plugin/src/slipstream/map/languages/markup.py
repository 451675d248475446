"""Script blocks of Vue, Svelte and Astro files, read as TypeScript or JavaScript at their own lines."""
from __future__ import annotations

import re

from slipstream.map.languages.javascript import read_module
from slipstream.map.languages.javascript_lexer import JavaScriptLexicon
from slipstream.map.languages.summaries import summary
from slipstream.map.model import FileScan

_NOT_LINE_FEED = re.compile(r"[^\n]+")
_SCRIPT = re.compile(r"<script(?=[\s>])")
_LANGUAGE = re.compile(r"\blang\s*=\s*[\"']?(\w+)")
_DATA_TYPE = re.compile(r"\btype\s*=\s*[\"']?(?!module|text/javascript|application/javascript|text/typescript)[\w/+-]+")
_FRONT = re.compile(r"\s*---[ \t]*\r?\n")
_FRONT_END = re.compile(r"^---[ \t]*\r?$", re.M)


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with what the script blocks of a component file define and import."""
    pieces: list[str] = []
    key = "typescript" if out.language == "astro" else "javascript"
    pos = 0
    if out.language == "astro":
        front = _FRONT.match(text)
        end = _front_end(text, front.end()) if front is not None else None
        if front is not None and end is not None:
            pieces += [_blank(text[:front.end()]), text[front.end():end.start()], ";" + _blank(text[end.start() + 1:end.end()])]
            pos = end.end()
    lower = text.lower()
    while True:
        opening = _SCRIPT.search(lower, pos)
        begin = opening.start() if opening is not None else -1
        comment = lower.find("<!--", pos)
        if comment >= 0 and (comment < begin or begin < 0):
            end_at = lower.find("-->", comment)
            end_at = end_at + 3 if end_at >= 0 else len(text)
            if not out.purpose:
                out.purpose = summary(text[comment + 4:end_at - 3].split("\n"))
            pieces.append(_blank(text[pos:end_at]))
            pos = end_at
            continue
        if begin < 0:
            break
        open_end = text.find(">", begin) + 1
        close = lower.find("</script", open_end)
        if not open_end or close < 0:
            break
        attributes = text[begin:open_end]
        language = _LANGUAGE.search(attributes)
        if language is not None and language.group(1) in ("ts", "tsx", "typescript", "jsx"):
            key = {"typescript": "typescript", "ts": "typescript"}.get(language.group(1), language.group(1))
        data = _DATA_TYPE.search(attributes) is not None or attributes.endswith("/>")
        pieces.append(_blank(text[pos:open_end]))
        pieces.append(_blank(text[open_end:close]) if data else text[open_end:close])
        pieces.append(";")
        pos = close + 1
    pieces.append(_blank(text[pos:]))
    read_module("".join(pieces), out, key)
    if not out.purpose:
        out.purpose = "component " + path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _front_end(text: str, pos: int) -> re.Match[str] | None:
    """The `---` line that closes a front matter: where there are several, the first that is in no string or comment."""
    found = _FRONT_END.search(text, pos)
    if found is not None and _FRONT_END.search(text, found.end()) is not None:
        from slipstream.map.languages.braces import BraceLexicon
        lexicon = JavaScriptLexicon(False, True)
        fence = BraceLexicon.find(lexicon, lexicon.compile(r"([({\[])|(\n---[ \t]*\r?(?=\n|\Z))"), text, pos - 1)
        return _FRONT_END.search(text, fence.start() + 1) if fence is not None else found
    return found


def _blank(text: str) -> str:
    return _NOT_LINE_FEED.sub(lambda match: " " * len(match.group()), text)
