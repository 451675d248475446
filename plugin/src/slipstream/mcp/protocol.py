"""MCP as JSON-RPC messages: five protocol revisions in two eras, from one message to its answer. Loaded at every start.

Legacy (2024-11-05 to 2025-11-25) opens with `initialize`; modern (2026-07-28) names version and client in each
request's `_meta` and keeps no state between requests. The era is read from each message, never remembered.
Source: the specification's pages and JSON Schemas of the five revisions.
"""
from __future__ import annotations

from slipstream.build_info import VERSION
from slipstream.mcp.codec import decode_line

TYPE_CHECKING = False
if TYPE_CHECKING:  # the typing module costs half a bare start
    from typing import Any, Callable

LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
BATCH_VERSION = "2025-03-26"  # the only revision with batches
META_PREFIX = "io.modelcontextprotocol/"
META_VERSION = META_PREFIX + "protocolVersion"
META_CAPABILITIES = META_PREFIX + "clientCapabilities"
META_CLIENT = META_PREFIX + "clientInfo"
META_SERVER = META_PREFIX + "serverInfo"
META_SUBSCRIPTION = META_PREFIX + "subscriptionId"

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022
RESOURCE_NOT_FOUND = -32002  # legacy only; the modern era says INVALID_PARAMS

SERVER_INFO = {"name": "slipstream", "version": VERSION}
CAPABILITIES = {"tools": {"listChanged": False}, "prompts": {"listChanged": False},
                "resources": {"subscribe": False, "listChanged": False}}
STATIC_TTL_MS = 3_600_000  # lists that cannot change while this process runs
# method -> (ttlMs, cacheScope) of the results that carry them in the modern era
CACHE_HINTS = {"server/discover": (STATIC_TTL_MS, "public"), "tools/list": (STATIC_TTL_MS, "public"),
               "prompts/list": (STATIC_TTL_MS, "public"), "resources/templates/list": (STATIC_TTL_MS, "public"),
               "resources/list": (0, "private"), "resources/read": (0, "private")}
# Methods that touch the disk: the loop hands them to a worker, everything else is answered where it is read.
SLOW_METHODS = ("tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read")
HOOK_TOOLS = ("sp_hook",)  # hidden ones, which the host's hooks call; see module `hidden`
LEGACY_ONLY = ("initialize", "ping")
MODERN_ONLY = ("server/discover", "subscriptions/listen")


