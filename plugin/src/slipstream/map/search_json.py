"""Search answers for a program."""
from __future__ import annotations

from typing import Any

from slipstream.map.search import Answer


def answer_json(answer: Answer) -> dict[str, Any]:
    """The answer as a value: total, files, hits with path, line, end, name, kind, signature, doc, score and why."""
    hits = []
    for hit in answer.hits:
        row: dict[str, Any] = {"path": hit.entry.path, "score": round(hit.score, 3), "why": hit.why}
        if hit.symbol is None:
            row.update(kind="file", purpose=hit.entry.purpose)
        else:
            one = hit.symbol
            row.update(name=one.name, qualified=one.qualified, kind=one.kind, line=one.line, endLine=one.end,
                       signature=one.signature, doc=one.doc, exported=one.exported)
        hits.append(row)
    files = [{"path": path, "matches": count} for path, count in answer.files]
    return {"total": answer.total, "offset": answer.offset, "files": files, "hits": hits, "hint": answer.hint}
