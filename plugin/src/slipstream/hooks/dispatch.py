"""`slipstream hook EVENT`: answers one event of the host as a process. HOT: a record-only event loads nothing more."""
from __future__ import annotations

import json
import os
import sys

from slipstream.base.roots import find_store_root, find_tree_root

RECORD_ONLY = "post-tool-use post-tool-use-failure post-tool-batch post-compact subagent-stop stop-failure notification " \
              "permission-request permission-denied".split()


def main(argv: list[str]) -> int:
    """Whatever happens: status 0 and no stray byte, for a hook's fault must never stop what the host was about to do."""
    store_root = None
    try:
        payload = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace") or "{}")
        payload.setdefault("hook_event_name", "".join(word.title() for word in argv[1].split("-")))
        tree_root = find_tree_root(cwd=payload.get("cwd") if os.path.isdir(payload.get("cwd") or "") else None)
        store_root = find_store_root(tree_root)
        if argv[1] in RECORD_ONLY:
            from slipstream.events.ingest import record
            record(store_root, payload, "hook")
        else:
            from slipstream.hooks.answers import answer
            sys.stdout.buffer.write(answer(tree_root, store_root, payload))
    except BaseException as error:
        from slipstream.base.errorlog import log_error
        log_error(store_root, " ".join(argv), error)
    return 0