class ProtocolError(Exception):
    """A fault of the protocol, answered as a JSON-RPC error object."""

    def __init__(self, code: int, message: str, data: Any = None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Request:
    """One request being served: who asks, in which era, and the ways to be stopped and to report progress."""

    __slots__ = ("after", "cancelled", "client", "id", "method", "modern", "params", "progress", "progress_token")

    def __init__(self, request_id: Any, method: str, params: dict[str, Any]):
        self.id, self.method, self.params = request_id, method, params
        self.modern = False
        self.client = ""  # clientInfo.name of this request, else of the handshake
        self.cancelled = False
        self.progress_token: Any = None
        self.after: list[Callable[[], None]] = []  # bookkeeping that can wait until the answer is sent
        self.progress: tuple[int, int] | None = None  # (done, of how many) where the work knows it


class Connection:
    """What one pipe knows: its project, the legacy handshake, and the requests in flight."""

    def __init__(self, root: str | None = None, send: Callable[[dict[str, Any]], None] | None = None):
        self.explicit_root = root
        self.send = send  # writes one message to the client; None when there is no wire
        self.legacy_version: str | None = None
        self.client = ""
        self.client_capabilities: dict[str, Any] = {}
        self.saw_modern = False
        self.in_flight: dict[tuple[type, Any], list[Request]] = {}
        self.listening: list[Request] = []
        self.asked: dict[Any, Callable[[Any], None]] = {}  # our own requests: id -> what takes the result
        self.cache: dict[str, Any] = {}  # what lazily loaded parts keep for this connection

    def start(self, request: Request) -> None:
        self.in_flight.setdefault((type(request.id), request.id), []).append(request)

    def finish(self, request: Request) -> None:
        key = (type(request.id), request.id)
        running = [other for other in self.in_flight.get(key, ()) if other is not request]
        if running:
            self.in_flight[key] = running
        else:
            self.in_flight.pop(key, None)


def handle_request(message: Any, connection: Connection, request: Request | None = None) -> Any:
    """One decoded message -> the answer (object, or array for a batch), or None where there is nothing to answer.

    Never raises. Without side effects other than those of the tool called and on `connection`.
    `request` is given when the caller has registered the message with `open_request` already; it then runs
    `request.after` itself.
    """
    if isinstance(message, list):
        if connection.legacy_version != BATCH_VERSION or not message:
            return error_response(None, INVALID_REQUEST, "a batch needs protocol version %s and a message" % BATCH_VERSION)
        return handle_batch(message, connection)
    if not isinstance(message, dict):
        return error_response(None, INVALID_REQUEST, "a message is one JSON object")
    method, request_id = message.get("method"), message.get("id")
    if not needs_answer(message):
        if "method" in message:
            _handle_notification(method, message.get("params"), connection)
        else:
            _take_answer(message, connection)
        return None
    if not is_request_id(request_id):
        return error_response(None, INVALID_REQUEST, "id is a string or an integer, method a string")
    if not isinstance(method, str) or message.get("jsonrpc") != "2.0":
        return error_response(request_id, INVALID_REQUEST, 'a request has "jsonrpc": "2.0" and a method')
    given = request
    request = given or open_request(message, connection)
    try:
        result = _serve(request, message.get("params", {}), connection)
    except ProtocolError as fault:
        result = None
        answer = error_response(request_id, fault.code, fault.message, fault.data)
    except Exception as error:  # the loop never dies; a failing tool does not come here
        log_bug(method[:80])
        result = None
        answer = error_response(request_id, INTERNAL_ERROR, "%s: %s" % (type(error).__name__, error))
    finally:
        connection.finish(request)
        if given is None:
            run_after(request)
    if request.cancelled or (result is None and method == "subscriptions/listen" and request in connection.listening):
        return None
    return answer if result is None else {"jsonrpc": "2.0", "id": request_id, "result": result}


def run_after(request: Request) -> None:
    """Never raises: what fails here has no answer to spoil any more."""
    for work in request.after:
        try:
            work()
        except Exception:
            log_bug("after " + request.method)


def log_bug(where: str) -> None:
    """The traceback of the exception being handled, on standard error. Never raises."""
    try:
        from slipstream.mcp.jobs import log_exception
        log_exception(where)
    except Exception:
        pass  # the pyz is torn or gone: nothing more can be loaded


def open_request(message: dict[str, Any], connection: Connection) -> Request:
    """Registers a request as in flight, so that it can be cancelled before its work begins."""
    params = message.get("params", {})
    request = Request(message["id"], message["method"], params if isinstance(params, dict) else {})
    connection.start(request)
    return request


def is_request_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def needs_answer(message: Any) -> bool:
    """Whether a member of a batch is answered: not a notification, and not an answer itself."""
    if not isinstance(message, dict):
        return True
    if "method" not in message and ("result" in message or "error" in message):
        return False
    return "id" in message or not isinstance(message.get("method"), str)


def error_response(request_id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def _serve(request: Request, params: Any, connection: Connection) -> dict[str, Any] | None:
    if not isinstance(params, dict) or not isinstance(params.get("_meta", {}), dict):
        raise ProtocolError(INVALID_PARAMS, "params is an object, and so is params._meta")
    meta = params.get("_meta", {})
    method = request.method
    token = meta.get("progressToken")
    request.progress_token = token if is_request_id(token) else None
    _read_era(request, meta, connection)
    handler = _METHODS.get(method)
    if handler is None or method in (LEGACY_ONLY if request.modern else MODERN_ONLY):
        raise ProtocolError(METHOD_NOT_FOUND, "unknown method: %s" % method[:200])
    result = handler(request, connection)
    if request.modern and result is not None:
        result["resultType"] = "complete"
        result.setdefault("_meta", {})[META_SERVER] = SERVER_INFO
        hints = CACHE_HINTS.get(method)
        if hints:
            result["ttlMs"], result["cacheScope"] = hints
    return result


def _read_era(request: Request, meta: dict[str, Any], connection: Connection) -> None:
    """Sets the request's era and client; raises for a modern request that lacks what it must carry."""
    if META_VERSION not in meta and META_CAPABILITIES not in meta and request.method != "server/discover":
        request.client = connection.client
        return
    request.modern = connection.saw_modern = True
    version = meta.get(META_VERSION)
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, "_meta needs %s, a string" % META_VERSION)
    if version not in MODERN_VERSIONS:
        raise ProtocolError(UNSUPPORTED_VERSION, "protocol version not served",
                            {"supported": list(MODERN_VERSIONS), "requested": version})
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        raise ProtocolError(INVALID_PARAMS, "_meta needs %s, an object" % META_CAPABILITIES)
    client = meta.get(META_CLIENT)
    name = client.get("name") if isinstance(client, dict) else None
    request.client = name if isinstance(name, str) else ""


def handle_batch(messages: list[Any], connection: Connection) -> list[Any] | None:
    """The answers to a batch that was read while batches were allowed."""
    answers = []
    for message in messages:
        nested = isinstance(message, list) or (isinstance(message, dict) and message.get("method") == "initialize"
                                               and "id" in message)
        if nested:
            request_id = message.get("id") if isinstance(message, dict) else None
            answers.append(error_response(request_id if is_request_id(request_id) else None, INVALID_REQUEST,
                                          "not allowed inside a batch"))
        else:
            answers.append(handle_request(message, connection))
    return [answer for answer in answers if answer is not None] or None


def _handle_notification(method: Any, params: Any, connection: Connection) -> None:
    if method == "notifications/cancelled" and isinstance(params, dict):
        target = params.get("requestId")
        if is_request_id(target):
            for request in connection.in_flight.get((type(target), target), ()):
                request.cancelled = True
            connection.listening = [one for one in connection.listening
                                    if (type(one.id), one.id) != (type(target), target)]
    elif method == "notifications/roots/list_changed":
        connection.cache.pop("host_roots", None)


def _take_answer(message: dict[str, Any], connection: Connection) -> None:
    request_id = message.get("id")
    take = connection.asked.pop(request_id, None) if is_request_id(request_id) else None
    if take:
        take(message.get("result"))


def _initialize(request: Request, connection: Connection) -> dict[str, Any]:
    params = request.params
    version = params.get("protocolVersion")
    connection.legacy_version = version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
    capabilities, client = params.get("capabilities"), params.get("clientInfo")
    connection.client_capabilities = capabilities if isinstance(capabilities, dict) else {}
    name = client.get("name") if isinstance(client, dict) else None
    connection.client = request.client = name if isinstance(name, str) else ""
    return {"protocolVersion": connection.legacy_version, "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO, "instructions": load_table()["instructions"]}


def _discover(request: Request, connection: Connection) -> dict[str, Any]:
    return {"supportedVersions": list(MODERN_VERSIONS), "capabilities": CAPABILITIES,
            "instructions": load_table()["instructions"]}


def _ping(request: Request, connection: Connection) -> dict[str, Any]:
    return {}


def _listen(request: Request, connection: Connection) -> dict[str, Any] | None:
    """A long-lived request. Our lists do not change, so it is acknowledged with nothing to honour."""
    if not isinstance(request.params.get("notifications"), dict):
        raise ProtocolError(INVALID_PARAMS, "params.notifications is an object")
    if connection.send is None:
        return end_listening(request)
    connection.listening.append(request)
    connection.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                     "params": {"notifications": {}, "_meta": {META_SUBSCRIPTION: request.id}}})
    return None


