"""Checks that ask a running server: single answers, a rate limit, a session cookie."""
from __future__ import annotations

import json
import re

from slipstream.base.counts import count_of
from slipstream.base.errors import UsageError
from slipstream.engine.checks.server import Answer, running, send

_CASE = re.compile(r"^\s*([A-Z]+)\s+(/\S*)\s*(.*?)\s*->\s*(\d{3})\s*(?:~\s*(.+?))?\s*$", re.S)
_REQUEST = re.compile(r"^\s*([A-Z]+)\s+(/\S*)\s*(.*?)\s*$", re.S)
_HEADER = re.compile(r"^\+([A-Za-z0-9-]+)=((?:(?!\s\+[A-Za-z0-9-]+=|\s[{\[]).)*)\s*", re.S)
RATE_SLACK = 50


def _split_rest(rest: str) -> tuple[dict[str, str], bytes | None]:
    """Headers written `+Name=value` and the body after them; a body that is JSON gets its content type."""
    headers: dict[str, str] = {}
    match = _HEADER.match(rest)
    while match:
        headers[match.group(1)] = match.group(2).strip()
        rest = rest[match.end():]
        match = _HEADER.match(rest)
    if not rest:
        return headers, None
    if rest[0] in "{[":
        headers.setdefault("Content-Type", "application/json")
    return headers, rest.encode("utf-8")


def ask(base: str, request: str, extra: dict[str, str] | None = None) -> Answer:
    match = _REQUEST.match(request)
    if not match:
        raise UsageError("`%s` is not `METHOD PATH [+Name=value] [body]`" % request)
    headers, body = _split_rest(match.group(3))
    return send(base, match.group(1), match.group(2), {**headers, **(extra or {})}, body)


def check_http(*cases: str, start: str = "", url: str = "") -> tuple[list[str], str]:
    if not cases:
        raise UsageError("give at least one case, such as \"GET /health -> 200\"")
    parsed = []
    for case in cases:
        match = _CASE.match(case)
        if not match:
            raise UsageError("`%s` is not `METHOD PATH [+Name=value] [body] -> STATUS [~text]`" % case)
        parsed.append(match.groups())
    problems: list[str] = []
    with running(start, url, {}) as base:
        for method, path, rest, status, text in parsed:
            headers, body = _split_rest(rest)
            answer = send(base, method, path, headers, body)
            if answer.status != int(status):
                problems.append("%s %s answered %d, expected %s" % (method, path, answer.status, status))
            elif text and text not in answer.body:
                problems.append("%s %s: the body does not hold `%s`" % (method, path, text))
            elif answer.header("content-type").startswith("application/json"):
                try:
                    json.loads(answer.body or "null")
                except ValueError:
                    problems.append("%s %s says JSON but its body is not" % (method, path))
    return problems, count_of(len(parsed), "request")


def check_rate_limit(start: str = "", url: str = "", path: str = "/", limit: int = 60) -> tuple[list[str], str]:
    with running(start, url, {}) as base:
        for sent in range(1, limit + RATE_SLACK + 1):
            answer = send(base, "GET", path, {})
            if answer.status != 429:
                if answer.status >= 400:
                    return ["request %d answered %d" % (sent, answer.status)], count_of(sent, "request")
                continue
            problems = []
            if sent <= limit:
                problems.append("429 came at request %d, the limit is %d" % (sent, limit))
            if not re.match(r"^(\d+|[A-Z][a-z]{2}, .+GMT)$", answer.header("retry-after")):
                problems.append("the 429 has no usable Retry-After header")
            return problems, count_of(sent, "request")
    return ["no 429 within %d requests, the limit is %d" % (limit + RATE_SLACK, limit)], count_of(limit + RATE_SLACK, "request")


def check_session(start: str = "", url: str = "", login: str = "", private: str = "/me", logout: str = ""
                  ) -> tuple[list[str], str]:
    problems: list[str] = []
    with running(start, url, {}) as base:
        if ask(base, "GET " + private).status not in (301, 302, 303, 307, 401, 403):
            problems.append("%s lets a stranger in" % private)
        answer = ask(base, login)
        if answer.status >= 400:
            return problems + ["log-in answered %d" % answer.status], "session"
        cookies = answer.header_values("set-cookie")
        if not cookies:
            return problems + ["log-in sets no cookie"], "session"
        for cookie in cookies:
            problems += _cookie_problems(cookie)
        jar = {"Cookie": "; ".join(cookie.split(";")[0] for cookie in cookies)}
        if ask(base, "GET " + private, jar).status != 200:
            problems.append("%s refuses the session that log-in gave" % private)
        forged = {"Cookie": jar["Cookie"][:-1] + ("0" if jar["Cookie"][-1] != "0" else "1")}
        if ask(base, "GET " + private, forged).status == 200:
            problems.append("%s accepts an altered session cookie" % private)
        if logout:
            ask(base, logout, jar)
            if ask(base, "GET " + private, jar).status == 200:
                problems.append("the old cookie still works after log-out")
    return problems, count_of(len(cookies), "cooky")


def _cookie_problems(cookie: str) -> list[str]:
    name = cookie.split("=")[0].strip()
    attributes = {part.split("=")[0].strip().lower(): part.partition("=")[2].strip().lower() for part in cookie.split(";")[1:]}
    problems = []
    if "httponly" not in attributes:
        problems.append("cookie %s is readable by scripts (no HttpOnly)" % name)
    if "secure" not in attributes:
        problems.append("cookie %s may travel without TLS (no Secure)" % name)
    if attributes.get("samesite") not in ("lax", "strict"):
        problems.append("cookie %s has no SameSite=Lax or Strict" % name)
    if name.startswith("__Host-") and (attributes.get("path") != "/" or "domain" in attributes):
        problems.append("cookie %s breaks the rules of its __Host- prefix" % name)
    return problems
