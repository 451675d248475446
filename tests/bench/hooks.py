"""python3 -m tests.bench.hooks [PYTHON...]: CPU of hook processes, session start and status line, as multiples of a bare Python.

Every figure is a median of interleaved runs; the bare start, `python3 -I -S -c pass`, is measured in the same rounds.
"""
from __future__ import annotations

import json
import os
import random
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from slipstream.engine.setup import status_line_value

from tests import PYZ, ROOT

ROUNDS = 25
SESSION = "5d8f2a10-0000-4000-8000-000000000001"
HOOKS = json.loads(Path(ROOT, "plugin", "hooks", "hooks.json").read_text(encoding="utf-8"))["hooks"]
Case = tuple[list[str], bytes]


def hook_command(python: str, verb: str) -> list[str]:
    """The command line of hooks.json, for any event."""
    words = [str(word).replace("${CLAUDE_PLUGIN_ROOT}", os.path.dirname(PYZ)) for word in HOOKS["SessionEnd"][0]["hooks"][0]["args"]]
    return [python, *words[:-1], verb]


def payload(root: str, event: str, **fields: object) -> bytes:
    return json.dumps({"session_id": SESSION, "transcript_path": "/none.jsonl", "cwd": root, "permission_mode": "default",
                       "hook_event_name": event, **fields}).encode()


def bash_call(root: str) -> bytes:
    """A finished call with a URL and the word token in it."""
    return payload(root, "PostToolUse", tool_name="Bash", tool_use_id="toolu_01aaaaaaaaaaaaaaaaaa", duration_ms=26,
                   tool_input={"command": "curl -s https://example.org/api?x=1 | grep token", "description": "Look for the token"},
                   tool_response={"stdout": "nothing\n" * 20, "stderr": "", "interrupted": False, "isImage": False})


def cpu_of(case: Case, env: dict[str, str]) -> float:
    """Seconds of user and system time of the process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(case[0], input=case[1], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(cases: dict[str, Case], env: dict[str, str], rounds: int = ROUNDS) -> dict[str, float]:
    """Median of each case's CPU, the cases of a round in a new order each time."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name in random.sample(list(cases), len(cases)):
            times[name].append(cpu_of(cases[name], env))
    return {name: statistics.median(values) for name, values in times.items()}


def fill_log(root: str, events: int) -> None:
    folder = Path(root, ".claude", "slipstream", "dashboard")
    folder.mkdir(parents=True, exist_ok=True)
    line = ('{"seq":%d,"ts":"2026-05-31T20:00:00.000Z","session":"' + SESSION + '","agent":"main","kind":"post-tool","label":"Read f%d.py",'
            '"data":{"source":"hook","tool":"Read","tool_use_id":"toolu_%d","bytes":1200}}\n')
    (folder / (SESSION + ".jsonl")).write_text("".join(line % (number, number % 500, number) for number in range(events)))


def fill_project(root: str, files: int, observations: int) -> None:
    """A git project of so many files, with facts, an index that is warm, and observations of earlier sessions."""
    for number in range(files):
        path = Path(root, "pkg%d" % (number % 20), "mod%d.py" % number)
        path.parent.mkdir(exist_ok=True)
        path.write_text('"""Module %d."""\n\n\ndef handle_%d(value):\n    return value + %d\n' % (number, number, number))
    for argv in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "Start"]):
        subprocess.run(["git", *argv], cwd=root, check=True, capture_output=True)
    from slipstream.memory.facts import add_fact
    for number in range(30):
        add_fact(root, "Decision %d on module %d" % (number, number), body="Chosen because of reason %d. " % number * 10)
    folder = Path(root, ".claude", "slipstream", "observations")
    folder.mkdir(parents=True, exist_ok=True)
    record: dict[str, Any] = {"session": "old", "ts": "2026-05-31T20:00:00.000Z", "kind": "change", "tags": ["python"],
                              "files": ["pkg1/mod1.py"], "tokens": 40, "detail": "Changed the handler and ran the tests. " * 4,
                              "embedding": [0.0625] * 256}
    with (folder / "old.jsonl").open("w") as out:
        for number in range(1, observations + 1):
            out.write(json.dumps({"id": number, "throughSeq": number, "summary": "Turn %d about module %d" % (number, number % 500),
                                  **record}) + "\n")
    (folder / ".counter").write_text(str(observations))
    subprocess.run([sys.executable, PYZ, "map", root, "--root", root], check=False, capture_output=True)


