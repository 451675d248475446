"""One file's scan as the text section the index keeps, and what the table of names needs from it."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slipstream.map.index_file import DEFAULT, EXPORTED, HEAD_ROWS, KINDS, OVERLOAD

if TYPE_CHECKING:
    from slipstream.map.model import Definition, FileScan

MAX_SIGNATURE_CHARS = 240
MAX_DOC_CHARS = 160
MAX_PURPOSE_CHARS = 160
MAX_OUTLINE = 400
_CODES = {kind: code for code, kind in KINDS.items()}


def one_line(text: str, limit: int) -> str:
    """`text` on one line, cut at `limit` characters."""
    if not text.isprintable():
        text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit - 1].rstrip() + "\u2026"


def _rows(definitions: list[Definition], depth: int, rows: list[str]) -> int:
    exported = 0
    for one in definitions:
        flags = (EXPORTED if one.exported else 0) | (DEFAULT if one.default else 0) | (OVERLOAD if one.overload else 0)
        exported += depth == 0 and one.exported
        rows.append(
            f"{depth}\t{_CODES.get(one.kind, one.kind)}\t{flags}\t{one.line}\t{max(one.line - one.start, 0)}\t"
            f"{max(one.end - one.line, 0)}\t{one_line(one.name, 200)}\t{one_line(one.signature, MAX_SIGNATURE_CHARS)}\t"
            f"{one_line(one.doc, MAX_DOC_CHARS)}")
        if one.members:
            _rows(one.members, depth + 1, rows)
    return exported


def _cells(entries: list[tuple[object, ...]]) -> str:
    return "\t".join("\x1f".join(one_line(str(cell), 300) for cell in entry) for entry in entries)


def _head(path: str, language: str, lines: int, skipped: str, purpose: str) -> bytes:
    raw = os.fsencode(path).replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    return f"{language}\t{lines}\t{skipped}\t{purpose}\t".encode("utf-8", "replace") + raw


def encode_section(path: str, scan: FileScan) -> tuple[bytes, int, int]:
    """Section text of a scan, the number of its definitions and of the exported ones at top level."""
    rows = [
        "",
        _cells([(spec, kind, ",".join(names)) for spec, kind, names in scan.imports]),
        _cells(list(scan.reexports)),
        _cells([(hint,) for hint in scan.hints]),
        _cells([(one.name, one.kind, one.line, one.end, one.level) for one in scan.outline[:MAX_OUTLINE]]),
        _cells([(text,) for text in scan.warnings]),
    ]
    exported = _rows(scan.definitions, 0, rows)
    head = _head(path, scan.language, scan.lines, "", one_line(scan.purpose, MAX_PURPOSE_CHARS))
    return head + "\n".join(rows).replace("\0", " ").encode("utf-8", "replace"), len(rows) - HEAD_ROWS, exported


def encode_skipped(path: str, reason: str) -> bytes:
    """Section text of a file that gives no symbols, with the reason."""
    return _head(path, "", 0, one_line(reason, 200).replace("\0", " "), "") + b"\n" * (HEAD_ROWS - 1)
