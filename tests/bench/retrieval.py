"""How well memory search finds: `python3 -m tests.bench.retrieval [--cosqa FOLDER] [--locomo FILE] [--devbench FILE]`.

One configuration, the product's own index and ranking, against plain BM25 (k1 1.2, b 0.75) over the same stems and split
identifiers. The set `stdlib` is made from the running Python: every function of its library with a docstring and a body is a
document (its source without the docstring), the first line of the docstring, when it has three words or more, is the query,
the function the answer; 800 queries drawn with a fixed seed. The other sets are given by path and none of them is part of
this repository: CoSQA's `data/search` folder (CoCLR), `locomo10.json`, `devbench_dataset.json`.
"""
from __future__ import annotations

import argparse
import ast
import heapq
import json
import math
import os
import random
import re
import sysconfig
import tempfile
import time
from collections import Counter
from typing import Any

from slipstream.base.text import terms
from slipstream.memory.documents import Document, count_terms
from slipstream.memory.ranking import rank
from slipstream.memory.segment import Segment
from slipstream.memory.segment_build import SegmentBuilder

import tests  # noqa: F401  (puts the package on the path)

Query = tuple[str, set[int]]
SKIPPED = {"test", "tests", "site-packages", "idlelib", "lib2to3", "__pycache__", "turtledemo", "ensurepip"}


class Product:
    """The product's index over texts: the first line of several is the title, as a fact's description or a turn's summary is."""

    def __init__(self, texts: list[str], tags: list[list[str]] | None = None):
        builder = SegmentBuilder()
        for number, text in enumerate(texts):
            title, newline, body = text.partition("\n")
            document = Document("note", title if newline else "", tags[number] if tags else [], body if newline else text)
            counts, length, titled = count_terms(document)
            builder.add_document(counts, length, titled, 0, "s", "", "", 0, 0, number, 0)
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "1.seg")
        with open(path, "wb") as stream:
            stream.write(builder.render())
        self.pieces: list[tuple[str, Segment, set[int]]] = [("1", Segment(path), set())]

    def search(self, query: str, limit: int = 10) -> list[int]:
        return [hit.doc for hit in rank(self.pieces, query, limit)]

    def close(self) -> None:
        self.pieces[0][1].close()
        self.folder.cleanup()