def status_input(root: str, transcript: str, host: bool) -> bytes:
    value: dict[str, Any] = {"session_id": SESSION, "transcript_path": transcript, "cwd": root, "version": "2.1.328",
                             "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
                             "workspace": {"current_dir": root, "project_dir": root, "added_dirs": []}}
    if host:
        value["context_window"] = {"context_window_size": 1_000_000, "used_percentage": 1, "current_usage": {
            "input_tokens": 12, "output_tokens": 36, "cache_creation_input_tokens": 1425, "cache_read_input_tokens": 12834}}
    return json.dumps(value).encode()


def fill_transcript(path: str, megabytes: int) -> None:
    entry = {"type": "assistant", "isSidechain": False, "timestamp": "2026-05-31T20:00:00.000Z", "message": {
        "id": "msg_1", "role": "assistant", "model": "claude-opus-5-5", "content": [{"type": "text", "text": "words " * 150}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5000, "cache_creation_input_tokens": 10, "output_tokens": 5}}}
    line = json.dumps(entry) + "\n"
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(megabytes * 1_000_000 // len(line)):
            out.write(line)


def report(python: str, base: str) -> None:
    roots = {name: os.path.join(base, name) for name in ("empty", "long", "full")}
    env = {"PATH": os.environ["PATH"], "HOME": os.path.join(base, "home"), "SLIPSTREAM_DASHBOARD": "0", "NO_COLOR": "1"}
    bare: Case = ([python, "-I", "-S", "-c", "pass"], b"")

    def show(root: str, cases: dict[str, Case], rounds: int = ROUNDS) -> None:
        found = measure({"bare": bare, **cases}, {**env, "CLAUDE_PROJECT_DIR": root}, rounds)
        for name in cases:
            print("  %-52s %5.2f" % (name, found[name] / found["bare"]), flush=True)

    version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    print("%s (multiples of `python3 -I -S -c pass` in CPU)" % version)
    for name in ("empty", "long"):
        call, root = bash_call(roots[name]), roots[name]
        show(root, {"record-only hook, %s log" % ("empty" if name == "empty" else "50,000 events in the"): (hook_command(python, "post-tool-use"), call),
                    "  the same, the pyz started by itself": ([python, "-I", "-S", PYZ, "hook", "post-tool-use"], call)})
    root = roots["empty"]
    show(root, {"read guard, small file": (hook_command(python, "pre-tool-use"), payload(root, "PreToolUse", tool_name="Read", tool_input={
        "file_path": os.path.join(root, "small.txt")}))})
    show(roots["full"], {"session start, 500 files, 10,000 observations": (
        hook_command(python, "session-start"), payload(roots["full"], "SessionStart", source="startup"))}, 15)
    for megabytes in (1, 100):
        path = os.path.join(base, "%d.jsonl" % megabytes)
        set_up = [python, *shlex.split(status_line_value(PYZ)["command"])[1:]]
        show(root, {"status line, %d MB transcript, host's figures" % megabytes: (set_up, status_input(root, path, True)),
                    "status line, %d MB transcript, from its tail" % megabytes: (set_up, status_input(root, path, False)),
                    "  the same, the pyz started by itself": ([python, "-I", "-S", PYZ, "statusline"], status_input(root, path, False))})


def main(pythons: list[str]) -> int:
    """Prints the table for each interpreter."""
    with tempfile.TemporaryDirectory() as base:
        for name in ("empty", "long", "full", "home"):
            os.makedirs(os.path.join(base, name))
        Path(base, "empty", "small.txt").write_text("small\n")
        fill_log(os.path.join(base, "empty"), 1)
        fill_log(os.path.join(base, "long"), 50_000)
        fill_project(os.path.join(base, "full"), 500, 10_000)
        for megabytes in (1, 100):
            fill_transcript(os.path.join(base, "%d.jsonl" % megabytes), megabytes)
        started = time.monotonic()
        for python in pythons:
            report(python, base)
        print("%d rounds of each, %.0f s" % (ROUNDS, time.monotonic() - started))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [sys.executable]))
