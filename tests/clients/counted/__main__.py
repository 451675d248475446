"""`python3 -m tests.clients.counted FOLDER [LANGUAGE...]`: the scanners' figures on files counted by hand, and each miss."""
from __future__ import annotations

import sys

import tests as tests  # puts the package on the path
from tests.clients.counted import counted_languages, score_language


def main(folder: str, languages: list[str]) -> int:
    bad = 0
    for language in languages or counted_languages():
        score, left_out = score_language(language, folder)
        figures = ", ".join(f"{name} {value:.3f}" for name, value in score.figures().items())
        print(f"{language}: {score.files} files, {score.count()} counted: {figures}")
        print("".join(f"  {line}\n" for line in score.wrong + left_out), end="")
        bad += len(score.wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
