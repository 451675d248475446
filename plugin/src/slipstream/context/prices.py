"""List prices by model, dated: five explicit rates, because a cache read is no longer always a tenth of the input price."""

from __future__ import annotations

import re

PRICES_AS_OF = "2026-11"
# (model id pattern, valid from day, USD per million tokens: input, 5-minute write, 1-hour write, cache read, output).
# First match
# whose day is not after the reply's wins, so a newer row stands above the older one. Price pages and model pages of August to
# October 2026. `long` rows are for prompts above 100,000 tokens.
Rates = tuple[float, float, float, float, float]
_ROWS: tuple[tuple[str, str, Rates], ...] = (
    (r"(?:fable|mythos)-5-1", "", (10, 12.50, 20, 0.25, 50)),
    (r"(?:fable|mythos)-5", "", (10, 12.50, 20, 1.00, 50)),
    (r"opus-5-5", "", (4, 5, 8, 0.20, 20)),
    (r"opus-(?:5|4-[5678])", "", (5, 6.25, 10, 0.50, 25)),
    (r"opus-4(?:-1)?", "", (15, 18.75, 30, 1.50, 75)),
    (r"sonnet-5-5", "2026-10-07", (2, 2.50, 4, 0.10, 10)),
    (r"sonnet-5-5", "", (2, 2.50, 4, 0.20, 10)),
    (r"sonnet-5", "", (2, 2.50, 4, 0.20, 10)),
    (r"sonnet-4(?:-[56])?", "", (3, 3.75, 6, 0.30, 15)),
    (r"haiku-5-5 long", "", (0.50, 0.625, 1.00, 0.05, 2.50)),
    (r"haiku-5-5", "", (0.10, 0.125, 0.20, 0.01, 0.50)),
    (r"haiku-4-5", "", (1, 1.25, 2, 0.10, 5)),
    (r"(?:3-5-haiku|haiku-3-5)", "", (0.80, 1, 1.60, 0.08, 4)),
)
LONG_PROMPT_TOKENS = 100_000
_END = r"(?:-\d{8}|@\d{8}|-latest|\[1m\]|-v\d+(?::\d+)?)*$"  # a date, an alias or a cloud's version may follow the name
_FAST = re.compile(r"opus-(?:5|4-8)" + _END)
_FAST_RATES: Rates = (10, 12.50, 20, 1.00, 50)
_compiled: dict[str, re.Pattern[str]] = {}


def find_rates(model: str, day: str, tier: str = "") -> Rates | None:
    """Rates for a reply of `model` on `day` (YYYY-MM-DD), or None: unpriced. `tier` words: long, fast, batch, us."""
    words = tier.split()
    rates = None
    if "fast" in words:
        rates = _FAST_RATES if _FAST.search(model) else None
        if rates is None:
            return None
    else:
        for pattern, since, row in _ROWS:
            name, _, needs = pattern.partition(" ")
            if (not needs or needs in words) and since <= day and _compile(name).search(model):
                rates = row
                break
    if rates is None:
        return None
    factor = (0.5 if "batch" in words else 1.0) * (1.1 if "us" in words else 1.0)
    first, five, hour, read, output = (rate * factor for rate in rates)
    return first, five, hour, read, output


def _compile(name: str) -> re.Pattern[str]:
    if name not in _compiled:
        _compiled[name] = re.compile(r"(?:^|[^a-z0-9])" + name + _END)
    return _compiled[name]
