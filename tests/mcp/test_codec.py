from __future__ import annotations

import json
import random
import subprocess
import sys
import unittest
from typing import Any

from slipstream.mcp.codec import decode_line, encode_message

from tests import SOURCE
from tests.mcp.fuzz import Maker


def refuse(name: str) -> None:
    raise ValueError(name)


class Decoding(unittest.TestCase):
    def test_reads_what_json_reads_and_nothing_else(self) -> None:
        maker = Maker(5)
        lines = [maker.line() for _ in range(3_000)]
        lines += [b"", b" ", b"1 2", b"{} x", b"\xc2\xa0{}", b"\x0b1", b"[1,]", b"{\"a\":1,}", b"'a'", b"01", b"1.", b".5", b"+1",
                  b"nul", b"-Infinity", b"\"\t\"", b"\"\\x\"", b"\"\\ud83d\\ude00\"", b"1e5", b"-0", b"[" * 100_000, b"1" * 5000]
        for line in lines:
            try:
                wanted: Any = json.loads(line.decode("utf-8"), parse_constant=refuse)
            except (ValueError, RecursionError) as error:
                with self.assertRaises((ValueError, RecursionError), msg=line[:80]):
                    decode_line(line)
                del error
                continue
            self.assertEqual(repr(decode_line(line)), repr(wanted))


    def test_without_json_loaded(self) -> None:
        """The accelerator then cannot make json's exception; what comes is a ValueError all the same."""
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from slipstream.mcp.codec import decode_line\n"
                "assert 'json' not in sys.modules\n"
                "for line in (b'{', b'[1', b'\"a', b'{1:2}', b'[1 2]', b'{\"a\" 1}', b'\"\\\\x\"', b'', b'x'):\n"
                "    try:\n        decode_line(line)\n    except ValueError:\n        continue\n    sys.exit(repr(line))")
        done = subprocess.run([sys.executable, "-I", "-S", "-c", code, SOURCE], capture_output=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Encoding(unittest.TestCase):
    def test_one_line_that_reads_back(self) -> None:
        choose = random.Random(1)

        def value(depth: int) -> Any:
            if depth and choose.random() < 0.6:
                if choose.random() < 0.5:
                    return [value(depth - 1) for _ in range(choose.randrange(4))]
                return {choose.choice(["a", "é", "\n", "\"", "\ud800"]): value(depth - 1) for _ in range(choose.randrange(4))}
            return choose.choice([None, True, False, 0, -7, 10**30, 1.5, "", "x\ny\u2028\0", "世界 \U0001f600", "\udcff", "\\\""])

        for _ in range(500):
            one = value(4)
            raw = encode_message(one)
            self.assertEqual(raw.count(b"\n"), 1)
            self.assertEqual(json.loads(raw.decode("utf-8")), one)

    def test_utf_8_is_kept(self) -> None:
        self.assertEqual(encode_message({"a": "é"}), '{"a":"é"}\n'.encode())
