"""Whether reading a whole file is a good idea, and the cheaper way (hot)."""
from __future__ import annotations

from slipstream.base.tokens import approx_tokens

LARGE_FILE_BYTES = 16_000


def guard_read(path: str, nbytes: int) -> dict[str, object]:
    """Verdict on a whole-file read: allow, approxTokens, recommendation (published keys)."""
    tokens = approx_tokens(nbytes)
    if nbytes <= LARGE_FILE_BYTES:
        advice = f"Fine to read whole: about {tokens} tokens."
    else:
        advice = (f"Large: about {tokens} tokens for the whole of {path}. Ask for its outline first (`outline {path}`), "
                  f"then one symbol (`slice {path} NAME`) or a range (`lines {path} A B`).")
    return {"allow": nbytes <= LARGE_FILE_BYTES, "approxTokens": tokens, "recommendation": advice}
