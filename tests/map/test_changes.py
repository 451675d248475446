"""A search index with changes beside it answers as one made anew does: same hits, same scores, same order, whatever was edited."""
from __future__ import annotations

import os
import random
import shutil
from array import array
from unittest import mock

from slipstream.base.store import store_path
from slipstream.map import scoring, search, search_bodies, search_files
from slipstream.map.body_words import BodyWords, open_words
from slipstream.map.changes import CHANGES, Changed
from slipstream.map.fresh import open_view
from slipstream.map.identity import scanner_identity
from slipstream.map.refs import find_references
from slipstream.map.refs_json import references_json
from slipstream.map.search_store import DEFINITIONS, Definitions, open_definitions

from tests.map.trees import TreeCase

WORDS = ("parse read write open close url table cache router handler request reader parser cached readable opened "
         "buffer socket token zebra").split()
QUERIES = (*WORDS[:6], "parse url", "read cached table", "rauter", "zebar", "hendler", "requ", "open_table", "closeBuffer",
           "the handler of a request", "read the token from a socket and close it", "Reader.open", "quokka parse", "module3",
           "numbat", "wombat numbat", "pars", "a/module1", "x.y")
OPTIONS: tuple[dict[str, object], ...] = ({}, {"path": "a"}, {"kind": "function"}, {"limit": 3, "offset": 2})
ROUNDS, SEED = 14, 11


