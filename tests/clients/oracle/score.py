"""Scores what `scan_source` reports for a file against the definitions its syntax tree has."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from slipstream.map.languages.registry import scan_source

KIND = {"component": "function", "accessor": "method"}
SAME = {("function", "method"), ("method", "function"), ("class", "type"), ("type", "class"), ("interface", "type")}
TIERS = ("exported_top", "top", "members", "consts")
# Kinds whose last line is scored.
WITH_END = ("function", "method", "class", "interface", "enum", "type", "default")


def tiers_of(definition):
    """Tiers a required definition belongs to."""
    if not definition["req"]:
        return ()
    if definition["kind"] in ("const", "default"):
        return ("consts",) if definition["level"] == "top" else ("members",)
    if definition["level"] == "member":
        return ("members",)
    return ("exported_top", "top") if definition["exported"] else ("top",)


def spellings(name):
    """The name itself, without parameters, and its last part after a separator."""
    plain = re.sub(r"\s+", " ", name).strip()
    base = re.sub(r"\(.*\)$", "", plain) or plain
    tails = [base.split(separator)[-1] for separator in ("::", "#", ".", "/", "->") if separator in base]
    return list(dict.fromkeys([plain, plain.replace(" ", ""), base, *filter(None, tails), base.lstrip("$@:")]))


def kind_agrees(symbol, definition):
    kind = KIND.get(symbol.kind, symbol.kind)
    return kind in definition["kinds"] or any((kind, other) in SAME for other in definition["kinds"])


def match(truth, symbols):
    """(verdict per symbol, {index of a definition: index of its symbol}), one to one.

    First the exact line of the name, then anywhere from the first decorator to the name; required before optional.
    """
    by_name = defaultdict(list)
    for index, definition in enumerate(truth["defs"]):
        for name in {spelling for one in definition["names"] for spelling in (one, one.replace(" ", ""))}:
            by_name[name].append(index)
    used = {}
    verdicts = [None] * len(symbols)
    for exact in (True, False):
        for required in (True, False):
            for number, symbol in enumerate(symbols):
                if verdicts[number] is None:
                    index = candidate(truth["defs"], by_name, used, symbol, exact, required)
                    if index is not None:
                        used[index] = number
                        verdicts[number] = "tp" if required else "optional"
    for number, symbol in enumerate(symbols):
        if verdicts[number] is None:
            verdicts[number] = verdict_of_wrong(truth, by_name, symbol)
    return verdicts, used


def candidate(definitions, by_name, used, symbol, exact, required):
    for spelling in spellings(symbol.name):
        best = None
        for index in by_name.get(spelling, ()):
            one = definitions[index]
            fits = symbol.line == one["line"] if exact else one["start"] <= symbol.line <= one["line"]
            if fits and index not in used and one["req"] == required:
                rank = (kind_agrees(symbol, one), one["start"])
                if best is None or rank > best[0]:
                    best = rank, index
        if best:
            return best[1]
    return None


def verdict_of_wrong(truth, by_name, symbol):
    if any(start <= symbol.line <= last for start, last in truth["unsure"]):
        return "unsure"     # the parser could not read that stretch
    if truth["lang"] in ("c", "cpp") and re.fullmatch(r"[A-Z][A-Z0-9_]*", symbol.name):
        return "unsure"     # a name that a macro makes
    places = [truth["defs"][index] for name in spellings(symbol.name) for index in by_name.get(name, ())]
    if any(one["start"] <= symbol.line <= one["line"] for one in places):
        return "duplicate"
    return "wrong_line" if places else "invented"


class Score:
    """Counts over files of one language; `wrong` keeps what to look at."""

    def __init__(self):
        self.counts = Counter()
        self.wrong = []

    def add(self, path, truth, symbols):
        counts = self.counts
        counts["files"] += 1
        verdicts, used = match(truth, symbols)
        for symbol, verdict in zip(symbols, verdicts):
            counts[verdict] += 1
            if verdict in ("invented", "wrong_line", "duplicate"):
                self.wrong.append(f"{path}:{symbol.line} {verdict} {symbol.kind} {symbol.name}")
        for index, definition in enumerate(truth["defs"]):
            tiers = tiers_of(definition)
            for tier in tiers:
                counts["n_" + tier] += 1
                counts["hit_" + tier] += index in used
            if tiers and index not in used:
                self.wrong.append(f"{path}:{definition['line']} missed {definition['kind']} {definition['name']}")
            if index in used and definition["end_sure"] and definition["kind"] in WITH_END:
                symbol = symbols[used[index]]
                right = symbol.end in definition["ends"]
                counts["ends"] += 1
                counts["ends_exact"] += right
                if not right:
                    self.wrong.append(f"{path}:{definition['line']} end of {definition['name']}: {symbol.end}, not {definition['ends']}")

    def add_source(self, path, source, truth):
        self.add(path, truth, scan_source(path, source).walk())

    def share(self, hits, total):
        return self.counts[hits] / self.counts[total] if self.counts[total] else None

    def figures(self):
        """Precision, recall of each tier and share of exact ends; None where there was nothing to count."""
        counts = self.counts
        right = counts["tp"] + counts["optional"]
        reported = right + counts["invented"] + counts["wrong_line"] + counts["duplicate"]
        figures = {"precision": right / reported if reported else None}
        for tier in TIERS:
            figures["recall_" + tier] = self.share("hit_" + tier, "n_" + tier)
        figures["ends_exact"] = self.share("ends_exact", "ends")
        return figures
