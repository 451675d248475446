"""tools/call: finds the tool, checks its arguments, runs it, bounds its answer. A failing tool is a result with isError."""
from __future__ import annotations

from typing import Any, Callable

from slipstream.base.counts import count_of
from slipstream.base.errors import LockTimeout, SlipstreamError
from slipstream.mcp.hidden import HIDDEN_TOOLS, call_hidden
from slipstream.mcp.protocol import INVALID_PARAMS, Connection, ProtocolError, Request, load_table
from slipstream.mcp.roots import default_root, resolve_root

MAX_ANSWER_BYTES = 32_000
# tool -> (module beside this one, function); loaded when the tool is first called
TOOLS = {
    "sp_map": "map_tools", "sp_symbol": "map_tools", "sp_lines": "map_tools", "sp_outline": "map_tools",
    "sp_search": "map_tools", "sp_refs": "map_tools", "sp_mindmap": "map_tools",
    "sp_remember": "memory_tools", "sp_recall": "memory_tools", "sp_forget": "memory_tools",
    "sp_search_memory": "memory_tools", "sp_timeline": "memory_tools", "sp_observations": "memory_tools",
    "sp_lessons": "memory_tools", "sp_digest": "memory_tools", "sp_resume": "memory_tools",
    "sp_savings": "context_tools", "sp_budget": "context_tools", "sp_dashboard": "context_tools",
}
JSON_TOOLS = ("sp_digest", "sp_resume")


class Cancelled(Exception):
    """The client has taken its request back; nothing is answered."""


class Call:
    """What a tool gets besides its arguments: where it works, for whom, and whether to stop."""

    __slots__ = ("connection", "request", "root", "session")

    def __init__(self, root: str, request: Request, connection: Connection, session: str):
        self.root, self.request, self.connection, self.session = root, request, connection, session

    @property
    def store_root(self) -> str:
        from slipstream.base.roots import find_store_root
        return find_store_root(self.root)

    def host_session(self) -> tuple[str | None, str | None]:
        """(session, transcript) of the host that this server's hooks told of; (our own session, None) where none did.

        (None, None) in a host that has hooks but has not called one yet: then the latest session is meant.
        """
        known = self.connection.cache.get("host_session")
        if known:
            from slipstream.events.backfill import accept_transcript
            return known[0], accept_transcript(known[1], known[0]) if known[1] else None
        from slipstream.mcp.feeder import find_mode
        return (self.session if find_mode(self.root, self.request.client)[0] == "mcp-only" else None), None

    def later(self, work: Callable[[], object]) -> None:
        """Bookkeeping, done once the answer is sent."""
        self.request.after.append(lambda: _quietly(work))

    def progress(self, done: int, total: int) -> None:
        """For work that reports how far it is. Raises Cancelled, as `check` does, when the answer is no longer wanted."""
        if total:
            self.request.progress = (done, total)
        self.check()

    def check(self) -> None:
        if self.request.cancelled:
            raise Cancelled


def call_tool(request: Request, connection: Connection) -> dict[str, Any]:
    name, arguments = request.params.get("name"), request.params.get("arguments")
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, "params.name is the name of a tool")
    if name in HIDDEN_TOOLS:
        if isinstance(arguments, dict) and isinstance(arguments.get("session_id"), str) and arguments["session_id"]:
            transcript = arguments.get("transcript_path")
            connection.cache["host_session"] = arguments["session_id"], transcript if isinstance(transcript, str) else ""
        return text_result(call_hidden(name, arguments, default_root(connection)))
    tool = next((one for one in load_table()["tools"] if one["name"] == name), None)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, "unknown tool: %s" % name[:200])
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return text_result("arguments must be an object", is_error=True)
    from slipstream.mcp.schema import check_arguments
    checked, problem = check_arguments(tool["inputSchema"], arguments)
    if problem:
        return text_result("%s: %s" % (name, problem), is_error=True)
    from slipstream.mcp.feeder import note_call, session_id
    try:
        root = resolve_root(checked.pop("root", ""), request, connection)
        known = connection.cache.get("host_session")
        call = Call(root, request, connection, known[0] if known else session_id(request, connection))
        module = __import__("slipstream.mcp." + TOOLS[name], fromlist=[name])
        bound = bound_json if checked.get("format") == "json" or name in JSON_TOOLS else bound_answer
        text = bound(getattr(module, name)(checked, call))
    except (SlipstreamError, LockTimeout) as error:
        return text_result(str(error), is_error=True)
    except Cancelled:
        return text_result("cancelled", is_error=True)
    except Exception as error:
        from slipstream.mcp.jobs import log_exception
        log_exception(name)
        return text_result('tool "%s" failed: %s: %s' % (name, type(error).__name__, error), is_error=True)
    request.after.append(lambda: note_call(call, name, checked, text))
    return text_result(text)


def _quietly(work: Callable[[], object]) -> None:
    try:
        work()
    except (OSError, SlipstreamError):
        pass  # a store that cannot be written loses a figure, nothing else


def text_result(text: str, is_error: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if is_error:
        result["isError"] = True
    return result


def bound_answer(text: str) -> str:
    """The last net under every tool: whole lines of at most MAX_ANSWER_BYTES, and a word on what was left out."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= MAX_ANSWER_BYTES:
        return text
    room = raw[: MAX_ANSWER_BYTES - 200]
    cut = room.rfind(b"\n") + 1 or len(room)
    left = raw.count(b"\n", cut) + 1
    return "%s\n... cut here: %s (%s bytes); ask for less at once" % (
        room[:cut].decode("utf-8", "ignore").rstrip("\n"), count_of(left, "more line"), format(len(raw) - cut, ","))


def bound_json(text: str) -> str:
    """The same for JSON, which stays JSON: the first entries of its lists, and under "more" how many are left out."""
    if len(text.encode("utf-8", "surrogatepass")) <= MAX_ANSWER_BYTES:
        return text
    import json

    def size_of(value: object) -> int:
        return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    whole = json.loads(text)
    lists = [(size_of(one), name, one) for name, one in (whole.items() if isinstance(whole, dict) else [("", whole)])
             if isinstance(one, list)]
    over = size_of(whole) - MAX_ANSWER_BYTES + 200
    left: dict[str, int] = {}
    for _, name, rows in sorted(lists, key=lambda one: -one[0]):
        while over > 0 and rows:
            over -= size_of(rows.pop()) + 2
            left[name] = left.get(name, 0) + 1
    if over > 0 or not any(rows for _, _, rows in lists):
        raise SlipstreamError("the answer has %d bytes of JSON; ask for less at once" % len(text))
    if isinstance(whole, dict):
        whole["more"] = left
    else:
        whole.append({"more": left[""]})
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
