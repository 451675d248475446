"""The one redactor: every text slipstream stores or shows passes here first, and is cut only afterwards. Security-relevant."""

from __future__ import annotations

import os
import re
from binascii import a2b_base64
from collections.abc import Iterator
from functools import cache
from typing import Any

from slipstream.base.fast_json import dumps
from slipstream.base.lazy_pattern import LazyPattern
from slipstream.base.roots import store_dir
from slipstream.events import patterns
from slipstream.events.append import LABEL_CHARS, LINE_CHARS
from slipstream.events.assignments import STRONG, classify_name, is_dense, is_talk, judge
from slipstream.events.names import safe_session
from slipstream.events.spans import find_spans, find_words, is_set_to_secret

_SESSION_COOKIE = LazyPattern(r"(?i)(?:sess|sid|auth|token|jwt)[\w.-]*=[^\s;]{8,}")
_HOLDERS = frozenset(("value", "default", "plaintext", "secretstring"))
MAX_DEPTH, MAX_STRING_CHARS = 12, 2000


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _rows() -> list[tuple[str, list[str], str]]:
    return [(kind, hints.split(" "), pattern) for kind, hints, pattern in patterns.PATTERNS]


def mark(kind: str) -> str:
    return f"[redacted:{kind}]"


def redact_text(text: str, store_root: str | None = None) -> tuple[str, int]:
    """(text with every secret replaced by `[redacted:kind]`, how many). `store_root` brings in its redact.json."""
    count, low = 0, _lower(text)

    def hide(pattern: str, kind: str, keep: Any = None, words: str = "") -> None:
        """Replaces group 1 (the whole match without groups) of every match that `keep` does not spare. `words`: what it
        begins with, in lower case; only there it is tried."""
        nonlocal text, low, count
        expression, pieces, done = _compiled(pattern), [], 0
        for match in _find_at(expression, text, low, words) if words else expression.finditer(text):
            group = match.lastindex or 0
            found = match.group(group)
            if found and "[redacted" not in found and (keep is None or not keep(match)):
                pieces += [text[done : match.start(group)], mark(kind)]
                done = match.end(group)
        if done:
            count += len(pieces) // 2
            text = "".join(pieces) + text[done:]
            low = _lower(text)

    for kind, hints, pattern in _rows():
        for hint in hints:  # no generator: there are 250 hints, and an export asks for each of ten thousand texts
            if hint in low:
                hide(pattern, kind)
                break
    if "authoriz" in low:
        for scheme in (patterns.AUTHORIZATION, patterns.OTHER_SCHEME):
            hide(scheme, "authorization", lambda m: not _is_header_value(m.group(1)), "authorization")
    if "bearer" in low:
        hide(patterns.BEARER, "bearer", lambda m: not _is_header_value(m.group(1)) or m.group(1).count(".") > 3, "bearer")
    if "digest" in low:
        hide(patterns.DIGEST, "authorization", words="digest")
    if "basic" in low:
        hide(patterns.BASIC, "basic-auth", lambda m: not _is_basic(m.group(1)), "basic")
    if "cookie" in low:
        hide(patterns.COOKIE, "cookie", lambda m: not _SESSION_COOKIE.search(m.group(1)), "cookie")
    if "cookie" in low or " -b" in text:
        hide(patterns.CURL_COOKIE, "cookie", lambda m: not _SESSION_COOKIE.search(m.group(1)))
    if "://" in text and "@" in text:
        hide(patterns.URL_PASSWORD, "url-password", _is_no_credential)
        hide(patterns.URL_TOKEN, "url-token", lambda m: not _is_random_word(m.group(1)))
    if "-u" in text or "--auth" in text or " -a" in text:
        hide(patterns.CURL_USER, "password", _is_template)
    if "curl" in text:
        hide(patterns.CURL_LETTERS, "password", _is_template)
    if ";" in text:
        hide(patterns.CONNECTION, "password", _is_template)
    if "-p" in text and ("mysql" in text or "sshpass" in text or " login" in text):
        hide(patterns.ATTACHED_PASSWORD, "password", _is_template)
    if any(word in text for word in ("redis-cli", "ldap", "-passin", "-passout")):
        hide(patterns.TOOL_PASSWORD, "password", _is_template)
    if ":thin:" in low or "sqlplus" in low or "@tcp(" in text or "@unix(" in text:
        hide(patterns.SLASHED_PASSWORD, "password", _is_template)
    if "identified" in low or "PASSWORD" in text or "securestring" in low:
        hide(patterns.SQL_PASSWORD, "password", _is_template, "identified password securestring")
    if "set " in low or "setx " in low or "setenv " in low:
        hide(patterns.SET_COMMAND, "secret", lambda m: not is_set_to_secret(m.group(1), m.group(2)), "set")
    if "login" in low:
        hide(patterns.NETRC, "password", _is_template, "login")
    if "</" in text:
        hide(patterns.MARKUP, "secret", lambda m: not judge(m.group(1), m.group(2), True, False))
    if any(word in low for word in ("passw", "passphrase", "secret", "token", "api")):
        hide(patterns.SPOKEN, "secret", _is_not_spoken, "passw passphrase secret token api")
    if "pass" in low:
        hide(patterns.SPOKEN_PASSWORD, "password", _is_template, "pass")
    pieces, done = [], 0
    for start, end, kind in find_spans(text, low):
        pieces += [text[done:start], mark(kind)]
        done, count = end, count + 1
    text = "".join(pieces) + text[done:]
    if store_root is not None and os.path.exists(os.path.join(store_dir(store_root), "redact.json")):
        from slipstream.events.custom_rules import apply_rules

        text, found = apply_rules(store_root, text)
        count += found
    return text, count


