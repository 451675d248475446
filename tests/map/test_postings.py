"""The search indexes on disk: what was written is read, and damage is noticed wherever it lies."""
from __future__ import annotations

import os
import random
import re
import tempfile
import unittest

from slipstream.base.stems import split_name, split_query
from slipstream.base.text import split_identifier
from slipstream.map.index_file import DamagedIndex
from slipstream.map.postings import SearchIndex
from slipstream.map.postings_build import IndexBuilder, quantize_length


class Sample(SearchIndex):
    COLUMNS = (("number", "I"), ("length", "B"))


class Postings(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = os.path.join(holder.name, "index")
        choose = random.Random(5)
        self.builder = IndexBuilder(Sample)
        self.wanted: dict[str, dict[int, int]] = {}
        for doc in range(700):
            counts = {"t%d" % min(400, int(choose.expovariate(0.02))): choose.choice((1, 1, 0.25, 3.5)) for _ in range(9)}
            counts["everywhere"] = 1
            if doc in (0, 699):
                counts["=gr\u00fc\u00dfe.\udcff\n"] = 70.0
            self.builder.add(counts, {"number": doc * 3, "length": quantize_length(sum(counts.values()))})
            for term, count in counts.items():
                self.wanted.setdefault(term, {})[doc] = min(255, round(count * 4))
        self.builder.postings["too common"] = [], bytearray()

    def save(self, data: bytes) -> SearchIndex:
        with open(self.path, "wb") as stream:
            stream.write(data)
        found = Sample(self.path, 7)
        self.addCleanup(found.handle.close)
        return found

    def read(self, index: SearchIndex) -> dict[str, dict[int, int]]:
        return {raw.decode("utf-8", "surrogatepass"): dict(zip(*index.find(raw.decode("utf-8", "surrogatepass")))) for raw in index.terms_from(b"")}

    def test_round_trip(self) -> None:
        index = self.save(self.builder.render(7, 11))
        self.assertEqual((index.count, index.state), (700, 11))
        self.assertEqual(self.read(index), {**self.wanted, "too common": {}})
        self.assertEqual(list(index.column("number")), list(range(0, 2100, 3)))
        for term in [*self.wanted, "too common"]:
            self.assertEqual(index.documents_of(term.encode("utf-8", "surrogatepass")), len(self.wanted.get(term, ())))
        for term in ("", "a", "t0a", "zz", "\U0010ffff"):
            self.assertEqual((index.find(term), index.documents_of(term.encode())), (([], b""), 0))
        self.assertEqual(list(index.terms_from(b"t39")), sorted(term.encode() for term in [*self.wanted, "too common"] if "t39" <= term < "\udc00"))
        self.assertEqual(list(index.terms_from(b"zzz")), [])

    def test_empty(self) -> None:
        index = self.save(IndexBuilder(Sample).render(7, 0))
        self.assertEqual((index.count, index.find("x"), list(index.column("length"))), (0, ([], b""), []))

    def test_taking_over_without_some_documents(self) -> None:
        index = self.save(self.builder.render(7, 11))
        for deleted in (set(), {0, 5, 6, 350, 699}):
            builder = IndexBuilder(Sample)
            builder.take_over(index, deleted, ("number", "length"))
            builder.add({"t1": 1}, {"number": 1, "length": 0})
            with self.save(builder.render(7, 1)) as made:
                numbers = made.column("number")
                wanted = {term: {doc * 3: count for doc, count in docs.items() if doc not in deleted} for term, docs in self.wanted.items()}
                wanted["t1"][1] = 4
                wanted["too common"] = {}
                found = {term: {numbers[doc]: count for doc, count in docs.items()} for term, docs in self.read(made).items()}
                self.assertEqual(found, {term: docs for term, docs in wanted.items() if docs or term == "too common"})
            index = self.save(self.builder.render(7, 11))

    def test_another_writer_and_damage(self) -> None:
        data = self.builder.render(7, 11)
        with self.assertRaises(DamagedIndex):
            self.save(self.builder.render(8, 11))
        choose = random.Random(2)
        for _ in range(500):
            at = choose.randrange(len(data))
            bad = data[:at] + bytes([data[at] ^ 1 << choose.randrange(8)]) + data[at + 1:]
            with self.assertRaises(DamagedIndex, msg=str(at)):
                index = self.save(bad)
                self.read(index)
                index.column("number")
                index.column("length")
        for size in (0, 1, 50, len(data) // 2, len(data) - 1):
            with self.assertRaises(DamagedIndex):
                self.save(data[:size])


class Words(unittest.TestCase):
    def test_without_regular_expressions(self) -> None:
        """A query's words are split as the index's are."""
        token = re.compile(r"[^\W_][\w$.]*|[\w$]+")
        choose = random.Random(3)
        pieces = ["a", "Z", "q", "HTTP", "9", "_", "$", ".", " ", "-", "\u00e9", "\u6587", "\u0661", "\u00b2", "\u01c5", "\u216b", "\n", "ab", "XY", "\u00df"]
        for _ in range(4000):
            text = "".join(choose.choices(pieces, k=choose.randrange(9)))
            self.assertEqual(split_name(text), split_identifier(text), text)
            self.assertEqual(split_query(text), [one.rstrip(".") for one in token.findall(text)], text)


if __name__ == "__main__":
    unittest.main()
