"""Which gates of a project's own skills this user has allowed to run. Security-relevant.
Kept in the user's folder, never in the project; an entry names the project and the hash of the whole SKILL.md,
so neither another project nor a changed file inherits the permission.
"""
from __future__ import annotations

import hashlib
import os
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.files import write_atomic
from slipstream.base.json_files import dump_json, read_object
from slipstream.base.locks import FileLock
from slipstream.engine.contract import Skill

FILE_NAME = "slipstream-trust.json"


def trust_path(home: str) -> str:
    return os.path.join(home, ".claude", FILE_NAME)


def _key(root: str, skill: Skill) -> str:
    return hashlib.sha256(("%s\0%s" % (os.path.realpath(root), skill.digest)).encode("utf-8", "surrogatepass")).hexdigest()


def _load(home: str) -> dict[str, Any]:
    return read_object(trust_path(home), 8_000_000)  # unreadable trust is no trust


def needs_trust(skill: Skill) -> bool:
    """Gates of the plugin and of the user's own folder run as they are; all others came with a project."""
    return skill.origin not in ("plugin", "user")


def is_trusted(home: str, root: str, skill: Skill) -> bool:
    if not needs_trust(skill):
        return True
    gates = _load(home).get("gates")
    return isinstance(gates, dict) and isinstance(gates.get(_key(root, skill)), dict)


def save_trust(home: str, root: str, skill: Skill, trusted: bool = True) -> bool:
    """Record or withdraw the permission; False when nothing changed."""
    path = trust_path(home)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with FileLock(path):
        data = _load(home)
        gates = data.get("gates")
        if not isinstance(gates, dict):
            gates = data["gates"] = {}
        key = _key(root, skill)
        if (key in gates) == trusted:
            return False
        if trusted:
            gates[key] = {"skill": skill.name, "root": os.path.realpath(root), "at": now_iso()}
        else:
            del gates[key]
        write_atomic(path, dump_json(data) + "\n")
    return True
