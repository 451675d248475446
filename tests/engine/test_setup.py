"""Set-up harms nothing: settings files as found in the wild, TOML, symlinks, read-only files, a second run, undo."""
from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.engine import setup
from slipstream.engine.editors import detect_editors, load_editors
from slipstream.engine.jsonc import parse_jsonc
from slipstream.engine.toml_block import remove_block, scan_toml, set_block

from tests import PROGRAM, PYZ
from tests.engine.test_jsonc import WILD, is_subsequence

try:
    import tomllib
except ImportError:
    tomllib = None  # type: ignore[assignment]

SETUP = [sys.executable, "-I", "-S", PROGRAM, "setup"]
TOMLS = {
    "empty": "",
    "plain": 'model = "o9"\n\n[tui]\ntheme = "dark" # nice\n',
    "other servers": '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # yes\n  "docs",\n]\nenv = { A = "b", C = "#" }\n\n[projects."/home/a b"]\n'
                     'trust_level = "trusted"\n',
    "strings": 'a = """\n[not.a.table]\n"quoted" \\""" # no\n"""\nb = \'\'\'\nx = \n\'\'\'\nc = "\\u00e9"\nd.e = 1979-05-27 07:32:00\nf = [[1, 2], ["x"]]\n',
    "crlf": '\ufeff# top\r\nmodel = "o9"\r\n[[x]]\r\ny = +1.5e3\r\n',
    "no newline": "[a]\nb = true",
}


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = os.path.realpath(os.path.join(temporary.name, "project"))
        self.home = os.path.realpath(os.path.join(temporary.name, "home"))
        for folder in (self.root, self.home):
            os.makedirs(folder)

    def write(self, path: str, text: str) -> str:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        return path

    def read(self, path: str) -> str:
        with open(path, encoding="utf-8", newline="") as stream:
            return stream.read()

    def run_setup(self, *words: str) -> tuple[int, str, str]:
        env = {**os.environ, "HOME": self.home, "USERPROFILE": self.home}
        for name in ("CODEX_HOME", "XDG_CONFIG_HOME"):
            env.pop(name, None)
        done = subprocess.run([*SETUP, "--root", self.root, *words], env=env, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def undo(self, path: str, name: str) -> bool:
        return setup.apply_undo(setup.plan_undo(path, self.home, load_editors({}).get(name)), self.home)


class Wild(Folder):
    def test_every_editor_on_every_file(self) -> None:
        for editor in load_editors({}).values():
            for name, text in (TOMLS if editor.format == "toml" else WILD).items():
                with self.subTest(editor=editor.name, file=name):
                    text = text.replace("mcpServers", editor.key)
                    path = self.write(os.path.join(self.root, editor.project), text)
                    os.chmod(path, 0o640)
                    change = setup.plan_editor(editor, self.root, self.home, PYZ)
                    self.assertTrue(setup.apply_change(change, self.home))
                    edited = self.read(path)
                    self.assertTrue(is_subsequence(text, edited), edited)
                    self.assertIn("slipstream.pyz", edited)
                    if os.name == "posix":
                        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
                    self.assertFalse(setup.apply_change(setup.plan_editor(editor, self.root, self.home, PYZ), self.home))
                    self.assertEqual(self.read(path), edited)
                    self.assertTrue(self.undo(path, editor.name))
                    self.assertEqual(self.read(path), text)
                    self.assertFalse(self.undo(path, editor.name))
                    self.assertEqual([name for name in os.listdir(os.path.dirname(path)) if name.endswith(".tmp")], [])

    def test_files_that_cannot_be_parsed_are_left_alone(self) -> None:
        cursor, codex = load_editors({})["cursor"], load_editors({})["codex"]
        for editor, text in ((cursor, '{"mcpServers": {'), (cursor, "not json"), (cursor, "[]"), (cursor, '{"mcpServers": 3}'),
                             (codex, "model = \n"), (codex, "[a\nb = 1"), (codex, 'a = "x\n'), (codex, 'a = """x'), (codex, "a = [1, 2\n"),
                             (codex, "just text\n"), (codex, 'mcp_servers = { x = { command = "y" } }\n'),
                             (codex, '[mcp_servers.slipstream]\ncommand = "by hand"\n')):
            with self.subTest(text):
                path = self.write(os.path.join(self.root, editor.project), text)
                with self.assertRaises(SlipstreamError) as caught:
                    setup.plan_editor(editor, self.root, self.home, PYZ)
                self.assertEqual(caught.exception.path, path)
                self.assertEqual(self.read(path), text)
        path = os.path.join(self.root, cursor.project)
        with open(path, "wb") as stream:
            stream.write('{"a": 1}'.encode("utf-16"))
        with self.assertRaisesRegex(SlipstreamError, "not UTF-8"):
            setup.plan_editor(cursor, self.root, self.home, PYZ)

    def test_new_file_and_folder_go_again(self) -> None:
        zed = load_editors({})["zed"]
        self.assertTrue(setup.apply_change(setup.plan_editor(zed, self.root, self.home, PYZ), self.home))
        path = os.path.join(self.root, ".zed", "settings.json")
        self.assertEqual(list(json.loads(self.read(path))["context_servers"]), ["slipstream"])
        self.assertTrue(self.undo(path, "zed"))
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_undo_after_the_user_went_on_editing(self) -> None:
        for name, old in (("cursor", '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n'), ("codex", 'model = "x"\n')):
            editor = load_editors({})[name]
            path = self.write(os.path.join(self.root, editor.project), old)
            setup.apply_change(setup.plan_editor(editor, self.root, self.home, PYZ), self.home)
            added = ("// mine\n" if name == "cursor" else "# mine\n")
            self.write(path, added + self.read(path))
            self.assertTrue(self.undo(path, name))
            self.assertEqual(self.read(path), added + old)

    def test_a_moved_pyz_updates_our_entry_and_undo_still_restores(self) -> None:
        for name, old in (("cursor", '{ "mcpServers": { /* none */ } }'), ("codex", '# mine\nmodel = "x"')):
            editor = load_editors({})[name]
            path = self.write(os.path.join(self.root, editor.project), old)
            for pyz in ("/old place/slipstream.pyz", "/new place/slipstream.pyz"):
                self.assertTrue(setup.apply_change(setup.plan_editor(editor, self.root, self.home, pyz), self.home))
            self.assertIn("/new place/", self.read(path))
            self.assertNotIn("/old place/", self.read(path))
            self.assertTrue(self.undo(path, name))
            self.assertEqual(self.read(path), old)

    @unittest.skipUnless(os.name == "posix", "symlinks and modes")
    def test_symlinks(self) -> None:
        cursor = load_editors({})["cursor"]
        real = self.write(os.path.join(self.root, "conf", "mcp.json"), "{}\n")
        os.makedirs(os.path.join(self.root, ".cursor"))
        link = os.path.join(self.root, ".cursor", "mcp.json")
        os.symlink("../conf/mcp.json", link)
        self.assertTrue(setup.apply_change(setup.plan_editor(cursor, self.root, self.home, PYZ), self.home))
        self.assertTrue(os.path.islink(link))
        self.assertIn("slipstream", self.read(real))
        os.unlink(link)
        outside = self.write(os.path.join(self.home, "secret.json"), "{}\n")
        os.symlink(outside, link)
        with self.assertRaisesRegex(SlipstreamError, "outside the project"):
            setup.plan_editor(cursor, self.root, self.home, PYZ)
        self.assertEqual(self.read(outside), "{}\n")
        settings = os.path.join(self.home, ".claude", "settings.json")
        os.makedirs(os.path.dirname(settings), exist_ok=True)
        os.symlink(self.write(os.path.join(self.home, "dotfiles", "settings.json"), "{}\n"), settings)
        self.assertTrue(setup.apply_change(setup.plan_status_line(self.home, PYZ), self.home))
        self.assertTrue(os.path.islink(settings))

    @unittest.skipUnless(os.name == "posix", "symlinks and modes")
    def test_read_only(self) -> None:
        path = self.write(os.path.join(self.root, ".cursor", "mcp.json"), "{}\n")
        os.chmod(path, 0o444)
        change = setup.plan_editor(load_editors({})["cursor"], self.root, self.home, PYZ)
        with self.assertRaisesRegex(SlipstreamError, "read-only"):
            setup.apply_change(change, self.home)
        self.assertEqual(self.read(path), "{}\n")

    def test_a_file_that_changed_meanwhile(self) -> None:
        path = self.write(os.path.join(self.root, ".cursor", "mcp.json"), "{}\n")
        change = setup.plan_editor(load_editors({})["cursor"], self.root, self.home, PYZ)
        self.write(path, '{"new": 1}\n')
        with self.assertRaisesRegex(SlipstreamError, "changed while"):
            setup.apply_change(change, self.home)
        self.assertEqual(self.read(path), '{"new": 1}\n')


class Toml(unittest.TestCase):
    def test_block(self) -> None:
        values: dict[str, object] = {"command": "py thon", "args": ["-I", 'a"b\\c', "\u00e9\x7f"]}
        for name, text in TOMLS.items():
            with self.subTest(name):
                scan_toml(text)
                edited = set_block(text, "mcp_servers.slipstream", values)
                self.assertEqual(set_block(edited, "mcp_servers.slipstream", values), edited)
                self.assertEqual(remove_block(edited), text)
                if tomllib is not None:
                    found = tomllib.loads(edited.lstrip("\ufeff"))
                    self.assertEqual(found.pop("mcp_servers")["slipstream"], values)

    def test_the_whole_grammar_where_python_has_it(self) -> None:
        if tomllib is None:
            self.skipTest("no tomllib before 3.11")
        with self.assertRaises(SlipstreamError) as caught:
            scan_toml("a = 1\nb = 2\na = 3\n", "f")
        self.assertEqual((caught.exception.path, caught.exception.line), ("f", 3))

    def test_names(self) -> None:
        self.assertEqual(scan_toml(TOMLS["other servers"]), [
            "mcp_servers.docs", "mcp_servers.docs.command", "mcp_servers.docs.args", "mcp_servers.docs.env", "projects./home/a b",
            "projects./home/a b.trust_level"])


class StatusLine(Folder):
    def test_set_keep_replace_undo(self) -> None:
        path = os.path.join(self.home, ".claude", "settings.json")
        mine = '{\n  // mine\n  "statusLine": {"type": "command", "command": "my-line"},\n  "model": "x"\n}\n'
        self.write(path, mine)
        with self.assertRaisesRegex(SlipstreamError, "another status line"):
            setup.plan_status_line(self.home, PYZ)
        self.assertTrue(setup.apply_change(setup.plan_status_line(self.home, PYZ, replace=True), self.home))
        value = parse_jsonc(self.read(path)).at("statusLine")
        assert value is not None
        self.assertTrue(setup.is_own_status_line(value.to_value()))
        self.write(path, self.read(path).replace('"x"', '"y"'))
        self.assertTrue(self.undo(path, ""))
        self.assertEqual(parse_jsonc(self.read(path)).to_value(), {"statusLine": {"type": "command", "command": "my-line"}, "model": "y"})
        self.assertFalse(self.undo(path, ""))

    def test_quoting(self) -> None:
        command = setup.status_line_value("/a b/slipstream.pyz")["command"]
        self.assertEqual(shlex.split(command)[1:4], ["-I", "-S", "-c"])
        self.assertTrue(command.endswith(' "/a b/slipstream.pyz" statusline'))
        self.assertFalse(set(command) & set("$`!%\\"), "signs that a shell reads between double quotes")


class CommandLine(Folder):
    def test_a_part_that_is_none(self) -> None:
        status, out, said = self.run_setup("bogus")
        self.assertEqual((status, out, said.split("\n")[0]), (2, "", "slipstream setup: PART needs to be statusline, not 'bogus'"))

    def test_statusline_alone_writes_only_that(self) -> None:
        status, out, _err = self.run_setup("statusline")
        self.assertEqual(status, 0, out)
        self.assertEqual(sorted(os.listdir(self.root)), [])
        settings = json.loads(self.read(os.path.join(self.home, ".claude", "settings.json")))
        self.assertEqual(list(settings), ["statusLine"])
        done = subprocess.run(settings["statusLine"]["command"], shell=True, input=b"{}", capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"sp | ctx", done.stdout)
        self.assertEqual(self.run_setup("statusline", "--undo")[0], 0)
        self.assertFalse(os.path.exists(os.path.join(self.home, ".claude", "settings.json")))

    def test_detection_dry_run_and_errors(self) -> None:
        self.assertEqual(self.run_setup()[0], 2)
        self.assertIn("did you mean cursor?", self.run_setup("--editor", "curser")[2])
        self.write(os.path.join(self.root, ".cursor", "mcp.json"), "{broken")
        self.write(os.path.join(self.root, ".gemini", "settings.json"), "{ // mine\n}\n")
        os.makedirs(os.path.join(self.root, ".claude", "slipstream"))  # made by any verb of ours; no sign of Claude Code
        self.assertEqual(detect_editors(self.root, {}), ["cursor", "gemini"])
        status, out, _err = self.run_setup("--dry-run", "--json")
        results: dict[str, Any] = {row["editor"]: row for row in json.loads(out)}
        self.assertEqual((status, results["cursor"]["result"], results["gemini"]["result"]), (1, "failed", "would change"))
        self.assertIn("+", results["gemini"]["diff"])
        self.assertEqual(self.read(os.path.join(self.root, ".gemini", "settings.json")), "{ // mine\n}\n")
        self.assertEqual(self.run_setup()[0], 1, "one broken file fails the run")
        self.assertIn("slipstream", self.read(os.path.join(self.root, ".gemini", "settings.json")))
        self.assertEqual(self.read(os.path.join(self.root, ".cursor", "mcp.json")), "{broken")

    def test_undo_without_a_name_finds_every_entry(self) -> None:
        for flags in ((), ("--user",)):
            self.assertIn("nothing to undo", self.run_setup("--undo", *flags)[1])
            names = [name for name in load_editors({}) if not flags or name != "claude-code"]
            status, out, _err = self.run_setup(*("--editor=" + name for name in names), *flags)
            self.assertEqual(status, 0, out)
            status, out, _err = self.run_setup("--undo", *flags)
            self.assertEqual((status, out.count(": undone ")), (0, len(names)), out)
            self.assertEqual(os.listdir(self.root), [])
        self.assertEqual(sorted(os.listdir(os.path.join(self.home, ".claude"))), ["settings.json", "slipstream-setup"],
                         "the status line goes with Claude Code's folder or by its own name")

    def test_snippet(self) -> None:
        status, out, _err = self.run_setup("--editor", "windsurf")
        self.assertEqual(status, 0)
        self.assertEqual(list(json.loads(out[out.index("{"):])["mcpServers"]), ["slipstream"])

    def test_claude_code_is_not_wired_twice(self) -> None:
        self.write(os.path.join(self.home, ".claude", "settings.json"), '{"enabledPlugins": {"slipstream@here": true}, "hooks": {}}')
        status, out, _err = self.run_setup("--editor", "claude-code")
        self.assertEqual(status, 0, out)
        self.assertFalse(os.path.exists(os.path.join(self.root, ".mcp.json")))
        settings = json.loads(self.read(os.path.join(self.home, ".claude", "settings.json")))
        self.assertEqual(sorted(settings), ["enabledPlugins", "hooks", "statusLine"])

    def test_the_entry_starts_a_server(self) -> None:
        self.assertEqual(self.run_setup("--editor", "vscode")[0], 0)
        entry = json.loads(self.read(os.path.join(self.root, ".vscode", "mcp.json")))["servers"]["slipstream"]
        self.assertEqual(entry["type"], "stdio")
        ask = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
        done = subprocess.run([entry["command"], *entry["args"]], input=ask, capture_output=True, cwd=self.root, timeout=30, check=False)
        self.assertIn(b"sp_symbol", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
