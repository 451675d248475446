"""`slipstream doctor`: tries every part as the host runs it, in a scratch project, and says what is wrong and what helps."""
from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.json_files import load_json
from slipstream.base.roots import find_store_root, find_tree_root
from slipstream.base.threads import hold_archive
from slipstream.build_info import VERSION
from slipstream.engine.diagnosis import FAIL, LEVELS, OK, WARN, Check, Finding, Patient, examine, render_report
from slipstream.engine.install_checks import INSTALL_CHECKS
from slipstream.engine.places import find_pyz, plugin_root, slipstream_command
from slipstream.engine.processes import GROUP_OPTIONS, end_group
from slipstream.engine.store_checks import STORE_CHECKS

RUN_LIMIT_S = 30.0
SLOW_START_MS = 400.0
SLOW_HOOK_MS = 1000.0
SLOW_SERVER_MS = 3000.0
# The oldest client in which every hook was seen to work; one before it does not know `args`, so its processes do nothing.
OLDEST_CLIENT = (2, 1, 139)
USAGE = "usage: slipstream doctor [--root DIR] [--fix] [--json] [--only CHECK]...\n"
SAMPLE = {"session_id": "doctor", "cwd": "", "transcript_path": "", "prompt": "doctor's sample", "source": "startup",
          "tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_response": {"type": "text"}, "reason": "other",
          "trigger": "manual", "message": "doctor's sample", "notification_type": "permission_prompt",
          "stop_hook_active": False}
STATUS_SAMPLE = {"session_id": "doctor", "model": {"display_name": "Model"}, "workspace": {},
                 "context_window": {"context_window_size": 200000, "current_usage": None}}


class Scratch:
    """A throw-away project in which the surfaces are started; their environment names it and nothing of the user's project."""

    def __init__(self, patient: Patient) -> None:
        self.patient = patient
        self._folder = tempfile.TemporaryDirectory(prefix="slipstream-doctor-")
        self.root = os.path.realpath(self._folder.name)
        with open(os.path.join(self.root, "a.py"), "w", encoding="utf-8") as stream:
            stream.write("def doctor_sample():\n    return 1\n")
        keep = {key: value for key, value in patient.env.items() if not key.startswith(("CLAUDE", "SLIPSTREAM"))}
        self.env = {**keep, "CLAUDE_PROJECT_DIR": self.root, "SLIPSTREAM_DASHBOARD": "0", "SLIPSTREAM_DASHBOARD_OPEN": "0"}
        if patient.plugin:
            self.env["CLAUDE_PLUGIN_ROOT"] = patient.plugin

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        for _turn in range(20):  # a detached process may still be writing its last line
            try:
                self._folder.cleanup()
                return
            except OSError:
                time.sleep(0.05)

    def run(self, command: list[str], given: Any = None, **env: str) -> tuple[int, str, str, float]:
        """(exit status, output, errors, milliseconds); -1 when it did not start or did not end."""
        begun = time.perf_counter()
        try:
            process = subprocess.Popen(command, cwd=self.root, env={**self.env, **env}, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, **GROUP_OPTIONS)
        except OSError as error:
            return -1, "", str(error), 0.0
        try:
            data = b"" if given is None else json.dumps(given).encode() + b"\n" if not isinstance(given, bytes) else given
            out, err = process.communicate(data, RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            end_group(process)
            process.communicate()
            return -1, "", "no end within %d s" % RUN_LIMIT_S, RUN_LIMIT_S * 1000
        took = (time.perf_counter() - begun) * 1000
        return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), took


def check_interpreter(patient: Patient) -> list[Finding]:
    """The `python3` that hooks, server and status line are started with: there, new enough, quick, and no store alias."""
    name = "python3"
    path = shutil.which(name, path=patient.env.get("PATH"))
    if not path:
        return [Finding("interpreter", FAIL, "there is no `python3` on the PATH, with which hooks and server are started",
                        "install Python 3.9 or later so that `python3` starts it")]
    with Scratch(patient) as scratch:
        code = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
        status, out, err, _took = scratch.run([path, "-I", "-S", "-c", code])
        if status != 0 or not re.match(r"^\d+\.\d+\.\d+\s*$", out):
            alias = "WindowsApps" in path
            return [Finding("interpreter", FAIL, "%s does not start Python: %s" % (path, (err or out).strip()[:120]),
                            "switch the app execution alias off in Windows' settings" if alias else "repair that Python")]
        version = tuple(map(int, out.split(".")))
        if version < (3, 9):
            return [Finding("interpreter", FAIL, "`python3` is %s; 3.9 is needed" % out.strip(),
                            "put a newer Python first on the PATH")]
        times = sorted(scratch.run([path, "-I", "-S", "-c", "pass"])[3] for _turn in range(3))
    if times[1] > SLOW_START_MS:
        return [Finding("interpreter", WARN, "`python3` needs %d ms to start, at every hook" % times[1],
                        "look for a wrapper (pyenv's shim, a virus scanner) before it: %s" % path)]
    return [Finding("interpreter", OK, "%s at %s, %d ms to start" % (out.strip(), patient.short(path), times[1]))]


