"""One search over everything: filters, reasons, silence, growth by offset, notes of the host."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading

from slipstream.events.append import append_event
from slipstream.memory import facts
from slipstream.memory.catalog_update import CatalogUpdate
from slipstream.memory.freshness import as_recorded
from slipstream.memory.observe import capture
from slipstream.memory.search import find_records, open_catalog, search_memory, show_item, timeline

from tests import PROGRAM
from tests.memory import StoreCase


class Search(StoreCase):
    def ids(self, query: str, **given: object) -> list[str]:
        return [hit.id for hit in search_memory(self.root, query, **given)]  # type: ignore[arg-type]

    def fill(self) -> None:
        self.turn("fix the login redirect", "Edit src/auth/session.py", session="a")
        self.turn("slow database query on the dashboard", "Read src/db/query.py", session="b")
        self.turn("run the checks", "Bash make check", session="b")
        capture(self.root, "a")
        capture(self.root, "b")

    def test_filters(self) -> None:
        self.fill()
        self.assertEqual(sorted(self.ids("login database checks", session="b", limit=9)), ["2", "3"])
        self.assertEqual(self.ids("login database checks", kind="edit"), ["1"])
        self.assertEqual(self.ids("login database checks", file="src/db/query.py"), ["2"])
        self.assertEqual(self.ids("login", since="2999-01-01"), [])
        self.assertEqual(self.ids("login", since="not a date"), ["1"])
        self.assertEqual(self.ids("login", branch="nowhere"), [])
        for given, found in (({"kind": "edit"}, ["1"]), ({"kind": "fact"}, []), ({"session": "b"}, []), ({"branch": "x"}, []),
                             ({"since": "2999-01-01"}, []), ({"file": "src/auth/session.py"}, ["1"]), ({"file": "x.py"}, [])):
            self.assertEqual(self.ids("#1", **given), found, given)  # an id is no way around a filter

    def test_a_file_is_meant_as_seen_from_here(self) -> None:
        """Or from the root; what lies outside, or is there no longer, is looked for as it is given."""
        self.fill()
        os.makedirs(os.path.join(self.root, "src", "db"))
        with open(os.path.join(self.root, "src", "db", "query.py"), "w") as out:
            out.write("pass\n")
        here = os.path.join(self.root, "src")
        for given, meant in (("./src/db/query.py", "src/db/query.py"), ("./db/query.py", "src/db/query.py"),
                             (os.path.join(here, "db", "query.py"), "src/db/query.py"), ("src/auth/../gone.py", "src/gone.py"),
                             ("query.py", "query.py"), ("/etc/hosts", "/etc/hosts")):
            self.assertEqual(as_recorded(self.root, given, here), meant)
        done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "memory", "search", "database", "--file", "./db/query.py", "--json"],
                              cwd=here, env={**os.environ, "CLAUDE_PROJECT_DIR": self.root}, capture_output=True, check=False)
        self.assertEqual([hit["id"] for hit in json.loads(done.stdout)], [2], done.stderr)

    def test_numbers_that_are_none(self) -> None:
        self.fill()
        for word in ("²", "#²", "#" + "9" * 5000, "9" * 20, "#"):
            self.assertEqual((self.ids(word), timeline(self.root, word), show_item(self.root, word), show_item(self.root, "chat:a:" + word)),
                             ([], [], None, None), word[:9])

    def test_other_words_and_why(self) -> None:
        self.fill()
        self.assertEqual(self.ids("why is the db slow")[0], "2")  # an abbreviation
        self.assertEqual(self.ids("redirecting logins")[0], "1")  # other forms
        self.assertEqual(self.ids("databse query")[0], "2")  # a slip of the pen
        self.assertEqual(self.ids("#2"), ["2"])
        self.assertEqual(self.ids("query.py")[0], "2")
        self.assertIn("login", search_memory(self.root, "login")[0].why)
        self.assertEqual(self.ids("kubernetes ingress certificates"), [])

    def test_an_old_exact_hit_beats_new_vague_ones(self) -> None:
        self.turn("tune the walrus feeding pump", "Edit pump.py")
        for number in range(30):
            self.turn(f"feeding report number {number}", "Edit report.py")
        capture(self.root, "s1")
        self.assertEqual(self.ids("walrus feeding pump")[0], "1")

    def test_everything_is_one_index(self) -> None:
        self.fill()
        facts.add_fact(self.root, "Otters sleep holding hands", "fact", "b")
        self.write(".claude/slipstream/conversations/c.json", json.dumps({"session": "c", "turnCount": 2, "exchanges": [
            {"ask": "how do otters sleep", "replyChars": 9, "tools": [], "ts": "2026-01-01T00:00:00.000Z", "summary": "Together."}]}))
        notes = os.path.join(os.environ["HOME"], ".claude", "projects", re.sub("[^A-Za-z0-9]", "-", self.root), "memory")
        os.makedirs(notes)
        with open(os.path.join(notes, "MEMORY.md"), "w", encoding="utf-8") as stream:
            stream.write("# Otters\nOtter food is in the shed.\n# Other\nnothing\n")
        self.assertEqual(set(self.ids("otters")), {"fact:otters-sleep-holding-hands", "chat:c:0", "host:MEMORY:0"})
        self.assertEqual(self.ids("otters", kind="host"), ["host:MEMORY:0"])
        for item in self.ids("otters"):
            self.assertIn("tter", show_item(self.root, item) or "")
        facts.remove_facts(self.root, ["otters-sleep-holding-hands"])
        with open(os.path.join(notes, "MEMORY.md"), "w", encoding="utf-8") as stream:
            stream.write("# Foxes\nFox food is in the shed.\n")
        self.assertEqual(self.ids("otters"), ["chat:c:0"])
        self.assertEqual(self.ids("foxes"), ["host:MEMORY:0"])

    def test_only_new_bytes_are_read(self) -> None:
        self.fill()
        self.ids("login")
        taken: list[int] = []
        take = CatalogUpdate._take_lines
        def watch(update: CatalogUpdate, builder: object, source: str, stamp: list[int], entry: list[object] | None) -> list[object]:
            taken.append(int(entry[1]) if entry else 0)  # type: ignore[call-overload]
            return take(update, builder, source, stamp, entry)  # type: ignore[arg-type]
        self.addCleanup(setattr, CatalogUpdate, "_take_lines", take)
        CatalogUpdate._take_lines = watch  # type: ignore[method-assign, assignment]
        size = os.path.getsize(os.path.join(self.store, "observations", "b.jsonl"))
        self.turn("paint the shed", "Edit shed.py", session="b")
        capture(self.root, "b")
        self.assertEqual(self.ids("shed"), ["4"])
        self.assertEqual(taken, [size])

    def test_many_small_pieces_stay_few(self) -> None:
        for number in range(60):
            append_event(self.root, "s", "main", "user-prompt", f"turn about topic {number} word{number}")
            append_event(self.root, "s", "main", "stop", "x")
            capture(self.root, "s")
            self.assertEqual(self.ids(f"word{number}")[0], str(number + 1))
        catalog = open_catalog(self.root)
        self.assertLessEqual(len(catalog.segments), 5)
        self.assertEqual(catalog.documents(), 60)
        self.assertLessEqual(len([name for name in os.listdir(catalog.folder) if name.endswith(".seg")]), 5)
        self.assertEqual([row["id"] for row in timeline(self.root, 30, 1)], [29, 30, 31])
        self.assertEqual([record["id"] for record in find_records(self.root, [60, 1, 99])], [60, 1])

    def test_threads_share_the_index(self) -> None:
        self.fill()
        wrong: list[object] = []

        def ask() -> None:
            for _ in range(10):
                try:
                    if self.ids("login redirect")[:1] != ["1"] or not timeline(self.root, 2):
                        wrong.append("missed")
                except Exception as error:
                    wrong.append(error)
        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for number in range(8):
            self.turn(f"paint shed number {number}", "Edit shed.py", session="b")
            capture(self.root, "b")
            search_memory(self.root, "shed")
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_rewritten_file_is_taken_in_anew(self) -> None:
        self.fill()
        self.assertEqual(self.ids("login"), ["1"])
        path = os.path.join(self.store, "observations", "a.jsonl")
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.replace("login redirect", "logout banner") + text.replace('"id":1', '"id":9').replace("login", "signin"))
        self.write(".claude/slipstream/observations/.counter", "9")
        os.replace(os.path.join(self.store, "observations", ".counter"), os.path.join(self.store, "observations", ".counter2"))
        self.assertEqual(self.ids("logout banner"), ["1"])
