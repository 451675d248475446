"""What scoped reads have saved: the published tally, and beside it an honest figure that counts each file's baseline once."""

from __future__ import annotations

import json
import os
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.files import write_atomic
from slipstream.base.json_files import read_object
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.base.tokens import approx_tokens
from slipstream.events.append import session_file_name

NAME, MAX_FILES, MAX_VERSIONS = "savings.json", 2000, 16
USD_PER_MILLION_TOKENS = 3.0  # the published rate: an input list price, always stated beside the amount


def load_savings(store_root: str) -> dict[str, Any]:
    """The tally {scopedReads, servedBytes, fullBytes, honest?{...}}; zeros where absent or damaged."""
    found = read_object(os.path.join(store_dir(store_root), NAME), 4_000_000)
    return {**found, **{key: _count(found.get(key)) for key in ("scopedReads", "servedBytes", "fullBytes")}}


def record_saving(store_root: str, session: str, path: str, served_bytes: int, full_bytes: int) -> bool:
    """Counts one scoped read of `path`; False when the figures make no sense. Its size tells one state of a file from the next.

    Honest figure: a file's size counts as saved at most once per version and session, whatever is then served of it is charged
    against it, and a slice that is no smaller than its file is not counted at all.
    """
    if full_bytes <= 0 or served_bytes < 0:
        return False
    target = store_path(store_root, NAME)
    with FileLock(target):
        tally = load_savings(store_root)
        tally["scopedReads"] += 1
        tally["servedBytes"] += served_bytes
        tally["fullBytes"] += full_bytes
        honest = _honest(tally)
        if served_bytes < full_bytes:
            seen = honest["files"]
            key = f"{session_file_name(session)}:{path}"
            row = seen.pop(key, None)
            if not isinstance(row, dict) or row.get("v") != full_bytes:
                was = _earlier(row)
                if str(full_bytes) not in was:
                    honest["fullBytes"] += full_bytes
                    honest["reads"] += 1
                row = {"v": full_bytes, "full": full_bytes, "served": was.pop(str(full_bytes), 0)}
                row.update({"was": dict(list(was.items())[-MAX_VERSIONS:])} if was else {})
            room = max(
                0, row["full"] - row["served"]
            )  # what is served beyond the file's size saves nothing more, and costs nothing twice
            honest["servedBytes"] += min(served_bytes, room)
            honest["overBytes"] += max(0, served_bytes - room)
            row["served"] += served_bytes
            seen[key] = row  # last used, last dropped
            while len(seen) > MAX_FILES:
                del seen[next(iter(seen))]
        write_atomic(target, json.dumps(tally, separators=(",", ":")))
    _tell_status(store_root, tally)
    return True


def _earlier(row: dict[str, Any] | None) -> dict[str, int]:
    """Bytes served of each version of a file that was counted, the one of this row last: an undone edit is no new version."""
    if row is None:
        return {}
    was = row.get("was")
    held = {size: served for size, served in was.items() if type(served) is int} if isinstance(was, dict) else {}
    return {**held, str(row.get("v")): row["served"]}


def charge_map(store_root: str, served_bytes: int) -> None:
    """The map, outlines and searches are the price of scoped reading: their bytes are charged against the honest figure."""
    if served_bytes <= 0:
        return
    target = store_path(store_root, NAME)
    with FileLock(target):
        tally = load_savings(store_root)
        _honest(tally)["mapBytes"] += served_bytes
        write_atomic(target, json.dumps(tally, separators=(",", ":")))
    _tell_status(store_root, tally)


def summarize_savings(tally: dict[str, Any]) -> dict[str, Any]:
    """The published summary plus `honest` {savedTokens, pct, reads, mapTokens} computed the careful way."""
    reads, served, full = (_count(tally.get(key)) for key in ("scopedReads", "servedBytes", "fullBytes"))
    honest = _honest(dict(tally))
    spent = honest["servedBytes"] + honest["overBytes"] + honest["mapBytes"]
    return {
        "scopedReads": reads,
        "servedBytes": served,
        "fullBytes": full,
        "savedBytes": max(0, full - served),
        "servedTokens": approx_tokens(served),
        "fullTokens": approx_tokens(full),
        "savedTokens": max(0, approx_tokens(full) - approx_tokens(served)),
        "pct": _percent(full - served, full),
        "honest": {
            "reads": honest["reads"],
            "savedTokens": approx_tokens(max(0, honest["fullBytes"] - spent)),
            "netTokens": approx_tokens(abs(honest["fullBytes"] - spent)) * (1 if honest["fullBytes"] >= spent else -1),
            "pct": _percent(honest["fullBytes"] - spent, honest["fullBytes"]),
            "mapTokens": approx_tokens(honest["mapBytes"]),
        },
    }


def savings_cost(tokens: float) -> dict[str, Any]:
    """{savedTokens, usdPerMTok, usd, label}: rounded to cents, the rate in the label."""
    tokens = max(0, int(tokens))
    usd = int(tokens / 1e6 * USD_PER_MILLION_TOKENS * 100 + 0.5) / 100
    amount = f"${usd:.2f}" if usd >= 0.01 else "under $0.01" if tokens else "$0.00"
    return {
        "savedTokens": tokens,
        "usdPerMTok": USD_PER_MILLION_TOKENS,
        "usd": usd,
        "label": f"{amount} at ${USD_PER_MILLION_TOKENS:g} per million input tokens",
    }


def render_savings(summary: dict[str, Any], money: bool = False) -> str:
    if not summary["scopedReads"]:
        return "no scoped reads recorded yet"
    honest = summary["honest"]
    lines = [
        f"{count_of(summary['scopedReads'], 'scoped read')} served about {summary['servedTokens']:,} tokens "
        f"instead of about {summary['fullTokens']:,}: "
        f"about {summary['savedTokens']:,} saved ({summary['pct']}%)",
        f"counted carefully (each file once per version and session, the map's own {honest['mapTokens']:,} tokens charged): "
        f"about {honest['netTokens']:,} tokens ({honest['pct']}%) over {count_of(honest['reads'], 'file')}",
    ]
    if money:
        lines.append(savings_cost(honest["savedTokens"])["label"])
    return "\n".join(lines)


def _honest(tally: dict[str, Any]) -> dict[str, Any]:
    """The careful part of the tally, made whole in place."""
    found = tally.get("honest")
    honest: dict[str, Any] = found if isinstance(found, dict) else {}
    for key in ("reads", "servedBytes", "fullBytes", "overBytes", "mapBytes"):
        honest[key] = _count(honest.get(key))
    files = honest.get("files")
    honest["files"] = (
        {
            key: row
            for key, row in files.items()
            if isinstance(row, dict) and _count(row.get("full")) and isinstance(row.get("served"), int)
        }
        if isinstance(files, dict)
        else {}
    )
    tally["honest"] = honest
    return honest


def _tell_status(store_root: str, tally: dict[str, Any]) -> None:
    from slipstream.context.status import load_status, update_status

    percent = summarize_savings(tally)["pct"]
    if load_status(store_root).get("optimizationPct") != percent:
        update_status(store_root, optimizationPct=percent)


def _percent(part: int, whole: int) -> int:
    return int(max(0, part) * 100 / whole + 0.5) if whole > 0 else 0


def _count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15 else 0