def end_listening(request: Request) -> dict[str, Any]:
    """The result that ends a `subscriptions/listen` stream in good order."""
    return {"resultType": "complete", "_meta": {META_SUBSCRIPTION: request.id, META_SERVER: SERVER_INFO}}


def _list_tools(request: Request, connection: Connection) -> dict[str, Any]:
    _refuse_cursor(request)
    return {"tools": load_table()["tools"]}


def _call_tool(request: Request, connection: Connection) -> dict[str, Any] | None:
    try:
        from slipstream.mcp.calls import call_tool
    except Exception:
        if request.params.get("name") not in HOOK_TOOLS:
            raise
        return {"content": [{"type": "text", "text": ""}]}  # the pyz is torn or gone; a failed hook prints a line at each event
    return call_tool(request, connection)


def _list_prompts(request: Request, connection: Connection) -> dict[str, Any]:
    from slipstream.mcp.prompts import list_prompts
    _refuse_cursor(request)
    return {"prompts": list_prompts()}


def _get_prompt(request: Request, connection: Connection) -> dict[str, Any]:
    from slipstream.mcp.prompts import get_prompt
    return get_prompt(request.params.get("name"))


def _list_resources(request: Request, connection: Connection) -> dict[str, Any]:
    from slipstream.mcp.resources import list_resources
    return list_resources(request, connection)


def _list_templates(request: Request, connection: Connection) -> dict[str, Any]:
    _refuse_cursor(request)
    return {"resourceTemplates": load_table()["resourceTemplates"]}


def _read_resource(request: Request, connection: Connection) -> dict[str, Any]:
    from slipstream.mcp.resources import read_resource
    return read_resource(request, connection)


def _refuse_cursor(request: Request) -> None:
    if request.params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "unknown cursor: this list has one page")


_METHODS: dict[str, Callable[[Request, Connection], dict[str, Any] | None]] = {
    "initialize": _initialize, "server/discover": _discover, "ping": _ping, "subscriptions/listen": _listen,
    "tools/list": _list_tools, "tools/call": _call_tool, "prompts/list": _list_prompts, "prompts/get": _get_prompt,
    "resources/list": _list_resources, "resources/templates/list": _list_templates, "resources/read": _read_resource,
}
_table: dict[str, Any] = {}


def load_table() -> dict[str, Any]:
    """tools.json beside this module, in the pyz or in a checkout: instructions, tools, resource templates."""
    if not _table:
        import os
        loader: Any = globals()["__loader__"]
        raw = loader.get_data(os.path.join(os.path.dirname(__file__), "tools.json"))
        _table.update(decode_line(raw))
    return _table
