"""Bytes to text, which language a file is in, and names in any script at their own lines."""
from __future__ import annotations

import unittest

from slipstream.map.languages.registry import LANGUAGES, interpreter_of, language_of, needs_shebang, scan_source
from slipstream.map.languages.summaries import comment_summary, hash_header
from slipstream.map.languages.text import Lines, decode


class DecodeTest(unittest.TestCase):
    def test_encodings(self) -> None:
        self.assertEqual(decode(b"\xef\xbb\xbfa\n"), "a\n")
        self.assertEqual(decode("d\u00e9f\n".encode("latin-1")), "d\u00e9f\n")
        self.assertEqual(decode("a\nb\n".encode("utf-16")), "a\nb\n")
        self.assertEqual(decode(b"\xff\xfea"), "\ufffd")

    def test_a_lone_carriage_return_ends_lines_only_without_line_feeds(self) -> None:
        self.assertEqual(decode(b"a\rb\r"), "a\nb\n")
        self.assertEqual(decode(b"a\rb\n"), "a\rb\n")

    def test_names_keep_their_script_and_lines(self) -> None:
        source = "# \U0001f600 \u6f22\u5b57\n\ndef \u540d\u524d():\n    return '\U0001f600'\n\n\nclass \u00dcber:\n    pass\n"
        for data in (source.encode("utf-8"), source.replace("\n", "\r\n").encode("utf-8"), source.encode("utf-16")):
            found = [(d.name, d.line, d.end) for d in scan_source("a.py", data).definitions]
            self.assertEqual(found, [("\u540d\u524d", 3, 4), ("\u00dcber", 7, 8)])
        latin = scan_source("a.py", "def caf\u00e9(): pass\n".encode("latin-1"))
        self.assertEqual(latin.definitions[0].name, "caf\u00e9")


class PurposeTest(unittest.TestCase):
    def test_of_what_a_file_only_passes_on(self) -> None:
        for path, text, purpose in (("i.ts", "export { a, default as B } from './a'\nexport * from './b'\n", "exports a, B"),
                                    ("i.ts", "export * from './a'\nexport * from \"./b\"\n", "exports all of ./a, all of ./b"),
                                    ("p/__init__.py", "from .a import (One,\n  two as Two)\n", "exports One, Two"),
                                    ("p/__init__.py", "from .a import One\n\ndef here(): pass\n", "exports here"),
                                    ("i.py", "import os\n", "")):
            self.assertEqual(scan_source(path, text.encode()).purpose, purpose)


class LanguageTest(unittest.TestCase):
    def test_by_extension_name_and_shebang(self) -> None:
        self.assertEqual(language_of("a/b.TS"), "typescript")
        self.assertEqual(language_of("a/Makefile"), "makefile")
        self.assertEqual(language_of("bin/tool", b"#!/usr/bin/env python3\n"), "python")
        self.assertEqual(language_of("bin/tool", b"#!/bin/sh -e\n"), "shell")
        self.assertEqual(language_of("bin/tool", b"#!/usr/bin/env -S node --x\n"), "javascript")
        self.assertEqual(language_of("docker/Dockerfile.dev"), "dockerfile")
        self.assertEqual(language_of("Makefile.common"), "makefile")
        self.assertEqual(language_of("Dockerfile.md"), "markdown")
        self.assertIsNone(language_of("Dockerfile.dockerignore"))
        self.assertEqual(scan_source("lib.rs", b"#![allow(x)]\n").hints, [])
        self.assertIsNone(language_of("bin/tool"))
        self.assertIsNone(language_of("a.unknown", b"#!/bin/sh\n"))
        self.assertTrue(needs_shebang("bin/tool"))
        self.assertFalse(needs_shebang("Dockerfile"))
        self.assertEqual(interpreter_of(b"#! /usr/bin/python3.11\n"), "python3")

    def test_where_a_scala_program_starts(self) -> None:
        for source in ("object A extends App {}", "object A extends x.Base with IOApp.Simple {}", "  def main(args: Array[String]): Unit = ()",
                       "@main def go() = 1"):
            self.assertEqual(scan_source("a.scala", source.encode()).hints, ["main"], source)
        for source in ("trait A extends Apply[F]", "// def main(x)", "object A extends Application"):
            self.assertEqual(scan_source("a.scala", source.encode()).hints, [], source)

    def test_an_unknown_language_counts_lines(self) -> None:
        scan = scan_source("a.unknown", b"one\ntwo")
        self.assertEqual((scan.language, scan.lines, scan.definitions), ("", 2, []))

    def test_a_file_of_definitions_of_which_none_was_read_is_reported(self) -> None:
        said = "lines look like definitions, but none was read"
        lost = {"a.php": "class Unopened {\n}\n", "a.py": "'''\ndef lost():\n", "a.go": "/*\nfunc lost() {\n", "a.rb": "=begin\nclass Lost\n",
                "a.rs": "/*\nfn lost() {\n", "a.ts": "/*\nexport function lost() {\n", "a.java": "/*\npublic class Lost {\n",
                "a.kt": "/*\nfun lost() {\n", "a.swift": "/*\nfunc lost() {\n", "a.lua": "--[[\nfunction lost()\n",
                "a.vue": "class Outside {\n", "a.c": "/*\nstruct lost {\n", "a.cs": "/*\npublic class Lost {\n"}
        for name, source in lost.items():
            with self.subTest(name):
                self.assertEqual(scan_source(name, source.encode()).warnings, [said])
        for name, source in (("a.py", "def read():\n    pass\n"), ("a.py", "class_of = 1\n"), ("a.md", "class Lost {\n")):
            with self.subTest(name):
                self.assertEqual(scan_source(name, source.encode()).warnings, [])

    def test_table(self) -> None:
        names = [row[0] for row in LANGUAGES.values()]
        self.assertEqual(len(names), len(set(names)))
        extensions = [extension for row in LANGUAGES.values() for extension in row[3]]
        self.assertEqual(len(extensions), len(set(extensions)))


class TextTest(unittest.TestCase):
    def test_lines_forward_and_back(self) -> None:
        lines = Lines("a\nb\nc\n")
        self.assertEqual([lines.at(at) for at in (4, 0, 2, 3)], [3, 1, 2, 2])

    def test_summaries(self) -> None:
        self.assertEqual(comment_summary("/**\n * Does this, e.g. that. And more.\n * @param x\n */"), "Does this, e.g. that.")
        self.assertEqual(comment_summary("// eslint-disable no-x\n// Real words"), "Real words")
        self.assertEqual(comment_summary("/* Copyright 2020 X. All rights reserved. */"), "")
        self.assertEqual(comment_summary("/// <summary>\n/// Sells things.\n/// </summary>"), "Sells things.")
        self.assertEqual(hash_header("#!/bin/sh\n# -*- coding: utf-8 -*-\n\n# What it is for\nx\n"), "What it is for")
