"""Check of a built site's sitemap.xml and robots.txt against the pages that were built."""
from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.engine.checks.pages import load_pages

URL_LIMIT = 50_000
_W3C_DATE = re.compile(r"^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?)?)?$")


def check_sitemap(dir: str = "dist") -> tuple[list[str], str]:
    problems: list[str] = []
    pages = {path for path, page in load_pages(dir) if "noindex" not in page.meta("robots").lower()}
    entries = _read_sitemap(os.path.join(dir, "sitemap.xml"))
    hosts = {urlsplit(address).netloc for address, _date in entries}
    if len(hosts) > 1:
        problems.append("sitemap.xml names more than one host: %s" % ", ".join(sorted(hosts)))
    if len(entries) > URL_LIMIT:
        problems.append("sitemap.xml has %d addresses, at most %d are allowed in one file" % (len(entries), URL_LIMIT))
    listed: set[str] = set()
    for address, date in entries:
        parts = urlsplit(address)
        if parts.scheme != "https" or not parts.netloc:
            problems.append("sitemap.xml: `%s` is not an absolute https address" % address)
        if date and not _W3C_DATE.match(date):
            problems.append("sitemap.xml: lastmod `%s` is not a W3C date" % date)
        path = unquote(parts.path).lstrip("/")
        names = [path, path.rstrip("/") + ".html", (path.rstrip("/") + "/index.html").lstrip("/")]
        built = next((name for name in names if os.path.isfile(os.path.join(dir, name)) and name), None)
        if built is None:
            problems.append("sitemap.xml: `%s` has no built page" % address)
        elif built in listed:
            problems.append("sitemap.xml: `%s` is listed twice" % address)
        listed.add(built or path)
    for path in sorted(pages - listed - {"404.html", "500.html", "200.html"}):
        problems.append("%s is built for search engines but not in sitemap.xml" % path)
    problems += _robots_problems(os.path.join(dir, "robots.txt"))
    return problems, "%s, %s" % (count_of(len(entries), "address"), count_of(len(pages), "page"))


def _read_sitemap(path: str) -> list[tuple[str, str]]:
    try:
        text = read_text(path)
    except OSError:
        raise SlipstreamError("there is none", path) from None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SlipstreamError("a sitemap has no document type or entities", path)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise SlipstreamError("not XML: %s" % error, path) from None
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    if root.tag != space + "urlset":
        raise SlipstreamError("the root element is `%s`, not a urlset of the sitemap namespace" % root.tag, path)
    entries = [((url.findtext(space + "loc") or "").strip(), (url.findtext(space + "lastmod") or "").strip())
               for url in root.findall(space + "url")]
    if not entries:
        raise SlipstreamError("lists no address", path)
    return entries


def _robots_problems(path: str) -> list[str]:
    try:
        lines = read_text(path).split("\n")
    except OSError:
        return ["there is no robots.txt"]
    problems: list[str] = []
    fields = [(name.strip().lower(), value.split("#")[0].strip()) for name, _colon, value in
              (line.partition(":") for line in lines)]
    if not any(name == "sitemap" and value.startswith("http") for name, value in fields):
        problems.append("robots.txt has no absolute `Sitemap:` line")
    agent = ""
    for name, value in fields:
        if name == "user-agent":
            agent = value
        if name == "disallow" and value == "/" and agent == "*":
            problems.append("robots.txt shuts every crawler out (`Disallow: /`)")
    return problems
