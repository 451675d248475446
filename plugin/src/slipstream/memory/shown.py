"""Which facts a session has been given already, so that no prompt brings the same one again."""
from __future__ import annotations

import os
from collections.abc import Iterable

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.json_files import dump_json, load_json
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.events.append import session_file_name

FOLDER = "context"
MAX_NAMES = 500


def load_shown(store_root: str, session: str) -> set[str]:
    """Names of the facts given so far; empty where that is not known."""
    path = os.path.join(store_dir(store_root), FOLDER, _file_name(session))
    try:
        names = (load_json(path) or {}).get("shown")
    except (OSError, SlipstreamError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def save_shown(store_root: str, session: str, names: Iterable[str], anew: bool = False) -> None:
    """Adds names; `anew` forgets the earlier ones, which a cleared or compacted context has lost. Best effort."""
    known = set(names) | (set() if anew else load_shown(store_root, session))
    try:
        path = store_path(store_root, FOLDER, _file_name(session))
        write_atomic(path, dump_json({"shown": sorted(known)[:MAX_NAMES]}), only_if_changed=True)
    except (OSError, SlipstreamError):
        pass


def _file_name(session: str) -> str:
    return session_file_name(session) + ".shown.json"
