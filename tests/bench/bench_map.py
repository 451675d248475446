"""Ratios of the map, each against a baseline of the same run. Usage: python3 -m tests.bench.bench_map REPO... [--rounds N]

A REPO is copied first and never written to. Cold map: against `ctags -R --fields=+ne`. The
rest: CPU time (user and system, children included) against `python3 -I -S -c pass`. Medians of interleaved rounds.
"""
from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from tests import PYZ

PYTHON = [sys.executable, "-I", "-S"]


def measure(command: list[str], cwd: str) -> tuple[float, float, int]:
    """(wall s, CPU s, peak KB) of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def pick_file(root: str) -> tuple[str, str]:
    """(path, symbol) of a middling file with a symbol to slice."""
    import json
    with open(os.path.join(root, ".claude", "slipstream", "map.json"), encoding="utf-8") as stream:
        files = [one for one in json.load(stream)["files"] if one["symbols"]]
    files.sort(key=lambda one: (one["bytes"], one["path"]))
    chosen = files[len(files) * 3 // 4]
    return chosen["path"], chosen["symbols"][0]["name"]


def bench(repo: str, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(os.path.realpath(folder), os.path.basename(os.path.abspath(repo)))
        shutil.copytree(repo, root, symlinks=True, ignore=shutil.ignore_patterns(".claude"))
        store = os.path.join(root, ".claude", "slipstream")
        run = [*PYTHON, PYZ]
        cold, tags, cold_cpu, tags_cpu, peak = [], [], [], [], 0
        for _ in range(max(3, rounds // 3)):
            shutil.rmtree(os.path.join(root, ".claude"), ignore_errors=True)
            wall, cpu, size = measure([*run, "map"], root)
            cold.append(wall)
            cold_cpu.append(cpu)
            peak = max(peak, size)
            wall, cpu, _ = measure(["ctags", "-R", "--fields=+ne", "-f", os.path.join(folder, "tags"), "."], root)
            tags.append(wall)
            tags_cpu.append(cpu)
        time.sleep(2.5)
        measure([*run, "map"], root)
        path, symbol = pick_file(root)
        commands = {
            "pass": [*PYTHON, "-c", "pass"], "map, unchanged": [*run, "map"], "slice FILE SYMBOL": [*run, "slice", path, symbol],
            "slice SYMBOL": [*run, "slice", symbol], "lines": [*run, "lines", path, "1", "20"], "outline": [*run, "outline", path],
            "guard": [*run, "guard", path],
        }
        found: dict[str, list[float]] = {name: [] for name in [*commands, "map, one file edited"]}
        with open(os.path.join(root, path), encoding="utf-8", newline="") as stream:
            text = stream.read()
        for number in range(rounds):
            for name, command in commands.items():
                found[name].append(measure(command, root)[1])
            with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as stream:
                stream.write(text + "\n" * (number + 1))
            found["map, one file edited"].append(measure(commands["map, unchanged"], root)[1])
            time.sleep(2.2)
            measure(commands["map, unchanged"], root)
        base = statistics.median(found["pass"])
        source = source_bytes(root)
        print(f"{os.path.basename(repo)}: {source[0]:,} files, {source[1]:,} bytes of source")
        if shutil.which("ctags"):
            print(f"  cold map / ctags -R, wall            {statistics.median(cold) / statistics.median(tags):5.1f}")
            print(f"  cold map / ctags -R, CPU             {statistics.median(cold_cpu) / statistics.median(tags_cpu):5.1f}")
        for name, values in found.items():
            print(f"  {name + ' / pass, CPU':36s} {statistics.median(values) / base:5.1f}")
        more = statistics.median(found["map, one file edited"]) - statistics.median(found["map, unchanged"])
        print(f"  one file edited, beyond unchanged    {more / base:5.1f} passes")
        for name in ("map.index", "map.json"):
            print(f"  {name + ', share of the source':36s} {os.path.getsize(os.path.join(store, name)) / source[1]:6.1%}")
        print(f"  peak memory of one process, MB       {peak / 1024:5.0f}")


def source_bytes(root: str) -> tuple[int, int]:
    import json
    with open(os.path.join(root, ".claude", "slipstream", "map.json"), encoding="utf-8") as stream:
        stats = json.load(stream)["stats"]
    return stats["fileCount"], stats["totalBytes"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", nargs="+")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    for repo in args.repos:
        bench(repo, args.rounds)


if __name__ == "__main__":
    main()
