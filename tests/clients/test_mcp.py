"""The official MCP clients connect, list, call every tool, read every resource and prompt."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from tests import PROGRAM
from tests.clients import skip
from tests.clients.mcp import CALLS, HERE, make_project, run_client
from tests.mcp import environment, initialize, message, modern_meta

PLACES = {name: value for name, value in os.environ.items() if name.startswith("SLIPSTREAM_MCP")}


def place(variable: str) -> str:
    """What install.sh put there; a place that is named but not there is a failure where CI says it was installed."""
    found = PLACES.get(variable, "")
    if not os.path.exists(found):
        skip("mcp" if found else variable, f"{variable} names nothing that is there")
    return found


class Clients(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        make_project(self.root)
        self.server = [sys.executable, "-I", "-S", PROGRAM, "mcp", "--root", self.root]
        previous = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(previous)))
        kept = environment()
        os.environ.clear()
        os.environ.update(kept)

    def check(self, told: dict[str, Any]) -> None:
        self.assertEqual(told["server"], "slipstream")
        self.assertIn("sp_search", told["instructions"])
        self.assertEqual(len(told["tools"]), 19)
        failed = [(name, text) for name, is_error, text in told["calls"] if is_error]
        self.assertEqual(failed, [])
        self.assertEqual([name for name, _, _ in told["calls"]], [name for name, _ in CALLS])
        self.assertIn("slipstream://map", [uri for uri, _ in told["resources"]])
        self.assertTrue(all(text for _, text in told["resources"]))
        self.assertEqual(told["templates"], 2)
        self.assertTrue(all(text for _, text in told["prompts"]))

    def test_python_sdk_2_modern(self) -> None:
        told = run_client([place("SLIPSTREAM_MCP2_PYTHON"), os.path.join(HERE, "sdk2.py"), "auto"], self.server)
        self.assertEqual(told["version"], "2026-07-28")
        self.check(told)

    def test_python_sdk_2_legacy(self) -> None:
        told = run_client([place("SLIPSTREAM_MCP2_PYTHON"), os.path.join(HERE, "sdk2.py"), "legacy"], self.server)
        self.assertEqual(told["version"], "2025-11-25")
        self.check(told)

    def test_python_sdk_1(self) -> None:
        told = run_client([place("SLIPSTREAM_MCP1_PYTHON"), os.path.join(HERE, "sdk1.py")], self.server)
        self.check(told)

    def test_typescript_sdk(self) -> None:
        folder = place("SLIPSTREAM_MCP_NODE")
        node = os.path.join(folder, "node_modules", ".bin", "node")
        self.check(run_client([node, os.path.join(HERE, "sdk.mjs"), folder], self.server))

    def test_inspector(self) -> None:
        folder = place("SLIPSTREAM_MCP_NODE")
        node = os.path.join(folder, "node_modules", ".bin", "node")
        inspector = os.path.join(folder, "node_modules", ".bin", "mcp-inspector")

        def inspect(*arguments: str) -> Any:
            done = subprocess.run([node, inspector, "--cli", *self.server, *arguments], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
            return json.loads(done.stdout)

        self.assertEqual(len(inspect("--method", "tools/list")["tools"]), 19)
        told = inspect("--method", "tools/call", "--tool-name", "sp_symbol", "--tool-arg", "symbol=total_price")
        self.assertIn("def total_price", told["content"][0]["text"])
        self.assertEqual(inspect("--method", "resources/list")["resources"][0]["uri"], "slipstream://map")
        self.assertIn("prompts", inspect("--method", "prompts/list"))
        told = inspect("--method", "resources/read", "--uri", "slipstream://map")
        self.assertIn("cart.py", told["contents"][0]["text"])

    def test_every_message_validates_for_its_revision(self) -> None:
        python = place("SLIPSTREAM_MCP2_PYTHON")
        recorded: list[dict[str, Any]] = []
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"):
            modern = version >= "2026"
            extra: dict[str, Any] = {"_meta": modern_meta(version)} if modern else {}
            asked = [message("server/discover", 0, **extra) if modern else initialize(version)]
            for method, params in [("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}),
                                   ("prompts/list", {}), ("resources/read", {"uri": "slipstream://map"}),
                                   ("resources/read", {"uri": "slipstream://nope"}), ("nope", {}),
                                   ("prompts/get", {"name": "nope"}), ("tools/call", {"name": "nope"}),
                                   ("tools/call", {"name": "sp_hook", "arguments": {}}),
                                   ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}), ("ping", {}),
                                   *[("tools/call", {"name": name, "arguments": values}) for name, values in CALLS],
                                   ("tools/call", {"name": "sp_lines", "arguments": {"file": 1}})]:
                asked.append(message(method, len(asked), **params, **extra))
            asked.append(message("tools/list", len(asked), _meta={"progressToken": "p"} if not modern else modern_meta("x")))
            lines = "".join(json.dumps(one) + "\n" for one in asked)
            done = subprocess.run(self.server, input=lines.encode(), capture_output=True, timeout=60)
            methods = {one["id"]: one["method"] for one in asked}
            answers = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual({one["id"] for one in answers if "method" not in one}, set(methods), version)
            recorded += [{"version": version, "method": methods.get(one.get("id")), "message": one} for one in answers]
        done = subprocess.run([python, os.path.join(HERE, "validate.py")], capture_output=True, timeout=60,
                              input=json.dumps({"messages": recorded}).encode())
        told = json.loads(done.stdout)
        self.assertEqual(told["problems"], [])
        self.assertGreater(told["checked"], 150)