class PlainBm25:
    def __init__(self, texts: list[str]):
        split = [terms(text) for text in texts]
        self.lengths = [len(row) for row in split]
        self.average = sum(self.lengths) / max(1, len(split))
        self.postings: dict[str, list[tuple[int, int]]] = {}
        for number, row in enumerate(split):
            for term, count in Counter(row).items():
                self.postings.setdefault(term, []).append((number, count))

    def search(self, query: str, limit: int = 10) -> list[int]:
        scores: dict[int, float] = {}
        for term in set(terms(query)):
            found = self.postings.get(term, [])
            idf = math.log(1 + (len(self.lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                part = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * self.lengths[number] / self.average))
                scores[number] = scores.get(number, 0.0) + idf * part
        return heapq.nsmallest(limit, scores, key=lambda number: (-scores[number], number))


def stdlib_set() -> tuple[list[str], list[Query]]:
    texts, queries = [], []
    for folder, subfolders, names in os.walk(sysconfig.get_paths()["stdlib"]):
        subfolders[:] = sorted(name for name in subfolders if name not in SKIPPED)
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    source = stream.read()
                tree = ast.parse(source)
            except (OSError, SyntaxError, ValueError):
                continue
            lines = source.split("\n")
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(node.body) > 1:
                    said = ast.get_docstring(node)
                    if said and len(said.split("\n")[0].split()) > 2:
                        first = node.body[0]
                        queries.append((said.split("\n")[0].strip(), {len(texts)}))
                        texts.append("\n".join(lines[node.lineno - 1:first.lineno - 1] + lines[first.end_lineno or 0:node.end_lineno]))
    return texts, random.Random(1).sample(queries, min(800, len(queries)))


def cosqa_set(folder: str) -> tuple[list[str], list[Query]]:
    with open(os.path.join(folder, "code_idx_map.txt"), encoding="utf-8") as stream:
        places: dict[str, int] = json.load(stream)
    with open(os.path.join(folder, "cosqa-retrieval-test-500.json"), encoding="utf-8") as stream:
        rows = json.load(stream)
    texts = [""] * len(places)
    for code, place in places.items():
        texts[place] = code
    return texts, [(row["doc"], {places[row["code"]]}) for row in rows]


def locomo_sets(path: str) -> list[tuple[list[str], list[Query]]]:
    """One set a conversation, each turn a document; questions whose evidence can be resolved."""
    found = []
    with open(path, encoding="utf-8") as stream:
        rows = json.load(stream)
    for row in rows:
        texts, places = [], {}
        for turns in row["conversation"].values():
            for turn in turns if isinstance(turns, list) else []:
                places[turn["dia_id"]] = len(texts)
                texts.append(" ".join([f"{turn['speaker']}: {turn['text']}", turn.get("blip_caption") or ""]).strip())
        queries = []
        for asked in row["qa"]:
            evidence = {places[mark] for item in asked.get("evidence", []) for mark in re.findall(r"D\d+:\d+", str(item))
                        if mark in places}
            if evidence:
                queries.append((asked["question"], evidence))
        found.append((texts, queries))
    return found


def measure(engine: Any, queries: list[Query]) -> tuple[float, float]:
    """(recall@10 summed, reciprocal rank at 10 summed)."""
    recall = ranks = 0.0
    for query, wanted in queries:
        found = engine.search(query)
        recall += len(wanted & set(found)) / len(wanted)
        ranks += next((1 / place for place, number in enumerate(found, 1) if number in wanted), 0.0)
    return recall, ranks


def compare(name: str, sets: list[tuple[list[str], list[Query]]]) -> None:
    sums, count, seconds = [0.0] * 4, 0, 0.0
    for texts, queries in sets:
        product, plain = Product(texts), PlainBm25(texts)
        start = time.perf_counter()
        ours = measure(product, queries)
        seconds += time.perf_counter() - start
        sums = [a + b for a, b in zip(sums, [*ours, *measure(plain, queries)])]
        count += len(queries)
        product.close()
    ours_recall, ours_rank, plain_recall, plain_rank = (value / max(1, count) for value in sums)
    documents = sum(len(texts) for texts, _ in sets)
    print(f"{name}: {documents} documents, {count} queries; recall@10 {ours_recall:.4f} (BM25 {plain_recall:.4f}, "
          f"{ours_recall - plain_recall:+.4f}); MRR@10 {ours_rank:.4f} (BM25 {plain_rank:.4f}, {ours_rank - plain_rank:+.4f})")


def devbench(path: str) -> None:
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    notes = data["memories"]
    product = Product([note["content"] for note in notes], [note["tags"] for note in notes])
    gain, answered, silent, asked, unanswerable = 0.0, 0, 0, 0, 0
    for query in data["queries"]:
        wanted = {number for number, note in enumerate(notes) if set(note["tags"]) & set(query["expected_tags"])}
        found = product.search(query["question"])
        if not wanted:
            unanswerable += 1
            silent += not found
            continue
        asked += 1
        answered += bool(found)
        best = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
        gain += sum(1 / math.log2(place + 2) for place, number in enumerate(found) if number in wanted) / best
    product.close()
    print(f"devbench: nDCG@10 {gain / asked:.4f}; {answered} of {asked} answerable questions answered, "
          f"{silent} of {unanswerable} unanswerable ones met with silence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--cosqa", metavar="FOLDER")
    parser.add_argument("--locomo", metavar="FILE")
    parser.add_argument("--devbench", metavar="FILE")
    parser.add_argument("--no-stdlib", action="store_true")
    args = parser.parse_args()
    if args.devbench:
        devbench(args.devbench)
    if not args.no_stdlib:
        compare("stdlib", [stdlib_set()])
    if args.cosqa:
        compare("cosqa", [cosqa_set(args.cosqa)])
    if args.locomo:
        compare("locomo", locomo_sets(args.locomo))


if __name__ == "__main__":
    main()
