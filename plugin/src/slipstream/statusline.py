"""`slipstream statusline`: one line from the host's JSON and the small status.json that the writers keep. HOT."""
from __future__ import annotations

import os
import sys
import time

from slipstream.base.fast_json import dumps, loads
from slipstream.base.roots import find_store_root, find_tree_root, store_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT_WINDOW_TOKENS, WARN_PCT, COMPACT_PCT, BYTES_PER_TOKEN, MODEL_CHARS, TAIL_BYTES = 200_000, 60, 85, 3.6, 40, 131_072
COLOURS = {"ok": "\x1b[32m", "warn": "\x1b[33m", "COMPACT": "\x1b[1;31m"}
SEGMENTS = {"size": "{}", "cache": "cache {}", "capture": "cap {}", "memoryCount": "mem {}", "observationCount": "obs {}",
            "optimizationPct": "opt {}%", "activeSkill": "skill {}", "model": "{}"}  # a line too wide loses its last ones


def main(argv: list[str]) -> int:
    line = "sp | ctx -"
    try:
        payload = loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
        store = store_dir(find_store_root(find_tree_root(_get(payload.get("workspace"), "project_dir"))))
        status = _load(os.path.join(store, "status.json"))
        if "memoryCount" not in status and os.path.isdir(store):
            from slipstream.context.status import rebuild_status
            status = rebuild_status(os.path.dirname(os.path.dirname(store)))
        values = read_values(payload, status, store)
        columns, plain = os.environ.get("COLUMNS", ""), os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        line = render_line(values, {} if plain else COLOURS, int(columns) if columns.isdecimal() else 0)
        if "context_window" in payload and str(payload.get("session_id")).replace("-", "").isalnum() and os.path.isdir(store):
            _save_usage(store, payload["session_id"] + ".json", values["actualTokens"], values["windowTokens"])
    except Exception as error:
        from slipstream.events.errorlog import log_error
        log_error(None, "statusline", error)
    sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")  # an empty answer would blank the host's line
    return 0


def read_values(payload: dict[str, Any], status: dict[str, Any], store: str) -> dict[str, Any]:
    """The figures to show: the host's own first, then the transcript's last reply; the rest as the writers left it."""
    host, tokens, age = payload.get("context_window"), None, "-"
    window = _number(_get(host, "context_window_size")) or _number(status.get("windowTokens")) or DEFAULT_WINDOW_TOKENS
    usage = _get(host, "current_usage")
    if isinstance(usage, dict):
        tokens = sum(_number(usage.get(name + "input_tokens")) or 0 for name in ("", "cache_creation_", "cache_read_"))
    elif host is None and payload.get("transcript_path"):
        from slipstream.context.transcript import read_occupancy
        tokens = getattr(read_occupancy(payload["transcript_path"], TAIL_BYTES), "tokens", None)
    cache, ratio = payload.get("prompt_cache"), _number(_get(payload.get("prompt_cache"), "hit_ratio"))
    state = ("warm" if cache.get("warm") else "cold") + (f" {ratio:.0%}" if ratio is not None else "") if cache else None
    if os.path.isfile(log := os.path.join(store, "dashboard", f"{os.path.basename(str(payload.get('session_id')))}.jsonl")):
        minutes = max(0, time.time() - os.stat(log).st_mtime) / 60
        age = f"{minutes:.0f}m" if minutes < 90 else f"{minutes / 60:.0f}h" if minutes < 2880 else f"{minutes / 1440:.0f}d"
    sizes = (f"{n / 1e6:.3g}M" if n > 999_499 else f"{n / 1000:.0f}k" for n in (tokens or 0, window))
    steps = _get(status.get("turns"), str(payload.get("session_id")))
    return {**status, "actualTokens": tokens, "windowTokens": window, "cache": state, "capture": age,
            "stepHistory": steps if isinstance(steps, list) else [],
            "size": "/".join(sizes) if tokens is not None else None, "model": _get(payload.get("model"), "display_name"),
            "activeSkill": os.environ.get("SLIPSTREAM_ACTIVE_SKILL") or status.get("activeSkill")}


def render_line(values: dict[str, Any], colours: dict[str, str] | None = None, columns: int = 0) -> str:
    """Pure. `*` marks a true figure, `-` an unknown one."""
    window, true = _number(values.get("windowTokens")) or DEFAULT_WINDOW_TOKENS, "*"
    tokens, level, parts = _number(values.get("actualTokens")), "", {"ctx": "ctx -"}
    if tokens is None and _number(values.get("bytesRead")) is not None:
        tokens, true = int(values["bytesRead"] / BYTES_PER_TOKEN + 0.5), ""
    if tokens is not None:
        percent, warn = min(100.0, tokens * 100 / window), _number(values.get("warnPct")) or WARN_PCT
        compact = _number(values.get("compactPct")) or COMPACT_PCT
        level = "ok" if percent < warn else "warn" if percent < compact else "COMPACT"
        parts["ctx"] = f"ctx {int(percent + 0.5)}%{true} {level}"
        steps = [step for step in values.get("stepHistory") or [] if _number(step) is not None][-5:]
        if steps and level != "ok":
            parts["ctx"] += f" (~{int(max(0, round(window * compact / 100) - tokens) / (sum(steps) / len(steps) or 1))} steps)"
    for key, text in SEGMENTS.items():
        if values.get(key) or (values.get(key) == 0 and key == "memoryCount"):
            parts[key] = text.format("".join(c if c.isprintable() else " " for c in str(values[key]))[:MODEL_CHARS])
    while columns and len(parts) > 1 and len("sp") + sum(len(part) + 3 for part in parts.values()) > columns:
        parts.popitem()
    if level and colours:
        parts["ctx"] = parts["ctx"].replace(level, colours[level] + level + "\x1b[0m")
    return " | ".join(["sp", *parts.values()])


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12 else None


def _load(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as stream:
            value = loads(stream.read(65_536).decode("utf-8", "replace"))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def _save_usage(store: str, name: str, tokens: int | None, window: int) -> None:
    """Leaves the host's own figures in context/<session>.json, for the parts of slipstream that the host tells nothing."""
    path = os.path.join(store, "context", name)
    old = _load(path)
    if (old.get("usedTokens", -1), old.get("windowTokens")) != (tokens, window) and not os.path.islink(os.path.dirname(path)):
        os.umask(0o077)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}.tmp", "x", encoding="utf-8") as out:
            out.write(dumps({**old, "usedTokens": tokens, "windowTokens": window, "source": "host", "time": int(time.time())}))
        os.replace(out.name, path)
