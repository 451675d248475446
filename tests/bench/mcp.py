"""The MCP server measured: ratios against baselines of the same run, and bounds on size and delay.

    python3 -m tests.bench.mcp [start] [idle] [ping] [fuzz COUNT] [warm DIR] [recall COUNT] [slice DIR:NAME...]

Without arguments: start, idle, ping. Each line says what was measured and how it compares.
"""
from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from tests import PYZ
from tests.mcp import environment, initialize, message
from tests.mcp.fuzz import Maker, check
from tests.mcp.fuzz import make_tree as make_fuzz_tree

RUNS = 21
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
PING_FILES = 5_000
# What the machine alone does to a server that has nothing else to do, beside the same load.
CONTROL = """
import json, sys
for line in sys.stdin.buffer:
    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {}}
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()
"""


class Client:
    """A server process whose answers are taken by a thread as they come, with their times."""

    def __init__(self, root: str, *program: str, **env: str) -> None:
        self.process = subprocess.Popen([sys.executable, "-I", "-S", *(program or (PYZ, "mcp", "--root", root))],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(**env))
        self.answers: dict[Any, tuple[float, Any]] = {}
        self.arrived = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.count = 0

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            at = time.perf_counter()
            answer = json.loads(line)
            with self.arrived:
                self.answers[answer.get("id")] = (at, answer)
                self.arrived.notify_all()

    def send(self, method: str, **params: Any) -> int:
        self.count += 1
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message(method, self.count, **params)).encode() + b"\n")
        self.process.stdin.flush()
        return self.count

    def wait(self, number: int) -> tuple[float, Any]:
        with self.arrived:
            while number not in self.answers:
                self.arrived.wait()
        return self.answers[number]

    def ask(self, method: str, **params: Any) -> tuple[float, Any]:
        """(milliseconds, answer)."""
        started = time.perf_counter()
        at, answer = self.wait(self.send(method, **params))
        return (at - started) * 1000, answer

    def call(self, name: str, **arguments: Any) -> tuple[float, str]:
        took, answer = self.ask("tools/call", name=name, arguments=arguments)
        return took, answer["result"]["content"][0]["text"] if "result" in answer else str(answer)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self.reader.join()
        assert self.process.stdout
        self.process.stdout.close()


def cpu_of(command: list[str], data: bytes = b"") -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=data, stdout=subprocess.DEVNULL, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bench_start() -> None:
    lines = [initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, message("tools/list", 1)]
    data = "".join(json.dumps(one) + "\n" for one in lines).encode()
    bare, served = [], []
    for _ in range(RUNS):  # alternating, so that a change of the machine's speed meets both
        bare.append(cpu_of(BARE))
        served.append(cpu_of([sys.executable, "-I", "-S", PYZ, "mcp"], data))
    ratio = statistics.median(served) / statistics.median(bare)
    print(f"start to answered tools/list: {ratio:.2f} times a bare Python start (CPU, median of {RUNS}; bar 6 on 3.11+)")


def bench_idle() -> None:
    with tempfile.TemporaryDirectory() as root:
        client = Client(root)
        client.ask("initialize", **initialize()["params"])
        client.ask("tools/list")
        with open(f"/proc/{client.process.pid}/status", encoding="ascii") as stream:
            resident = next(int(line.split()[1]) for line in stream if line.startswith("VmRSS"))
        print(f"idle memory: {resident / 1024:.1f} MB resident (bar 25)")
        client.close()


