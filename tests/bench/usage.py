"""True usage over 100 MB of transcripts: exactness, time against reading the files and searching them, memory, a warm update.

    python3 -m tests.bench.usage
"""
from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from slipstream.context.usage import CLASSES, UsageIndex
from slipstream.context.usage_scan import find_transcripts

from tests import SOURCE
from tests.context.transcripts import reply_line, write_session

PEAK = ("import resource, sys; sys.path.insert(0, sys.argv[1]); from slipstream.context.usage import UsageIndex;"
        "from slipstream.context.usage_scan import find_transcripts; UsageIndex().update(find_transcripts([sys.argv[2]]));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")


def make(folder: str) -> dict[str, int]:
    """About 100 MB: sessions with growing snapshots and one-hour writes, subagents, a fork, a torn tail; returns the true sums."""
    sums: dict[str, int] = {}
    lines: list[str] = []
    for number in range(18):
        lines, true = write_session(os.path.join(folder, f"s{number}.jsonl"), f"s{number}", 700, number, day=number + 1)
        for key, value in true.items():
            sums[key] = sums.get(key, 0) + value
    for name, agent, copied in (("s0/subagents/agent-a1.jsonl", "a1", None), ("zz-fork.jsonl", "", lines)):
        _, true = write_session(os.path.join(folder, name), name[:2] + "x", 300, 99 + len(name), agent=agent, copied=copied, day=25)
        for key, value in true.items():
            sums[key] += value
    with open(os.path.join(folder, "s1.jsonl"), "a", encoding="utf-8") as stream:
        stream.write(reply_line("s1", 9999, {"input_tokens": 5}, "m", "2026-11-30T10:00:00.000Z", "never finished")[:-40])
    return sums


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        true = make(folder)
        transcripts = find_transcripts([folder])
        nbytes = sum(os.path.getsize(path) for path, _, _ in transcripts)

        def search() -> None:
            for path, _, _ in transcripts:
                with open(path, "rb") as stream:
                    stream.read().count(b'"usage"')

        index = UsageIndex()
        ratios = []
        for _ in range(7):
            began = time.process_time()
            search()
            base = time.process_time() - began
            index = UsageIndex()
            began = time.process_time()
            index.update(transcripts)
            ratios.append((time.process_time() - began) / base)
        found = {key: sum(row[at] for row in index.sums) for at, key in enumerate(("replies", *CLASSES))}
        print(f"{nbytes / 1e6:.0f} MB, {found['replies']:,} replies: {'exact' if found == true else f'WRONG {found} {true}'}")
        print(f"cold: {statistics.median(ratios):.1f} times reading and searching the files (from {min(ratios):.1f})")
        raw = index.dump()
        began = time.process_time()
        UsageIndex.load(raw).update(transcripts)
        warm = time.process_time() - began
        began = time.process_time()
        search()
        print(f"warm, nothing new: {warm / (time.process_time() - began):.2f} times; index {len(raw):,} bytes")
        made = subprocess.run([sys.executable, "-I", "-S", "-c", PEAK, SOURCE, folder], capture_output=True, check=True)
        print(f"peak {int(made.stdout) / 1024:.0f} MiB in a process of its own (this one: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f})")


if __name__ == "__main__":
    main()
