"""One scripted session: its folders, its plugin, the client's runs, and where everything was recorded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import fake_api
from .terminal import Terminal, play

HERE = Path(__file__).resolve().parent
RECORDER = HERE / "recorder_plugin"
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
SYSTEM_PATH = os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"])  # ours is python3
DUMMY_KEY = "dummy-key-for-the-fake-api"
STEP_TIMEOUT_S = 120


class Session:
    """A scratch HOME, a project, and everything that was recorded of one scenario."""

    def __init__(self, root: Path, client: str, plugin: Path, scenario: dict[str, Any]) -> None:
        self.root = root.resolve()
        self.client = client
        self.home = self.root / "home"
        self.project = self.root / "project"
        self.events = self.root / "events"
        self.temp = self.root / "tmp"
        for folder in (self.home, self.project, self.events, self.temp):
            folder.mkdir(parents=True, exist_ok=True)
        self.debug = self.root / "debug.log"
        self.stream = self.root / "stream.jsonl"
        self.screen = self.root / "screen.txt"
        self.commands = self.root / "commands.txt"
        self.plugin = self._copy_plugin(plugin, scenario.get("plugin_edits") or {})
        self.variables = {
            "project": str(self.project),
            "home": str(self.home),
            "lab": str(HERE),
            "out": str(self.root),
            "plugin": str(self.plugin),
            "market": str(self.root / "market"),
            "old_python": find_old_python() or "none",
        }
        self.scenario: dict[str, Any] = fake_api.substitute(scenario, self.variables)
        self.script = fake_api.Script(
            self.scenario.get("script") or [], self.scenario.get("default"), self.variables, self.root / "api.jsonl"
        )
        self.exit_codes: list[int] = []
        self.wrong: list[str] = []

    def _copy_plugin(self, plugin: Path, edits: dict[str, Any]) -> Path:
        """The plugin under test as a copy, so that a scenario may damage it: name -> text, or null to remove."""
        target = self.root / "market" / "plugin"
        shutil.copytree(plugin, target, ignore=shutil.ignore_patterns("__pycache__", "src"))
        for name, text in edits.items():
            path = target / name
            if text is None:
                path.unlink()
            elif isinstance(text, dict):
                merged = dict(json.loads(path.read_text(encoding="utf-8")), **text)
                path.write_text(json.dumps(merged), encoding="utf-8")
            else:
                path.write_text(text, encoding="utf-8")
        listing = {
            "name": "lab-market",
            "owner": {"name": "lab"},
            "plugins": [{"name": "slipstream", "source": "./plugin"}],
        }
        (self.root / "market" / ".claude-plugin").mkdir()
        (self.root / "market" / ".claude-plugin" / "marketplace.json").write_text(json.dumps(listing))
        return target

    def prepare(self) -> None:
        """Write the project's files (a git repository unless told otherwise) and a first-run HOME."""
        for name, text in (self.scenario.get("files") or {"README.md": "# Demo\n"}).items():
            target = self.project / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, dict):
                text = "".join(text["line"] % number for number in range(text["repeat"]))
            target.write_text(text, encoding="utf-8")
        if self.scenario.get("git", True) and shutil.which("git"):
            subprocess.run(["git", "init", "-q", str(self.project)], check=False, capture_output=True)
        for argv in self.scenario.get("before") or []:
            subprocess.run(argv, check=True, capture_output=True, cwd=self.project)
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        config = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
            "projects": {str(self.project): trusted},
        }
        (self.home / ".claude.json").write_text(json.dumps(config), encoding="utf-8")

    def environment(self, url: str) -> dict[str, str]:
        """A bare environment; a scenario's null takes a variable away."""
        env: dict[str, Any] = {
            "PATH": SYSTEM_PATH,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "ANTHROPIC_BASE_URL": url,
            "LAB_RECORD_DIR": str(self.events),
            "TMPDIR": str(self.temp),
            "CLAUDE_CODE_TMPDIR": str(self.temp),
            "SLIPSTREAM_DASHBOARD": "0",
        }
        env.update(QUIET)
        env.update(self.scenario.get("env") or {})
        return {key: value for key, value in env.items() if value is not None}

    def base_arguments(self, step: dict[str, Any]) -> list[str]:
        argv = [self.client]
        plugins = [] if step.get("plugins") == "installed" or self.scenario.get("no_plugin") else [self.plugin]
        if self.scenario.get("record_hooks", True):
            plugins.append(RECORDER)
        for plugin in plugins:
            argv += ["--plugin-dir", str(plugin)]
        if self.scenario.get("allowed_tools"):
            argv += ["--allowedTools", ",".join(self.scenario["allowed_tools"])]
        if self.scenario.get("settings"):
            argv += ["--settings", json.dumps(self.scenario["settings"])]
        return argv + ["--debug-file", str(self.debug)]

    def run(self) -> None:
        """Every step in order, in the same project and HOME."""
        self.prepare()
        server = fake_api.serve_in_thread(self.script)
        background = [
            subprocess.Popen(argv, cwd=self.project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for argv in self.scenario.get("background") or []
        ]
        try:
            env = self.environment(server.url)
            for number, step in enumerate(self.scenario["steps"], 1):
                code = self.run_step(step, env)
                self.exit_codes.append(code)
                wanted = step.get("exit_code", 0)
                if wanted is not None and code != wanted:
                    self.wrong.append("step %d exited %s, not %s" % (number, code, wanted))
        finally:
            for process in background:
                process.kill()
                process.wait()
            server.shutdown()
            server.server_close()

    def run_step(self, step: dict[str, Any], env: dict[str, str]) -> int:
        if "command" in step:
            return self.run_command(step, env)
        argv = self.base_arguments(step)
        if "terminal" not in step:
            return self.run_print(step, argv, env)
        terminal = Terminal(argv + list(step.get("args") or []), env, str(self.project))
        failed = play(step["terminal"], terminal)
        code = terminal.close(1 if failed else step.get("timeout_s", 15))
        with self.screen.open("a", encoding="utf-8") as out:
            out.write(terminal.text)
        if failed:
            self.wrong.append(failed)
        return code

    def run_command(self, step: dict[str, Any], env: dict[str, str]) -> int:
        argv = [self.client] + step["command"] if step.get("of_client", True) else step["command"]
        done = subprocess.run(
            argv, env=env, cwd=self.project, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=step.get("timeout_s", STEP_TIMEOUT_S), check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        with self.commands.open("a", encoding="utf-8") as out:
            out.write("$ %s\n%s" % (" ".join(argv), printed))
        for text in step.get("prints") or []:
            if text not in printed:
                self.wrong.append("`%s` did not print %r" % (" ".join(argv), text))
        return done.returncode

    def run_print(self, step: dict[str, Any], argv: list[str], env: dict[str, str]) -> int:
        """One `claude -p`; its stream is appended to stream.jsonl."""
        argv = argv + ["-p", step["prompt"], "--output-format", "stream-json", "--verbose"]
        argv += ["--include-hook-events"] + list(step.get("args") or [])
        try:
            done = subprocess.run(
                argv, env=env, cwd=self.project, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=step.get("timeout_s", STEP_TIMEOUT_S), check=False,
            )  # fmt: skip
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, err = 124, late.stdout or b"", late.stderr or b""
        with self.stream.open("ab") as stream:
            stream.write(out)
        with (self.root / "stderr.txt").open("ab") as errors:
            errors.write(err)
        return code

    def debug_text(self) -> str:
        return self.debug.read_text(encoding="utf-8", errors="replace") if self.debug.exists() else ""

    def hook_inputs(self) -> list[dict[str, Any]]:
        """The stdin JSON of every hook event, in order, as the recorder plugin saw it."""
        return [json.loads(path.read_text(encoding="utf-8"))["stdin"] for path in sorted(self.events.glob("*.json"))]

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".claude" / "projects").rglob("*.jsonl"))

    def store(self) -> Path:
        return self.project / ".claude" / "slipstream"


def find_old_python() -> str | None:
    """An interpreter older than 3.9 among pyenv's, if there is one."""
    for version in ("3.8", "3.7", "3.6"):
        for path in sorted((Path.home() / ".pyenv" / "versions").glob(version + ".*/bin/python3")):
            return str(path)
    return None


def load_scenario(path: Path) -> dict[str, Any]:
    scenario: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return scenario


def find_client() -> str | None:
    """The client's binary: SLIPSTREAM_CLAUDE, or the one that `install` left in .ci/clients."""
    named = os.environ.get("SLIPSTREAM_CLAUDE")
    if named:
        return named if os.access(named, os.X_OK) else None
    scope = HERE.parents[2] / ".ci" / "clients" / "node_modules" / "@anthropic-ai"
    for path in sorted(scope.glob("claude-code-*/claude*")):
        if os.access(path, os.X_OK):
            return str(path)
    return None
