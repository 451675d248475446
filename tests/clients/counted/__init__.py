"""Files of real repositories whose entries people counted by hand, and the score of the scanners on them.

`LANGUAGE.tsv` beside this module holds the counts: names and lines, no code. A row `file REPOSITORY COMMIT PATH BLOB` begins a file
(BLOB is git's hash of its bytes), each row after it is one entry: `LINE END KIND NAME [FLAGS]`, tabs between.

- LINE holds the name; END is the last line, or `-` where it was not counted.
- KIND and NAME are as the map gives them: an outline's own kinds, or a definition's kind and its name with its containers.
- FLAGS of definitions, with commas: `exported`, and `optional` for what may be reported and need not be (fields, locals).

An outline's file lists everything that should be there: what else is reported is wrong. Of definitions the same holds, except for
plain variables, which nobody counted: fields of counted types and hidden variables of the file, as long as their line names them.
Visible from outside is what is not private; in a component's script what is exported; in shell what has no leading underscore.
"""
from __future__ import annotations

import hashlib
import os

from slipstream.map.languages.registry import LANGUAGES, scan_source

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORIES = "SLIPSTREAM_COUNTED_REPOSITORIES"
# The same thing under the two names a language may give it.
SAME_KIND = {"type": "class", "interface": "class", "method": "function", "accessor": "function", "component": "function"}


class Entry:
    __slots__ = ("end", "flags", "kind", "line", "name")

    def __init__(self, line: int, end: int | None, kind: str, name: str, flags: tuple[str, ...] = ()) -> None:
        self.line = line
        self.end = end
        self.kind = kind
        self.name = name
        self.flags = flags

    def key(self) -> tuple[int, str, str]:
        return self.line, SAME_KIND.get(self.kind, self.kind), self.name

    def __str__(self) -> str:
        return f"{self.line}-{self.end or ''} {self.kind} {self.name}"


class CountedFile:
    __slots__ = ("blob", "commit", "entries", "path", "repository")

    def __init__(self, repository: str, commit: str, path: str, blob: str) -> None:
        self.repository = repository
        self.commit = commit
        self.path = path
        self.blob = blob
        self.entries: list[Entry] = []

    def read(self, folder: str) -> bytes | str:
        """The file's bytes out of `folder/NAME` or `folder/OWNER+NAME`, or why they cannot be had."""
        for name in (self.repository.replace("/", "+"), self.repository.rpartition("/")[2]):
            path = os.path.join(folder, name, *self.path.split("/"))
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    data = file.read()
                blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                return data if blob == self.blob else f"{path} is not the version that was counted ({self.commit[:12]})"
        return f"no {self.repository} with {self.path}"


def counted_languages() -> list[str]:
    return sorted(name[:-4] for name in os.listdir(HERE) if name.endswith(".tsv"))


def load_counts(language: str) -> list[CountedFile]:
    files: list[CountedFile] = []
    with open(os.path.join(HERE, language + ".tsv"), encoding="utf-8", newline="\n") as source:
        for row in source.read().split("\n"):
            cells = row.split("\t")
            if cells[0] == "file":
                files.append(CountedFile(*cells[1:]))
            elif row and not row.startswith("#"):
                line, end, kind, name, *flags = cells
                files[-1].entries.append(Entry(int(line), None if end == "-" else int(end), kind, name,
                                               tuple(flags[0].split(",")) if flags else ()))
    return files


def found_in(path: str, data: bytes) -> list[Entry]:
    """What the map says about a file, in the form of the counts."""
    scan = scan_source(path, data)
    return [Entry(e.line, e.end, e.kind, e.name) for e in scan.outline] + [
        Entry(d.line, d.end, d.kind, d.qualified, ("exported",) if d.exported else ()) for d in scan.walk() if not d.overload]


def plain_variables(counted: CountedFile, found: list[Entry], data: bytes) -> list[Entry]:
    """The entries of `found` that are variables nobody counted."""
    lines = data.decode("utf-8", "replace").split("\n")
    keys = {entry.key() for entry in counted.entries}
    spans = [(entry.line, entry.line if entry.end is None else entry.end, entry.kind in ("function", "method"))
             for entry in counted.entries]
    plain = []
    for entry in found:
        around = [inside for line, end, inside in spans if line <= entry.line <= end]
        hidden = entry.kind == "const" and "exported" not in entry.flags and "." not in entry.name and not around
        field = entry.kind == "field" and around and not around[-1]
        if entry.key() not in keys and (hidden or field) and entry.name.rpartition(".")[2] in lines[entry.line - 1]:
            plain.append(entry)
    return plain


class Score:
    """Counts of one language; `wrong` holds a line for each thing missed, invented or with another end."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.outline = LANGUAGES[language][2] == "outline"
        self.files = 0
        self.hits: dict[str, list[int]] = {}       # tier -> [found, counted]
        self.reported = self.right = 0
        self.ends = self.right_ends = 0
        self.tops = self.right_tops = 0
        self.wrong: list[str] = []

    def add(self, counted: CountedFile, found: list[Entry]) -> None:
        self.files += 1
        where = counted.path + ": "
        left: dict[tuple[int, str, str], list[Entry]] = {}
        for entry in found:
            left.setdefault(entry.key(), []).append(entry)
        for entry in counted.entries:
            match = left.get(entry.key(), [])
            hit = match.pop(0) if match else None
            optional = "optional" in entry.flags
            if not optional:
                for tier in self._tiers(entry):
                    row = self.hits.setdefault(tier, [0, 0])
                    row[0] += hit is not None
                    row[1] += 1
            if hit is None:
                if not optional:
                    self.wrong.append(f"{where}missed {entry}")
                continue
            self.reported += 1
            self.right += 1
            if not (self.outline or optional or "." in entry.name):
                agrees = ("exported" in entry.flags) == ("exported" in hit.flags)
                self.tops += 1
                self.right_tops += agrees
                if not agrees:
                    self.wrong.append(f"{where}visibility of {entry}")
            if entry.end is not None:
                self.ends += 1
                self.right_ends += hit.end == entry.end
                if hit.end != entry.end:
                    self.wrong.append(f"{where}ends at {hit.end}: {entry}")
        for rest in left.values():
            self.reported += len(rest)
            self.wrong += [f"{where}not there: {entry}" for entry in rest]

    def _tiers(self, entry: Entry) -> list[str]:
        if self.outline:
            return ["entries"]
        if entry.kind == "const":
            return ["consts"]
        if "." in entry.name:
            return ["members"]
        return ["exported_top", "top"] if "exported" in entry.flags else ["top"]

    def figures(self) -> dict[str, float]:
        """Recall of each tier, precision, exact ends among the counted ends, agreement on what is visible."""
        figures = {f"recall_{tier}": found / counted for tier, (found, counted) in self.hits.items()}
        figures["precision"] = self.right / self.reported if self.reported else 1.0
        if self.ends:
            figures["ends_exact"] = self.right_ends / self.ends
        if self.tops:
            figures["visibility"] = self.right_tops / self.tops
        return figures

    def count(self) -> int:
        return sum(counted for tier, (_, counted) in self.hits.items() if tier != "exported_top")


def score_language(language: str, folder: str) -> tuple[Score, list[str]]:
    """The score on the counted files that `folder` holds, and why others were left out."""
    score, left_out = Score(language), []
    for counted in load_counts(language):
        data = counted.read(folder)
        if isinstance(data, str):
            left_out.append(data)
        else:
            found = found_in(counted.path, data)
            if not score.outline:
                plain = plain_variables(counted, found, data)
                found = [entry for entry in found if entry not in plain]
            score.add(counted, found)
    return score, left_out
