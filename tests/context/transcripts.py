"""Makes transcripts as the host writes them, with the totals that are true of them: snapshots, repeated ids, forks, subagents."""
from __future__ import annotations

import json
import os
import random
from typing import Any

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-8", "house-model-1")


def usage(rng: random.Random, hour: bool = False) -> dict[str, Any]:
    created = rng.randrange(0, 4000)
    one_hour = created // 2 if hour else 0
    return {"input_tokens": rng.randrange(1, 50), "cache_creation_input_tokens": created,
            "cache_read_input_tokens": rng.randrange(0, 150_000), "output_tokens": rng.randrange(2, 900),
            "server_tool_use": {"web_search_requests": 0}, "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": one_hour, "ephemeral_5m_input_tokens": created - one_hour}}


def reply_line(session: str, number: int, used: dict[str, Any], model: str, when: str, text: str, **more: Any) -> str:
    name = more.pop("id", f"msg_{session}_{number}")
    return json.dumps({
        "parentUuid": f"{session}-{number}-parent", "isSidechain": more.pop("sidechain", False), "message": {
            "model": model, "id": name, "type": "message", "role": "assistant",
            "content": [{"type": "text", "text": text}], "stop_reason": None, "stop_sequence": None, "usage": used},
        "requestId": more.pop("request", f"req_{session}_{number}"), "type": "assistant", "uuid": f"{session}-{number}",
        "timestamp": when, "userType": "external", "cwd": "/home/dev/project", "sessionId": session, "version": "2.1.328", **more},
        separators=(",", ":"))


def other_line(session: str, number: int, when: str, nbytes: int) -> str:
    said = ('He wrote \\"usage\\": {"input_tokens": 5} in a "note" ' if number % 7 == 0 else "a line of output\n") * (nbytes // 40 + 1)
    return json.dumps({"parentUuid": None, "isSidechain": False, "type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": said[:nbytes]}]}, "uuid": f"u-{session}-{number}",
        "timestamp": when, "sessionId": session}, separators=(",", ":"))


def write_session(path: str, session: str, replies: int, seed: int, nbytes: int = 3000, agent: str = "", day: int = 1,
                  copied: list[str] | None = None) -> tuple[list[str], dict[str, int]]:
    """Writes one transcript; returns (its lines, the true sums of its own replies)."""
    rng = random.Random(seed)
    lines, sums = list(copied or []), {"replies": 0, "input": 0, "write5m": 0, "write1h": 0, "read": 0, "output": 0}
    for number in range(replies):
        when = f"2026-11-{day:02d}T{10 + number // 3600 % 10:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        lines.append(other_line(session, number, when, rng.randrange(200, nbytes * 2)))
        used, model = usage(rng, hour=number % 3 == 0), MODELS[number % len(MODELS)]
        for step in range(number % 3 + 1):  # growing snapshots: the same reply, one line for each block of its content
            partial = {**used, "output_tokens": max(1, used["output_tokens"] * (step + 1) // (number % 3 + 1))}
            lines.append(reply_line(session, number, partial, model, when, "said " * rng.randrange(20, nbytes // 4),
                                    sidechain=bool(agent), **({"agentId": agent} if agent else {})))
        for key, value in (("replies", 1), ("input", used["input_tokens"]), ("read", used["cache_read_input_tokens"]),
                           ("write5m", used["cache_creation"]["ephemeral_5m_input_tokens"]),
                           ("write1h", used["cache_creation"]["ephemeral_1h_input_tokens"]), ("output", used["output_tokens"])):
            sums[key] += value
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("\n".join(lines) + "\n")
    return lines, sums