def check_client(patient: Patient) -> list[Finding]:
    path = shutil.which("claude", path=patient.env.get("PATH"))
    if not path:
        return [Finding("client", OK, "no `claude` on the PATH")]
    with Scratch(patient) as scratch:
        _status, out, _err, _took = scratch.run([path, "--version"], HOME=scratch.root)
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", out)
    if not found:
        return [Finding("client", WARN, "`claude --version` does not answer with a version", "update Claude Code")]
    version = tuple(map(int, found.groups()))
    if version < OLDEST_CLIENT:
        return [Finding("client", WARN, "Claude Code %s is older than %s, the oldest in which every hook works" % (
            found.group(), ".".join(map(str, OLDEST_CLIENT))), "claude update")]
    return [Finding("client", OK, "Claude Code %s" % found.group())]


def _ask_server(scratch: Scratch, calls: list[tuple[str, dict[str, Any]]]) -> tuple[dict[int, Any], str, float]:
    """(answers by id, what the server said when it failed, milliseconds) of one server that is sent the calls in a row."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doctor", "version": VERSION}}
    lines: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": hello}, {"method": "notifications/initialized"}]
    lines += [{"id": number, "method": method, "params": params} for number, (method, params) in enumerate(calls, 1)]
    data = b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in lines)
    answers: dict[int, Any] = {}
    begun = time.perf_counter()

    def listen(stream: IO[bytes]) -> None:
        for line in stream:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("id"), int) and "method" not in message:
                answers[message["id"]] = message

    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([*scratch.patient.command, "mcp"], cwd=scratch.root, env=scratch.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, **GROUP_OPTIONS)
        assert process.stdin and process.stdout
        reader = threading.Thread(target=listen, args=(process.stdout,), daemon=True)
        reader.start()
        try:
            process.stdin.write(data)
            process.stdin.flush()
            while len(answers) <= len(calls) and process.poll() is None and time.perf_counter() - begun < RUN_LIMIT_S:
                reader.join(0.005)
            took = (time.perf_counter() - begun) * 1000
            process.stdin.close()
            process.wait(RUN_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired):
            took = (time.perf_counter() - begun) * 1000
        end_group(process)
        reader.join(1)
        for stream in (process.stdin, process.stdout):
            try:
                stream.close()
            except OSError:  # what the server did not read before it died
                pass
        log.seek(0)
        said = log.read(2000).decode("utf-8", "replace").strip()
    return answers, said or "exit status %s" % process.returncode, took


def check_server(patient: Patient) -> list[Finding]:
    """Start the MCP server, list its tools and have one find the sample's function."""
    with Scratch(patient) as scratch:
        answers, problem, took = _ask_server(scratch, [
            ("tools/list", {}), ("tools/call", {"name": "sp_search", "arguments": {"query": "doctor_sample"}})])
    remedy = "run `python3 -I -S slipstream.pyz mcp` by hand and read what it prints"
    if "result" not in answers.get(0, {}):
        return [Finding("mcp", FAIL, "the server does not answer initialize: %s" % problem[:200], remedy)]
    tools = answers.get(1, {}).get("result", {}).get("tools", [])
    said = json.dumps(answers.get(2, {}).get("result", answers.get(2)))
    if not tools or "doctor_sample" not in said or '"isError": true' in said:
        return [Finding("mcp", FAIL, "%d tools; sp_search answers %s" % (len(tools), said[:160]), remedy)]
    return [Finding("mcp", WARN if took > SLOW_SERVER_MS else OK,
                    "%d tools; started and answered in %d ms" % (len(tools), took),
                    "the machine is busy, or the disk slow")]


