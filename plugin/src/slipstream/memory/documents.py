"""What is searched: each source's records as documents with fields, and the words of a field counted by its weight."""
from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

from slipstream.base.files import read_bytes
from slipstream.base.json_files import iter_lines
from slipstream.memory.observations import parse_line
from slipstream.memory.terms import KINDS, known_words, pair_term, path_terms

UNITS, KEY_UNITS = 2, 3  # a word counts two halves, a tag or file name three
MAX_BODY_CHARS = 20_000
MAX_WHOLE_BYTES = 8_000_000


class Document:
    """One searchable record. `place` is a byte offset in its file, or its position in a file that is read whole."""

    __slots__ = ("body", "branch", "keys", "kind", "number", "place", "session", "size", "title", "ts")

    def __init__(self, kind: str, title: str, keys: list[str], body: str, place: int = 0, size: int = 0, session: str = "",
                 branch: str = "", ts: str = "", number: int = 0):
        self.kind, self.title, self.keys, self.body, self.place, self.size = kind, title, keys, body, place, size
        self.session, self.branch, self.ts, self.number = session, branch, ts, number

    def signature(self) -> int:
        text = "\0".join([self.kind, self.title, *self.keys, self.body, self.branch, self.ts])
        return zlib.crc32(text.encode("utf-8", "replace"))


def count_terms(document: Document) -> tuple[dict[str, int], int, int]:
    """({term: packed count}, length, length of the title), lengths in words.

    A packed count is one byte: how often a term is in the document (in halves, up to 31.5), and how often of these in its
    title (up to 3).
    """
    units: dict[str, int] = {}
    titled: dict[str, int] = {}
    length = title_length = 0
    for field, text in ((0, document.title), (1, " ".join(document.keys)), (2, document.body[:MAX_BODY_CHARS])):
        known = known_words(text)
        unit = KEY_UNITS if field == 1 else UNITS
        length += len(known) if field != 1 else len(known) * KEY_UNITS // UNITS
        before = ""
        for term, root in known:
            units[term] = units.get(term, 0) + unit
            if root:
                units[root] = units.get(root, 0) + UNITS
            if field == 0:
                titled[term] = titled.get(term, 0) + 1
            if field != 1:
                if before:
                    pair = pair_term(before, term)
                    units[pair] = units.get(pair, 0) + UNITS
                before = term
        if field == 0:
            title_length = len(known)
    for key in document.keys:
        if "/" in key or "." in key:
            for term in path_terms(key):
                units[term] = units.get(term, 0) + UNITS
    packed = {term: (count if count < 63 else 63) << 2 for term, count in units.items()}
    for term, count in titled.items():
        packed[term] |= count if count < 3 else 3
    return packed, length, title_length


def observation_document(record: dict[str, Any], place: int, size: int) -> Document:
    body = record["detail"]
    extra = [str(record[key]) for key in ("error", "tests") if isinstance(record.get(key), str) and record[key] not in body]
    kind = record["kind"] if record["kind"] in KINDS else "note"
    return Document(kind, record["summary"], [*record["files"], *record["tags"]], "\n".join([body, *extra]), place, size,
                    record["session"], str(record.get("branch") or ""), record["ts"], record["id"])


def iter_observations(path: str, offset: int) -> Iterator[tuple[int, Document | None]]:
    """(offset after the line, document or None for a line that is no record) from `offset` to the last whole line."""
    for end, line in iter_lines(path, offset):
        record = parse_line(line)
        yield end, observation_document(record, end - len(line), len(line)) if record else None


def conversation_documents(path: str) -> list[Document]:
    """One document an exchange of a folded chat."""
    try:
        value = json.loads(read_bytes(path, MAX_WHOLE_BYTES))
        exchanges, session = value["exchanges"], str(value.get("session", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
    found = []
    for place, exchange in enumerate(exchanges if isinstance(exchanges, list) else []):
        if isinstance(exchange, dict) and isinstance(exchange.get("ask"), str):
            texts = [exchange[key] for key in ("summary", "answer") if isinstance(exchange.get(key), str)]
            keys = [item for key in ("files", "tools") if isinstance(exchange.get(key), list) for item in exchange[key]
                    if isinstance(item, str)]
            ask, branch, ts = exchange["ask"], str(exchange.get("branch") or ""), str(exchange.get("ts") or "")
            found.append(Document("conversation", ask[:600], keys, "\n".join([ask[600:], *texts]), place, session=session,
                                  branch=branch, ts=ts))
    return found


def markdown_documents(text: str) -> list[Document]:
    """A note file of the host's, one document a heading or, under a long one, a paragraph."""
    found: list[Document] = []
    for block in re.split(r"\n(?=#{1,6} )", text.replace("\r\n", "\n")):
        heading, _, rest = block.strip().partition("\n")
        if not heading:
            continue
        pieces = [rest] if len(rest) <= 1200 else re.split(r"\n\s*\n|\n(?=[-*] )", rest)
        if not heading.startswith("#"):
            heading, pieces = "", [block] if len(block) <= 1200 else re.split(r"\n\s*\n|\n(?=[-*] )", block)
        for piece in pieces or [""]:
            if piece.strip() or (heading and len(pieces) == 1):
                found.append(Document("host", heading.lstrip("# ").strip(), [], piece.strip(), len(found)))
    return found