def make_tree(root: str, files: int) -> None:
    choose = random.Random(7)
    for number in range(files):
        folder = os.path.join(root, f"part{number % 97}")
        os.makedirs(folder, exist_ok=True)
        rows = [f'"""Module {number}: handles thing {choose.randrange(1000)}."""\n']
        for index in range(choose.randrange(3, 20)):
            rows.append(f"def work_{number}_{index}(value, other=None):\n    \"\"\"Does step {index}.\"\"\"\n"
                        + "    value = value + 1  # again\n" * choose.randrange(2, 15) + "    return value\n\n")
        with open(os.path.join(folder, f"m{number}.py"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(rows))


def bench_ping() -> None:
    with tempfile.TemporaryDirectory() as root:
        make_tree(root, PING_FILES)
        client, control = Client(root), Client(root, "-c", CONTROL)
        client.ask("initialize", **initialize()["params"])
        quiet = [client.ask("ping")[0] for _ in range(100)]
        control.ask("ping")
        slow = client.send("tools/call", name="sp_map", arguments={})
        delays, idle, hooks = [], [], []
        while slow not in client.answers:
            delays.append(client.ask("ping")[0])
            idle.append(control.ask("ping")[0])
            if len(delays) % 5 == 0:
                hooks.append(client.ask("tools/call", name="sp_hook", arguments={
                    "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read",
                    "tool_input": '{"file_path":"a.py"}', "tool_response": "x"})[0])
            time.sleep(0.005)
        print(f"beside a cold map of {PING_FILES} files (a quiet ping: {statistics.median(quiet):.2f} ms; load "
              f"{os.getloadavg()[0]:.1f})")
        for what, bar, times in (("ping", "slowest 20", delays), ("the same of an idle ten-line server", "none", idle),
                                 ("hook call", "95 % 15", hooks)):
            times.sort()
            print(f"  {what}: median {statistics.median(times):.1f}, 95 % {times[int(len(times) * .95)]:.1f}, "
                  f"slowest {times[-1]:.1f} ms of {len(times)} (bar: {bar})")
        client.close()
        control.close()


def bench_slice(places: list[str]) -> None:
    for place in places:
        root, _, name = place.rpartition(":")
        client = Client(root)
        client.ask("initialize", **initialize()["params"])
        client.call("sp_symbol", symbol=name)
        took, text = client.call("sp_symbol", symbol=name)
        head, _, code = text.partition("\n")
        size = len(code.encode())
        print(f"{name}: {len(text.encode())} bytes for {size} of code ({len(text.encode()) / max(size, 1):.2f}), "
              f"{took:.1f} ms warm: {head}")
        client.close()


def bench_warm(root: str) -> None:
    bare = min(cpu_of(BARE) for _ in range(RUNS)) * 1000
    client = Client(root)
    client.ask("initialize", **initialize()["params"])
    client.call("sp_map")
    for name, arguments in (("sp_symbol", {"symbol": "main"}), ("sp_search", {"query": "parse config file"}), ("sp_map", {})):
        times = sorted(client.call(name, **arguments)[0] for _ in range(RUNS))
        print(f"{name} warm: median {statistics.median(times):.1f} ms = {statistics.median(times) / bare:.2f} bare starts")
    client.close()


def bench_recall(count: int) -> None:
    """Search over `count` observations, of which each word's frequency falls like that of a language."""
    choose = random.Random(3)
    words = ["".join(choose.choice("bcdfghklmnprstvw") + choose.choice("aeiou") for _ in range(choose.randrange(2, 5)))
             for _ in range(6_000)]

    weights = [1 / (rank + 8) for rank in range(len(words))]  # Zipf's law, the commonest words of a language left out

    def phrase(length: int) -> str:
        return " ".join(choose.choices(words, weights, k=length))

    with tempfile.TemporaryDirectory() as root:
        folder = os.path.join(root, ".claude", "slipstream", "observations")
        os.makedirs(folder, 0o700)
        number = 0
        for session in range(50):
            with open(os.path.join(folder, f"s{session}.jsonl"), "w", encoding="utf-8") as stream:
                for _ in range(count // 50):
                    number += 1
                    stream.write(json.dumps({
                        "id": number, "session": f"s{session}", "ts": f"2026-0{1 + session // 10}-11T10:00:00.000Z",
                        "kind": "edit", "summary": phrase(12), "detail": "Request: " + phrase(40), "tags": [phrase(1)],
                        "files": [f"src/{phrase(1)}/{phrase(1)}.py"], "vector": []}) + "\n")
        client = Client(root)
        client.ask("initialize", **initialize()["params"])
        first = client.call("sp_search_memory", query=phrase(3))[0]
        times = sorted(client.call("sp_search_memory", query=phrase(choose.randrange(1, 5)))[0] for _ in range(200))
        print(f"sp_search_memory over {number} observations: median {statistics.median(times):.1f}, 95 % {times[190]:.1f} ms "
              f"of 200 (bars 10 and 30); the first, which makes the index, {first:.0f} ms")
        client.close()


def bench_fuzz(count: int) -> None:
    """Fresh servers, 50,000 lines each, all answers checked."""
    done = 0
    while done < count:
        lines, maker = min(50_000, count - done), Maker(done + 1)
        with tempfile.TemporaryDirectory() as root:
            make_fuzz_tree(root)
            process = subprocess.Popen([sys.executable, "-I", "-S", PYZ, "mcp", "--root", root], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
            assert process.stdin and process.stdout and process.stderr
            out: list[bytes] = []
            err: list[bytes] = []
            readers = [threading.Thread(target=out.extend, args=(process.stdout,)),
                       threading.Thread(target=err.extend, args=(process.stderr,))]
            for reader in readers:
                reader.start()
            for _ in range(lines):
                process.stdin.write(maker.line() + b"\n")
            process.stdin.close()
            for reader in readers:
                reader.join()
            process.stdout.close()
            process.stderr.close()
            status = process.wait()
            problems = check(maker, out)
            if status or problems or err:
                print(f"seed {done + 1}: exit status {status}, {problems[:3]}, {b''.join(err)[:1000]!r}")
        done += lines
    print(f"{done} generated lines served")


def main(arguments: list[str]) -> None:
    if not arguments:
        arguments = ["start", "idle", "ping"]
    while arguments:
        what = arguments.pop(0)
        if what == "start":
            bench_start()
        elif what == "idle":
            bench_idle()
        elif what == "ping":
            bench_ping()
        elif what == "fuzz":
            bench_fuzz(int(arguments.pop(0)))
        elif what == "warm":
            bench_warm(arguments.pop(0))
        elif what == "recall":
            bench_recall(int(arguments.pop(0)))
        elif what == "slice":
            bench_slice(arguments)
            return
        else:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
