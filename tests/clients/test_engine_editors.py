"""What set-up writes, read back by the editors' own command-line clients: they list our server, and start it."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest

from tests import PYZ
from tests.clients import skip

LIMIT_S = 120


class Editors(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True) if sys.version_info >= (3, 10) else tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.home = os.path.realpath(os.path.join(temporary.name, "home"))
        self.root = os.path.realpath(os.path.join(temporary.name, "project"))
        for folder in (self.home, self.root):
            os.makedirs(folder)

    def client(self, part: str) -> str:
        path = os.environ.get("SLIPSTREAM_" + part.upper(), "")
        if not path:
            skip(part, "not installed (SLIPSTREAM_%s names no program)" % part.upper())
        self.assertTrue(os.access(path, os.X_OK), path)
        return path

    def write(self, path: str, value: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(value)

    def call(self, *command: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", "CI": "1"}
        done = subprocess.run(command, cwd=self.root, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def setup_editor(self, *words: str) -> None:
        self.call(sys.executable, "-I", "-S", PYZ, "setup", "--root", self.root, *words)

    def test_codex_lists_the_users_server(self) -> None:
        codex = self.client("codex")
        self.write(os.path.join(self.home, ".codex", "config.toml"), '# mine\nmodel = "gpt-5.1"\n\n[tui]\nnotifications = true\n')
        self.setup_editor("--editor", "codex", "--user")
        out = self.call(codex, "mcp", "list", "--json")
        servers = json.loads(out[out.index("["):out.rindex("]") + 1])
        self.assertEqual([(row["name"], row["transport"]["args"][2:]) for row in servers], [("slipstream", [PYZ, "mcp"])])

    def test_codex_lists_a_trusted_projects_server(self) -> None:
        codex = self.client("codex")
        self.write(os.path.join(self.home, ".codex", "config.toml"), '[projects."%s"]\ntrust_level = "trusted"\n' % self.root)
        self.setup_editor("--editor", "codex")
        self.assertIn('"slipstream"', self.call(codex, "mcp", "list", "--json"))

    def test_gemini_starts_our_server(self) -> None:
        gemini = self.client("gemini")
        self.write(os.path.join(self.home, ".gemini", "trustedFolders.json"), json.dumps({self.root: "TRUST_FOLDER"}))
        self.write(os.path.join(self.root, ".gemini", "settings.json"), '{\n  // a comment of mine\n  "ui": {"hideTips": true}\n}\n')
        self.setup_editor("--editor", "gemini")
        out = self.call(gemini, "mcp", "list")
        self.assertRegex(out, r"slipstream: python3 .* \(stdio\) - Connected")

    def test_claude_code_lists_the_projects_server(self) -> None:
        from tests.clients.claude_code.session import QUIET, find_client
        claude = find_client()
        if not claude:
            skip("claude", "the client is not installed (SLIPSTREAM_CLAUDE names no binary)")
        self.setup_editor("--editor", "claude-code")
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", **QUIET}
        done = subprocess.run([str(claude), "mcp", "list"], cwd=self.root, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=LIMIT_S, check=False)
        self.assertIn("slipstream", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