def check_hooks(patient: Patient) -> list[Finding]:
    """Each hook the plugin declares, run as the host runs it, with a sample of its event: status, output, time."""
    path = os.path.join(patient.plugin, "hooks", "hooks.json") if patient.plugin else ""
    try:
        events = (load_json(path) or {}).get("hooks", {}) if path else {}
    except (OSError, SlipstreamError) as error:
        return [Finding("hooks", FAIL, "hooks.json cannot be read: %s" % error, "install the plugin again")]
    if not events:
        return [Finding("hooks", FAIL if path else OK, "no hooks are declared" if path else "a lone pyz has none",
                        "install the plugin again")]
    problems: list[str] = []
    slowest, count = 0.0, 0
    with Scratch(patient) as scratch:
        calls: list[tuple[str, dict[str, Any]]] = []
        for event, entries in events.items():
            sample = {**SAMPLE, "hook_event_name": event, "cwd": scratch.root}
            for handler in (handler for entry in entries for handler in entry.get("hooks", [])):
                count += 1
                if handler.get("type") == "mcp_tool":
                    given = {key: _fill(value, sample) for key, value in handler.get("input", {}).items()}
                    calls.append((event, {"name": handler.get("tool"), "arguments": given}))
                    continue
                words = [str(word).replace("${CLAUDE_PLUGIN_ROOT}", patient.plugin) for word in [handler.get("command"),
                                                                                                 *handler.get("args", [])]]
                status, out, err, took = scratch.run(words, sample)
                slowest = max(slowest, took)
                if status != 0 or err or not _is_hook_output(out):
                    problems.append("%s: status %d, %s" % (event, status, (err or out).strip()[:120] or "no output"))
        answers, problem, _took = _ask_server(scratch,
                                              [("tools/call", params) for _event, params in calls]) if calls else ({}, "", 0.0)
        for number, (event, _params) in enumerate(calls, 1):
            result = answers.get(number, {}).get("result")
            if not isinstance(result, dict) or result.get("isError"):
                problems.append("%s: %s" % (event, json.dumps(answers.get(number, {}).get("error") or problem)[:120]))
        from slipstream.events.log import read_events
        recorded = len(read_events(scratch.root, "doctor"))
    if problems:
        return [Finding("hooks", FAIL, "; ".join(problems[:3]), "see errors.log in the store; install the plugin again")]
    if not recorded:
        return [Finding("hooks", FAIL, "all %d answered, but nothing was recorded" % count,
                        "see the line `store` and errors.log")]
    return [Finding("hooks", WARN if slowest > SLOW_HOOK_MS else OK,
                    "%d hooks answered, %d events recorded, the slowest command took %d ms" % (
        count, recorded, slowest), "look at the line `interpreter`")]


def _fill(value: Any, sample: dict[str, Any]) -> Any:
    """A hook's input as the host fills it: `${name}` is the event's field as text, absent ones are empty."""
    if not isinstance(value, str) or not value.startswith("${"):
        return value
    found = sample.get(value[2:-1], "")
    return found if isinstance(found, str) else json.dumps(found)


def _is_hook_output(out: str) -> bool:
    if not out.strip():
        return True
    try:
        return isinstance(json.loads(out), dict)
    except ValueError:
        return not out.lstrip().startswith("{") and "Traceback" not in out


def check_memory(patient: Patient) -> list[Finding]:
    """Write a fact, find it, read it back and delete it: in the project's store where there is one, else in a scratch one."""
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.facts import add_fact, get_fact, prune_fact
    from slipstream.memory.recall import rank_by_text
    word = "doctorprobe%s" % os.urandom(4).hex()
    with Scratch(patient) as scratch:
        real = os.path.isdir(os.path.join(patient.store_root, ".claude", "slipstream"))
        root = patient.store_root if real else scratch.root
        try:
            try:
                name = add_fact(root, "%s: a fact of doctor's, gone in a moment" % word, "fact", "body of " + word,
                                name=word).name
                if "body of " + word not in get_fact(root, name).body:
                    return [Finding("memory", FAIL, "a fact was read back with another text", "see the line `facts`")]
                if name not in [fact.name for fact in rank_by_text(load_facts(root).facts, word)]:
                    return [Finding("memory", FAIL, "a fact that was written is not found by its own word",
                                    "slipstream memory index")]
            finally:
                prune_fact(root, word)
        except (OSError, SlipstreamError) as error:
            return [Finding("memory", FAIL, "a fact cannot be written and read back: %s" % error,
                            "see the lines `store` and `facts`")]
    return [Finding("memory", OK, "wrote, found, read back and deleted a fact%s" % ("" if real else " (in a scratch store)"))]


def check_dashboard(patient: Patient) -> list[Finding]:
    """Start the page's server for a scratch project, ask it, stop it."""
    with Scratch(patient) as scratch:
        env = {"SLIPSTREAM_DASHBOARD": "1"}
        status, out, err, took = scratch.run([*patient.command, "dashboard", "start", "--root", scratch.root], **env)
        address = re.search(r"http://127\.0\.0\.1:(\d+)", out)
        stopped = scratch.run([*patient.command, "dashboard", "stop", "--root", scratch.root], **env)[0] if status == 0 else 1
    if status != 0 or not address:
        return [Finding("dashboard", FAIL, "does not start: %s" % (err or out).strip()[:160],
                        "slipstream dashboard start --foreground shows why")]
    if stopped != 0:
        return [Finding("dashboard", FAIL, "started, but could not be stopped", "slipstream dashboard status")]
    return [Finding("dashboard", OK, "started on port %s in %d ms, and stopped" % (address.group(1), took))]


