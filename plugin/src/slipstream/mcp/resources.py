"""Resources: what an answer cites can be opened. slipstream://map, slipstream://memory/<name>, slipstream://observation/<id>."""
from __future__ import annotations

from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.mcp.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Connection, ProtocolError, Request
from slipstream.mcp.roots import default_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from slipstream.mcp.calls import Call

SCHEME = "slipstream://"
PAGE_SIZE = 100
MARKDOWN = "text/markdown"
MAP = {"uri": SCHEME + "map", "name": "map", "title": "Project map", "mimeType": MARKDOWN}


def list_resources(request: Request, connection: Connection) -> dict[str, Any]:
    """The map and the remembered facts, a page at a time; observations are opened by the id that an answer cites."""
    from slipstream.base.roots import find_store_root
    from slipstream.memory.lifecycle import has_facts
    cursor = request.params.get("cursor", "0")
    if not isinstance(cursor, str) or not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise ProtocolError(INVALID_PARAMS, "unknown cursor")
    start = int(cursor)
    store_root, rows = find_store_root(default_root(connection)), []
    if has_facts(store_root):
        from urllib.parse import quote

        from slipstream.memory.fact_reading import load_facts
        rows = [(fact.name, fact.description) for fact in load_facts(store_root).facts]
    page = [{"uri": SCHEME + "memory/" + quote(name, safe=""), "name": name, "description": description,
             "mimeType": MARKDOWN} for name, description in rows[start:start + PAGE_SIZE]]
    result: dict[str, Any] = {"resources": ([MAP] if start == 0 else []) + page}
    if start + PAGE_SIZE < len(rows):
        result["nextCursor"] = str(start + PAGE_SIZE)
    return result


def read_resource(request: Request, connection: Connection) -> dict[str, Any]:
    uri = request.params.get("uri")
    if not isinstance(uri, str):
        raise ProtocolError(INVALID_PARAMS, "params.uri is a string")
    kind, _, name = uri[len(SCHEME):].partition("/")
    from urllib.parse import unquote
    name = unquote(name)
    text = None
    if uri.startswith(SCHEME):
        try:
            text = _read(kind, name, _call(request, connection))
        except SlipstreamError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None
    if text is None:
        code = INVALID_PARAMS if request.modern else RESOURCE_NOT_FOUND
        raise ProtocolError(code, "no such resource", {"uri": uri[:500]})
    from slipstream.mcp.calls import bound_answer
    return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": bound_answer(text)}]}


def _read(kind: str, name: str, call: Call) -> str | None:
    from slipstream.mcp import map_tools, memory_tools
    if kind == "map" and not name:
        return map_tools.sp_map({"budget": 4000}, call)
    if kind == "memory":
        return memory_tools.read_fact(name, call)
    if kind == "observation" and name.isascii() and name.isdigit() and len(name) < 16:
        return memory_tools.read_observation(int(name), call)
    return None


def _call(request: Request, connection: Connection) -> Call:
    from slipstream.mcp.calls import Call
    from slipstream.mcp.feeder import session_id
    return Call(default_root(connection), request, connection, session_id(request, connection))
