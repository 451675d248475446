"""Table of the map's accuracy on repositories. Usage: python3 -m tests.clients.oracle [--wrong N] REPO..."""

from __future__ import annotations

import argparse
import os

import tests as tests  # puts the package on the path
from tests.clients.oracle.repository import score_repository

HEADS = ("repository", "language", "files", "precision", "exported", "top", "members", "consts", "exact ends")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.clients.oracle", description=__doc__)
    parser.add_argument("repo", nargs="+")
    parser.add_argument("--wrong", type=int, default=0, metavar="N", help="also list up to N misses per language")
    options = parser.parse_args()
    print("| " + " | ".join(HEADS) + " |\n|" + " --- |" * len(HEADS))
    wrong = []
    for repo in options.repo:
        name = os.path.basename(os.path.abspath(repo))
        for language, score in sorted(score_repository(repo).items()):
            figures = ["-" if value is None else f"{value:.3f}" for value in score.figures().values()]
            print("| " + " | ".join([name, language, str(score.counts["files"]), *figures]) + " |", flush=True)
            wrong += [f"{name}/{line}" for line in score.wrong[:options.wrong]]
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