def check_statusline(patient: Patient) -> list[Finding]:
    with Scratch(patient) as scratch:
        sample = {**STATUS_SAMPLE, "workspace": {"project_dir": scratch.root}}
        status, out, err, took = scratch.run([*patient.command, "statusline"], sample, COLUMNS="120", NO_COLOR="1")
    if status != 0 or err or len(out.strip().split("\n")) != 1 or "Model" not in out:
        return [Finding("statusline", FAIL, "renders %r (status %d) %s" % (out[:80], status, err.strip()[:120]),
                        "see errors.log in the store")]
    return [Finding("statusline", WARN if took > SLOW_HOOK_MS else OK, "renders in %d ms" % took,
                    "look at the line `interpreter`")]


CHECKS: dict[str, Check] = {
    "interpreter": check_interpreter, "client": check_client, **INSTALL_CHECKS, "mcp": check_server, "hooks": check_hooks,
    "memory": check_memory, "dashboard": check_dashboard, "statusline": check_statusline, **STORE_CHECKS,
}


def make_patient(root: str | None, env: dict[str, str]) -> Patient:
    tree_root = find_tree_root(root, env)
    return Patient(tree_root, find_store_root(tree_root), os.path.expanduser("~"), env, plugin_root(), find_pyz(),
                   slipstream_command())


def build_header(patient: Patient) -> list[str]:
    """Lines one may paste into a report: versions and places, the home folder as ~."""
    return ["slipstream %s, Python %s, %s %s" % (VERSION, platform.python_version(), platform.system(), platform.release()),
            "runs from %s" % patient.short(patient.pyz or patient.command[-1]),
            "project %s, store in %s" % (patient.short(patient.tree_root), patient.short(patient.store_root))]


def parse_words(words: list[str]) -> dict[str, Any]:
    """Flags of the command line; SlipstreamError names what is wrong with them."""
    flags: dict[str, Any] = {"root": None, "only": [], "fix": False, "json": False}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in ("--fix", "--json"):
            flags[word[2:]] = True
        elif name in ("--root", "--only"):
            value = value if equals else next(rest, "")
            if not value or value.startswith("--"):
                raise SlipstreamError("%s needs a value" % name)
            if name == "--only" and value not in CHECKS:
                raise SlipstreamError("no check %s; there are: %s" % (value, " ".join(CHECKS)))
            flags["only"].append(value) if name == "--only" else flags.update(root=value)
        else:
            raise SlipstreamError("unknown argument %s" % word)
    if flags["root"] is not None and not os.path.isdir(flags["root"]):
        raise SlipstreamError("--root is not a folder: %s" % flags["root"])
    return flags


def repair(findings: list[Finding]) -> list[str]:
    """Run every safe repair; what could not be repaired is said, not raised."""
    done: list[str] = []
    for finding in findings:
        if finding.level != OK and finding.fix is not None:
            try:
                done.append("%s: %s" % (finding.check, finding.fix()))
            except (OSError, SlipstreamError) as error:
                done.append("%s: could not be repaired: %s" % (finding.check, error))
    return done


def main(argv: list[str]) -> int:
    if "--help" in argv or "-h" in argv:
        print("%s\nTries every part of slipstream and says what is wrong. Exit status 1 when a line says fail.\nChecks: %s"
              % (USAGE, " ".join(CHECKS)))
        return 0
    try:
        flags = parse_words(argv[1:])
    except SlipstreamError as error:
        sys.stderr.write("slipstream doctor: %s\n%s" % (error, USAGE))
        return 2
    hold_archive()
    patient = make_patient(flags["root"], dict(os.environ))
    findings = examine(patient, CHECKS, flags["only"])
    repaired: list[str] = []
    if flags["fix"]:
        repaired = repair(findings)
        broken = {finding.check for finding in findings if finding.level != OK and finding.fix}
        again = {name: examine(patient, {name: CHECKS[name]}, []) for name in broken}
        findings = [new for finding in findings for new in again.get(finding.check, [finding])]
    worst = max([LEVELS.index(finding.level) for finding in findings] or [0])
    if flags["json"]:
        print(json.dumps({"ok": worst < 2, "header": build_header(patient), "repaired": repaired,
                          "findings": [finding.to_dict() for finding in findings]}, ensure_ascii=False, indent=2))
    else:
        print(render_report(build_header(patient), findings))
        for line in repaired:
            print("repaired %s" % line)
    return 1 if worst == 2 else 0


