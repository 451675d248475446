"""Every definition of one file, without bodies (hot)."""
from __future__ import annotations

from slipstream.base.paths import shown_path
from slipstream.map.index_file import OUTLINE, WARNINGS, FileEntry
from slipstream.map.lookup import Found, find_file, open_stored

MAX_OUTLINE_BYTES = 31_500  # with what is said after it, under the ceiling of a server's answer


def outline_file(root: str, path: str) -> Found:
    """Entry of `path` (relative) as its text is now."""
    index = open_stored(root)
    try:
        return find_file(root, path, index)
    finally:
        if index is not None:
            index.handle.close()


def render_outline(found: Found) -> str:
    """One line per definition: lines, then the signature, indented under its owner."""
    entry = found.entry
    head = (f"{shown_path(entry.path)} ({entry.lines} line{'s' * (entry.lines != 1)}"
            f"{', ' + entry.language if entry.language else ''})")
    rows = [f"{head} - {entry.purpose}" if entry.purpose else head]
    if entry.skipped:
        rows.append(f"no definitions: {entry.skipped}")
    elif not entry.language:
        rows.append("no definitions: of no language that is known; `lines` reads any part")
    rows += [f"warning: {text}" for text, in entry.cells(WARNINGS)]
    for one in entry.symbols:
        rows.append(f"{'  ' * one.depth}{one.start}-{one.end} {one.signature or one.kind + ' ' + one.name}")
    for name, kind, line, end, level in entry.cells(OUTLINE):
        rows.append(f"{'  ' * (int(level) - 1)}{line}-{end} {kind} {name}")
    shown: list[str] = []
    size = 0
    for row in rows:
        size += len(row.encode("utf-8", "replace")) + 1
        if size > MAX_OUTLINE_BYTES:
            shown.append(f"... {len(rows) - len(shown)} more; `lines` and `slice` read any part")
            break
        shown.append(row)
    if found.note:
        shown.append(found.note)
    return "\n".join(shown)


def outline_to_json(entry: FileEntry) -> dict[str, object]:
    """The outline as JSON: symbols in the order of the lines, members by qualified name."""
    return {
        "path": entry.path, "language": entry.language, "lines": entry.lines, "purpose": entry.purpose,
        "symbols": [{"name": one.name, "qualifiedName": one.qualified, "kind": one.kind, "line": one.line,
                     "startLine": one.start, "endLine": one.end, "exported": one.exported, "signature": one.signature,
                     "doc": one.doc} for one in entry.symbols],
        "outline": [{"name": name, "kind": kind, "line": int(line), "endLine": int(end), "level": int(level)}
                    for name, kind, line, end, level in entry.cells(OUTLINE)],
        **({"skipped": entry.skipped} if entry.skipped else {}),
        **({"warnings": [text for text, in entry.cells(WARNINGS)]} if entry.cells(WARNINGS) else {}),
    }
