"""The one redactor: every text slipstream stores or shows passes here first, and is cut only afterwards. Security-relevant."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from typing import Any

from slipstream.events import patterns
from slipstream.events.append import LABEL_CHARS, LINE_CHARS
from slipstream.events.assignments import STRONG, classify_name, is_dense, is_talk, judge

_NAME_WORDS = (
    r"(?i)(?:key|token|secret|passw(?:or)?d|passwrd|passphrase|passcode|pwd|pass|pw|credential|auth|cookie|signature|salt|dsn|jwt"
    r"|connection_?string)"
)
_SEPARATOR = _NAME_WORDS + r"[\w-]{0,24}(\\{0,2}[\"'`]?\]?)([ \t]{0,4})(:=|=>|={1,2}|:(?!:))([ \t]{0,4})(?:(?:\\[nr])?)"
_FLAG = r"(?i)(?<![\w-])(--?[a-z][\w-]{0,40})(?:[ \t]+|=)(\\?[\"']?)([^\s\"'`]{1,500})"
_DENSE_ASSIGNMENT = (
    r"(?<![\w.-])([A-Za-z_][\w-]{0,60})\\?[\"']?\s{0,2}[=:]\s{0,2}\\?[\"']?([A-Za-z0-9+/_=~-]{24,200})(?![A-Za-z0-9+/_=.~-])"
)
MAX_DEPTH, MAX_STRING_CHARS = 12, 2000


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def mark(kind: str) -> str:
    return f"[redacted:{kind}]"


def redact_text(text: str, store_root: str | None = None) -> tuple[str, int]:
    """(text with every secret replaced by `[redacted:kind]`, how many). `store_root` brings in its redact.json."""
    count = 0

    def hide(pattern: str, kind: str, keep: Any = None) -> None:
        """Replaces group 1 (the whole match without groups) of every match that `keep` does not spare."""
        nonlocal text, count
        expression = _compiled(pattern)

        def replace(match: re.Match[str]) -> str:
            nonlocal count
            group = match.lastindex or 0
            found = match.group(group)
            if not found or "[redacted" in found or (keep is not None and keep(match)):
                return match.group()
            count += 1
            whole, start = match.group(), match.start(group) - match.start()
            return whole[:start] + mark(kind) + whole[start + len(found) :]

        text = expression.sub(replace, text)

    low = text.lower()
    for kind, hints, pattern in patterns.PATTERNS:
        if any(hint in low for hint in hints.split(" ")):
            hide(pattern, kind)
    if "authoriz" in low:
        hide(patterns.AUTHORIZATION, "authorization", lambda m: not _is_header_value(m.group(m.lastindex or 0)))
    if "bearer" in low:
        hide(patterns.BEARER, "bearer", lambda m: not _is_header_value(m.group(1)) or m.group(1).count(".") > 3)
    if "basic" in low:
        hide(patterns.BASIC, "basic-auth", lambda m: not _is_basic(m.group(1)))
    if "cookie" in low:
        hide(
            patterns.COOKIE, "cookie", lambda m: not re.search(r"(?i)(?:sess|sid|auth|token|jwt)[\w.-]*=[^\s;]{8,}", m.group(1))
        )
    if "://" in text and "@" in text:
        hide(patterns.URL_PASSWORD, "url-password", _is_no_credential)
        hide(patterns.URL_TOKEN, "url-token", lambda m: not is_dense(m.group(1), bits=2.8) and not patterns_hex(m.group(1)))
    if "-u" in text:
        hide(patterns.CURL_USER, "password", lambda m: is_talk(m.group(2)) or m.group(2).isdigit() or m.group(2)[0] in "$<{%")
    if ";" in text:
        hide(patterns.CONNECTION, "password", lambda m: is_talk(m.group(1)) or m.group(1)[0] in "$<{%")
    text, found = _redact_assignments(text)
    count += found
    if "--" in text or " -p" in text:
        text, found = _redact_flags(text)
        count += found
    if "=" in text or ":" in text:
        hide(_DENSE_ASSIGNMENT, "high-entropy", lambda m: not _is_random(m.group(1), m.group(2)))
    if store_root is not None:
        from slipstream.events.custom_rules import apply_rules

        text, found = apply_rules(store_root, text)
        count += found
    return text, count


def redact_label(text: str, store_root: str | None = None) -> str:
    """A label as it is stored: redacted first, cut after."""
    return redact_text(text, store_root)[0][:LABEL_CHARS]


def redact_data(value: Any, store_root: str | None = None) -> tuple[Any, int]:
    """The same for nested data; a value under a secret-like key is hidden whatever it looks like."""
    return _redact_value(value, store_root, 0)


def _redact_value(value: Any, store_root: str | None, depth: int) -> tuple[Any, int]:
    if isinstance(value, str):
        return redact_text(value, store_root)
    if depth > MAX_DEPTH:
        return mark("too-deep"), 0
    if isinstance(value, (list, tuple)):
        done = [_redact_value(item, store_root, depth + 1) for item in value]
        return [item for item, _ in done], sum(count for _, count in done)
    if not isinstance(value, dict):
        return value, 0
    result, total = {}, 0
    for key, item in value.items():
        name, count = redact_text(str(key), store_root)
        kind, strength = classify_name(name)
        if strength == STRONG and item not in ("", None) and not isinstance(item, (bool, float)):
            hidden = _hide_member(kind, name, item)
            if hidden is not None:
                result[name], total = hidden, total + count + 1
                continue
        result[name], found = _redact_value(item, store_root, depth + 1)
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
    done: dict[str, Any] = {**event, "agent": redact_text(str(event["agent"]))[0][:200], "label": label[:LABEL_CHARS]}
    if event.get("data"):
        done["data"], found = redact_data(event["data"], store_root)
        count += found
    if not done.get("data"):
        done.pop("data", None)
    if count:
        done["data"] = {**(done.get("data") or {}), "redacted": count}
    line = json.dumps(_finite(done), separators=(",", ":"))
    limit = MAX_STRING_CHARS
    while len(line) > LINE_CHARS and limit >= 60 and done.get("data"):
        done["data"] = {**_bounded(done["data"], limit), "cut": True}
        line, limit = json.dumps(_finite(done), separators=(",", ":")), limit // 2
    if len(line) > 4 * LINE_CHARS:
        done["data"] = {"cut": True, "redacted": count}
        line = json.dumps(done, separators=(",", ":"))
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


def _redact_assignments(text: str) -> tuple[str, int]:
    pieces: list[str] = []
    done = count = 0
    for match in _compiled(_SEPARATOR).finditer(text):
        if match.start() < done:
            continue
        begin = match.start()
        while begin > done and match.start() - begin < 64 and (text[begin - 1].isalnum() or text[begin - 1] in "_-."):
            begin -= 1
        name = text[begin : match.start(1)]
        closing, before, sign, after = match.groups()
        start, end, quoted = _value_span(text, match.end(), "env" if sign == "=" and not before and not after else "")
        bare_name = name.lstrip("-.")
        env_style = not before and not after and sign in ("=", "==", ":") and bare_name.isupper() and not closing
        kind = judge(bare_name, text[start:end], quoted, env_style)
        if sign == "==" and (before or after):
            kind = ""  # a comparison
        if not kind and closing and quoted and _is_json_member(text, begin) and classify_name(bare_name)[0] == "password":
            kind = "password" if judge(bare_name, text[start:end], True, True) and " " not in text[start:end] else ""
        if kind:
            pieces += [text[done:start], mark(kind)]
            done, count = end, count + 1
    if not count:
        return text, 0
    return "".join(pieces) + text[done:], count


def _value_span(text: str, position: int, style: str) -> tuple[int, int, bool]:
    """(start, end, quoted) of the value at `position`."""
    prefix = _compiled(r"(?:[bBfFuUrR]{1,2}(?=[\"']))?(\\{0,3}(?:\"\"\"|'''|[\"'`]))").match(text, position)
    if prefix:
        quote, start = prefix.group(1), prefix.end()
        limit = min(len(text), start + 8192)
        end = start
        while end < limit and not text.startswith(quote, end):
            if text[end] in "\r\n" and len(quote.lstrip("\\")) == 1:
                break
            end += 2 if text[end] == "\\" and not quote.startswith("\\") else 1
        return start, min(end, len(text)), True
    line_start = text.rfind("\n", 0, position) + 1
    whole = (
        style == "env"
        and _compiled(r"\s*(?:export\s+|set\s+|[$]env:|-\s+)?[A-Z][A-Z0-9_]*=").match(text[line_start:position]) is not None
    )
    match = _compiled(r"[^\s\"'`]{0,4096}" if whole else r"[^\s\"'`,;&<>)}\]|\\]{0,4096}").match(text, position)
    return position, match.end() if match else position, False


def _is_json_member(text: str, begin: int) -> bool:
    return begin > 0 and text[begin - 1] == '"'


def _redact_flags(text: str) -> tuple[str, int]:
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        flag, quote, value = match.groups()
        kind, strength = classify_name(flag.lstrip("-"))
        if flag in ("-p", "--pass") and _compiled(
            r"(?:mysql|mysqldump|sshpass|mongo|redis-cli|docker login|psql)[^\n|;]*$"
        ).search(text[max(0, match.start() - 120) : match.start()]):
            kind, strength = "password", STRONG
        if (
            strength != STRONG
            or value.startswith(("-", "$", "<", "{", "[", "%", "(", "..."))
            or (is_talk(value) and value != "value")
        ):
            return match.group()
        if not judge("SECRET", value, bool(quote), True) or (value.isupper() and value.replace("_", "").isalpha()):
            return match.group()
        count += 1
        whole = match.group()
        return whole[: len(whole) - len(value)] + mark(kind)

    return _compiled(_FLAG).sub(replace, text), count


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
        plain = base64.b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain and all(32 <= byte < 127 for byte in plain)


def _is_no_credential(match: re.Match[str]) -> bool:
    """A match of URL_PASSWORD that is a host with its port, or a template."""
    user, password = match.group(1), match.group(2)
    if re.match(r"\d{1,5}(?:[/?#]|$)", password) and ("." in user or user == "localhost" or "/" in password):
        return True
    return bool(re.match(r"[$<{%*]|\.\.\.|x{3,}$", password))


def patterns_hex(value: str) -> bool:
    return len(value) >= 20 and re.fullmatch(r"[0-9a-f]+", value) is not None and any(c.isdigit() for c in value)


def _is_random(name: str, value: str) -> bool:
    if name.lower() in (
        "integrity",
        "h1",
        "sha",
        "hash",
        "digest",
        "checksum",
        "etag",
        "base64",
        "data",
        "nonce",
        "sourcemappingurl",
    ):
        return False
    upper, lower = any(c.isupper() for c in value), any(c.islower() for c in value)
    return upper and lower and sum(c.isdigit() for c in value) >= 3 and is_dense(value, 24, 4.0 if name.isupper() else 4.3)
