"""Which folder a call works in: the project, or another one the user or the host has allowed. Security-relevant."""
from __future__ import annotations

import os

from slipstream.base.errors import SlipstreamError
from slipstream.base.roots import find_store_root, find_tree_root
from slipstream.mcp.protocol import Connection, Request

ASK_TIMEOUT_S = 2.0


def default_root(connection: Connection) -> str:
    root = connection.cache.get("root")
    if root is None:
        root = connection.cache["root"] = find_tree_root(connection.explicit_root)
    return str(root)


def resolve_root(argument: str, request: Request, connection: Connection) -> str:
    """The tree root that `argument` names; the default one for an empty argument. SlipstreamError when not allowed.

    Allowed are the project and its main worktree, SLIPSTREAM_ROOTS, the folders the user added to Claude Code, and,
    where the host answers `roots/list` (legacy era), its roots. Nothing in the project's own files adds one.
    """
    home = default_root(connection)
    if not argument:
        return home
    wanted = os.path.realpath(os.path.join(home, os.path.expanduser(argument)))
    if not os.path.isdir(wanted):
        raise SlipstreamError("root: no such folder: %s" % argument)
    allowed = [home, find_store_root(home), *_user_folders(connection)]
    if not _inside_any(wanted, allowed):
        allowed += _host_roots(request, connection)
        if not _inside_any(wanted, allowed):
            raise SlipstreamError("root: %s is outside the allowed folders (%s); add it to the environment variable "
                                  "SLIPSTREAM_ROOTS" % (argument, ", ".join(dict.fromkeys(allowed))))
    top = find_tree_root(env={}, cwd=wanted)
    return top if _inside_any(top, allowed) else wanted


def _inside_any(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _user_folders(connection: Connection) -> list[str]:
    folders = connection.cache.get("user_folders")
    if folders is None:
        named = [one for one in os.environ.get("SLIPSTREAM_ROOTS", "").split(os.pathsep) if one]
        named += _added_folders()
        folders = connection.cache["user_folders"] = [os.path.realpath(os.path.expanduser(one)) for one in named]
    return list(folders)


def _added_folders() -> list[str]:
    """permissions.additionalDirectories of the user's own Claude Code settings."""
    from slipstream.base.json_files import load_json
    try:
        settings = load_json(os.path.join(os.path.expanduser("~"), ".claude", "settings.json")) or {}
    except (OSError, SlipstreamError):
        return []
    permissions = settings.get("permissions")
    added = permissions.get("additionalDirectories") if isinstance(permissions, dict) else None
    return [one for one in added if isinstance(one, str) and os.path.isabs(os.path.expanduser(one))] \
        if isinstance(added, list) else []


def _host_roots(request: Request, connection: Connection) -> list[str]:
    """The host's roots, asked for once until it says that they changed; none in the modern era, which has no asking."""
    if request.modern or connection.send is None or not isinstance(connection.client_capabilities.get("roots"), dict):
        return []
    known = connection.cache.get("host_roots")
    if known is None:
        import threading
        arrived, box = threading.Event(), []

        def take(result: object) -> None:
            box.append(result)
            arrived.set()

        number = connection.cache["asked"] = connection.cache.get("asked", 0) + 1
        question = "slipstream-%d" % number
        connection.asked[question] = take
        connection.send({"jsonrpc": "2.0", "id": question, "method": "roots/list"})
        arrived.wait(ASK_TIMEOUT_S)
        connection.asked.pop(question, None)
        if not box:
            return []
        known = connection.cache["host_roots"] = _folders_of(box[0])
    return list(known)


def _folders_of(result: object) -> list[str]:
    from urllib.parse import unquote, urlsplit
    folders = []
    roots = result.get("roots") if isinstance(result, dict) else None
    for root in roots if isinstance(roots, list) else []:
        uri = root.get("uri") if isinstance(root, dict) else None
        if isinstance(uri, str) and uri.startswith("file://"):
            try:
                path = unquote(urlsplit(uri).path)
            except ValueError:
                continue
            if os.name == "nt":
                path = path.lstrip("/")
            if path and "\0" not in path:
                folders.append(os.path.realpath(path))
    return folders