def _lower(text: str) -> str:
    """In lower case, position by position: İ is the one letter whose lower case is two."""
    return text.lower() if "İ" not in text else text.replace("İ", "I").lower()


def _find_at(expression: re.Pattern[str], text: str, low: str, words: str) -> Iterator[re.Match[str]]:
    """The matches that begin with one of the words: as finditer's, found by looking for the words first."""
    end = 0
    for at, _ in find_words(low, words.split()):
        match = expression.match(text, at) if at >= end else None
        if match is not None:
            end = match.end()
            yield match


def redact_data(value: Any, store_root: str | None = None) -> tuple[Any, int]:
    """The same for nested data; a value under a secret-like key is hidden whatever it looks like."""
    return _redact_value(value, store_root, 0)


def _redact_value(value: Any, store_root: str | None, depth: int, above: str = "") -> tuple[Any, int]:
    """`above`: the name of the member that `value` is the value of."""
    if isinstance(value, str):
        return redact_text(value, store_root)
    if depth > MAX_DEPTH:
        return mark("too-deep"), 0
    if isinstance(value, (list, tuple)):
        done = [_redact_value(item, store_root, depth + 1, above) for item in value]
        return [item for item, _ in done], sum(count for _, count in done)
    if not isinstance(value, dict):
        return value, 0
    result, total = {}, 0
    named = value.get("name", value.get("Name", value.get("key", value.get("Key"))))
    for key, item in value.items():
        name, count = redact_text(str(key), store_root)
        # {"name": "DB_PASSWORD", "value": ...}, {"password": {"value": ...}}
        about = (named if isinstance(named, str) else above) if name.lower() in _HOLDERS else name
        kind, strength = classify_name(about)
        if strength == STRONG and item not in ("", None) and not isinstance(item, (bool, float)):
            hidden = _hide_member(kind, about, item)
            if hidden is not None:
                result[name], total = hidden, total + count + 1
                continue
        result[name], found = _redact_value(item, store_root, depth + 1, name)
        total += count + found
    return result, total


