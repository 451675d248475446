"""Secrets that what stands before them gives away: assignments, members, flags, random runs after a name. Security-relevant."""
from __future__ import annotations

from slipstream.base.lazy_pattern import LazyPattern
from slipstream.events.assignments import STRONG, classify_name, is_dense, is_talk, judge, split_words
from slipstream.events.patterns import NAMED_VALUE, TALK

# Words that a secret's name holds, in lower case; what follows one has to be a separator for it to count.
_NAME_WORDS = "key token secret passw passp passc pwd pass pw credential auth cookie signature salt dsn jwt connection".split()
_SEPARATOR = LazyPattern(
    r"[\w-]{0,24}?((?:\\{0,7}[\"'`])?\]?)([^\S\r\n]{0,40})(?:(?:string|String|\[\w{0,9}\])[ \t]{0,9}(?==))?"
    # a colon may be followed by the value's type; a comma and nothing stand between quotes only
    r"(:=|=>|={1,2}|:(?!:)(?:[ \t]*(?:&(?:'\w+ )?)?[A-Za-z_][\w.<>\[\]?]{0,40}"
    r"(?: ?\| ?[\w.]{1,40}){0,3} ?=(?![=>]))?|：|,(?=\s{0,9}[\"'])|(?=\\?[\"']))"
    r"([^\S\r\n]{0,40})(?:\\[nr])?(?:\r?\n\s{0,40}(?=[\"']))?(?:\x1b\[[\d;]{0,12}m)?"
)
_QUOTE = LazyPattern(r"(?:[bBfFuUrR]{1,2}(?=[\"']))?(\\{0,7}(?:\"\"\"|'''|[\"'`]))")
_BLOCK = LazyPattern(r"[|>][-+\d]{0,2}[ \t]*\r?\n([ \t]+)(\S[^\r\n]{0,2000}(?:\r?\n\1[^\r\n]{0,2000}){0,100})")
_ITEM = LazyPattern(r"[\[,]\s{0,40}(\\{0,7}[\"'])([^\"'\\\r\n]{1,500})\1\s{0,40}(?=[,\]])")
# the rest of a value that holds separators
_REST = LazyPattern(r"(?:[,;&<>)}\]|]+(?![\w.-]{1,60}[=:])[^\s\"'`,;&<>)}\]|\\]{1,200}){1,20}")
_ENV_LINE = LazyPattern(r"\s*(?:export\s+|set\s+|[$]env:|-\s+|ENV\s+)?[A-Z][A-Z0-9_]*=\Z")
_BARE_ENV, _BARE = LazyPattern(r"[^\s\x1b\"'`]{0,1024}"), LazyPattern(r"[^\s\x1b\"'`,;&<>)}\]|\\]{0,1024}")
_FLAG = LazyPattern(r"-(?<![^\s\"'`(=]-)(-?[A-Za-z][\w-]{0,40})(?:[ \t]+|=)(\\?[\"']?)((?!-)[^\s\"'`]{1,500})")
_LOGIN_TOOL = LazyPattern(
    r"(?:sshpass|mongo\w*|redis-cli|(?:docker|podman|registry|az|cf|oc) login|psql|mysql\w*|ldap\w+)\b[^\n|;]*\Z")
_RUN = LazyPattern(r"(?<![A-Za-z0-9+/_~.-])[A-Za-z0-9+/_~-]{24,200}={0,2}(?![A-Za-z0-9+/_=.~-])")
_BEFORE_RUN = LazyPattern(r"[=:][>=]?\s{0,2}\\?[\"']?(?=[A-Za-z0-9+/_~-]{24})")
_NAME_BEFORE = LazyPattern(r"([A-Za-z_][\w-]{1,60})\\?[\"']?\s{0,2}(?:=>?|:=?)\s{0,2}\\?[\"']?\Z")
_NAMED_VALUE = LazyPattern(NAMED_VALUE)
_NO_SECRETS = frozenset("integrity h1 sha hash digest checksum etag base64 data nonce sourcemappingurl list ixid".split())
MAX_VALUE_CHARS, JUDGED_CHARS = 8192, 300
Span = tuple[int, int, str]  # start, end, kind


