"""The event log under load: parallel writers, growth with the log, kills, redaction speed, folding. Prints ratios; run as a program.

    python3 -m tests.bench.events [writers] [append] [kill] [redact] [fold]
"""
from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

from tests import SOURCE

sys.path.insert(0, SOURCE)
from slipstream.events.append import append_event
from slipstream.events.fold import Fold
from slipstream.events.log import LogReader, log_path
from slipstream.events.redact import redact_text

WRITER = textwrap.dedent("""
    import os
    import sys
    import time
    sys.path.insert(0, sys.argv[1])
    from slipstream.events.append import append_event
    sys.stdout.write("ready\\n"); sys.stdout.flush()
    sys.stdin.readline()
    for number in range(int(sys.argv[4])):
        append_event(sys.argv[2], "s", sys.argv[3], "post-tool", "Bash echo %d" % number, {"tool": "Bash", "bytes": number})
    sys.stdout.write("%.9f\\n" % time.monotonic()); sys.stdout.flush()
    os.read(int(sys.argv[5]), 1)
""")
# The least that a writer can be: an interpreter that appends one line under a lock and ends.
BARE = textwrap.dedent("""
    import fcntl
    import os
    import sys
    import time
    fd = os.open(sys.argv[2] + "/bare.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sys.stdout.write("ready\\n"); sys.stdout.flush()
    sys.stdin.readline()
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, b'{"seq":0}\\n')
    fcntl.flock(fd, fcntl.LOCK_UN)
    sys.stdout.write("%.9f\\n" % time.monotonic()); sys.stdout.flush()
    os.read(int(sys.argv[5]), 1)
""")


def fill(root: str, events: int) -> None:
    append_event(root, "s", "main", "session-start", "x")
    with open(log_path(root, "s"), "a", encoding="utf-8") as stream:
        for number in range(1, events):
            stream.write(json.dumps({"seq": number, "ts": "2026-06-01T10:00:00.000Z", "session": "s", "agent": "main", "kind": "post-tool",
                                     "label": f"Bash echo {number}", "data": {"tool": "Bash", "bytes": 100}}, separators=(",", ":")) + "\n")


def check(root: str, events: int) -> str:
    reader = LogReader(log_path(root, "s"))
    with open(log_path(root, "s"), "rb") as stream:
        stored = [json.loads(line)["seq"] for line in stream]
    found = reader.read()
    whole = stored == list(range(events)) and len(found) == events and not reader.skipped
    return "none lost, torn or out of order" if whole else f"WRONG: {len(found)} of {events}, {reader.skipped} torn"


def run_writers(writers: int, each: int, before: int, staying: bool = True, program: str = WRITER) -> tuple[float, str]:
    """(events a second, what the log says). Every writer has started, has all it needs loaded and waits at one pipe; the clock
    runs from the moment when its end is closed, which wakes all of them, to the moment when the last one's last append returned.
    `staying`: none ends before, else those that are done shut their interpreters down inside the clock, on the same cores."""
    with tempfile.TemporaryDirectory() as root:
        fill(root, before)
        barrier, gate = os.pipe()
        stay, leave = os.pipe()
        if not staying:
            os.close(leave)
        started = [subprocess.Popen([sys.executable, "-I", "-S", "-c", program, SOURCE, root, f"w{number}", str(each), str(stay)],
                                    stdin=barrier, stdout=subprocess.PIPE, pass_fds=(stay,)) for number in range(writers)]
        os.close(barrier)
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        began = time.monotonic()  # one clock for all processes
        os.close(gate)
        ended = []
        for process in started:
            assert process.stdout is not None
            ended.append(float(process.stdout.readline()))
        seconds = max(ended) - began
        if staying:
            os.close(leave)
        for process in started:
            process.communicate()
        os.close(stay)
        return writers * each / seconds, check(root, before + writers * each) if program is WRITER else ""


