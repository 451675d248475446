"""Every sink: a secret and the user's own pattern, put in at the top, stand in no file of the store and in no export."""
from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

from tests import PROGRAM

SECRET = "ghp" + "_" + "a1B2c3D4e5" * 4
OWN = "PROJ-4711"


class Sinks(unittest.TestCase):
    def run_program(self, *words: str, given: str = "") -> str:
        env = {**os.environ, "HOME": self.root, "CLAUDE_CONFIG_DIR": os.path.join(self.root, "config")}
        env.pop("CLAUDE_PROJECT_DIR", None)
        made = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], input=given.encode(), capture_output=True, cwd=self.project,
                              env=env, timeout=60, check=False)
        self.assertEqual(made.returncode, 0, made.stderr.decode())
        return made.stdout.decode()

    def test_nowhere(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.root = os.path.realpath(folder)
            self.project = os.path.join(self.root, "project")
            store = os.path.join(self.project, ".claude", "slipstream")
            os.makedirs(store)
            os.mkdir(os.path.join(self.project, ".git"))
            with open(os.path.join(store, "redact.json"), "w", encoding="utf-8") as stream:
                json.dump({"patterns": [{"pattern": "PROJ-\\d+"}]}, stream)
            said = f"use {SECRET} for {OWN}"
            transcript = os.path.join(self.root, "config", "projects", "-p", "s1.jsonl")
            os.makedirs(os.path.dirname(transcript))
            lines = [{"type": "user", "message": {"role": "user", "content": said}, "uuid": "u1", "timestamp": "2026-11-30T10:00:00.000Z", "cwd": self.project},
                     {"type": "assistant", "message": {"id": "m", "role": "assistant", "model": "x", "content": [{"type": "text", "text": f"I decided to {said}."}],
                                                       "usage": {"input_tokens": 5, "output_tokens": 5}}, "uuid": "a1", "timestamp": "2026-11-30T10:00:01.000Z"}]
            with open(transcript, "w", encoding="utf-8") as stream:
                stream.write("".join(json.dumps(line) + "\n" for line in lines))
            base = {"session_id": "s1", "cwd": self.project, "transcript_path": transcript}
            tool = {"tool_name": "Bash", "tool_input": {"command": f"echo {said}"}, "tool_use_id": "t1", "duration_ms": 5}
            for hook, payload in (("session-start", {"source": "startup"}), ("user-prompt-submit", {"prompt": said}),
                                  ("post-tool-use", {**tool, "tool_response": {"stdout": said, "stderr": ""}}), ("post-tool-use-failure", {**tool, "error": said}),
                                  ("stop", {}), ("pre-compact", {"trigger": "manual", "custom_instructions": said}), ("session-end", {"reason": "other"})):
                self.run_program("hook", hook, given=json.dumps({**base, **payload}))
            self.run_program("memory", "add", "--type", "fact", "--desc", said, "--body", said)
            told = self.run_program("digest", "--session", "s1", "--transcript", transcript, "--json")
            self.assertNotIn(SECRET[4:], told)
            self.assertNotIn(OWN, told)
            seen = 0
            for place, _, names in os.walk(store):
                for name in names:
                    with open(os.path.join(place, name), "rb") as stream:
                        data = stream.read()
                    seen += b"[redacted:" in data
                    if name != "redact.json":
                        self.assertNotIn(SECRET[4:].encode(), data, os.path.join(place, name))
                        self.assertNotIn(OWN.encode(), data, os.path.join(place, name))
            self.assertGreaterEqual(seen, 4)
            for out in ("session.zip", "session.html"):
                self.run_program("dashboard", "export", "--session", "s1", "--out", out)
                with open(os.path.join(self.project, out), "rb") as stream:
                    data = stream.read()
                if out.endswith("zip"):
                    with zipfile.ZipFile(io.BytesIO(data)) as archive:
                        data = b"".join(archive.read(name) for name in archive.namelist())
                self.assertNotIn(SECRET[4:].encode(), data)
                self.assertNotIn(OWN.encode(), data)


if __name__ == "__main__":
    unittest.main()
