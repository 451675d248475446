"""Is the value behind a name a secret? Names and values of assignments, JSON members and command-line flags.
Security-relevant."""

from __future__ import annotations

import math
import re

from slipstream.base.lazy_pattern import LazyPattern
from slipstream.events.patterns import KEY_OWNERS, QUALIFIERS, SECRET_WORDS, TALK

_CAMEL = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLACEHOLDER = LazyPattern(
    r"\[redacted|\$[\w({]|%\w*%|%[sdr(]|\{|<|#\{|\*{2,}|\.{3}|…|x{4,}|X{4,}|-{3,}|_{3,}|os\.|process\.|env[.\[(]|ENV[.\[]|getenv"
    r"|import\.meta|secrets\.|vault:|\\[wdsS(]|\(\?|\[\^|\[a-z|~?/[\w.~-]+(?:/|$)|\.{1,2}/|[A-Za-z]:[\\/]|https?://|file:|[@&]\w+$"
)
_IDENTIFIER = LazyPattern(r"[A-Za-z_$][\w$]*\Z")
_EXPRESSION = LazyPattern(r"[!&*\-+~]?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$][\w$]*)+[,;:?!]*\Z")
_UUID = LazyPattern(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_HEX = LazyPattern(r"(?:0x)?[0-9a-fA-F]+\Z")
_DENSE = LazyPattern(r"[A-Za-z0-9+/_=.~-]+\Z")
_PATH = LazyPattern(r"(?:[\w@-]{1,40}[./\\]){1,}[\w@-]{1,40}\Z")
STRONG, WEAK = 2, 1


def split_words(name: str) -> list[str]:
    """`DB_adminPassword2` -> [db, admin, password, 2]."""
    return [word.lower() for word in _CAMEL.findall(name)]


def classify_name(name: str) -> tuple[str, int]:
    """(kind of secret, STRONG or WEAK) for the name of a value; ("", 0) when it speaks of no secret."""
    words = split_words(name)
    while len(words) > 1 and words[-1] in QUALIFIERS:
        words.pop()
    if not words:
        return "", 0
    last, joined = words[-1], "".join(words[-2:])
    if joined in SECRET_WORDS and len(words) > 1:
        return SECRET_WORDS[joined], STRONG
    if last == "key":
        return ("api-key" if "api" in words[-2:] else "secret", STRONG) if set(words[-3:-1]) & KEY_OWNERS else ("secret", WEAK)
    if last in ("pass", "pw"):
        return ("password", STRONG) if len(words) > 1 else ("password", WEAK)
    if last in SECRET_WORDS:
        return SECRET_WORDS[last], STRONG
    if last in ("string", "str") and "connection" in words:
        return "connection-string", WEAK
    if last in ("auth", "signature", "cookie", "salt", "tokens", "secrets", "credentials", "keys") or any(
        w in SECRET_WORDS for w in words
    ):
        return next((SECRET_WORDS[w] for w in reversed(words) if w in SECRET_WORDS), "secret"), WEAK
    for word in ("password", "passwd", "secret", "token", "apikey"):
        if last.endswith(word):
            return SECRET_WORDS[word], STRONG
    return "", 0


def is_dense(value: str, least: int = 20, bits: float = 3.3) -> bool:
    """Looks like random characters: long, of mixed classes, without the regularity of names, paths, hashes and UUIDs."""
    if not least <= len(value) <= 400 or not _DENSE.match(value) or _UUID.match(value):
        return False
    digits = sum(map(str.isdigit, value))
    if digits < 2 or not any(map(str.isalpha, value)) or (_HEX.match(value) and len(value) in (32, 40, 56, 64, 96, 128)):
        return False
    if _HEX.match(value):
        return len(value) >= least and digits >= 4
    if value.startswith(("sha1-", "sha256", "sha384", "sha512", "h1:", "md5", "data:")) or (
        value.count("/") > 3 and "." in value
    ):
        return False
    words = _CAMEL.findall(value)
    if sum(len(word) for word in words if len(word) > 3 and word.isalpha() and word[1:].islower()) * 2 > len(value):
        return False  # readable words: an identifier, a file name, a slug
    counts = [value.count(c) for c in set(value)]
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts) >= bits


