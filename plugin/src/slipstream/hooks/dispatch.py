"""`slipstream hook EVENT`: answers one event of the host as a process. HOT: a record-only event loads nothing more."""
from __future__ import annotations

import sys

from slipstream.base.fast_json import loads

ANSWERED = "session-start session-end user-prompt-submit subagent-start post-tool-batch stop pre-compact pre-tool-use".split()


def main(argv: list[str]) -> int:
    """Whatever happens: status 0 and no stray byte, for a fault of ours must never stop what the host is about to do."""
    store_root = None
    try:
        payload = loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
        payload.setdefault("hook_event_name", argv[1].title().replace("-", ""))
        if argv[1] == "pre-tool-use":
            from slipstream.hooks.small_read import is_small_read
            if is_small_read(payload["tool_input"]):
                return 0
        from slipstream.base.roots import find_store_root, find_tree_root
        tree_root = find_tree_root(cwd=str(payload.get("cwd")))
        store_root = find_store_root(tree_root)
        if argv[1] in ANSWERED:
            from slipstream.hooks.answers import answer
            sys.stdout.buffer.write(answer(tree_root, store_root, payload))
        else:
            from slipstream.events.ingest import record
            record(store_root, payload, "hook", tree_root)
    except BaseException as error:
        from slipstream.events.errorlog import log_error
        log_error(store_root, " ".join(argv), error)
    return 0
