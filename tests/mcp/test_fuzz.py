from __future__ import annotations

import threading
import unittest

from tests.mcp import Server
from tests.mcp.fuzz import Maker, check, make_tree

LINES = 10_000


class Fuzz(unittest.TestCase):
    def test_generated_lines(self) -> None:
        """Nothing ends the loop, nothing but JSON-RPC is on the wire, and every request has its answer."""
        maker = Maker(20261130)
        with Server() as server:
            make_tree(server.root)
            stdin, stdout, stderr = server.process.stdin, server.process.stdout, server.process.stderr
            assert stdin and stdout and stderr
            lines: list[bytes] = []
            errors: list[bytes] = []
            readers = [threading.Thread(target=lambda: lines.extend(stdout)),
                       threading.Thread(target=lambda: errors.extend(stderr))]
            for reader in readers:
                reader.start()
            for _ in range(LINES):
                stdin.write(maker.line() + b"\n")
            stdin.close()
            server.process.stdin = None
            for reader in readers:
                reader.join(60)
            self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(check(maker, lines)[:5], [])
        self.assertEqual(b"".join(errors)[:3000], b"")
