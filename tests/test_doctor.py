"""Doctor on a healthy install, and on more than twenty that somebody broke: the right line says so, and --fix repairs."""
from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from unittest import mock

import slipstream.doctor as doctor
from slipstream.engine.diagnosis import OK, Finding, Patient, examine
from slipstream.events.append import append_event
from slipstream.memory.facts import add_fact

from tests import PYZ, ROOT

Sabotage = Callable[["Install"], None]


class Install:
    """A home, a project with a lived-in store, and a copy of the plugin, all in one temporary folder."""

    def __init__(self, folder: str) -> None:
        self.home = os.path.join(folder, "home")
        self.root = os.path.join(folder, "project")
        self.plugin = os.path.join(folder, "plugin")
        self.store = os.path.join(self.root, ".claude", "slipstream")
        for place in (self.home, self.root):
            os.makedirs(place)
        self.env = {"PATH": os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])), "HOME": self.home}
        self.write("project/app.py", "def main():\n    return 0\n")
        subprocess.run(["git", "init", "-q", "--template="], cwd=self.root, check=True)
        for number in range(3):
            append_event(self.root, "s1", "main", "user-prompt", "event %d" % number)
        add_fact(self.root, "the port is chosen by the system", "decision", "Because two projects may run at once.", name="free-port")
        self.observe(1, 2)

    def path(self, name: str) -> str:
        return os.path.join(os.path.dirname(self.home), *name.split("/"))

    def write(self, name: str, text: str) -> None:
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)

    def in_store(self, name: str) -> str:
        return "project/.claude/slipstream/" + name

    def observe(self, *numbers: int) -> None:
        lines = [json.dumps({"id": number, "session": "s1", "ts": "2026-05-31T20:00:00.000Z", "kind": "edit", "summary": "s", "detail": "d",
                             "files": [], "tags": [], "vector": []}) + "\n" for number in numbers]
        self.write(self.in_store("observations/s1.jsonl"), "".join(lines))
        self.write(self.in_store("observations/.counter"), str(max(numbers)))

    def copy_plugin(self, *source: str) -> None:
        """The plugin with its skills and pyz; of its source only the files named, since comparing all of it takes seconds."""
        shutil.copytree(os.path.join(ROOT, "plugin"), self.plugin, ignore=shutil.ignore_patterns("__pycache__", "src"))
        for name in source:
            os.makedirs(os.path.dirname(os.path.join(self.plugin, name)), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, "plugin", name), os.path.join(self.plugin, name))

    def patient(self) -> Patient:
        pyz = os.path.join(self.plugin, "slipstream.pyz") if os.path.isdir(self.plugin) else PYZ
        plugin = self.plugin if os.path.isdir(self.plugin) else ""
        return Patient(self.root, self.root, self.home, self.env, plugin, pyz, [sys.executable, "-I", "-S", pyz])

    def examine(self, check: str) -> list[Finding]:
        return examine(self.patient(), doctor.CHECKS, [check])


def old(path: str) -> None:
    then = time.time() - 7200
    os.utime(path, (then, then))


def track_private(install: Install) -> None:
    subprocess.run(["git", "add", "-f", ".claude/slipstream/dashboard/s1.jsonl"], cwd=install.root, check=True)


def leave_temporary(install: Install) -> None:
    install.write(install.in_store("dashboard/x.jsonl.1-ab.tmp"), "")
    old(install.path(install.in_store("dashboard/x.jsonl.1-ab.tmp")))


def dead_server(install: Install) -> None:
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    install.write(install.in_store("dashboard/server.json"), json.dumps({"pid": done.pid, "port": 1, "nonce": "x"}))


def symlink(install: Install) -> None:
    os.symlink(install.path("home"), install.path(install.in_store("memory/link")))


def dead_capture(install: Install) -> None:
    old(install.path(install.in_store("dashboard/s1.jsonl")))
    name = "".join(char if char.isalnum() else "-" for char in install.root)
    install.write("home/.claude/projects/%s/t.jsonl" % name, "{}\n")


def registered_twice(install: Install) -> None:
    install.write("home/.claude/settings.json", '{"enabledPlugins": {"slipstream@here": true}}')
    install.write("project/.mcp.json", '{"mcpServers": {"slipstream": {"command": "python3"}}}')


