"""Is reading this whole file a good idea? A word of advice above a size, never a refusal of the tool itself."""

from __future__ import annotations

from slipstream.base.tokens import approx_tokens

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

LARGE_FILE_BYTES = 16_000


def guard_read(path: str, nbytes: int, offset: int | None = None, limit: int | None = None) -> dict[str, Any]:
    """{allow, approxTokens, recommendation}. A read that asks for a part of the file is always allowed."""
    tokens = approx_tokens(max(0, nbytes))
    if nbytes <= LARGE_FILE_BYTES or offset or limit:
        return {"allow": True, "approxTokens": tokens, "recommendation": f"{path}: about {tokens:,} tokens; read it"}
    return {
        "allow": False,
        "approxTokens": tokens,
        "recommendation": f"{path}: about {tokens:,} tokens as a whole; ask for its outline, then for one symbol or a range "
        "of lines",
    }
