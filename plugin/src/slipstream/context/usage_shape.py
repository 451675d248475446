"""Learns how a host writes a reply's line, so that lines of the same shape are read by their ends without parsing them."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

# (message id, request id, model, time stamp, output, input, cache writes, cache reads, one-hour writes, 5-minute writes): as
# they stand in the line; then the words of the price.
Reply = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, str]
STAMP, OUTPUT, OTHERS = 3, 4, slice(5, 10)

_TEXTS = {("message", "id"): 0, ("requestId",): 1, ("message", "model"): 2, ("timestamp",): 3}
_USAGE = ("message", "usage")
_NUMBERS = {(*_USAGE, *path): at for at, path in enumerate((
    ("output_tokens",), ("input_tokens",), ("cache_creation_input_tokens",), ("cache_read_input_tokens",),
    ("cache_creation", "ephemeral_1h_input_tokens"), ("cache_creation", "ephemeral_5m_input_tokens")), OUTPUT)}
# What else decides whether and how a line counts: it has to be exactly as in the line that was learnt from.
_FIXED = frozenset((("type",), ("isApiErrorMessage",), ("message",), _USAGE, (*_USAGE, "cache_creation"), (*_USAGE, "speed"),
                    (*_USAGE, "service_tier"), (*_USAGE, "inference_geo")))
_WATCHED = frozenset(((), ("message",), _USAGE, (*_USAGE, "cache_creation")))
_CONTENT = ("message", "content")
_TOKEN = re.compile(rb'([ \t\r]*)("(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"|[{}\[\],:]|-?\d[\d.eE+-]*|true|false|null)')
# Where a list that is the value of a member can end. A list inside the content, or a text, may look like it too.
_LIST_END = re.compile(rb'\][ \t\r]*(?:\}|,[ \t\r]*")')
# Of a line that is JSON these take a whole value or, of a text with an escaped quote, end where no pattern goes on.
_STRING, _NUMBER, _NULLABLE = rb'"[^"]*"', rb"[-+.0-9eE]+", rb'(?:null|"[^"]*")'
_TEXT = rb'"([^"]+)"'  # an escape in it is looked for afterwards: to take a class of one byte is quicker
_COUNT = rb"(0|[1-9]\d{0,14})"
MAX_SHAPES, MAX_TRIES, ENOUGH = 8, 64, 3


class Shape:
    """The members of a line in their order, all but those of the message's content, which is passed over.

    Why the result is what parsing the line would give, for any line that is JSON: `head` matches from the line's start to the
    `[` of the content, so what it takes stands where it stood in the line that was learnt from. No list that is a member's
    value ends between there and the `]` where `tail` begins, so the content is still open there. That `]` is no part of a
    text, for a text holds no bare quote, and in a text `tail` would go on with one. Nor does it end a list inside the content:
    `tail` closes exactly the braces that `head` opened, and reaches the line's end. `first` is looked for in between, for a
    line that lost its end to a killed writer may have another after it.
    """

    __slots__ = ("common", "first", "head", "order", "output", "rest", "tail")

    def __init__(self, head: bytes, tail: bytes, order: tuple[int, ...], first: bytes, words: str):
        self.head, self.tail = re.compile(head).match, re.compile(tail).match
        self.first, self.order = first, itemgetter(*order)
        self.rest = (b"", b"0", words)  # what no group gives: no request, a count that is not there, the words
        self.output = order[OUTPUT]  # its place in what `read` gives; then what else makes a line a snapshot of another
        self.common = itemgetter(*(at for n, at in enumerate(order[:10]) if n not in (STAMP, OUTPUT) and at < order[10] - 2))

    def read(self, data: bytes, start: int, stop: int) -> tuple[bytes, ...] | None:
        """What is captured of the line data[start:stop], where data[stop] ends it; None when it is of another shape."""
        head = self.head(data, start)
        if head is None:
            return None
        content = head.end()
        end = data.find(b"]", content, stop)
        if end < 0:
            return None
        tail = self.tail(data, end)
        if tail is None:
            found = _LIST_END.search(data, end, stop)
            if found is None:
                return None
            end = found.start()
            tail = self.tail(data, end)
            if tail is None:
                return None
        if tail.end() != stop + 1 or (data.find(b"{", content + 1, end) >= 0 and data.find(self.first, content, end) >= 0):
            return None
        return head.groups() + tail.groups()

    def reply(self, captured: tuple[bytes, ...]) -> Reply | None:
        reply: Reply = self.order(captured + self.rest)
        plain = b"".join(reply[:OUTPUT]).find(b"\\") < 0  # type: ignore[arg-type]
        return reply if plain and reply[2] != b"<synthetic>" else None


class Shapes:
    """The shapes met so far, the latest first; a shape is learnt once enough lines had it."""

    def __init__(self) -> None:
        self.known: list[Shape] = []
        self._tries = 0
        self._seen: dict[tuple[Any, ...], int] = {}

    def find(self, data: bytes, start: int, stop: int) -> tuple[Shape, tuple[bytes, ...]] | tuple[None, None]:
        """The shape of a line and what it captures of it."""
        for shape in self.known:
            captured = shape.read(data, start, stop)
            if captured is not None:
                if shape is not self.known[0]:
                    self.known.remove(shape)
                    self.known.insert(0, shape)
                return shape, captured
        return None, None

    def learn(self, line: bytes, reply: Reply) -> None:
        """`line` (without its end) was parsed, and gave `reply`."""
        self._tries += 1
        if self._tries > MAX_TRIES or len(self.known) >= MAX_SHAPES:
            return
        outline = find_outline(line)
        if outline is None:
            return
        plan = (*outline, reply[10])
        self._seen[plan] = self._seen.get(plan, 0) + 1
        if self._seen[plan] == ENOUGH:
            shape = Shape(*plan)
            captured = shape.read(line + b"\n", 0, len(line))
            if captured is not None and shape.reply(captured) == reply:
                self.known.insert(0, shape)


def find_outline(line: bytes) -> tuple[bytes, bytes, tuple[int, ...], bytes] | None:
    """(pattern up to the content, pattern from its end, where the captured values are, how the line begins), or None.

    None too for what is not worth the care: escapes in a member's name or in what is captured, a name given twice.
    """
    parts: list[bytes] = []
    head, first, taken = b"", b"", []
    open_, path, names, position = [b""], [], [set()], 0  # type: ignore[var-annotated]  # of each level: bracket, name, names
    named = False  # a member's name was read, its value follows
    while position < len(line):
        token = _TOKEN.match(line, position)
        if token is None:
            break
        space, text = token.groups()
        position = token.end()
        parts.append(space)
        if text in b"{[":
            where = tuple(path)
            parts.append(re.escape(text))
            open_.append(text)
            names.append(set())
            if text == b"[":
                path.append("[]")
            named = False
            if text == b"[" and where == _CONTENT and not head:
                end = _LIST_END.search(line, position)
                if end is None:
                    return None
                head, parts, position = b"".join(parts), [], end.start()
        elif text in b"}]":
            parts.append(re.escape(text))
            if open_.pop() + text not in (b"{}", b"[]") or not open_:
                return None
            names.pop()
            if text == b"]":
                path.pop()
            if path and open_[-1] == b"{":
                path.pop()
        elif text in b",:":
            parts.append(text)
            named = text == b":"
        elif open_[-1] == b"{" and not named:  # a name
            name = text[1:-1].decode("utf-8", "replace")
            if text[:1] != b'"' or b"\\" in text or (name in names[-1] and tuple(path) in _WATCHED):
                return None
            names[-1].add(name)
            first = first or line[:position]
            path.append(name)
            parts.append(re.escape(text))
        else:
            where = tuple(path)
            if where in _TEXTS and b"\\" in text:
                return None
            if where in _TEXTS and text[:1] == b'"' and len(text) > 2:
                taken.append(_TEXTS[where])
                parts.append(_TEXT)
            elif where in _NUMBERS and re.fullmatch(_COUNT, text):
                taken.append(_NUMBERS[where])
                parts.append(_COUNT)
            elif where in _TEXTS or where in _NUMBERS or where in _FIXED:
                parts.append(re.escape(text))
            elif text == b"null":
                parts.append(_NULLABLE)
            else:  # true and false as they are
                parts.append(_STRING if text[:1] == b'"' else re.escape(text) if text[:1] in b"tf" else _NUMBER)
            if open_[-1] == b"{":
                path.pop()
            named = False
    if not head or len(open_) != 1 or line[position:].strip(b" \t\r") or not {0, 2, OUTPUT} <= set(taken):
        return None
    count = len(taken)
    order = tuple(taken.index(at) if at in taken else count + (at > 3) for at in range(10)) + (count + 2,)
    return head, b"".join(parts) + re.escape(line[position:]) + b"\n", order, first
