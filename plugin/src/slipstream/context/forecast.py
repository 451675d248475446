"""How many turns until the compaction threshold, from the tokens of the last turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TURNS = 5


def forecast(
    history: Iterable[Any], current_tokens: int | None = None, threshold_tokens: int = 170_000
) -> dict[str, int]:
    """{stepsUntilCompact, avgStepTokens (of the last TURNS finite, non-negative steps; 1 at least), remainingTokens}."""
    steps = [step for step in history if isinstance(step, (int, float)) and not isinstance(step, bool) and 0 <= step < 1e12]
    current = sum(steps) if current_tokens is None else current_tokens
    last = steps[-TURNS:]
    average = sum(last) / len(last) if last else 0
    average = average if average > 0 else 1
    remaining = max(0, threshold_tokens - current)
    return {
        "stepsUntilCompact": int(remaining // average),
        "avgStepTokens": int(average + 0.5),
        "remainingTokens": int(remaining),
    }
