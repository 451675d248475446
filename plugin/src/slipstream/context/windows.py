"""How large a model's context window is, where the host does not say."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

DEFAULT_WINDOW, LONG_WINDOW = 200_000, 1_000_000
# Facts as of November 2026. Models whose window is 1 M inside the host without any upgrade; Opus 4.6 and Sonnet 4.6 have
# 200k there unless their id ends in [1m].
_LONG = re.compile(r"(?:opus-(?:4-[789]|5)|sonnet-5|fable-|mythos-|haiku-5-[5-9])(?![0-9]{2})")


def resolve_window(
    model: str, observed_tokens: int = 0, host_window: int | None = None, env: Mapping[str, str] = os.environ
) -> tuple[int, str]:
    """(tokens, who says so): the host, an override, an observed prompt above 200k, `[1m]`, the model table, the default."""
    if host_window is not None and host_window > 0:
        return host_window, "host"
    override = env.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "")
    if override.isdecimal() and int(override) > 0:
        return int(override), "CLAUDE_CODE_MAX_CONTEXT_TOKENS"
    if observed_tokens > DEFAULT_WINDOW:
        return LONG_WINDOW, "observed"
    if env.get("CLAUDE_CODE_DISABLE_1M_CONTEXT", "") not in ("", "0", "false"):
        return DEFAULT_WINDOW, "CLAUDE_CODE_DISABLE_1M_CONTEXT"
    if model.endswith("[1m]"):
        return LONG_WINDOW, "model id"
    if _LONG.search(model):
        return LONG_WINDOW, "model table"
    return DEFAULT_WINDOW, "model table" if model else "default"
