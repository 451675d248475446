"""Checks of built HTML pages: accessibility, metadata, and a script every page must load."""
from __future__ import annotations

import os
from html.parser import HTMLParser
from urllib.parse import urlsplit

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.files import read_text
from slipstream.base.paths import relative_path

TITLE_LIMIT = 70
DESCRIPTION_RANGE = (50, 170)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_CONTROLS = frozenset(("input", "select", "textarea"))
_UNLABELLED_TYPES = frozenset(("hidden", "submit", "button", "reset", "image"))


class Element:
    """One start tag with its attributes, its line, the text inside it, and the labels around it."""

    __slots__ = ("attrs", "in_label", "line", "tag", "text")

    def __init__(self, tag: str, attrs: dict[str, str], line: int, in_label: bool) -> None:
        self.tag = tag
        self.attrs = attrs
        self.line = line
        self.text = ""
        self.in_label = in_label

    def has_name(self) -> bool:
        return any(self.attrs.get(key, "").strip() for key in ("aria-label", "aria-labelledby", "title"))


class Page(HTMLParser):
    """All elements of a page in order, each with its text content."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs}, self.getpos()[0],
                          any(other.tag == "label" for other in self._open))
        self.elements.append(element)
        if tag == "img":
            self._say(element.attrs.get("alt", ""))
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID and self._open:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        for position in range(len(self._open) - 1, -1, -1):
            if self._open[position].tag == tag:
                del self._open[position:]
                return

    def handle_data(self, data: str) -> None:
        self._say(data)

    def _say(self, text: str) -> None:
        for element in self._open:
            element.text += text

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]

    def meta(self, name: str) -> str:
        for element in self.all("meta"):
            if name in (element.attrs.get("name", "").lower(), element.attrs.get("property", "").lower()):
                return element.attrs.get("content", "").strip()
        return ""


def parse_page(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    return page


def load_pages(folder: str) -> list[tuple[str, Page]]:
    """(relative path, page) of each .html file below the folder; SlipstreamError when there is none to look at."""
    if not os.path.isdir(folder):
        raise SlipstreamError("no folder %s: build the site first" % folder)
    pages: list[tuple[str, Page]] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "node_modules" and not name.startswith("."))
        for name in sorted(names):
            if name.endswith((".html", ".htm")):
                path = os.path.join(place, name)
                pages.append((relative_path(folder, path), parse_page(read_text(path))))
    if not pages:
        raise SlipstreamError("no .html file below %s: build the site first" % folder)
    return pages


def check_access(dir: str = "dist") -> tuple[list[str], str]:
    pages = load_pages(dir)
    problems = [problem for path, page in pages for problem in _access_problems(path, page)]
    return problems, count_of(len(pages), "page")


def _access_problems(path: str, page: Page) -> list[str]:
    found: list[str] = []

    def say(line: int, text: str) -> None:
        found.append("%s:%d: %s" % (path, line, text))

    html = page.all("html")
    if not html or not html[0].attrs.get("lang", "").strip():
        say(html[0].line if html else 1, "<html> has no lang")
    if not any(title.text.strip() for title in page.all("title")):
        say(1, "the page has no <title> text")
    for image in page.all("img"):
        if "alt" not in image.attrs and image.attrs.get("role") != "presentation":
            say(image.line, "<img> has no alt (use alt=\"\" for decoration)")
    labelled = {label.attrs.get("for", "") for label in page.all("label") if label.text.strip()} - {""}
    for control in page.all(*_CONTROLS):
        if control.tag == "input" and control.attrs.get("type", "").lower() in _UNLABELLED_TYPES:
            continue
        if not (control.in_label or control.has_name() or control.attrs.get("id") in labelled):
            say(control.line, "<%s> has no label" % control.tag)
    for element in page.all("button", "a"):
        if element.tag == "a" and "href" not in element.attrs:
            continue
        if not element.text.strip() and not element.has_name():
            say(element.line, "<%s> has neither text nor an accessible name" % element.tag)
    _heading_problems(page, say)
    seen: dict[str, int] = {}
    for element in page.elements:
        name = element.attrs.get("id", "")
        if name and name in seen:
            say(element.line, "id `%s` is also on line %d" % (name, seen[name]))
        seen.setdefault(name, element.line)
        if element.attrs.get("tabindex", "").isdecimal() and int(element.attrs["tabindex"]) > 0:
            say(element.line, "tabindex above 0 breaks the tab order")
    viewport = page.meta("viewport").replace(" ", "")
    if "user-scalable=no" in viewport or "maximum-scale=1" in viewport.split(","):
        say(1, "the viewport forbids zooming")
    return found


def _heading_problems(page: Page, say: object) -> None:
    assert callable(say)
    previous = 0
    headings = page.all("h1", "h2", "h3", "h4", "h5", "h6")
    if sum(1 for heading in headings if heading.tag == "h1") != 1:
        say(1, "the page has %d <h1>, it should have one" % sum(1 for heading in headings if heading.tag == "h1"))
    for heading in headings:
        level = int(heading.tag[1])
        if previous and level > previous + 1:
            say(heading.line, "<%s> follows <h%d>: a level is skipped" % (heading.tag, previous))
        previous = level


def check_meta(dir: str = "dist", site: str = "") -> tuple[list[str], str]:
    pages = load_pages(dir)
    problems: list[str] = []
    titles: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    canonicals: dict[str, str] = {}
    indexed = 0
    for path, page in pages:
        if "noindex" in page.meta("robots").lower():
            continue
        indexed += 1
        title = next((element.text.strip() for element in page.all("title")), "")
        description = page.meta("description")
        if not title:
            problems.append("%s: no title" % path)
        elif len(title) > TITLE_LIMIT:
            problems.append("%s: the title has %d characters, search results cut it at about %d" % (
                path, len(title), TITLE_LIMIT))
        if not DESCRIPTION_RANGE[0] <= len(description) <= DESCRIPTION_RANGE[1]:
            problems.append("%s: the description has %d characters, aim for %d to %d" % (
                (path, len(description)) + DESCRIPTION_RANGE))
        links = [link.attrs.get("href", "") for link in page.all("link")
                 if "canonical" in link.attrs.get("rel", "").lower().split()]
        if len(links) != 1:
            problems.append("%s: %d canonical links, there should be one" % (path, len(links)))
        else:
            parts = urlsplit(links[0])
            if parts.scheme not in ("http", "https") or not parts.netloc:
                problems.append("%s: the canonical address `%s` is not absolute" % (path, links[0]))
            elif site and parts.netloc != urlsplit(site).netloc:
                problems.append("%s: the canonical address is on %s, not on %s" % (path, parts.netloc, site))
        for what, value, seen in (("title", title, titles), ("description", description, descriptions),
                                  ("canonical address", links[0] if links else "", canonicals)):
            if value and value in seen:
                problems.append("%s: the same %s as %s" % (path, what, seen[value]))
            seen.setdefault(value, path)
        if not page.meta("og:title") or not page.meta("og:image"):
            problems.append("%s: og:title or og:image is missing" % path)
    if not indexed:
        problems.append("every page says noindex")
    return problems, "%s, %d for search engines" % (count_of(len(pages), "page"), indexed)


def check_script(dir: str = "dist", src: str = "", attribute: str = "") -> tuple[list[str], str]:
    if not src:
        raise UsageError("--src names the text the script's address must hold")
    pages = load_pages(dir)
    problems: list[str] = []
    values: set[str] = set()
    for path, page in pages:
        scripts = [script for script in page.all("script") if src in script.attrs.get("src", "")]
        if len(scripts) != 1:
            problems.append("%s: the script is loaded %s, it should be once" % (path, count_of(len(scripts), "time")))
            continue
        script = scripts[0]
        if "defer" not in script.attrs and "async" not in script.attrs and script.attrs.get("type") != "module":
            problems.append("%s:%d: the script blocks rendering; give it defer" % (path, script.line))
        if script.attrs.get("src", "").startswith("http:"):
            problems.append("%s:%d: the script is loaded without TLS" % (path, script.line))
        if attribute:
            value = script.attrs.get(attribute, "").strip()
            values.add(value)
            if not value:
                problems.append("%s:%d: the script has no %s" % (path, script.line, attribute))
    if len(values) > 1:
        problems.append("%s differs between pages: %s" % (attribute, ", ".join(sorted(values))))
    return problems, count_of(len(pages), "page")
