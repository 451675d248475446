"""The plugin in the real Claude Code client, against a scripted conversation. Skipped where the client is not installed."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

from tests.clients import skip
from tests.clients.claude_code.checks import check, report
from tests.clients.claude_code.session import HERE, Session, find_client, load_scenario

PLUGIN = HERE.parents[2] / "plugin"
CLIENT = find_client()




class Scenarios(unittest.TestCase):
    """One test for each file under scenarios/, made below."""

    maxDiff = None

    def play(self, path: Path) -> None:
        if not CLIENT:
            skip("claude_code", "SLIPSTREAM_CLAUDE names no binary")
        keep = os.environ.get("SLIPSTREAM_CLIENT_OUT")
        with tempfile.TemporaryDirectory(prefix="slipstream-client-") as folder:
            out = Path(keep, path.stem) if keep else Path(folder)
            session = Session(out, str(CLIENT), PLUGIN, load_scenario(path))
            session.run()
            wrong = check(session)
            report(session, wrong)
            self.assertEqual(wrong, [])


def _add(path: Path) -> None:
    def test(self: Scenarios) -> None:
        self.play(path)

    setattr(Scenarios, "test_" + path.stem, test)


for _path in sorted((HERE / "scenarios").glob("*.json")):
    _add(_path)

if __name__ == "__main__":
    unittest.main()
