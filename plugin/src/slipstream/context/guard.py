"""Is reading this whole file a good idea? A word of advice above a size, never a refusal of the tool itself."""

from __future__ import annotations

from slipstream.base.paths import shown_path
from slipstream.base.tokens import approx_tokens

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

LARGE_FILE_BYTES = 16_000


def guard_read(path: str, nbytes: int, offset: int | None = None, limit: int | None = None) -> dict[str, Any]:
    """{allow, approxTokens, recommendation}. A read that asks for a part of the file is always allowed."""
    tokens = approx_tokens(max(0, nbytes))
    about = f"{shown_path(path)}: about {tokens:,} tokens"
    if nbytes <= LARGE_FILE_BYTES or offset or limit:
        return {"allow": True, "approxTokens": tokens, "recommendation": f"{about}; read it"}
    return {
        "allow": False,
        "approxTokens": tokens,
        "recommendation": f"{about} as a whole; ask for its outline, then for one symbol or a range of lines",
    }


def render_verdict(path: str, verdict: dict[str, Any]) -> str:
    """The advice, and the commands it means."""
    name = shown_path(path)
    better = f"  slipstream outline {name}\n  slipstream slice {name} SYMBOL\n  slipstream lines {name} START END\n"
    return f"{verdict['recommendation']}\n" + ("" if verdict["allow"] else better)
