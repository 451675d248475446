"""Scoped reads: cut from the text just read, whole, and nothing beside it."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from unittest import mock

from slipstream.map import slices
from slipstream.map.cuts import Slice, render_slice, slice_lines
from slipstream.map.index import open_index
from slipstream.map.lookup import open_stored
from slipstream.map.slices import Ambiguous, Missing, slice_symbols

import build_zipapp
from tests import PROGRAM, PYZ, SOURCE
from tests.built import built_pyz
from tests.map.trees import TreeCase

SHOP = '''"""A shop."""
import os


@cached
def tax(amount):
    """Tax on an amount."""
    return amount * 0.2


class Till:
    """Takes money."""

    def total(self):
        return 1

    def close(self):
        return tax(2)


def close():
    pass
'''


class Slices(TreeCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("shop.py", SHOP)
        self.write("other/till.py", "class Other:\n    def total(self):\n        return 2\n")
        open_index(self.root)

    def run_cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], cwd=self.root, capture_output=True, text=True,
                              check=False)

    def test_doc_and_decorators_come_along(self) -> None:
        [one] = slice_symbols(self.root, ["tax"])
        self.assertEqual(one.code, SHOP[SHOP.index("@cached"):SHOP.index("\n\n\nclass Till")])
        self.assertEqual((one.path, one.start, one.end, one.kind), ("shop.py", 5, 8, "function"))

    def test_never_more_than_80_bytes_beside_the_declaration(self) -> None:
        deep = "/".join(["a_rather_long_folder_name"] * 6) + "/ünïcödé_file.py"
        self.write(deep, "def far_away():\n    pass\n")
        [one] = slice_symbols(self.root, ["far_away"])
        self.assertEqual(one.path, deep)
        self.assertLessEqual(len(render_slice(one).encode()) - len(one.code.encode()), 80)

    def test_an_edit_above_moves_the_slice(self) -> None:
        self.write("shop.py", "x = 1\n" * 40 + SHOP, age_s=30)
        [one] = slice_symbols(self.root, ["tax"], "shop.py")
        self.assertTrue(one.code.startswith("@cached"))
        self.assertIn("rescanned", one.note)
        [again] = slice_symbols(self.root, ["tax"], "shop.py")
        self.assertEqual((again.start, again.note), (45, ""))

    def test_an_edit_that_keeps_size_and_times_is_seen(self) -> None:
        full = os.path.join(self.root, "shop.py")
        before = os.stat(full)
        with open(full, "w") as stream:
            stream.write(SHOP.replace("def tax", "def fee"))
        os.utime(full, ns=(before.st_atime_ns, before.st_mtime_ns))
        with self.assertRaises(Missing):
            slice_symbols(self.root, ["tax"], "shop.py")

    def test_deleted_symbol_and_file_are_told(self) -> None:
        self.write("shop.py", SHOP.replace("def tax", "def fee"), age_s=30)
        with self.assertRaisesRegex(Missing, r"no symbol 'tax' in 2 files"):
            slice_symbols(self.root, ["tax"])
        os.unlink(os.path.join(self.root, "other/till.py"))
        with self.assertRaisesRegex(Exception, "other/till.py is gone"):
            slice_symbols(self.root, ["Other"], "other/till.py")
        with self.assertRaisesRegex(Missing, "it was in other/till.py, which is gone"):
            slice_symbols(self.root, ["Other"])

    def test_a_new_file_is_found(self) -> None:
        self.write("fresh/new.py", "def brand_new():\n    pass\n")
        self.assertEqual(slice_symbols(self.root, ["brand_new"])[0].path, "fresh/new.py")

    def test_without_an_index(self) -> None:
        stored = open_stored(self.root)
        assert stored is not None
        stored.handle.close()
        os.unlink(stored.handle.name if isinstance(stored.handle.name, str) else os.path.join(
            self.root, ".claude", "slipstream", "map.index"))
        self.assertEqual(slice_symbols(self.root, ["Till.total"], "shop.py")[0].start, 14)
        self.assertEqual(slice_symbols(self.root, ["Till.total"])[0].start, 14)

    def test_choices(self) -> None:
        with self.assertRaisesRegex(Ambiguous, "other/till.py:2 method Other.total\nshop.py:14 method Till.total"):
            slice_symbols(self.root, ["total"])
        self.assertEqual(slice_symbols(self.root, ["Till.total"])[0].start, 14)
        self.assertEqual(slice_symbols(self.root, ["close"])[0].symbol, "close")
        self.assertEqual(slice_symbols(self.root, ["total"], "shop.py")[0].symbol, "Till.total")
        self.assertEqual([one.symbol for one in slice_symbols(self.root, ["tax", "Till.close"], "shop.py")], ["tax", "Till.close"])
        with self.assertRaisesRegex(Missing, "closest: Till"):
            slice_symbols(self.root, ["Tlil"])

    def test_a_name_of_very_many_is_proved_as_far_as_it_is_shown(self) -> None:
        rows = []
        for number in range(40):
            self.write(f"many/m{number:02}.py", f"class M{number}:\n    def shut(self):\n        pass\n\n    def shutter(self):\n        pass\n")
            rows.append(f"many/m{number:02}.py:2 method M{number}.shut")
        open_index(self.root)
        self.write("many/m01.py", "class M1:\n\n    def shut(self):\n        return 1\n", age_s=10)
        self.write("many/m02.py", "class M2:\n    def open(self):\n        pass\n", age_s=10)
        os.unlink(os.path.join(self.root, "many/m03.py"))
        rows[1:4] = ["many/m01.py:3 method M1.shut"]
        head = "; say which, as FILE NAME or Class.name:\n"
        with mock.patch.object(slices, "find_file", wraps=slices.find_file) as reads, self.assertRaises(Ambiguous) as caught:
            slice_symbols(self.root, ["shut"])
        self.assertEqual(str(caught.exception), f"shut is defined 38 times{head}" + "\n".join(rows[:20]) + "\n... 18 more")
        self.assertEqual(reads.call_count, 22)
        self.assertEqual([one.symbol for one in slice_symbols(self.root, ["M30.shut"])], ["M30.shut"])
        open_index(self.root)
        for number, name in enumerate(("many/m05.py", "many/m39.py", "zoo.py"), 1):
            self.write(name, "def shut():\n    pass\n", age_s=5)
            open_index(self.root)
            with mock.patch.object(slices, "find_file", wraps=slices.find_file) as reads:
                if number == 1:  # the one that is called exactly so is meant
                    self.assertEqual([one.path for one in slice_symbols(self.root, ["shut"])], ["many/m05.py"])
                else:
                    with self.assertRaisesRegex(Ambiguous, f"^shut is defined {number} times; .*\n.*m05.py:1 function shut\n"):
                        slice_symbols(self.root, ["shut"])
            self.assertEqual(reads.call_count, number)
        for number in range(40):  # nothing is as the index says
            self.write(f"many/m{number:02}.py", "x = 1\n", age_s=4)
        self.assertEqual([one.path for one in slice_symbols(self.root, ["shut"])], ["zoo.py"])

    def test_overloads_come_as_one(self) -> None:
        text = "import t\n\n@t.overload\ndef a(x: int): ...\n\n\n@t.overload\ndef a(x: str): ...\n\n\ndef a(x):\n    pass\n"
        self.write("over.py", text + "\nif t:\n    def b(): pass\nelse:\n    def b(): return 1\n")
        [one] = slice_symbols(self.root, ["a"])
        self.assertEqual(one.code + "\n", text[text.index("@"):])
        self.assertEqual([(one.start, one.end) for one in slice_symbols(self.root, ["b"], "over.py")], [(15, 15), (17, 17)])

    def test_signature_and_context(self) -> None:
        self.assertEqual(slice_symbols(self.root, ["Till.total"], signature=True)[0].code, "def total(self)")
        [one] = slice_symbols(self.root, ["Till.total"], context=1)
        self.assertEqual((one.start, one.end), (13, 16))
        self.assertEqual(slice_symbols(self.root, ["tax"], context=500)[0].start, 1)

    def test_a_huge_symbol_is_paged(self) -> None:
        self.write("huge.py", "def huge():\n" + "".join(f"    step_{n} = 'xxxxxxxxxxxxxxxxxxxxxxxx'\n" for n in range(2_000)))
        code, line = "", 0
        for _ in range(20):
            [one] = slice_symbols(self.root, ["huge"], from_line=line)
            code += one.code + "\n"
            line = one.rest
            if not line:
                break
        with open(os.path.join(self.root, "huge.py")) as stream:
            self.assertEqual(code, stream.read())

    def test_lines_are_clamped_and_stay_inside(self) -> None:
        self.assertEqual(slice_lines(self.root, "shop.py", 1, 2).code, '"""A shop."""\nimport os')
        self.assertEqual(slice_lines(self.root, "shop.py", 21, 99).end, 22)
        self.assertEqual(slice_lines(self.root, "shop.py", 21, 99).note, "")
        self.assertEqual(slice_lines(self.root, "shop.py", 99, 120).start, 22)
        for words, said in ((["lines", "shop.py", "99", "120"], "line 99 is beyond the end: the file has lines 1-22"),
                            (["slice", "tax", "--from", "99"], "line 99 is beyond the end: tax has lines 5-8")):
            last = self.run_cli(*words).stdout.split("\n")[1:]
            self.assertEqual(last[1:], [f"// {said}", ""])
            one = json.loads(self.run_cli(*words, "--json").stdout)
            self.assertEqual((one["code"], one["note"]), (last[0], said))
        for words in (["lines", "../x.py", "1", "2"], ["lines", "/etc/passwd", "1", "2"], ["guard", "/etc/passwd"],
                      ["outline", "../../etc/passwd"], ["slice", "/etc/passwd", "root"]):
            done = self.run_cli(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn("outside the project", done.stderr)

    def test_a_long_path_is_cut_between_folders(self) -> None:
        """What stands after the dots is whole names; the kind gives way first."""
        for length, head in ((54, "// {path}:10-20 (function)"), (60, "// {path}:10-20"), (69, "// {path}:10-20"), (70, "// .../{rest}:10-20"), (200, "// .../{rest}:10-20")):
            path = ("folder/" * 40)[7 - length:] + "m.py"
            path = path[-length:].lstrip("/").rjust(length, "x")
            first = render_slice(Slice(path, "f", "function", 10, 20, "", 9)).split("\n")[0]
            shown = first[3:].partition(":")[0]
            self.assertEqual(first, head.format(path=path, rest=shown[4:]), length)
            self.assertTrue(path == shown or path.endswith("/" + shown[4:]), first)
            self.assertLess(len(first), 80)
        self.assertLess(len(render_slice(Slice("x" * 200, "f", "function", 10, 20, "", 9))), 80)

    def test_command_line(self) -> None:
        self.write("one.py", "x = 1\n")
        self.assertEqual(self.run_cli("outline", "one.py").stdout.split("\n")[0], "one.py (1 line, python)")
        self.assertEqual(self.run_cli("slice", "shop.py", "close").stdout, "// shop.py:21-22 (function)\ndef close():\n    pass\n")
        self.assertEqual(json.loads(self.run_cli("slice", "close", "--json").stdout)["startLine"], 21)
        self.assertEqual(self.run_cli("lines", "shop.py", "1", "1").stdout, '// shop.py:1-1\n"""A shop."""\n')
        self.write("long.py", ("x = '" + "y" * 60 + "'\n") * 900)
        self.assertRegex(self.run_cli("lines", "long.py", "1", "900").stdout, r"\n// goes on: lines long.py \d+ 900\n$")
        self.assertIn("  14-15 def total(self)", self.run_cli("outline", "shop.py").stdout)
        self.assertEqual(self.run_cli("guard", "shop.py").returncode, 0)
        self.write("big.py", "x = 1\n" * 5_000)
        self.assertEqual(self.run_cli("guard", "big.py").returncode, 1)
        self.assertIn("slipstream outline big.py", self.run_cli("guard", "big.py").stdout)
        self.assertEqual(self.run_cli("guard", "absent.py").stderr, "slipstream: absent.py: no such file\n")
        for folder in ("", ".", "other"):
            done = self.run_cli("guard", folder)
            self.assertEqual((done.returncode, done.stdout), (1, ""), folder)
        said = json.loads(self.run_cli("slice", "total", "--json").stdout)
        self.assertEqual((said["error"].partition(" is ")[0], len(said["definitions"])), ("total", 2), said)
        os.unlink(os.path.join(self.root, "big.py"))
        self.assertEqual(self.run_cli("slice", "big.py", "x").stderr, "slipstream: big.py: no such file, and no such symbol\n")
        for words, status in ((["slice"], 2), (["slice", "nothing"], 1), (["slice", "total"], 1), (["lines", "shop.py", "b", "c"], 2),
                              (["lines", "shop.py", "5", "2"], 2), (["lines", "shop.py", "0", "2"], 2), (["slice", "x", "--what"], 2),
                              (["slice", "x/y.py", "z"], 1), (["outline"], 2), (["lines", "absent.py", "1", "2"], 1)):
            self.assertEqual(self.run_cli(*words).returncode, status, words)


class Cost(TreeCase):
    def test_what_a_warm_query_loads(self) -> None:
        """At most 700 lines as the pyz packs them, and none of the modules that cost a start."""
        packed = build_zipapp.entries(built_pyz())
        self.write("shop.py", SHOP)
        open_index(self.root)
        for words in (["slice", "shop.py", "tax"], ["slice", "tax"], ["lines", "shop.py", "1", "2"], ["outline", "shop.py"],
                      ["guard", "shop.py"]):
            code = ("import sys; sys.path.insert(0, sys.argv[1]); from slipstream.cli import query; before = sys.argv[2:]; "
                    "query.main(before); sys.stdout.flush(); m = dict(sys.modules); "
                    "print(*(n for n in m if n.split('.')[0] == 'slipstream'), sep=' ', end=';', file=sys.stderr); "
                    "print(sorted({'argparse', 'subprocess', 'pathlib', 'json', 're', 'dataclasses', 'typing'} & m.keys()), file=sys.stderr)")
            place = PYZ if PROGRAM == PYZ else SOURCE
            done = subprocess.run([sys.executable, "-I", "-S", "-c", code, place, *words], cwd=self.root, capture_output=True,
                                  text=True, check=True)
            loaded, modules = done.stderr.strip().split(";", 1)
            names = ["__main__", *(name.replace(".", "/") for name in loaded.split())]
            files = [packed.get(name + ".py") or packed[name + "/__init__.py"] for name in names]
            lines = sum(bool(line.strip()) for text in files for line in text.split(b"\n"))
            self.assertLessEqual(lines, 700, (words, names))
            self.assertEqual(modules, "[]", words)
