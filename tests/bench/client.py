"""python3 -m tests.bench.client: what the plugin costs a session of the real Claude Code client, as ratios of the same without it.

The same scripted session of 26 hook calls, in another order each round: without the plugin, with it, with it but without the
processes, and with its server and skills but no hook. Beside them the least plugin that could stand in its place: the same
skills, commands and hooks, but every process is `python3 -I -S -c pass` and the server is least_server.py. What that one costs is
the client's and Python's part; what ours costs beyond it is ours. Timed is the client's own process, not what is prepared around
it; CPU is that of the client and of all it starts, the fake API's left out. Needs the client (SLIPSTREAM_CLAUDE).
"""
from __future__ import annotations

import copy
import json
import random
import re
import resource
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.clients.claude_code.session import HERE, Session, find_client

ROUNDS = 7
CALLS = 10
LEAST = "the least plugin"
PLUGIN = HERE.parents[2] / "plugin"
EVENTS = {5: "UserPromptSubmit", 10: "PostToolUse", 6: "PostToolBatch, Stop"}  # told in the client's log by their number of fields
STAMP = re.compile(r"^(\d{4}-\d\d-\d\dT[\d:.]+)Z ")
CALLING, ANSWERED = "Hooks: mcp_tool calling", "Hook output"
FIELDS = re.compile(r" with (\d+) arg")


def scenario(parallel: bool = False) -> dict[str, Any]:
    """One prompt, ten calls (Read and Bash by turns, or ten reads at once), one answer."""
    read = {"type": "tool_use", "name": "Read", "input": {"file_path": "${project}/a.txt"}}
    rules: list[dict[str, Any]] = []
    if parallel:
        reads = [dict(read, input={"file_path": "${project}/f%d.txt" % number}) for number in range(CALLS)]
        rules.append({"name": "all", "when": {"agent": "main", "last_user_contains": "Begin"}, "reply": reads})
    else:
        for number in range(CALLS):
            bash = {"type": "tool_use", "name": "Bash", "input": {"command": "echo STEP%d" % number, "description": "Step"}}
            marker = "Begin" if number == 0 else None
            when: dict[str, Any] = {"agent": "main", "last_user_contains": marker} if marker else {"agent": "main"}
            rules.append({"name": "call %d" % number, "when": when, "reply": [read if number in (2, 5) else bash]})
    rules.append({"name": "end", "when": {"agent": "main"}, "reply": [{"type": "text", "text": "Done."}]})
    files = {"f%d.txt" % number: "file %d\n" % number for number in range(CALLS)}
    return {"name": "bench", "files": {"a.txt": "one\n", **files}, "allowed_tools": ["Read", "Bash"], "record_hooks": False,
            "steps": [{"prompt": "Begin"}], "script": rules}


def variant(name: str) -> dict[str, Any]:
    value = copy.deepcopy(scenario(parallel="at once" in name))
    if name == "without the plugin":
        value["no_plugin"] = True
    if name == "without its hooks":
        value["plugin_edits"] = {"hooks/hooks.json": {"hooks": {}}}
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    if "without its processes" in name:
        hooks = {event: entry for event, entry in hooks.items() if entry[0]["hooks"][0]["type"] == "mcp_tool"}
        value["plugin_edits"] = {"hooks/hooks.json": {"hooks": hooks}}
    if name.startswith(LEAST):
        for entry in hooks.values():
            if entry[0]["hooks"][0]["type"] == "command":
                entry[0]["hooks"][0]["args"] = ["-I", "-S", "-c", "pass"]
        server = {"command": "python3", "args": ["-I", "-S", str(Path(__file__).with_name("least_server.py"))]}
        value["plugin_edits"] = {"hooks/hooks.json": {"hooks": hooks if "its hooks" not in name else {}},
                                 ".claude-plugin/plugin.json": {"mcpServers": {"slipstream": server}}}
    return value


class Timed(Session):
    """A session that knows how long its client ran."""

    wall = cpu = 0.0

    def run_print(self, step: dict[str, Any], argv: list[str], env: dict[str, str]) -> int:
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        code = super().run_print(step, argv, env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.wall = time.monotonic() - started
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return code


def latencies(debug: str) -> list[tuple[str, float]]:
    """(event, milliseconds) from each call of the server by a hook to its answer, calls and answers paired in order."""
    asked: list[tuple[str, float]] = []
    found: list[tuple[str, float]] = []
    for line in debug.split("\n"):
        match = STAMP.match(line)
        if not match:
            continue
        at = datetime.fromisoformat(match.group(1)).timestamp() * 1000
        if CALLING in line:
            fields = FIELDS.search(line)
            asked.append((EVENTS.get(int(fields.group(1)) if fields else 0, "other"), at))
        elif ANSWERED in line and asked:
            event, since = asked.pop(0)
            found.append((event, at - since))
    return found


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> int:
    """Prints the ratios and the latencies."""
    client = find_client()
    if client is None:
        print("no client: SLIPSTREAM_CLAUDE names no binary", file=sys.stderr)
        return 1
    ours = ["with it", "without its processes", "without its hooks"]
    least = [LEAST] + [LEAST + " " + name for name in ours[1:]]
    names = ["without the plugin", *ours, *least, "ten calls at once"]
    runs: dict[str, list[Timed]] = {name: [] for name in names}
    waits: dict[str, list[tuple[str, float]]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        for name in random.sample(names, len(names)):
            with tempfile.TemporaryDirectory() as folder:
                session = Timed(Path(folder), client, PLUGIN, variant(name))
                session.run()
                runs[name].append(session)
                waits[name] += latencies(session.debug_text())
                if session.wrong:
                    print(name, session.wrong, file=sys.stderr)
    wall, cpu = ({name: statistics.median(pick(run) for run in runs[name]) for name in names}
                 for pick in (lambda run: run.wall, lambda run: run.cpu))
    bare = names[0]
    for name, control in zip(ours, least):
        for told in (name, control):
            print("session of 26 hook calls, %-38s %5.2f times the one without the plugin, CPU %.2f" % (
                told, wall[told] / wall[bare], cpu[told] / cpu[bare]))
        print("%-64s %5.2f times the least, CPU %.2f" % ("", wall[name] / wall[control], cpu[name] / cpu[control]))
    for name in [*ours[:2], names[-1]]:
        for event in ("", *sorted({event for event, _ in waits[name]})):
            times = [took for of, took in waits[name] if event in ("", of)]
            if times:
                print("hook through the server, %-22s %-20s p50 %3.0f ms, p95 %3.0f, slowest %3.0f (%d calls)" % (
                    name, event or "all", percentile(times, 0.5), percentile(times, 0.95), max(times), len(times)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
