"""Search answers for a reader and a model, under a hard ceiling."""
from __future__ import annotations

from slipstream.base.shown_path import shown_path
from slipstream.base.tokens import approx_text_tokens
from slipstream.map.index_file import Symbol
from slipstream.map.search import Answer, Hit

MAX_TOKENS, MAX_DOC_CHARS, MAX_SIGNATURE_CHARS, MAX_COUNTED_FILES = 1000, 90, 120, 6


def render_row(hit: Hit) -> str:
    """`path:line kind signature - doc [why]`, or the file with its purpose."""
    why = f" [{', '.join(hit.why[:6])}]" if hit.why else ""
    if hit.symbol is None:
        return f"{shown_path(hit.entry.path)} file{' - ' + hit.entry.purpose[:MAX_DOC_CHARS] if hit.entry.purpose else ''}{why}"
    one = hit.symbol
    owner = f" (in {one.qualified.rpartition('.')[0]})" if one.depth else ""
    doc = f" - {one.doc[:MAX_DOC_CHARS]}" if one.doc else ""
    return f"{shown_path(one.path)}:{one.line} {one.kind} {plain_signature(one)}{owner}{doc}{why}"


def plain_signature(one: Symbol) -> str:
    """A signature without the word that the kind says already, cut for a row."""
    text = one.signature or one.name
    for word in ("export ", "default ", "pub ", "async ", "def ", "function ", "func ", "fn ", one.kind + " "):
        text = text.removeprefix(word)
    return text if len(text) <= MAX_SIGNATURE_CHARS else text[:MAX_SIGNATURE_CHARS - 1] + "\u2026"


def render_answer(answer: Answer, query: str, max_tokens: int = MAX_TOKENS) -> str:
    """Counts, then a row a hit while they fit, then what was left out and how to get it."""
    if not answer.hits:
        text = f"no matches for {query!r}" if not answer.total else f"no more matches: {answer.total} in all"
        return text + (f"; {answer.hint}" if answer.hint else "") + "\n"
    counted = ", ".join(f"{shown_path(path)} {count}" for path, count in answer.files[:MAX_COUNTED_FILES])
    if len(answer.files) > MAX_COUNTED_FILES:
        counted += f" and {len(answer.files) - MAX_COUNTED_FILES} more"
    lines = [f"{answer.total} match{'es' * (answer.total != 1)}: {counted}"]
    shown = 0
    for hit in answer.hits:
        row = render_row(hit)
        if approx_text_tokens("\n".join([*lines, row])) > max_tokens - 40 and shown:
            break
        lines.append(row)
        shown += 1
    left = answer.total - answer.offset - shown
    if left > 0:
        lines.append(f"... {left} more: --offset {answer.offset + shown}")
    if answer.hint:
        lines.append(answer.hint)
    return "\n".join(lines) + "\n"
