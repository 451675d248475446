"""The events that are answered and not only recorded; what they do is the domain's, here is what only a process may start."""
from __future__ import annotations

from typing import Any

from slipstream.memory.lifecycle import answer_event


def answer(tree_root: str, store_root: str, payload: dict[str, Any]) -> bytes:
    """The bytes for standard output: empty, or one JSON object, or plain text where the event takes that."""
    return answer_event(tree_root, store_root, payload, "hook").encode("utf-8", "replace")
