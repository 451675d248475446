"""Every construct a language's table claims: a source and what the scan of it must give, side by side.

`cases/LANGUAGE/NAME.EXT.src` is scanned as `NAME.EXT` and rendered; the text beside it in `NAME.EXT.expected` must be the same.
After a change that is right, SLIPSTREAM_UPDATE_CASES=1 writes the expected files anew: read the difference line by line.
"""
from __future__ import annotations

import os
import unittest

from slipstream.map.languages.registry import LANGUAGES, language_of, scan_source

from tests.map.languages.rendering import render_scan

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")


def case_files() -> list[tuple[str, str]]:
    """(folder, file name without `.src`) of every case."""
    return [(folder, name[:-4]) for folder in sorted(os.listdir(CASES))
            for name in sorted(os.listdir(os.path.join(CASES, folder))) if name.endswith(".src")]


def read_case(folder: str, name: str) -> bytes:
    with open(os.path.join(CASES, folder, name + ".src"), "rb") as file:
        return file.read()


class CaseTest(unittest.TestCase):
    maxDiff = None

    def test_every_case(self) -> None:
        update = os.environ.get("SLIPSTREAM_UPDATE_CASES") == "1"
        for folder, name in case_files():
            with self.subTest(case=f"{folder}/{name}"):
                path = os.path.join(CASES, folder, name + ".expected")
                found = render_scan(scan_source(name, read_case(folder, name)))
                if update:
                    with open(path, "w", encoding="utf-8", newline="\n") as file:
                        file.write(found)
                with open(path, encoding="utf-8", newline="") as file:
                    self.assertEqual(file.read(), found)

    def test_every_language_has_cases(self) -> None:
        covered = {language_of(name, read_case(folder, name)[:200]) for folder, name in case_files()}
        self.assertEqual(set(LANGUAGES) - covered, set())

    def test_line_ends_do_not_matter(self) -> None:
        for folder, name in case_files():
            data = read_case(folder, name)
            if b"\r" in data:
                continue
            with self.subTest(case=f"{folder}/{name}"):
                plain = _places(name, data)
                self.assertEqual(plain, _places(name, data.replace(b"\n", b"\r\n")), "CRLF")
                self.assertEqual(plain, _places(name, b"\xef\xbb\xbf" + data), "BOM")
                self.assertEqual(plain, _places(name, data.replace(b"\n", b"\r")), "CR alone")
                text = data.decode("utf-8")
                self.assertEqual(plain, _places(name, text.encode("utf-16")), "UTF-16")
                self.assertEqual(plain, _places(name, b"\xfe\xff" + text.encode("utf-16-be")), "UTF-16, big end first")
                if not text.isascii() and all(char < "\u0100" for char in text):
                    self.assertEqual(plain, _places(name, text.encode("latin-1")), "Latin-1")


def _places(name: str, data: bytes) -> list[tuple[str, str, int, int, int]]:
    scan = scan_source(name, data)
    return [(d.kind, d.qualified, d.start, d.line, d.end) for d in scan.walk()] + [
        (e.kind, e.name, e.line, e.line, e.end) for e in scan.outline]