class Changes(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        self.random, self.age, self.paths = random.Random(SEED), 90_000, [""] * 0
        self.ways: set[str] = set()
        for part, name, value in ((search, "MAX_RANKED", 12), (scoring, "CANDIDATES", 15), (scoring, "POSTINGS_BUDGET", 30),
                                  (search_bodies, "MAX_FILES", 4), (search_files, "MAX_BESIDE", 6), (search_files, "MAX_STALE_SHARE", 0.35)):
            small = mock.patch.object(part, name, value)  # what is cut off here and there is cut off all the time
            small.start()
            self.addCleanup(small.stop)
        for number in range(24):
            self.put(f"{'abc'[number % 3]}/module{number}.py")

    def text(self) -> str:
        some = self.random.choices
        parts = [f'"""{" ".join(some(WORDS, k=4)).capitalize()}."""\n'] if self.random.random() < 0.7 else []
        for _ in range(self.random.randrange(5)):
            one, two, three = some(WORDS, k=3)
            body = some(["quokka", "numbat", "wombat", *WORDS], k=2)
            parts.append(f"def {one}_{two}({three}):\n    {' + '.join(body)}\n")
        if self.random.random() < 0.4:
            parts.append(f"class {some(WORDS)[0].capitalize()}:\n    def {some(WORDS)[0]}(self):\n        return {some(WORDS)[0]}\n")
        return "\n\n".join(parts)

    def put(self, path: str, text: str | None = None) -> None:
        self.age -= 10
        self.write(path, self.text() if text is None else text, age_s=self.age)
        if path not in self.paths:
            self.paths.append(path)

    def edit(self) -> None:
        path, number = self.random.choice(self.paths), self.random.randrange(100)
        kind = self.random.randrange(5)
        if kind < 2:
            self.put(path)
        elif kind == 2:
            self.put(f"{self.random.choice('abd')}/new{number}.py")
        else:
            with open(os.path.join(self.root, path), encoding="utf-8") as stream:
                text = stream.read()
            os.unlink(os.path.join(self.root, path))
            self.paths.remove(path)
            if kind == 4:
                self.put(f"c/moved{number}.py", text)

    def answers(self) -> list[object]:
        said: list[object] = []
        for query in QUERIES:
            for options in OPTIONS if " " in query else OPTIONS[:1]:
                found = search.search(self.root, query, **options)  # type: ignore[arg-type]
                said.append((query, options, found.total, found.files, [
                    (hit.score, hit.entry.path, hit.symbol and (hit.symbol.qualified, hit.symbol.line), hit.why) for hit in found.hits]))
        said += [references_json(find_references(self.root, name)) for name in ("quokka", "zebra", "parse", "read_url")]
        return said

    def test_any_edits(self) -> None:
        for _ in range(ROUNDS):
            for _ in range(self.random.choice((0, 1, 1, 2, 5, 9))):
                self.edit()
            with open_view(self.root) as view, open_definitions(self.root, view) as one, open_words(self.root, view) as two:
                self.ways |= {type(one).__name__, type(two).__name__}
            found = self.answers()
            store = os.path.join(self.root, ".claude")
            os.rename(store, self.root + ".aside")
            self.addCleanup(shutil.rmtree, self.root + ".aside", True)
            wanted = self.answers()
            shutil.rmtree(store)
            os.rename(self.root + ".aside", store)
            for one_found, one_wanted in zip(found, wanted):
                self.assertEqual(one_found, one_wanted)
        self.assertEqual(self.ways, {"Changed", "Definitions", "BodyWords"})

    def test_one_file_is_written_beside(self) -> None:
        self.answers()
        paths = [store_path(self.root, name) for name in (DEFINITIONS, "map.words")]
        before = [(os.stat(path).st_mtime_ns, os.stat(path).st_ino) for path in paths]
        self.put("a/module0.py", "def quokka_burrow():\n    numbat_nest = 1\n")
        self.assertEqual(search.search(self.root, "quokka burrow").hits[0].entry.path, "a/module0.py")
        self.assertEqual(len(find_references(self.root, "numbat_nest").uses), 1)
        self.assertEqual([(os.stat(path).st_mtime_ns, os.stat(path).st_ino) for path in paths], before)
        for path in paths:
            self.assertLess(os.path.getsize(path + CHANGES), os.path.getsize(path) / 2)

    def test_changes_of_another_index_or_damaged(self) -> None:
        self.answers()
        self.put("a/module0.py", "def quokka_burrow():\n    pass\n")
        wanted, path = self.answers(), store_path(self.root, DEFINITIONS)
        with open_view(self.root) as view, open_definitions(self.root, view) as index:
            self.assertIsInstance(index, Changed)
        with open(path + CHANGES, "rb") as stream:
            good = stream.read()
        choose = random.Random(1)
        for _ in range(40):
            at = choose.randrange(len(good))
            with open(path + CHANGES, "wb") as stream:
                stream.write(good[:at] + bytes([good[at] ^ 1 << choose.randrange(8)]) + good[at + 1:choose.choice((at + 2, len(good)))])
            self.assertEqual(search.search(self.root, "quokka burrow").hits[0].entry.path, "a/module0.py")
        with open(path, "wb") as stream:
            stream.write(b"")
        self.assertEqual(self.answers(), wanted)
        self.assertFalse(os.path.exists(path + CHANGES))  # it was of the index that is no more

    def test_a_flipped_bit_anywhere_changes_no_answer(self) -> None:
        self.answers()
        self.put("a/module0.py", "def quokka_burrow():\n    pass\n")
        wanted, choose = self.answers(), random.Random(3)
        for name in (DEFINITIONS, "map.words", DEFINITIONS + CHANGES, "map.words" + CHANGES) * 3:
            path = store_path(self.root, name)
            if not os.path.exists(path):  # mended away by a round before
                continue
            with open(path, "rb") as stream:
                good = stream.read()
            at = choose.randrange(len(good))
            with open(path, "wb") as stream:
                stream.write(good[:at] + bytes([good[at] ^ 1 << choose.randrange(8)]) + good[at + 1:])
            self.assertEqual(self.answers(), wanted, (name, at))

    def test_words_of_a_file_that_changed_while_they_were_read_are_not_kept(self) -> None:
        self.put("a/module0.py", "def numbat_nest():\n    return wombat_nest\n")
        read = search_files.read_source
        for number in range(2):  # all words, then those of changes
            with mock.patch.object(search_files, "read_source", lambda path: (b"another()\n", read(path)[1])):
                self.assertEqual(find_references(self.root, "wombat_nest").uses, [])
            self.assertEqual(len(find_references(self.root, "wombat_nest").uses), 1, number)
            self.put("a/module0.py", f"def numbat_{number}():\n    return wombat_nest\n")

    def test_changes_are_carried_on_and_only_new_ones_read(self) -> None:
        self.answers()
        for number in range(5):
            self.put(f"b/late{number}.py", f"def quokka_{number}():\n    return wombat_{number}\n")
        self.answers()
        self.put("b/late2.py", "def numbat_nest():\n    return 1\n")
        with mock.patch.object(search_files, "build_definitions", wraps=search_files.build_definitions) as build:
            self.assertEqual(search.search(self.root, "numbat nest").hits[0].entry.path, "b/late2.py")
        self.assertEqual([len(call.args[1]) for call in build.call_args_list], [1])
        self.assertEqual(search.search(self.root, "quokka_4").hits[0].entry.path, "b/late4.py")
        self.assertEqual(len(find_references(self.root, "wombat_3").uses), 1)
        self.assertEqual(find_references(self.root, "wombat_2").uses, [])

    def test_places_that_are_not_there(self) -> None:
        self.answers()
        self.put("a/module0.py")
        self.answers()
        for kind, name in ((Definitions, DEFINITIONS), (BodyWords, "map.words")):
            with kind(store_path(self.root, name), scanner_identity()) as first, \
                    kind(store_path(self.root, name + CHANGES), scanner_identity()) as second:
                for gone in ([0, first.count + 1], [3, 3], [4, 2], [2, 5, 4, 6]):
                    second._columns["gone"] = array("I", gone)
                    with self.assertRaises(search.DamagedIndex, msg=str(gone)):
                        Changed(first, second, second.state)