def bench_writers() -> None:
    for writers, each, before, published in ((25, 1, 1, 89.0), (25, 10, 1, 145.0), (100, 1, 1, 50.0), (100, 10, 1, 54.0),
                                             (25, 1, 10_000, 4.0), (100, 1, 10_000, 4.5)):
        for staying in (True, False):
            runs = [run_writers(writers, each, before, staying) for _ in range(9 if writers == 25 else 5)]
            rates = sorted(run[0] for run in runs)
            print(f"{writers} x {each} on {before:,} events{'' if staying else ', their ends inside the clock'}: "
                  f"{statistics.median(rates) / published:.0f} times the published figure of another machine "
                  f"(from {rates[0] / published:.0f} to {rates[-1] / published:.0f}); "
                  + "; ".join(sorted({run[1] for run in runs})))
    for staying in (True, False):
        ours, bare = zip(*([run_writers(25, 1, 1, staying, program)[0] for program in (WRITER, BARE)] for _ in range(15)))
        print(f"25 x 1, beside writers that load nothing and only append a line under flock{'' if staying else ', all ends inside the clock'}:"
              f" theirs {statistics.median(bare) / 89:.0f} times the published figure (from {min(bare) / 89:.0f} to {max(bare) / 89:.0f}),"
              f" ours {statistics.median(ours) / 89:.0f} (from {min(ours) / 89:.0f} to {max(ours) / 89:.0f})")


def bench_append() -> None:
    def cost(root: str) -> float:
        began = time.perf_counter()
        for number in range(300):
            append_event(root, "s", "main", "post-tool", f"Bash echo {number}", {"tool": "Bash", "bytes": 5})
        return time.perf_counter() - began
    ratios = []
    for _ in range(7):
        with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as full:
            fill(empty, 1)
            fill(full, 100_000)
            ratios.append(min(cost(full) for _ in range(3)) / min(cost(empty) for _ in range(3)))
    print(f"append at 100,000 events: {statistics.median(ratios):.2f} times append at 0")


def bench_kill(rounds: int = 12) -> None:
    rng, killed, torn = random.Random(), 0, 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as root:
            fill(root, 1)
            started = [subprocess.Popen([sys.executable, "-I", "-S", "-c", WRITER, SOURCE, root, f"w{number}", "1000000", "0"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE) for number in range(8)]
            for process in started:
                assert process.stdin is not None and process.stdout is not None
                process.stdout.readline()
                process.stdin.write(b"go\n")
                process.stdin.flush()
            for process in started:
                time.sleep(rng.random() * 0.08)
                process.send_signal(signal.SIGKILL)
                killed += 1
            for process in started:
                process.communicate()
            last = append_event(root, "s", "main", "stop", "after")
            reader = LogReader(log_path(root, "s"))
            events = reader.read()
            torn += reader.skipped
            holes = 0
            for number in range(8):
                own = [int(event["label"].rsplit(" ", 1)[1]) for event in events if event["agent"] == f"w{number}"]
                holes += own != list(range(len(own)))
            assert [event["seq"] for event in events] == list(range(last + 1)) and not holes, "a log was damaged"
    print(f"{killed} writers killed at random instants over {rounds} logs: no hole, no duplicate, {torn} torn lines skipped")


def bench_redact() -> None:
    text = "".join(f"def function_{number}(value):\n    return compute(value, {number})  # token of the parser\n" for number in range(4000))

    def fastest(work: object) -> float:
        assert callable(work)
        times = []
        for _ in range(5):
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
        return min(times)
    base = fastest(lambda: json.loads(json.dumps(text)))
    print(f"redacting {len(text):,} characters of code: {fastest(lambda: redact_text(text)) / base:.0f} times a JSON round trip of the same text")


def bench_fold() -> None:
    with tempfile.TemporaryDirectory() as root:
        fill(root, 100_000)
        path = log_path(root, "s")
        began = time.process_time()
        with open(path, "rb") as stream:
            for line in stream:
                json.loads(line)
        base = time.process_time() - began
        fold = Fold()
        began = time.process_time()
        for _, event in LogReader(path).read_with_offsets():
            fold.apply(event)
        print(f"100,000 events read and folded: {(time.process_time() - began) / base:.1f} times parsing the lines; state {len(fold.dump()):,} bytes")


BENCHES = {"writers": bench_writers, "append": bench_append, "kill": bench_kill, "redact": bench_redact, "fold": bench_fold}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()
