"""The approximate token estimate: one constant, called approximate wherever it is shown."""
from __future__ import annotations

BYTES_PER_TOKEN = 3.6  # cautious for code and English on current tokenizers; never presented as exact


def approx_tokens(nbytes: int) -> int:
    """Bytes -> approximate tokens, rounded half up as the published implementation does."""
    return int(nbytes / BYTES_PER_TOKEN + 0.5)


def approx_text_tokens(text: str) -> int:
    return approx_tokens(len(text.encode("utf-8", "surrogatepass")))
