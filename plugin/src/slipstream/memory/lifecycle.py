"""What happens at each turning point of a session, whichever way the host tells of it: recorded first, answered second."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from slipstream.base.roots import store_dir

SETTLE_S = 3.0  # in a running session: a call answered just now may have its own event still on the way

# Event -> (module of this package, function(tree root, store root, payload) -> answer); loaded when such an event comes.
ANSWERS = {
    "SessionStart": ("session_edges", "start_session"), "SessionEnd": ("session_edges", "end_session"),
    "UserPromptSubmit": ("turn_acts", "submit_prompt"), "PreToolUse": ("turn_acts", "advise_read"),
    "SubagentStart": ("turn_acts", "start_subagent"), "PostToolBatch": ("turn_acts", "check_batch"),
    "Stop": ("turn_acts", "end_turn"), "PreCompact": ("turn_acts", "prepare_compaction"),
}


def answer_event(tree_root: str, store_root: str, payload: dict[str, Any], source: str) -> str:
    """Records the event (`source` says by which way it came) and returns what the host is to be told; "" for nothing.

    Never raises: a part that fails is one line in errors.log, and the parts after it still run.
    """
    name = str(payload.get("hook_event_name") or "")

    def keep() -> None:
        from slipstream.events.ingest import record
        record(store_root, payload, source, tree_root)
    if name != "PreToolUse":  # the finished call tells the same and how it ended
        attempt(store_root, f"record {name}", keep)
    if name not in ANSWERS or not payload.get("session_id"):
        return ""
    module, function = ANSWERS[name]

    def act() -> str:
        found = __import__("slipstream.memory." + module, fromlist=[function])
        return str(getattr(found, function)(tree_root, store_root, payload))
    return attempt(store_root, f"answer {name}", act) or ""


def attempt(store_root: str, where: str, act: Callable[[], Any]) -> Any:
    """What `act` returns; None and one line in errors.log when it fails."""
    try:
        return act()
    except Exception as error:
        from slipstream.events.errorlog import log_error
        log_error(store_root, where, error)
        return None


def may_inject(store_root: str) -> bool:
    """Whether context may be given here: the setting `inject`, in the project's settings or as SLIPSTREAM_INJECT=0."""
    from slipstream.base.settings import setting
    return bool(setting(store_root, "inject"))


def has_facts(store_root: str) -> bool:
    """Whether there is a folder of facts at all; what reads them takes long to load."""
    return os.path.isdir(os.path.join(store_dir(store_root), "memory"))


def context_answer(name: str, text: str) -> str:
    """The host's JSON that adds `text` to the agent's context; "" when there is none."""
    from slipstream.base.fast_json import dumps
    return dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) if text else ""


def host_transcript(payload: dict[str, Any]) -> str | None:
    """The transcript that the event names, when it is the host's own and this session's."""
    from slipstream.events.backfill import accept_transcript
    return accept_transcript(str(payload.get("transcript_path") or ""), str(payload["session_id"]))


def fill_gaps(tree_root: str, store_root: str, session: str, transcript: str | None, **how: Any) -> None:
    """Appends what the transcript knows and the log does not (`how`: as for backfill); failures are logged."""
    if transcript:
        from slipstream.events.backfill import backfill
        attempt(store_root, "backfill", lambda: backfill(store_root, session, transcript, tree_root=tree_root, **how))