def _hide_member(kind: str, name: str, item: Any) -> Any:
    """The mark for a member that has to go, or None. Structured data has no expressions: strings count as quoted."""
    if isinstance(item, str):
        if item.startswith("[redacted") or (is_talk(item, name) and not judge(name, item, True, True)):
            return None
        return mark(kind) if judge(name, item, True, True) or kind == "password" else None
    if isinstance(item, int):
        return mark(kind) if kind == "password" else None
    if isinstance(item, list) and item and all(isinstance(part, (str, int)) for part in item):
        return [mark(kind) for _ in item]
    return None


def redact_event(store_root: str, event: dict[str, Any]) -> str:
    """An event as one JSON line without its number: redacted, the count kept in data, cut to the line's bound."""
    label, count = redact_text(str(event["label"])[:65536], store_root)
    agent = redact_text(str(event["agent"]), store_root)[0][:200]
    kind = redact_text(str(event["kind"]), store_root)[0][:200]
    done = {**event, "session": safe_session(str(event["session"])), "agent": agent, "kind": kind,
            "label": label[:LABEL_CHARS]}
    if event.get("data"):
        done["data"], found = redact_data(event["data"], store_root)
        count += found
    if not done.get("data"):
        done.pop("data", None)
    if count:
        done["data"] = {**(done.get("data") or {}), "redacted": count}
    line = dumps(_finite(done))
    limit = MAX_STRING_CHARS
    while len(line) > LINE_CHARS and limit >= 60 and done.get("data"):
        done["data"] = {**_bounded(done["data"], limit), "cut": True}
        line, limit = dumps(_finite(done)), limit // 2
    if len(line) > 4 * LINE_CHARS:
        done["data"] = {"cut": True, "redacted": count}
        line = dumps(done)
    return line


def _finite(value: Any) -> Any:
    """NaN and infinities are no JSON; whatever json cannot write becomes its text."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def _bounded(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else value[:limit] + "…"
    if isinstance(value, list):
        return [_bounded(item, limit) for item in value[:limit]]
    if isinstance(value, dict):
        return {key: _bounded(item, limit) for key, item in list(value.items())[:limit]}
    return value


def _is_header_value(value: str) -> bool:
    if is_talk(value) or re.match(r"[$<{%\[]|\.\.\.", value):
        return False
    return (
        any(c.isdigit() for c in value)
        or len(value) >= 24
        or (not value.islower() and not value[1:].islower() and len(value) >= 16)
    )


def _is_basic(value: str) -> bool:
    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:  # no base64, or a letter that only upper and lower case make one of its own
        return False
    return b":" in plain and all(32 <= byte < 127 for byte in plain)


def _is_no_credential(match: re.Match[str]) -> bool:
    """A match of URL_PASSWORD that is a host with its port, a template, or a mark of ours."""
    user, password = match.group(1), match.group(2)
    if re.match(r"\d{1,5}(?:[/?#]|$)", password) and ("." in user or user == "localhost" or "/" in password):
        later = _compiled(patterns.URL_PASSWORD).search(match.string, match.start(2), match.end() + 1)  # of a list of addresses
        return later is None or _is_no_credential(later)
    return bool(re.match(r"[$<{%*]|\.\.\.|x{3,}$", password) or (user == "[redacted" and re.match(r"[\w-]+\]$", password)))


def _is_template(match: re.Match[str]) -> bool:
    value = match.group(match.lastindex or 0)
    return is_talk(value) or value[0] in "$<{%*" or (value.isdigit() and len(value) < 6)


def _is_random_word(value: str) -> bool:
    return any(c.isdigit() for c in value) and (is_dense(value, bits=2.8) or re.fullmatch(r"[0-9a-f]{20,}", value) is not None)


def _is_not_spoken(match: re.Match[str]) -> bool:
    quoted, bare = match.group(2), match.group(3)
    if quoted is not None:
        return is_talk(quoted) or not any(c.isdigit() for c in quoted) or len(quoted) < 6
    return not _is_random_word(bare)
