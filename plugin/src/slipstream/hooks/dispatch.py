"""`slipstream hook EVENT`: answers one event of the host as a process. HOT: a record-only event loads nothing more."""
from __future__ import annotations

import os
import sys

from slipstream.base.fast_json import loads
from slipstream.base.roots import find_store_root, find_tree_root

ANSWERED = "session-start session-end user-prompt-submit subagent-start post-tool-batch stop pre-compact pre-tool-use".split()
SMALL_READ_BYTES = 16_000


def main(argv: list[str]) -> int:
    """Whatever happens: status 0 and no stray byte, for a fault of ours must never stop what the host is about to do."""
    store_root = None
    try:
        payload = loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
        payload.setdefault("hook_event_name", argv[1].title().replace("-", ""))
        if argv[1] == "pre-tool-use":
            path = str(payload["tool_input"].get("file_path"))
            if not os.path.isfile(path) or os.path.getsize(path) <= SMALL_READ_BYTES:
                return 0
        folder = str(payload.get("cwd"))
        tree_root = find_tree_root(cwd=folder if os.path.isdir(folder) else None)
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
