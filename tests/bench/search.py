"""Quality of `search` on sets made from repositories: a symbol's doc sentence as the query, that symbol as the answer.

    python3 -m tests.bench.search REPOSITORY...

The doc sentence is taken out of the documents first, so that only name, owner, path, signature and purpose can match.
Beside ours: BM25 over the same fields without weights (k1 1.2, b 0.75, stems and split identifiers), and `git grep` for
the query's words, files ranked by the number of matching lines (its answer counts when the file is right).
Prints mean reciprocal rank at 10 over at most 500 symbols of each repository, drawn evenly.
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from slipstream.base.stems import split_query
from slipstream.base.text import STOP_WORDS, terms
from slipstream.map.fresh import View
from slipstream.map.index import open_index
from slipstream.map.index_file import OVERLOAD
from slipstream.map.postings import SearchIndex
from slipstream.map.postings_build import IndexBuilder, quantize_length
from slipstream.map.scoring import Asked, score_documents
from slipstream.map.search import ask, rank
from slipstream.map.search_files import _TEST, Fields, indexed_slots
from slipstream.map.search_store import EXPORTED, TEST, Definitions

import tests  # noqa: F401 -- puts the package on the path

MOST = 200
Ranked = list[tuple[int, int]]  # (slot, place)


class Blank(Fields):
    """The fields with the doc sentence left out."""

    def symbol(self, one, entry):  # type: ignore[no-untyped-def]
        doc, one.doc = one.doc, ""
        try:
            return super().symbol(one, entry)
        finally:
            one.doc = doc


class Plain(Blank):
    """The same text with every word counting one."""

    def symbol(self, one, entry):  # type: ignore[no-untyped-def]
        counts: dict[str, float] = {}
        for word in terms(f"{one.name} {one.qualified} {entry.path} {one.signature} {entry.purpose}"):
            counts[word] = counts.get(word, 0) + 1
        return counts

    def file(self, entry):  # type: ignore[no-untyped-def]
        counts: dict[str, float] = {}
        for word in terms(f"{entry.path} {entry.purpose}"):
            counts[word] = counts.get(word, 0) + 1
        return counts


def build(view: View, fields: Fields, folder: str) -> Definitions:
    builder = IndexBuilder(Definitions)
    for slot in indexed_slots(view):
        entry = view.entry(slot)
        test = TEST if _TEST.search(entry.path) else 0
        row = {"slot": slot, "weight": test}
        counts = fields.file(entry)
        builder.add(counts, {**row, "place": 0, "length": quantize_length(sum(counts.values()))})
        for number, one in enumerate(entry.symbols, 1):
            if not one.flags & OVERLOAD:
                counts = fields.symbol(one, entry)
                builder.add(counts, {**row, "place": number, "weight": test | (EXPORTED if one.exported else 0), "length": quantize_length(sum(counts.values()))})
    path = os.path.join(folder, type(fields).__name__)
    with open(path, "wb") as stream:
        stream.write(builder.render(0, 0))
    return Definitions(path, 0)


def ours(view: View, segment: Definitions, query: str) -> Ranked:
    ranked = rank(view, segment, ask(split_query(query), segment), "", "")
    return [(segment.column("slot")[doc], segment.column("place")[doc]) for _, doc, _ in ranked[:10]]


def plain(segment: SearchIndex, query: str) -> Ranked:
    asked = [Asked(segment, term, 1.0, term) for term in dict.fromkeys(terms(query))]
    scores = score_documents(asked, segment.column("length"), segment.column("spread"), int)
    best = sorted(scores, key=lambda doc: (-scores[doc], doc))[:10]
    return [(segment.column("slot")[doc], segment.column("place")[doc]) for doc in best]


def grep(root: str, view: View, query: str) -> list[str]:
    words = [word for word in query.lower().split() if word.isalnum() and word not in STOP_WORDS][:8]
    args = [part for word in words for part in ("-e", word)]
    done = subprocess.run(["git", "grep", "-i", "-c", "-I", "-F", *args], cwd=root, capture_output=True, text=True, errors="replace", check=False)
    counts = [line.rpartition(":") for line in done.stdout.split("\n") if ":" in line]
    known = set(view.paths)
    ranked = sorted(((int(count), path) for path, _, count in counts if path in known), key=lambda row: (-row[0], row[1]))
    return [path for _, path in ranked[:10]]


def reciprocal(ranked: list[object], wanted: object) -> float:
    return 1 / (ranked.index(wanted) + 1) if wanted in ranked else 0.0


def measure(root: str) -> None:
    index = open_index(root, write=False)
    view = View(index.table, index.table.records, index.table.paths, 0)
    questions = [(slot, place, one.doc) for slot in indexed_slots(view) for place, one in enumerate(view.entry(slot).symbols, 1)
                 if len(one.doc.split()) >= 4 and not one.flags & OVERLOAD]
    questions = questions[::max(1, len(questions) // MOST)][:MOST]
    if not questions:
        print(f"{os.path.basename(root)}: no documented symbols")
        return
    with tempfile.TemporaryDirectory() as folder:
        weighted, flat = build(view, Blank(), folder), build(view, Plain(), folder)
        rankers: dict[str, Callable[[int, int, str], float]] = {
            "ours": lambda slot, place, doc: reciprocal(list(ours(view, weighted, doc)), (slot, place)),
            "BM25 without weights": lambda slot, place, doc: reciprocal(list(plain(flat, doc)), (slot, place)),
            "git grep (file)": lambda slot, place, doc: reciprocal(list(grep(root, view, doc)), view.paths[slot]),
        }
        print(f"{os.path.basename(root)}: {len(questions)} questions, {weighted.count} documents")
        for name, rank in rankers.items():
            print(f"  {name:<22} MRR@10 {sum(rank(*question) for question in questions) / len(questions):.3f}")
        weighted.handle.close()
        flat.handle.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for repository in sys.argv[1:]:
        measure(os.path.realpath(repository))
