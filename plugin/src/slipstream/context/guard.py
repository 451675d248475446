"""Is reading this whole file a good idea? A word of advice above a size, never a refusal of the tool itself."""

from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.paths import shown_path
from slipstream.base.tokens import approx_tokens

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

LARGE_FILE_BYTES = 16_000


def guard_read(path: str, nbytes: int) -> dict[str, Any]:
    """{allow, approxTokens, recommendation} for a read of the whole file."""
    tokens = approx_tokens(max(0, nbytes))
    about = f"{shown_path(path)}: about {tokens:,} token{'s' * (tokens != 1)}"
    if nbytes <= LARGE_FILE_BYTES:
        return {"allow": True, "approxTokens": tokens, "recommendation": f"{about}; read it"}
    return {
        "allow": False,
        "approxTokens": tokens,
        "recommendation": f"{about} as a whole; ask for its outline, then for one symbol or a range of lines",
    }


def guard_file(root: str, path: str) -> dict[str, Any]:
    """{path, bytes} and the verdict on reading the file `path` of a tree as a whole."""
    full = os.path.join(root, path)
    if not os.path.isfile(full):
        raise SlipstreamError("a folder: `map` shows it" if os.path.isdir(full) else
                              "not a regular file" if os.path.lexists(full) else "no such file", path)
    size = os.path.getsize(full)
    return {"path": path, "bytes": size, **guard_read(path, size)}


def render_verdict(verdict: dict[str, Any]) -> str:
    """The advice, and the commands it means."""
    name = shown_path(verdict["path"])
    better = f"  slipstream outline {name}\n  slipstream slice {name} SYMBOL\n  slipstream lines {name} START END\n"
    return f"{verdict['recommendation']}\n" + ("" if verdict["allow"] else better)
