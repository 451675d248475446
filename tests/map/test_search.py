"""Search and references on a small tree: exact names, words, typing errors, bodies, filters, edits, damage."""
from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

from slipstream.base.errors import SlipstreamError
from slipstream.base.stems import split_name, stem
from slipstream.cli import find
from slipstream.map.refs import FEW_FILES, find_references, render_references
from slipstream.map.search import search
from slipstream.map.search_bodies import find_words
from slipstream.map.search_json import answer_json
from slipstream.map.search_text import render_answer

import build_zipapp
from tests import PROGRAM
from tests.built import built_pyz
from tests.folders import FolderCase

FILES = {
    "pkg/__init__.py": "from .urls import parse_url\n",
    "pkg/urls.py": '"""Reading addresses."""\n\n\ndef parse_url(text):\n    """Split an address into scheme, host and path."""\n    zebra_crossing = text\n    return zebra_crossing\n\n\nclass Router:\n    """Finds the handler of a request."""\n\n    def resolve(self, path):\n        """Match a path against the table."""\n        return parse_url(path)\n',
    "pkg/cache.py": '"""A cache with expiry."""\nfrom pkg.urls import parse_url\n\n\nclass TimedCache:\n    def evict_expired(self):\n        # parse_url is not called here\n        return "parse_url"\n\n    def resolve(self):\n        return parse_url("x")\n',
    "web/client.ts": "import { render } from './view'\n\n/** Mounts the page. */\nexport function mountPage(target: string): void {\n  render(target)\n}\n",
    "web/view.ts": "export function render(target: string): void {}\nexport const render2 = () => render('x')\n",
    "web/other.ts": "function render(): void {}\nrender()\n",
    "tests/test_urls.py": "def test_parse_url():\n    assert True\n",
}


