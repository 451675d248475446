"""What a query's words are made to before they are looked up; without regular expressions, whose module costs half a start."""
from __future__ import annotations

STOP_WORDS = frozenset((
    "a about after again all also an and any are as at be because been before being between both but by can could did do "
    "does doing during each few for from further had has have having he her here hers him his how i if in into is it its "
    "just me more most my no nor not now of off on once only or other our ours out over own same she should so some such "
    "than that the their theirs them then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your yours").split())


def stem(word: str) -> str:
    """A light English stemmer: plurals, -ing, -ed, -ly, -ation and their like. Other scripts pass unchanged."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix, least in (("ization", 4), ("ational", 4), ("ation", 4), ("ating", 4), ("ated", 4), ("ate", 5),
                          ("ments", 4), ("ment", 4), ("ness", 4), ("ingly", 4), ("edly", 4), ("ing", 3), ("ion", 4),
                          ("ed", 3), ("ly", 4), ("er", 4), ("or", 4)):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[:-len(suffix)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def split_name(name: str) -> list[str]:
    """As `text.split_identifier`, for the few words of a query."""
    if not name.isascii():
        from slipstream.base.text import split_identifier
        return split_identifier(name)
    parts = []
    kinds = "".join(map(_kind, name))
    at = 0
    while at < len(name):
        start, kind = at, kinds[at]
        at = _end(kinds, at, kind)
        if kind == "A" and kinds[at:at + 1] == "a":
            at = at - 1 if at - start > 1 else _end(kinds, at, "a")
        if kind in "aA0":
            parts.append(name[start:at].lower())
    return parts


def split_query(text: str) -> list[str]:
    """The names and words of a query, dots inside them kept: `a.b`, `snake_case`, `$el`."""
    kinds = "".join("_" if one in "_$" else "." if one == "." else "x" if one.isalnum() else " " for one in text)
    found = []
    at = 0
    while at < len(text):
        start, at = at, _end(kinds, at, {"x": "x_.", "_": "x_"}.get(kinds[at], kinds[at]))
        if kinds[start] in "x_":
            found.append(text[start:at].rstrip("."))
    return found


def _end(kinds: str, at: int, belongs: str) -> int:
    """Where a run of characters of the kinds `belongs` ends."""
    while at < len(kinds) and kinds[at] in belongs:
        at += 1
    return at


def _kind(one: str) -> str:
    """a: small letter, A: capital, 0: digit, else nothing that belongs to a word."""
    return "a" if one.islower() else "A" if one.isupper() else "0" if one.isdigit() else " "