def is_talk(value: str, name: str = "") -> bool:
    """Made of words that only speak of secrets (`your_api_key`, `currentPassword`, `token2`), or of the name itself."""
    words = [word for word in split_words(value) if not (word.isdigit() and len(word) < 3)]
    own = set(split_words(name)) if name else set()
    return (
        any(len(word) > 1 for word in words)
        and all(word in TALK or word in own for word in words)
        and not re.search(r"[^\w\s.,:;?()/\-]", value)
    )


def judge(name: str, value: str, quoted: bool, env_style: bool, whole: bool = False) -> str:
    """The kind of secret `value` is under `name`, or "" when it may stay.

    `env_style`: NAME=value without spaces and with an upper-case name, as in .env files and shells. `whole`: nothing but
    white space stands around `name=value` or `name: value`, as in a settings file: the value is no expression of a program.
    """
    kind, strength = classify_name(name)
    value = value.strip()
    if not kind or not value or _PLACEHOLDER.match(value) or is_talk(value, name) or len(set(value)) == 1:
        return ""
    letters, digits = any(map(str.isalpha, value)), sum(map(str.isdigit, value))
    if strength == WEAK:
        upper_bare = env_style and split_words(name) == ["key"] and len(value) >= 6 and digits and letters
        return kind if is_dense(value) or upper_bare else ""
    if not letters and not digits:
        return ""
    if not letters:  # figures only: a count, a port, a version, or a PIN
        pin = value.isdigit() and digits >= 4 and (quoted or env_style or digits >= 6)
        return kind if kind == "password" and pin else ""
    if quoted:
        return kind if _quoted_secret(value, env_style, digits) else ""
    return kind if _bare_secret(kind, value, env_style, digits, whole) else ""


def _quoted_secret(value: str, env_style: bool, digits: int) -> bool:
    if re.match(r"\\[uU]?[0-9a-fA-F]{2,6}$", value):
        return False  # one escaped character
    if re.search(r"\$\{|\{\{|#\{|%[sd]|\{\w*\}|\$\(|</|\\[wd]", value):
        return False
    if " " in value:  # prose, a label, a message; a pass phrase has no sentence around it
        return env_style or (digits > 0 and not re.search(r"[.?!:]$|[<>{}()]", value) and len(value) <= 60)
    if not value.isascii():
        return digits > 0 or env_style
    if (
        split_words(value)[-1:]
        and split_words(value)[-1] in SECRET_WORDS
        and not digits
        and re.search(r"[_.:\-]|[a-z][A-Z]", value)
    ):
        return False  # `csrf_token`, `accessToken`: the name of a field
    if _PATH.match(value) and not digits and ("." in value or "/" in value):
        return False  # `auth.password`, `config/secrets`: a key of translations or settings
    return not (value.isupper() and "_" in value and not digits)  # the name of a variable


def _bare_secret(kind: str, value: str, env_style: bool, digits: int, whole: bool) -> bool:
    if _EXPRESSION.match(value) and not (digits >= 2 and is_dense(value)):
        return False
    if re.match(r"[(\[{|>*&!<=+\-?:/\\`]", value) or "(" in value or "[" in value:
        return env_style and digits > 0 and len(value) >= 6 and "(" not in value[1:]
    identifier = _IDENTIFIER.match(value.rstrip(",;:"))
    if env_style:
        return not (identifier and value.isupper() and "_" in value and not digits)
    if not identifier:
        return len(value) >= 6 and digits > 0 and not re.search(r"[(){}\[\]<>]|=>|->|::|\|\|", value)
    words = split_words(value)
    if any(word in TALK for word in words):
        return digits >= 3
    if not digits:
        return whole and value.islower() and "_" not in value and len(value) >= (4 if kind == "password" else 12)
    return digits >= 3 or kind == "password" or (len(value) >= 6 and len(words) <= 4 and not re.search(r"[a-z]\d{1,2}$", value))