def failed_start(install: Install) -> None:
    install.write("home/.claude/settings.json", '{"enabledPlugins": {"slipstream@here": true}}')
    install.write("home/.claude/mcp-needs-auth-cache.json",
                  json.dumps({"plugin:slipstream:slipstream": {"timestamp": int(time.time() * 1000) - 60_000, "id": "1f"}}))


def recorded_twice(install: Install) -> None:
    install.write("home/.claude/settings.json", '{"enabledPlugins": {"slipstream@here": true}}')
    install.env["SLIPSTREAM_MCP_EMIT"] = "1"


def foreign_lock(install: Install) -> None:
    install.write(install.in_store("dashboard/other.jsonl.lock"), "")
    os.chmod(install.path(install.in_store("dashboard/other.jsonl.lock")), 0o644)


def append(name: str, text: str) -> Sabotage:
    def sabotage(install: Install) -> None:
        with open(install.path(install.in_store(name)), "a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    return sabotage


def put(name: str, text: str) -> Sabotage:
    return lambda install: install.write(install.in_store(name), text)


def delete(name: str) -> Sabotage:
    return lambda install: os.unlink(install.path(install.in_store(name)))


def stale_status_line(install: Install) -> None:
    install.write("home/.claude/settings.json", json.dumps({"statusLine": {
        "type": "command", "command": "python3 -I -S /gone/0.0.1/slipstream.pyz statusline"}, "model": "x"}))


def python_that(script: str) -> Sabotage:
    def sabotage(install: Install) -> None:
        install.write("bin/python3", "#!/bin/sh\n%s\n" % script)
        os.chmod(install.path("bin/python3"), 0o755)
        install.env["PATH"] = install.path("bin")
    return sabotage


def no_python(install: Install) -> None:
    install.env["PATH"] = install.path("nowhere")


def old_client(install: Install) -> None:
    install.write("bin/claude", "#!/bin/sh\necho '1.0.9 (Claude Code)'\n")
    os.chmod(install.path("bin/claude"), 0o755)
    install.env["PATH"] = install.path("bin") + os.pathsep + install.env["PATH"]


def in_plugin(change: Sabotage, *source: str) -> Sabotage:
    def sabotage(install: Install) -> None:
        install.copy_plugin(*source)
        change(install)
    return sabotage


def edit_plugin(name: str, old_text: str, new_text: str) -> Sabotage:
    def change(install: Install) -> None:
        path = install.path("plugin/" + name)
        with open(path, encoding="utf-8", newline="") as stream:
            text = stream.read()
        assert old_text in text, name
        install.write("plugin/" + name, text.replace(old_text, new_text))
    return in_plugin(change, "src/slipstream/build_info.py", "src/slipstream/mcp/tools.json")


def cut_pyz(install: Install) -> None:
    with open(install.path("plugin/slipstream.pyz"), "rb+") as stream:
        stream.truncate(5000)


# name: (what somebody did, the line that must speak, its level, part of its text, whether --fix repairs it)
SABOTAGES: dict[str, tuple[Sabotage, str, str, str, bool]] = {
    "torn event log": (append("dashboard/s1.jsonl", '{"seq": 3, "ts"'), "events", "warn", "a torn last line in s1.jsonl", True),
    "damaged event line": (append("dashboard/s1.jsonl", "not json\n"), "events", "warn", "damaged lines", False),
    "torn observations": (append("observations/s1.jsonl", '{"id": 3'), "observations", "warn", "torn last line", True),
    "numbers used twice": (lambda install: install.observe(1, 2, 2), "observations", "warn", "share a number", False),
    "counter behind": (put("observations/.counter", "1"), "observations", "warn", "behind the newest number 2", True),
    "fact unreadable": (put("memory/bad.md", "---\nname: [x\n---\nbody\n"), "facts", "fail", "bad.md", False),
    "index edited": (put("memory/MEMORY.md", "# mine\n"), "facts", "warn", "MEMORY.md did not agree", True),
    "settings broken": (put("settings.json", "{'a': 1}"), "settings", "fail", "settings.json:1:", False),
    "settings that are none": (put("settings.json", '{"inject": "no", "injekt": true}'), "settings", "warn",
                               "settings.json: `inject` takes true or false; ", False),
    "status broken": (put("status.json", "{"), "settings", "fail", "status.json", True),
    "map broken": (put("map.json", "{"), "caches", "warn", "damaged: map.json", True),
    "index cache broken": (put("search/manifest.json", "nul"), "caches", "warn", "damaged: manifest.json", True),
    "conversation broken": (put("conversations/s1.json", '{"exchanges": ['), "conversations", "warn", "damaged: s1.json", True),
    "user settings broken": (lambda install: install.write("home/.claude/settings.json", "{,}"), "statusline-setting", "fail", "is not JSON", False),
    "leftover": (leave_temporary, "leftovers", "warn", "x.jsonl.1-ab.tmp", True),
    "server gone": (dead_server, "leftovers", "warn", "server.json", True),
    "symlink planted": (symlink, "store", "fail", "symlinks in the store", False),
    "store open to all": (lambda install: os.chmod(install.store, 0o755), "store", "warn", "other users can read it (mode 755)", True),
    "ignore file emptied": (put(".gitignore", ""), "git", "fail", "not ignored by git", True),
    "ignore file deleted": (delete(".gitignore"), "git", "fail", "not ignored by git", True),
    "private files tracked": (track_private, "git", "fail", "git tracks 1 private file", False),
    "capture dead": (dead_capture, "capture", "fail", "the last event 2 h ago", False),
    "error logged": (lambda install: install.write(install.in_store("errors.log"), time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
                                                    + " hook: Boom: x\n"), "errors", "warn", "Boom", False),
    "other writer": (foreign_lock, "foreign", "warn", "another program locked", False),
    "start failed": (failed_start, "registration", "warn", "will not try again", False),
    "registered twice": (registered_twice, "registration", "fail", "registers it again", False),
    "recorded twice": (recorded_twice, "emission", "fail", "SLIPSTREAM_MCP_EMIT", False),
    "status line stale": (stale_status_line, "statusline-setting", "fail", "which is gone", True),
    "no python3": (no_python, "interpreter", "fail", "no `python3` on the PATH", False),
    "python too old": (python_that("echo 3.7.2"), "interpreter", "fail", "3.9 is needed", False),
    "python broken": (python_that("echo 'Python was not found' >&2; exit 9"), "interpreter", "fail", "does not start Python", False),
    "client old": (old_client, "client", "warn", "1.0.9 is older", False),
    "skill broken": (lambda install: install.write("project/.claude/skills/own/SKILL.md", "---\nname: own\nslipstream:\n  category: x\n---\nb\n"),
                     "skills", "fail", "own/SKILL.md", False),
    "pyz cut": (in_plugin(cut_pyz), "pyz", "fail", "is damaged", False),
    "pyz stale": (edit_plugin("src/slipstream/build_info.py", "VERSION", "VERSION_X"), "pyz", "fail", "differs from the source", False),
    "manifest broken": (edit_plugin(".claude-plugin/plugin.json", '"name"', "name"), "plugin", "fail", "plugin.json", False),
    "other version": (edit_plugin(".claude-plugin/plugin.json", '"version": "', '"version": "9'), "plugin", "fail", "the code is", False),
    "command missing": (in_plugin(lambda install: os.unlink(install.path("plugin/commands/map.md"))), "plugin", "fail", "10 of 11 commands", False),
    "hooks missing": (in_plugin(lambda install: os.unlink(install.path("plugin/hooks/hooks.json"))), "hooks", "fail", "no hooks", False),
    "agent's tool gone": (edit_plugin("agents/sp-reviewer.md", "__sp_refs", "__sp_refz"), "plugin", "fail", "no tool `sp_refz`", False),
    "server broken": (in_plugin(cut_pyz), "mcp", "fail", "does not answer initialize", False),
    "hook broken": (edit_plugin("hooks/hooks.json", '"session-start"', '"session-start"\n,"x"],"timeout":5,"args":["-c","import sys; sys.exit(3)"'),
                    "hooks", "fail", "SessionStart: status 3", False),
    "statusline broken": (in_plugin(cut_pyz), "statusline", "fail", "status 1", False),
    "dashboard broken": (in_plugin(cut_pyz), "dashboard", "fail", "does not start", False),
}
POSIX_ONLY = {"symlink planted", "store open to all", "other writer", "python too old", "python broken", "client old"}


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = os.path.realpath(temporary.name)


class Sabotaged(Folder):
    def test_the_right_line_speaks_and_fix_repairs(self) -> None:
        for number, (name, (sabotage, check, level, text, fixable)) in enumerate(SABOTAGES.items()):
            if name in POSIX_ONLY and os.name != "posix":
                continue
            with self.subTest(name):
                install = Install(os.path.join(self.folder, str(number)))
                before = [] if check in ("mcp", "hooks", "statusline", "dashboard", "interpreter", "pyz", "plugin") else install.examine(check)
                self.assertEqual([finding.level for finding in before if finding.level != OK], [], before and before[0].detail)
                sabotage(install)
                found = install.examine(check)
                self.assertEqual([finding.level for finding in found], [level], found[0].detail)
                self.assertIn(text, found[0].detail)
                self.assertTrue(found[0].remedy)
                self.assertEqual(found[0].fix is not None, fixable, found[0].detail)
                if fixable:
                    self.assertEqual(len(doctor.repair(found)), 1)
                    again = install.examine(check)
                    self.assertEqual(again[0].level, OK, again[0].detail)

    def test_errors_of_a_store_that_took_no_log_are_found_where_they_went(self) -> None:
        install = Install(os.path.join(self.folder, "one"))
        elsewhere, now = os.path.join(self.folder, "elsewhere.log"), time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        with mock.patch("slipstream.events.errorlog.error_log_paths", return_value=[elsewhere]):
            for place, level in (("/another/project", OK), (install.store, "warn")):
                with open(elsewhere, "a", encoding="utf-8") as stream:
                    stream.write(f"{now} hook: OSError: {place}/dashboard/s.jsonl: no room for an event\n")
                self.assertEqual([finding.level for finding in install.examine("errors")], [level])

    def test_read_only_store(self) -> None:
        if os.name != "posix" or os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        install = Install(os.path.join(self.folder, "x"))
        os.chmod(install.store, stat.S_IRUSR | stat.S_IXUSR)
        self.addCleanup(os.chmod, install.store, 0o700)
        self.assertIn("cannot be written", install.examine("store")[0].detail)


class Healthy(Folder):
    def test_everything_is_ok(self) -> None:
        install = Install(os.path.join(self.folder, "all"))
        install.copy_plugin()
        env = {**install.env, "USERPROFILE": install.home}
        command = [sys.executable, "-I", "-S", os.path.join(install.plugin, "slipstream.pyz"), "doctor"]
        done = subprocess.run([*command, "--json", "--root", install.root], env=env, cwd=install.root, capture_output=True, check=False)
        answer = json.loads(done.stdout)
        bad = [row for row in answer["findings"] if row["level"] != OK and not (row["level"] == "warn" and row["check"] in (
            "interpreter", "client", "mcp", "hooks", "statusline"))]  # a busy machine may be slow
        self.assertEqual((bad, done.returncode), ([], 0), done.stderr)
        self.assertEqual({row["check"] for row in answer["findings"]}, set(doctor.CHECKS))
        self.assertNotIn(install.home, done.stdout.decode(), "the report can be pasted")
        self.assertEqual(os.listdir(os.path.join(install.store, "memory")).count("free-port.md"), 1)

    def test_shipped_counts(self) -> None:
        from slipstream.engine.install_checks import SHIPPED
        from slipstream.engine.plugin_validate import validate_plugin
        self.assertEqual(validate_plugin(os.path.join(ROOT, "plugin"))[1], SHIPPED)

    def test_flags(self) -> None:
        for words, part in ((["--only", "nothing"], "no check nothing"), (["--only"], "needs a value"), (["now"], "unknown argument now"),
                            (["--root=/no/such"], "not a folder")):
            done = subprocess.run([sys.executable, "-I", "-S", PYZ, "doctor", *words], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(part, done.stderr.decode())

    def test_fix_on_the_command_line(self) -> None:
        install = Install(os.path.join(self.folder, "fix"))
        append("dashboard/s1.jsonl", "{")(install)
        done = subprocess.run([sys.executable, "-I", "-S", PYZ, "doctor", "--fix", "--only", "events", "--root", install.root],
                              env={**os.environ, **install.env}, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("repaired events: ended the torn last line of 1 file", done.stdout.decode())

    def test_a_check_that_breaks_is_a_finding(self) -> None:
        def breaks(patient: Patient) -> list[Finding]:
            raise RuntimeError("boom")
        found = examine(Install(os.path.join(self.folder, "b")).patient(), {"x": breaks}, [])
        self.assertEqual((found[0].level, found[0].detail), ("fail", "could not be examined: RuntimeError: boom"))


if __name__ == "__main__":
    unittest.main()