def find_spans(text: str, low: str) -> list[Span]:
    """Spans to hide in `text`, in order, not overlapping. `low`: the text in lower case, position by position."""
    spans: list[Span] = []
    if any(sign in text for sign in ":=：\"'"):
        spans += _assigned(text, low) + _random_runs(text)
    if "value" in low or "default" in low:
        spans += _named(text, low)
    if "-" in text:
        spans += _flags(text)
    chosen: list[Span] = []
    for span in sorted(spans):
        if not chosen or span[0] >= chosen[-1][1]:
            chosen.append(span)
    return chosen


def find_words(low: str, words: list[str]) -> list[tuple[int, int]]:
    """(start, end) of every place of every word, in order."""
    found = []
    for word in words:
        at = low.find(word)
        while at >= 0:
            found.append((at, at + len(word)))
            at = low.find(word, at + 1)
    return sorted(found)


def _assigned(text: str, low: str) -> list[Span]:
    spans, done = [], 0
    for end in sorted({end for _, end in find_words(low, _NAME_WORDS)}):
        match = _SEPARATOR.match(text, end) if end > done else None
        if match is None:
            continue
        begin = end
        while begin > 0 and end - begin < 64 and (text[begin - 1].isalnum() or text[begin - 1] in "_-."):
            begin -= 1
        name = text[begin : match.start(1)].lstrip("-.")
        closing, before, sign, after = match.groups()
        if sign == "==" and (before or after):
            continue  # a comparison
        tight = not before and not after and not closing and len(sign) < 3
        items = _ITEM.match(text, match.end()) if text.startswith("[", match.end()) else None
        if items is not None:
            spans += _items(text, match.end(), name)
            done = items.end()
            continue
        start, stop, quoted = _value_span(text, match.end(), sign == "=" and tight)
        value = text[start : min(stop, start + JUDGED_CHARS)]
        env_style = tight and name.isupper() and sign != "=>"
        if sign == "：" and not value.isascii():
            continue  # a sentence
        ended = text[stop : stop + 8].lstrip("\\")[:1] in ("'", '"') and (" " not in value or any(c.isdigit() for c in value))
        if sign == "" and (not ended or text[begin - 1 : begin] in ("$", "{")):
            continue  # a shell's variable beside a text, a quote that ends one, prose
        if sign in ("", ",") or len(sign) > 2:
            apart = sign == "," and (closing[-1:] not in ("'", '"') or text[begin - 1 : begin] not in ("'", '"')
                                     or text[stop + 1 : stop + 3].lstrip().startswith((":", "=")))
            if not quoted or apart or (sign == "" and (closing or not before)):
                continue
            if not name.isupper() and (not any(c.isdigit() for c in value) or classify_name(name)[1] != STRONG or any(
                    len(word) > 2 and word in TALK for word in split_words(value))):
                continue
            env_style = name.isupper()
        member = quoted and closing[-1:] in ("'", '"') and " " not in value  # of JSON, of a mapping: there are no expressions
        whole = not quoted and _stands_alone(text, begin, stop, sign, tight)
        kind = judge(name, value, quoted, env_style or (member and classify_name(name)[0] == "password"), whole)
        rest = None if quoted else _REST.match(text, stop)
        if rest is not None and not kind and _stands_alone(text, begin, rest.end(), sign, tight):
            kind = judge(name, text[start : min(rest.end(), start + JUDGED_CHARS)], quoted, env_style, True)
        if kind:
            stop = rest.end() if rest is not None else stop
            spans.append((start, stop, kind))
        done = stop if kind else match.end() - 1
    return spans


def _value_span(text: str, position: int, env: bool) -> tuple[int, int, bool]:
    """(start, end, quoted) of the value at `position`."""
    prefix = _QUOTE.match(text, position)
    if prefix:
        quote, start = prefix.group(1), prefix.end()
        end, limit = start, min(len(text), start + MAX_VALUE_CHARS)
        while end < limit and not text.startswith(quote, end):
            if text[end] in "\r\n" and len(quote.lstrip("\\")) == 1:
                break
            end += 2 if text[end] == "\\" and not quote.startswith("\\") else 1
        return start, min(end, len(text)), True
    block = _BLOCK.match(text, position) if text[position : position + 1] in ("|", ">") else None
    if block is not None:
        return block.start(2), block.end(), True
    line = text[max(text.rfind("\n", 0, position) + 1, position - 200) : position]
    match = (_BARE_ENV if env and _ENV_LINE.match(line) else _BARE).match(text, position)
    return position, match.end() if match else position, False


