"""The gate runner: inputs, trust, agreement, time-out, evidence; and the rules that find a value in a project."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

from slipstream.base.errors import SlipstreamError
from slipstream.engine.contract import Gate, GateInput, Skill
from slipstream.engine.find_rules import check_rule, find_value
from slipstream.engine.gates import fill_gate, fill_inputs, plan_gates, record_evidence, render_evidence, render_plan, run_gate
from slipstream.engine.library import Library, load_library
from slipstream.engine.trust import is_trusted, save_trust, trust_path
from slipstream.events.log import read_events

from tests import PROGRAM
from tests.waiting import wait_until

PYTHON = sys.executable.replace("\\", "/")


def make_skill(command: str, origin: str = "plugin", inputs: dict[str, tuple[str, str | None]] | None = None, **gate: object) -> Skill:
    skill = Skill("probe", "Use when probing", "git", "", "probe/SKILL.md", origin)
    skill.gate = Gate("command", "probes", command, **gate)  # type: ignore[arg-type]
    for name, (find, default) in (inputs or {}).items():
        skill.inputs[name] = GateInput(name, find, default, "", name == "words")
    skill.digest = "0" * 64
    return skill


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = os.path.realpath(os.path.join(temporary.name, "project"))
        self.home = os.path.join(temporary.name, "home")
        os.makedirs(self.root)

    def write(self, name: str, text: str) -> None:
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


class Running(Folder):
    def run_it(self, skill: Skill, **given: str) -> tuple[str, str, str]:
        evidence = run_gate(skill, self.root, given, self.home)
        return evidence.result, evidence.reason, evidence.tail

    def test_exit_status_and_expected_text(self) -> None:
        self.assertEqual(self.run_it(make_skill(PYTHON + " -c 'print(7)'"))[:2], ("PASS", "exit status 0"))
        self.assertEqual(self.run_it(make_skill(PYTHON + " -c 'import sys; print(8); sys.exit(3)'")), ("FAIL", "exit status 3", "8"))
        self.assertEqual(self.run_it(make_skill(PYTHON + " -c 'print(7)'", expect="7"))[0], "PASS")
        result, reason, tail = self.run_it(make_skill(PYTHON + " -c 'print(7)'", expect="8"))
        self.assertEqual((result, tail), ("FAIL", "7"))
        self.assertIn("does not hold `8`", reason)

    def test_error_output_is_evidence_too(self) -> None:
        self.assertEqual(self.run_it(make_skill(PYTHON + " -c 'import sys; sys.stderr.write(\"oops\")'"))[2], "oops")

    def test_missing_program(self) -> None:
        result, reason, _tail = self.run_it(make_skill("no-such-program-here --flag"))
        self.assertEqual(result, "FAIL")
        self.assertIn("no-such-program-here cannot be started", reason)

    def test_no_shell_unless_asked(self) -> None:
        self.assertEqual(self.run_it(make_skill(PYTHON + " -c 'import sys; print(sys.argv[1:])' a && b"))[2], "['a', '&&', 'b']")
        if os.name == "posix":
            self.assertEqual(self.run_it(make_skill("echo one && echo {{name}}", inputs={"name": ("", None)}, shell=True),
                                         name="$(id); x")[2], "one\n$(id); x")

    def test_a_value_is_one_argument(self) -> None:
        skill = make_skill(PYTHON + " -c 'import sys; print(sys.argv[1:])' {{name}} x{{name}}", inputs={"name": ("", None)})
        self.assertEqual(self.run_it(skill, name="a b; rm -rf 'c'")[2], str(["a b; rm -rf 'c'", "xa b; rm -rf 'c'"]))

    def test_a_split_input_is_several_words(self) -> None:
        skill = make_skill("{{words}} tail", inputs={"words": ("", PYTHON + " -c 'import sys; print(sys.argv[1])'")})
        self.assertEqual(self.run_it(skill)[2], "tail")

    @unittest.skipUnless(os.name == "posix", "process groups")
    def test_time_out_ends_the_children_too(self) -> None:
        mark = os.path.join(self.root, "child.pid")
        code = ("import subprocess, sys, time; child = subprocess.Popen([sys.executable, \"-c\", \"import time; time.sleep(60)\"]); "
                "open(\"child.pid\", \"w\").write(str(child.pid)); print(\"started\", flush=True); time.sleep(60)")
        for seconds in (0.5, 2.0, 8.0, 24.0):  # a machine that is slow to start the child is given longer
            begin = time.monotonic()
            evidence = run_gate(make_skill("%s -c '%s'" % (PYTHON, code)), self.root, {}, self.home, timeout_s=seconds)
            self.assertLess(time.monotonic() - begin, seconds + 20)
            if evidence.tail == "started":
                break
        self.assertEqual((evidence.result, evidence.status, evidence.tail), ("FAIL", None, "started"))
        self.assertIn("no result within %g s" % seconds, evidence.reason)
        with open(mark, encoding="utf-8") as stream:
            child = int(stream.read())
        wait_until(lambda: not self.is_running(child))

    @staticmethod
    def is_running(pid: int) -> bool:
        """As /proc tells; one that has ended may wait for whoever inherited it."""
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as stream:
                return not stream.read().split(") ")[1].startswith("Z")
        except OSError:
            return False

    def test_evidence_is_redacted(self) -> None:
        secret = "ghp_" + "a1B2c3D4e5" * 4
        evidence = run_gate(make_skill("%s -c 'print(\"%s\")'" % (PYTHON, secret)), self.root, {}, self.home)
        self.assertNotIn(secret, json.dumps(evidence.to_dict()))
        record_evidence(self.root, evidence, {"CLAUDE_CODE_SESSION_ID": "s1"})
        events = list(read_events(self.root, "s1"))
        self.assertEqual(len(events), 1)
        self.assertIn("gate probe PASS", json.dumps(events[0], default=str))

    def test_the_projects_own_patterns_hold_for_evidence_and_plan(self) -> None:
        self.write(".claude/slipstream/redact.json", json.dumps({"patterns": [{"pattern": "PROJ-[0-9]+"}]}))
        skill = make_skill(PYTHON + " -c 'print(\"{{what}}\")'", inputs={"what": ("", "PROJ-4711")}, expect="PROJ-4711")
        evidence = run_gate(skill, self.root, {}, self.home, store_root=self.root)
        shown = json.dumps(evidence.to_dict()) + render_evidence(evidence)
        self.assertEqual(evidence.result, "PASS")
        self.assertNotIn("4711", shown)
        self.assertIn("[redacted:custom]", evidence.tail)
        skill.gate.effect = "writes"  # type: ignore[union-attr]
        with self.assertRaises(SlipstreamError) as caught:
            run_gate(skill, self.root, {}, self.home, store_root=self.root)
        self.assertNotIn("4711", str(caught.exception))
        library = Library()
        library.skills[skill.name] = skill
        self.assertNotIn("4711", json.dumps(plan_gates(library, skill, self.root, {}, self.home, self.root)))

    def test_working_folder_stays_inside(self) -> None:
        self.write("app/x", "")
        skill = make_skill(PYTHON + " -c 'import os; print(os.path.basename(os.getcwd()))'", cwd="{{dir}}", inputs={"dir": ("", "app")})
        self.assertEqual(self.run_it(skill)[2], "app")
        with self.assertRaisesRegex(SlipstreamError, "outside the project"):
            self.run_it(skill, dir="../..")

    def test_an_effect_needs_agreement(self) -> None:
        skill = make_skill(PYTHON + " -c pass", effect="deploys to production")
        with self.assertRaisesRegex(SlipstreamError, "deploys to production; run it with --yes"):
            run_gate(skill, self.root, {}, self.home)
        self.assertEqual(run_gate(skill, self.root, {}, self.home, yes=True).result, "PASS")


class Inputs(Folder):
    def test_order_given_found_default(self) -> None:
        self.write("package.json", '{"name": "found"}')
        skill = make_skill("x {{a}}", inputs={"a": ("json:package.json#name", "default"), "b": ("env:NO_SUCH_VARIABLE_HERE", "b"), "c": ("", None)})
        self.assertEqual(fill_inputs(skill, self.root, {}), ({"a": "found", "b": "b"}, ["c"]))
        self.assertEqual(fill_inputs(skill, self.root, {"a": "given"})[0]["a"], "given")

    def test_missing_and_unknown_are_named(self) -> None:
        skill = make_skill("x {{a}} {{b}}", inputs={"a": ("env:NO_SUCH_VARIABLE_HERE", None), "b": ("", None)})
        with self.assertRaisesRegex(SlipstreamError, "no value for a, b: --set a=.*NO_SUCH_VARIABLE_HERE"):
            fill_gate(skill, self.root, {})
        with self.assertRaisesRegex(SlipstreamError, "no input `z`"):
            fill_inputs(skill, self.root, {"z": "1"})

    def test_a_project_cannot_smuggle_an_option(self) -> None:
        self.write("package.json", '{"name": "--upload-pack=evil"}')
        with self.assertRaisesRegex(SlipstreamError, "could act as an option"):
            fill_inputs(make_skill("x {{a}}", inputs={"a": ("json:package.json#name", None)}), self.root, {})

    def test_finders(self) -> None:
        self.write("package.json", '{"scripts": {"dev": "vite", "test": "vitest"}, "list": [{"n": 5}], "t": true}')
        self.write("pnpm-lock.yaml", "")
        self.write("wrangler.toml", 'main = "x"\nname = "edge-api"\n')
        self.write("apps/web/deep/site.html", "")
        self.write("node_modules/site.html", "")
        for rule, value in (
            ("json:package.json#list.0.n", "5"), ("json:package.json#t", None), ("json:absent.json#a", None),
            ("json:../outside.json#a", None), ("match:wrangler.toml#^name = \"(.+)\"", "edge-api"),
            ("path:apps/", "apps/"), ("path:**/site.html", "apps/web/deep/site.html"), ("path:*.html", None),
            ("folder:**/site.html", "apps/web/deep"), ("script:start,dev", "pnpm run dev"), ("script:nope", None),
            ("detect:package-manager", "pnpm"), ("detect:test-command", "pnpm run test"),
            ("env:NO_SUCH_VARIABLE_HERE | path:absent | script:test", "pnpm run test"), ("git:branch", None), ("git:base", None),
        ):
            with self.subTest(rule):
                self.assertEqual(check_rule(rule.split(" | ")[0]), "")
                self.assertEqual(find_value(rule, self.root), value)

    def test_rules_are_checked(self) -> None:
        for rule, part in (("jsn:a", "must start with one of"), ("json:a", "after #"), ("match:a#x", "exactly one group"),
                           ("match:a#(", "not a regular expression"), ("git:head", "`branch`"), ("detect:x", "finds"), ("env:", "names nothing")):
            with self.subTest(rule):
                self.assertIn(part, check_rule(rule))

    def test_test_commands(self) -> None:
        for name, text, command in (("Makefile", "test:\n\ttrue\n", "make test"), ("tests/test_a.py", "", "python3 -m unittest"),
                                    ("pytest.ini", "", "python3 -m pytest -q"), ("Cargo.toml", "", "cargo test"), ("go.mod", "", "go test ./...")):
            self.write(name, text)
            self.assertEqual(find_value("detect:test-command", self.root), command)


class Trust(Folder):
    def test_a_project_gate_waits_for_the_user(self) -> None:
        skill = make_skill(PYTHON + " -c 'print(1)'", origin="project")
        with self.assertRaisesRegex(SlipstreamError, "gate trust project:probe"):
            run_gate(skill, self.root, {}, self.home)
        self.assertTrue(save_trust(self.home, self.root, skill))
        self.assertFalse(save_trust(self.home, self.root, skill))
        self.assertEqual(run_gate(skill, self.root, {}, self.home).result, "PASS")
        skill.digest = "1" * 64
        self.assertFalse(is_trusted(self.home, self.root, skill), "a changed file must be trusted anew")
        skill.digest = "0" * 64
        self.assertFalse(is_trusted(self.home, os.path.dirname(self.root), skill), "another project must be trusted itself")
        self.assertTrue(save_trust(self.home, self.root, skill, trusted=False))
        self.assertFalse(is_trusted(self.home, self.root, skill))

    def test_damaged_trust_is_no_trust(self) -> None:
        skill = make_skill("x", origin="project")
        os.makedirs(os.path.dirname(trust_path(self.home)))
        for text in ("{", "[]", '{"gates": []}', '{"gates": {"a": 1}}'):
            with open(trust_path(self.home), "w", encoding="utf-8") as stream:
                stream.write(text)
            self.assertFalse(is_trusted(self.home, self.root, skill))

    def test_own_and_shipped_gates_run(self) -> None:
        for origin in ("plugin", "user"):
            self.assertTrue(is_trusted(self.home, self.root, make_skill("x", origin=origin)))
        self.assertFalse(is_trusted(self.home, self.root, make_skill("x", origin="folder")))


class Plan(Folder):
    def test_chain(self) -> None:
        text = "---\nname: %s\ndescription: Use when planning %s in a test\nslipstream:\n  category: git\n  requires: [%s]\n" \
               "  inputs:\n    who: {default: me}\n  verification:\n    kind: test\n    description: %s works\n" \
               "    command: check {{who}}\n    effect: spends money\n---\n## Steps\n\n1. One.\n\n## Verify\n\nLook.\n"
        for name, requires in (("one", ""), ("two", "one")):
            self.write("skills/%s/SKILL.md" % name, text % (name, name, requires, name))
        library = load_library([("project", os.path.join(self.root, "skills"))])
        steps = plan_gates(library, library.get("two"), self.root, {"who": "a b"}, self.home)
        self.assertEqual([step["skill"] for step in steps], ["project:one", "project:two"])
        self.assertEqual(steps[0]["gate"]["command"], "check {{who}}", "an untrusted gate is shown as written")
        save_trust(self.home, self.root, library.get("two"))
        shown = render_plan(plan_gates(library, library.get("two"), self.root, {"who": "a b"}, self.home))
        self.assertIn("$ check 'a b'", shown)
        self.assertIn("came with this project: slipstream gate trust project:one", shown)
        self.assertIn("spends money: needs --yes", shown)


class CommandLine(Folder):
    def call(self, *words: str) -> tuple[int, str, str]:
        env = {**os.environ, "HOME": self.home, "USERPROFILE": self.home}
        done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, *words], cwd=self.root, env=env, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_skills(self) -> None:
        status, out, _err = self.call("skills", "search", "rate", "limit", "--json", "--limit", "2")
        self.assertEqual((status, json.loads(out)[0]["name"]), (0, "backend-rate-limit"))
        self.assertEqual(self.call("skills", "search", "xylophone")[0], 1)
        status, out, _err = self.call("skills", "show", "scoped-read")
        self.assertIn("## Steps", out)
        out = self.call("skills", "show", "supabase-rls")[1]
        self.assertIn('/plugin/slipstream.pyz" gate run supabase-rls', out)
        self.assertNotIn("CLAUDE_PLUGIN_ROOT", out, "a skill that is read, not loaded by the host, has its paths filled")
        self.assertEqual(self.call("skills", "show", "scoped-raed")[2], "slipstream: no skill named scoped-raed, did you mean scoped-read?\n")
        self.assertEqual(len(self.call("skills", "list")[1].strip().split("\n")), 36)

    def test_validate(self) -> None:
        self.write(".claude/skills/own/SKILL.md", "---\nname: own\ndescription: Use when it breaks\nslipstream:\n  category: git\n---\nx\n")
        status, out, _err = self.call("validate")
        self.assertEqual(status, 1)
        self.assertIn(".claude/skills/own/SKILL.md:4: error: a git skill needs a `verification` gate [gate]", out.replace("\\", "/"))
        status, out, _err = self.call("validate", "--json", "--skills", os.path.join(self.root, ".claude", "skills"))
        self.assertEqual((status, json.loads(out)["ok"]), (1, False))
        self.assertEqual(self.call("validate", "--skills", "absent")[0], 2)

    def test_gate(self) -> None:
        self.write("dist/index.html", "<html lang=en><title>T</title><h1>H</h1></html>")
        status, out, _err = self.call("gate", "run", "frontend-accessibility")
        self.assertEqual(status, 0, out)
        self.assertIn("PASS frontend-accessibility: exit status 0", out)
        self.write("dist/index.html", "<html><title>T</title><h1>H</h1></html>")
        status, out, _err = self.call("gate", "run", "frontend-accessibility", "--json")
        self.assertEqual((status, json.loads(out)["result"], json.loads(out)["exitStatus"]), (1, "FAIL", 1))
        self.assertEqual(self.call("gate", "run", "frontend-accessibility", "--set", "site")[0], 2)
        self.assertEqual(self.call("gate", "check", "sitemap", "--folder", "x")[0], 2)
        self.assertIn("no check named sitemaps, did you mean sitemap?", self.call("gate", "check", "sitemaps")[2])
        self.assertEqual(self.call("gate", "run", "write-plan")[2], "slipstream: write-plan has no gate: its Verify section is read, not run\n")

    def test_trust(self) -> None:
        self.write(".claude/skills/own/SKILL.md", "---\nname: own\ndescription: Use when the project wants its own gate run\nslipstream:\n"
                   "  category: git\n  verification:\n    kind: test\n    description: d\n    command: '%s -c print(5)'\n---\n"
                   "## Steps\n\n1. One.\n\n## Verify\n\nLook.\n" % PYTHON)
        status, _out, err = self.call("gate", "run", "own")
        self.assertEqual(status, 1)
        self.assertIn("slipstream gate trust project:own", err)
        self.assertEqual(json.loads(self.call("gate", "trust", "project:own", "--json")[1]),
                         {"skill": "project:own", "needed": True, "trusted": True, "changed": True})
        self.assertEqual(self.call("gate", "run", "own")[0], 0)
        self.assertFalse(os.path.exists(os.path.join(self.root, ".claude", "slipstream-trust.json")))
        self.assertEqual(self.call("gate", "untrust", "own")[0], 0)
        self.assertEqual(self.call("gate", "run", "own")[0], 1)


if __name__ == "__main__":
    unittest.main()