class Tree(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        for name, text in FILES.items():
            self.write(name, text)

    def found(self, query: str, **options: object) -> list[str]:
        answer = search(self.root, query, **options)  # type: ignore[arg-type]
        return [f"{hit.entry.path}:{hit.symbol.qualified}" if hit.symbol else hit.entry.path for hit in answer.hits]


class Search(Tree):
    def test_exact_names_come_first(self) -> None:
        for query in ("parse_url", "parseUrl", "parse url", "PARSE_URL"):
            self.assertEqual(self.found(query)[0], "pkg/urls.py:parse_url", query)
        self.assertEqual(self.found("TimedCache.resolve")[0], "pkg/cache.py:TimedCache.resolve")
        self.assertEqual(self.found("Router.resolve")[0], "pkg/urls.py:Router.resolve")

    def test_words_of_documentation(self) -> None:
        self.assertEqual(self.found("which handler does a request get")[0], "pkg/urls.py:Router")
        self.assertEqual(self.found("expired entries of the cache")[0], "pkg/cache.py:TimedCache.evict_expired")

    def test_a_path_is_an_exact_name_too(self) -> None:
        self.write("other/pkg/urls.py", FILES["pkg/urls.py"])
        for number in range(9):  # what many import ranks higher
            self.write(f"use{number}.py", "from other.pkg.urls import parse_url\n")
        for path in ("other/pkg/urls.py", "pkg/urls.py"):
            self.assertEqual({name.split(":")[0] for name in self.found(path)[:2]}, {path})

    def test_typing_errors(self) -> None:
        self.assertEqual(self.found("mountpgae")[:1] or self.found("muont page")[:1], ["web/client.ts:mountPage"])
        self.assertEqual(self.found("adress schem")[0], "pkg/urls.py:parse_url")

    def test_bodies_are_asked_when_nothing_else_fits(self) -> None:
        self.assertFalse(os.path.exists(os.path.join(self.root, ".claude", "slipstream", "map.words")))
        self.assertEqual(self.found("zebra crossing"), ["pkg/urls.py:parse_url"])
        self.assertTrue(os.path.exists(os.path.join(self.root, ".claude", "slipstream", "map.words")))

    def test_words_of_a_body_are_those_that_stemming_each_of_them_gives(self) -> None:
        choose = random.Random(6)
        parts = ("studies study queries query families dies ties running runs runner created creations creates happiness entries entry ii iii via "
                 "sky skies flies ally allies parties HTTPServer sorted sorting easily organization 404 12 x9 gruen \u00e9t\u00e9 \u6587").split()
        for _ in range(300):
            text = "".join(part + choose.choice(("", "_", " ", "\n", ".", "-", part.title())) for part in choose.choices(parts, k=40))
            wanted = [one for one in {stem(part.lower()) for part in choose.choices(parts, k=5)} if len(one) > 2]
            slow = {}
            for word in re.finditer(rb"[A-Za-z0-9_]+", text.encode()):
                stems = {stem(part) for part in split_name(word.group().decode())}
                slow.update({word.start(): [one for one in wanted if one in stems]} if stems & set(wanted) else {})
            self.assertEqual(find_words(text.encode(), wanted), slow, text)

    def test_silence_and_the_better_tool(self) -> None:
        self.assertEqual(self.found("kubernetes ingress"), [])
        self.assertIn("grep", search(self.root, "foo.*bar").hint)
        self.assertEqual(render_answer(search(self.root, "kubernetes ingress"), "q"), "no matches for 'q'\n")
        for query, hint in (("(x", "grep -rnF -e '(x' ."), ("a'b(", "grep -rnF -e 'a'\\''b(' ."), ("-x|y", "grep -rnE -e '-x|y' .")):
            self.assertIn(hint, search(self.root, query).hint)
        self.assertIn("no definition is called so", search(self.root, "kubernetes").hint)
        self.assertIn("no definition of that kind or place is called so", search(self.root, "parse_url", path="nowhere").hint)
        with self.assertRaisesRegex(SlipstreamError, "no kind 'klass'; there are: function, class, .*, file"):
            search(self.root, "parse_url", kind="klass")
        for hostile in ("", " ", "\0", "((((", "a" * 10_000, "\ud800", "é日本", "..", "'; rm -rf /"):
            render_answer(search(self.root, hostile), hostile)

    def test_filters_and_paging(self) -> None:
        self.assertEqual(self.found("resolve", path="pkg/cache.py"), ["pkg/cache.py:TimedCache.resolve"])
        self.assertEqual(self.found("resolve", path="web"), [])
        self.assertTrue(all("cache" in one for one in self.found("cache", path="*cache*")))
        self.assertEqual(self.found("cache", kind="class"), ["pkg/cache.py:TimedCache"])
        self.assertEqual(self.found("cache", kind="file"), ["pkg/cache.py"])
        everything = self.found("parse url", limit=50)
        paged = [one for offset in range(0, len(everything), 2) for one in self.found("parse url", limit=2, offset=offset)]
        self.assertEqual(paged, everything)

    def test_edits_are_seen_at_once(self) -> None:
        self.assertEqual(self.found("parse_url")[0], "pkg/urls.py:parse_url")
        self.write("pkg/urls.py", "\n\n\ndef parse_address(text):\n    return text\n")
        self.assertEqual(self.found("parse_address")[0], "pkg/urls.py:parse_address")
        self.assertEqual(search(self.root, "parse_address").hits[0].symbol.line, 4)  # type: ignore[union-attr]
        self.write("pkg/fresh.py", "def brand_new_thing():\n    pass\n")
        self.assertEqual(self.found("brand new thing")[0], "pkg/fresh.py:brand_new_thing")
        os.unlink(os.path.join(self.root, "pkg", "fresh.py"))
        self.assertEqual([one for one in self.found("brand new thing") if "fresh" in one], [])

    def test_damaged_and_missing_indexes(self) -> None:
        wanted = self.found("parse url cache")
        for name in ("map.search", "map.index", "map.words"):
            path = os.path.join(self.root, ".claude", "slipstream", name)
            for data in (b"", b"garbage" * 100, None):
                if data is None:
                    with open(path, "rb") as stream:
                        whole = stream.read()
                    data = whole[:60] + b"\xff" * (len(whole) - 60)
                with open(path, "wb") as stream:
                    stream.write(data)
                self.assertEqual(self.found("parse url cache"), wanted, (name, data[:9]))
                self.found("zebra crossing")
        shutil.rmtree(os.path.join(self.root, ".claude"))
        self.assertEqual(self.found("parse url cache"), wanted)

    def test_answer_has_a_ceiling(self) -> None:
        self.write("pkg/many.py", "".join(f"def handle_event_{number}(a):\n    pass\n" for number in range(300)))
        answer = search(self.root, "handle event", limit=200)
        text = render_answer(answer, "handle event")
        self.assertLess(len(text.encode()), 3700)
        self.assertRegex(text, r"\.\.\. \d+ more: --offset \d+\n")
        self.assertEqual(answer_json(answer)["total"], answer.total)


class References(Tree):
    def test_uses_by_file_with_their_enclosing_definition(self) -> None:
        found = find_references(self.root, "parse_url")
        self.assertEqual([(one.path, one.line) for one in found.definitions], [("pkg/urls.py", 4)])
        self.assertEqual([(use.path, use.line, use.inside, use.where) for use in found.uses], [
            ("pkg/__init__.py", 1, "", "import"), ("pkg/cache.py", 2, "", "import"),
            ("pkg/cache.py", 7, "TimedCache.evict_expired", "text"), ("pkg/cache.py", 8, "TimedCache.evict_expired", "text"),
            ("pkg/cache.py", 11, "TimedCache.resolve", "code"), ("pkg/urls.py", 15, "Router.resolve", "code")])
        self.write("README.md", "Call `parse_url` with an address.\n")
        self.assertEqual([use.where for use in find_references(self.root, "parse_url").uses if use.path == "README.md"], ["text"])
        os.unlink(os.path.join(self.root, "README.md"))
        text = render_references(found)
        self.assertIn("1 definition, 4 uses in 3 files, 2 in comments and strings", text)
        self.assertIn("  11 in TimedCache.resolve: return parse_url(\"x\")\n", text)

    def test_a_name_that_nothing_bears_meets_the_closest(self) -> None:
        found = find_references(self.root, "parse_ulr")
        self.assertEqual(found.close, ["parse_url", "test_parse_url"])
        self.assertEqual(render_references(found), "no symbol 'parse_ulr' and no use of it; closest: parse_url, test_parse_url\n")
        self.assertEqual(render_references(find_references(self.root, "zzz", offset=9)), "no symbol 'zzz' and no use of it; grep finds any text\n")

    def test_beyond_the_end_nothing_is_found(self) -> None:
        for words, status in ((["refs", "parse_url"], 0), (["refs", "parse_url", "--offset", "5"], 0), (["refs", "parse_url", "--offset", "6"], 1),
                              (["search", "parse_url", "--offset", "99"], 1), (["refs", "parse_url", "--offset", "6", "--json"], 1)):
            with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as out:
                self.assertEqual(find.main([*words, "--root", self.root]), status, words)
                out.flush()
                text = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
            if words[-1] == "--json":
                self.assertEqual(json.loads(text)["uses"], [])
            else:
                self.assertEqual("no more" in text, status == 1, words)

    def test_namesakes_are_told_apart_by_import(self) -> None:
        found = find_references(self.root, "render")
        self.assertEqual({(use.path, use.target) for use in found.uses}, {
            ("web/client.ts", "web/view.ts"), ("web/view.ts", "web/view.ts"), ("web/other.ts", "web/other.ts")})
        chosen = find_references(self.root, "render", "web/other.ts")
        self.assertEqual(({use.path for use in chosen.uses}, chosen.others), ({"web/other.ts"}, 3))

    def test_namesakes_are_told_apart_by_package(self) -> None:
        for path, text in {"a/Thing.java": "package a;\npublic class Thing { }\n", "b/Thing.java": "package b;\npublic class Thing { }\n",
                           "c/One.java": "package c;\nimport b.Thing;\nclass One { Thing t; }\n", "c/Two.java": "package c;\nimport a.*;\nclass Two { Thing t; }\n"}.items():
            self.write(path, text)
        found = find_references(self.root, "Thing")
        self.assertEqual({(use.path, use.target) for use in found.uses}, {("c/One.java", "b/Thing.java"), ("c/Two.java", "a/Thing.java")})

    def test_star_exports_pass_a_name_on(self) -> None:
        self.write("web/index.ts", "export * from './forms'\nexport * from './loop'\n")
        self.write("web/loop.ts", "export * from './index'\n")
        self.write("web/forms/field.ts", "export function submitField() {}\n")
        self.write("web/old.ts", "export function submitField() {}\n")
        self.write("web/options.ts", "export interface Options {\n  submitField: boolean\n}\n")  # a member is not imported by its name
        self.write("web/forms/index.ts", "export * from './field'\nexport * from '../options'\n")
        self.write("app/page.ts", "import { submitField } from '../web'\nsubmitField()\n")
        self.write("app/looped.ts", "import { submitField } from '../web/loop'\nsubmitField()\n")
        self.write("pkg/api.py", "from .urls import *\nfrom .urls import Router\n")
        self.write("old/urls.py", "def parse_url(text):\n    return text\n")
        self.write("late.py", "from pkg.api import parse_url\nparse_url('')\n")
        self.assertEqual({(use.path, use.target) for use in find_references(self.root, "submitField").uses}, {
            ("app/page.ts", "web/forms/field.ts"), ("app/looped.ts", "web/forms/field.ts")})
        self.assertEqual({use.target for use in find_references(self.root, "parse_url").uses if use.path == "late.py"}, {"pkg/urls.py"})

    def test_a_page_of_very_many_uses_reads_no_more_than_it_needs(self) -> None:
        for number in range(FEW_FILES + 30):
            self.write(f"many/m{number:03}.py", "from pkg.urls import parse_url\nparse_url('a')  # parse_url\n")
        whole = find_references(self.root, "parse_url")
        pages: list[tuple[str, int]] = []
        while True:
            page = find_references(self.root, "parse_url", limit=40, offset=len(pages))
            if not page.page:
                break
            pages += [(use.path, use.line) for use in page.page]
        ordered = sorted(whole.uses, key=lambda use: (use.where == "text", use.path, use.line))
        self.assertEqual(pages, [(use.path, use.line) for use in ordered])
        first = find_references(self.root, "parse_url", limit=40)
        self.assertEqual((first.read, first.unread), (FEW_FILES, 33))
        self.assertEqual([(use.path, use.line, use.inside, use.target) for use in first.page],
                         [(use.path, use.line, use.inside, use.target) for use in ordered[:40]])
        text = render_references(first)
        self.assertIn(f"in comments and strings, in the first {FEW_FILES} of {FEW_FILES + 33} files that may hold it\n", text)
        self.assertRegex(text, r"\n\.\.\. \d+ more, and 33 files not read: --offset 40\n$")
        self.assertNotIn("not read", render_references(find_references(self.root, "parse_url", limit=1000)))

    def test_a_file_of_utf_16_is_searched_too(self) -> None:
        for encoding in ("utf-16-le", "utf-16-be"):
            with open(os.path.join(self.root, f"{encoding}.py"), "wb") as stream:
                stream.write(("\ufeff" + "def wide_name():\n    return parse_url('gr\u00fcn')\n").encode(encoding))
        wide = [use for use in find_references(self.root, "parse_url").uses if use.path.startswith("utf-16")]
        self.assertEqual([(use.path, use.line, use.inside) for use in wide], [("utf-16-be.py", 2, "wide_name"), ("utf-16-le.py", 2, "wide_name")])

    def test_a_name_that_is_nowhere(self) -> None:
        self.assertEqual(find_references(self.root, "nowhere").uses, [])
        for bad in ("", "a b", "x(", "1x"):
            with self.assertRaises(SlipstreamError):
                find_references(self.root, bad)

    def test_names_that_the_index_of_words_cannot_tell(self) -> None:
        self.write("odd/names.js", "export function $el(a) {}\nclass A { #secret = 1; get() { return this.#secret } }\nfunction gr\u00fcn(id) { return id }\n$el(gr\u00fcn(1))\n")
        for name, count in (("$el", 1), ("#secret", 1), ("gr\u00fcn", 1), ("id", 2), ("nowhere_at_all", 0)):
            self.assertEqual(len(find_references(self.root, name).uses), count, name)

    def test_a_word_that_too_many_files_hold_stays_one(self) -> None:
        for number in range(120):
            self.write(f"many/m{number}.py", f"def only_{number}():\n    return common_word(distinct_{number})\n")
        self.assertEqual(len(find_references(self.root, "common_word").uses), 120)
        self.write("many/m7.py", "def only_7():\n    return common_word(other_word)\n")  # mends the index
        self.assertEqual(len(find_references(self.root, "common_word").uses), 120)
        self.assertEqual([use.path for use in find_references(self.root, "other_word").uses], ["many/m7.py"])
        self.assertEqual(self.found("common word distinct_9 return")[0], "many/m9.py:only_9")


class Process(Tree):
    def run_verb(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words, "--root", self.root], capture_output=True, text=True, timeout=60, check=False)

    def test_exit_statuses(self) -> None:
        self.assertEqual(self.run_verb("search", "parse_url").returncode, 0)
        self.assertEqual(self.run_verb("search", "kubernetes").returncode, 1)
        self.assertEqual(self.run_verb("search").returncode, 2)
        self.assertEqual(self.run_verb("search", "x", "--limit", "0").returncode, 2)
        self.assertEqual(self.run_verb("refs", "parse_url", "--json").returncode, 0)
        self.assertEqual(self.run_verb("refs", "nowhere").returncode, 1)
        self.assertEqual(self.run_verb("graph").returncode, 0)
        done = self.run_verb("graph", "pkg/urls.py")
        self.assertIn("imported by:\n  pkg/__init__.py\n  pkg/cache.py\n", done.stdout)

    def test_what_a_warm_query_loads(self) -> None:
        """At most 900 lines as the pyz packs them, with changes beside the index or without, and none of the modules that cost a start."""
        data = built_pyz()
        place = os.path.join(self.root, "slipstream.pyz")
        with open(place, "wb") as stream:
            stream.write(data)
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from slipstream.cli import find; find.main(sys.argv[2:]); "
                "sys.stderr.write(' '.join(sys.modules))")
        packed = build_zipapp.entries(data)

        def run(*words: str) -> list[str]:
            done = subprocess.run([sys.executable, "-I", "-S", "-c", code, place, *words, "--root", self.root],
                                  capture_output=True, text=True, check=True, timeout=60)
            return done.stderr.split()

        def check(limit: int, *words: str) -> None:
            loaded = run(*words)
            dear = {"argparse", "subprocess", "pathlib", "json", "re", "dataclasses", "typing", "heapq"} & set(loaded)
            with_re = {"re", "heapq"} if sys.version_info < (3, 10) else {"re"}  # 3.9's collections, which re needs, loads both
            self.assertEqual(dear, with_re if words[0] == "refs" else set())
            names = ["slipstream/" + name.replace(".", "/")[11:] for name in loaded if name.split(".")[0] == "slipstream"]
            files = [packed.get(name + ".py") or packed[name.rstrip("/") + "/__init__.py"] for name in names]
            lines = sum(bool(line.strip()) for text in [*files, packed["__main__.py"]] for line in text.split(b"\n"))
            self.assertLessEqual(lines, limit, (words, sorted(names)))

        run("refs", "parse_url")  # makes the indexes
        for folder, _, names in os.walk(self.root):
            for name in ["", *names] if os.sep + "slipstream" not in folder else []:
                os.utime(os.path.join(folder, name), (1_700_000_000, 1_700_000_000))
        run("search", "parse_url")  # sees that all is older than the index
        check(900, "search", "parse_url")
        check(900, "refs", "parse_url")
        check(1110, "search", "where a zebra crossing is returned")  # what reads bodies, and the hint at grep, come on top
        with open(os.path.join(self.root, "pkg", "urls.py"), "a", encoding="utf-8") as stream:
            stream.write("\n\ndef parse_later(text):\n    return text\n")
        os.utime(os.path.join(self.root, "pkg", "urls.py"), (1_700_000_500, 1_700_000_500))
        for _ in range(2):  # takes the edit in; sees that it is older than the index
            run("search", "parse_later")
            run("refs", "parse_later")
        for name in ("map.search.new", "map.words.new"):
            self.assertTrue(os.path.exists(os.path.join(self.root, ".claude", "slipstream", name)))
        check(900, "search", "parse_url")
        check(900, "refs", "parse_url")
        check(1110, "search", "where a zebra crossing is returned")


if __name__ == "__main__":
    unittest.main()
