"""How fast memory search is: `python3 -m tests.bench.memory_search [--records 50000] [--store DIR]`.

Makes a store of invented observations (400 sessions, words with the long tail of real text, vectors included), lets the first
search build the index, then prints: warm queries in one process (median and 95th percentile of CPU and of wall time), the
update after one more record, and the command line as a multiple of `python3 -I -S -c pass` in CPU time.
"""
from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

from slipstream.memory.embed import embed
from slipstream.memory.search import close_catalogs, open_catalog, search_memory

import tests

SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
COMMON = ("fix add update test login user session cookie database query index search page button form upload file server client request "
          "response error handler parse render cache token auth webhook payment invoice email template config deploy docker build lint type "
          "schema migration table column api route component hook state style layout image flag log event memory digest").split()


def make_store(root: str, records: int, sessions: int = 400) -> list[str]:
    """Writes the observation files; returns queries made of words from them."""
    chance = random.Random(7)
    names = ["".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 4))) for _ in range(12_000)]

    def word() -> str:
        return chance.choice(COMMON) if chance.random() < 0.45 else names[min(int(chance.paretovariate(0.55)), len(names) - 1)]
    folder = os.path.join(root, ".claude", "slipstream", "observations")
    os.makedirs(folder, exist_ok=True)
    folders = [f"src/{word()}/{word()}" for _ in range(120)]
    vector = json.dumps(embed(" ".join(word() for _ in range(40))), separators=(",", ":"))
    queries, number = [], 0
    for session in range(sessions):
        with open(os.path.join(folder, f"bench-{session:04d}.jsonl"), "w", encoding="utf-8") as stream:
            for turn in range(records // sessions):
                number += 1
                said = [word() for _ in range(chance.randint(5, 14))]
                files = [f"{chance.choice(folders)}/{word()}.ts" for _ in range(chance.randint(0, 4))]
                tools = ", ".join(chance.sample(["Read", "Edit", "Bash", "Grep", "Write"], chance.randint(1, 3)))
                record = {"id": number, "session": f"bench-{session:04d}", "ts": f"2026-{1 + number * 11 // records:02d}-10T10:00:00.000Z",
                          "kind": chance.choice(["edit", "read", "command", "search"]), "summary": f"{' '.join(said)} — {tools}",
                          "detail": f"Request: {' '.join(said)}\nTools: {tools}\n" + "\n".join(f"  - {path}" for path in files),
                          "files": files, "tags": [tools.lower()], "throughSeq": turn * 10}
                stream.write(json.dumps(record, ensure_ascii=False)[:-1] + f',"vector":{vector}}}\n')
                if number % (max(1, records // 200)) == 0:
                    queries.append(" ".join(chance.sample(said, min(len(said), chance.randint(2, 6)))))
    with open(os.path.join(folder, ".counter"), "w", encoding="ascii") as stream:
        stream.write(str(number))
    return queries


def child_cpu(command: list[str], rounds: int = 9) -> float:
    """Median CPU seconds of a process."""
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return sorted(spent)[rounds // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--store", metavar="DIR", help="keep the store here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = args.store or temporary
        os.environ["HOME"] = temporary
        queries = make_store(root, args.records)
        start = time.process_time()
        catalog = open_catalog(root)
        built = time.process_time() - start
        size = sum(os.path.getsize(os.path.join(catalog.folder, name)) for name in os.listdir(catalog.folder))
        data = sum(entry.stat().st_size for entry in os.scandir(os.path.join(root, ".claude", "slipstream", "observations")))
        print(f"{catalog.documents()} observations, {data / 1e6:.0f} MB; index {size / 1e6:.0f} MB, built in {built:.1f} s CPU")
        for query in queries[:20]:
            search_memory(root, query)
        cpu, wall = [], []
        for query in queries:
            begun, began = time.perf_counter(), time.process_time()
            search_memory(root, query)
            cpu.append((time.process_time() - began) * 1e3)
            wall.append((time.perf_counter() - begun) * 1e3)
        cpu.sort()
        wall.sort()
        p95 = int(len(cpu) * 0.95)
        print(f"warm search, {len(queries)} queries: CPU median {cpu[len(cpu) // 2]:.1f} ms, 95th percentile {cpu[p95]:.1f} ms; "
              f"wall median {wall[len(wall) // 2]:.1f} ms, 95th percentile {wall[p95]:.1f} ms")
        path = os.path.join(root, ".claude", "slipstream", "observations", "bench-0001.jsonl")
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps({"id": args.records + 1, "session": "bench-0001", "summary": "one zebra more", "kind": "edit"}) + "\n")
        close_catalogs()
        start = time.process_time()
        hits = search_memory(root, "zebra")
        print(f"index opened, one new record taken in and found: {(time.process_time() - start) * 1e3:.0f} ms CPU ({hits[0].id})")
        close_catalogs()
        bare = child_cpu([sys.executable, "-I", "-S", "-c", "pass"])
        cli = child_cpu([sys.executable, "-I", "-S", tests.PYZ, "memory", "search", queries[3], "--root", root])
        print(f"memory search from the command line: {cli / bare:.1f} times a bare start ({bare * 1e3:.0f} ms CPU)")


if __name__ == "__main__":
    main()