def _items(text: str, position: int, name: str) -> list[Span]:
    """The texts of a list, each judged under the list's name in the singular."""
    spans: list[Span] = []
    one = name[:-1] if name[-1:] in "sS" else name
    kind = classify_name(one)[0] if one != name or name.isupper() else ""
    while kind and len(spans) < 200:
        match = _ITEM.match(text, position)
        if match is None:
            break
        if any(c.isdigit() for c in match.group(2)[:200]) and judge(one, match.group(2), True, False) and (
                kind == "password" or is_dense(match.group(2), 12, 2.8)):
            spans.append((match.start(2), match.end(2), kind))
        position = match.end()
    return spans


def _named(text: str, low: str) -> list[Span]:
    """Members `name` and `value` beside each other."""
    spans, done = [], 0
    for at, _ in find_words(low, ["name", "key", "variable"]):
        match = _NAMED_VALUE.match(text, at) if at >= done else None
        if match is None:
            continue
        done = match.end()
        start, stop, quoted = _value_span(text, match.end(), False)
        name = match.group(1)
        kind = judge(name, text[start : min(stop, start + JUDGED_CHARS)], quoted, name.isupper())
        if kind:
            rest = None if quoted else _REST.match(text, stop)
            spans.append((start, rest.end() if rest is not None else stop, kind))
    return spans


def is_set_to_secret(name: str, value: str) -> bool:
    """Whether `set NAME VALUE` tells a secret."""
    own = name.rstrip("\"'").rpartition("/")[2].rpartition(":")[2]
    told = own.isupper() or any(c.isdigit() for c in value)
    return told and classify_name(own)[1] == STRONG and bool(judge(own, value, True, True))


def _stands_alone(text: str, begin: int, stop: int, sign: str, tight: bool) -> bool:
    """Whether `name=value` or a line's `name: value` is all there is, as in settings, shells and addresses."""
    after = text[stop : stop + 1]
    if sign == "=" and tight:
        return (not begin or text[begin - 1] in " \t\n?&;\"'-") and (not after or after in " \t\r\n&;\"'")
    if sign != ":" or text[max(text.rfind("\n", 0, begin) + 1, begin - 80) : begin].strip(" \t-"):
        return False
    line_end = text.find("\n", stop)
    rest = text[stop : line_end if line_end >= 0 else min(len(text), stop + 80)].strip()
    return not rest or rest.startswith("#")


def _flags(text: str) -> list[Span]:
    spans = []
    for match in _FLAG.finditer(text):
        flag, quote, value = match.groups()
        flag = "-" + flag
        kind, strength = classify_name(flag.lstrip("-"))
        if flag == "-p" and _LOGIN_TOOL.search(text[max(0, match.start() - 120) : match.start()]):
            kind, strength = "password", STRONG
        if strength != STRONG or value[0] in "$<{[%(" or value.startswith("...") or (is_talk(value) and value != "value"):
            continue
        shown = value.rstrip(",;)]}")
        if judge("SECRET", shown, bool(quote), True) and not (shown.isupper() and shown.replace("_", "").isalpha()):
            spans.append((match.start(3), match.start(3) + len(shown), kind))
    return spans


def _random_runs(text: str) -> list[Span]:
    spans = []
    for sign in _BEFORE_RUN.finditer(text):
        match = _RUN.match(text, sign.end())
        before = match and _NAME_BEFORE.search(text, max(0, sign.end() - 80), sign.end())
        if match is not None and before is not None and _is_random(before.group(1), match.group()):
            spans.append((match.start(), match.end(), "high-entropy"))
    return spans


def _is_random(name: str, value: str) -> bool:
    low = value.lower()
    if name.lower() in _NO_SECRETS or "abcdefgh" in low or "01234567" in low:
        return False
    upper, lower = low != value, value.upper() != value
    return upper and lower and sum(c.isdigit() for c in value) >= 3 and is_dense(value, 24, 4.0 if name.isupper() else 4.3)
