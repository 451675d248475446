"""The table of addresses: who may ask, with which method, and which function answers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slipstream.build_info import VERSION
from slipstream.dashboard import health_api, project_api, published, published_project, session_api
from slipstream.dashboard.budgets import Transcripts
from slipstream.dashboard.hub import Hub
from slipstream.dashboard.launch import project_name
from slipstream.dashboard.live import Views
from slipstream.dashboard.policy import Head
from slipstream.dashboard.server import Answer, Server
from slipstream.dashboard.stream import page_stream, session_stream

if TYPE_CHECKING:
    from slipstream.dashboard.server import Handler

Fields = dict[str, str]
GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {}
POST_ROUTES: dict[str, Callable[[Routes, dict[str, Any]], Any]] = {}
SIGN_IN = (
    "This needs a session: run `dashboard open` in the project, it opens the page with a code that works once."
)


class Routes:
    """Answers requests for one project. What panels need hangs here: the views, the hub, the two roots."""

    def __init__(self, server: Server, store_root: str, tree_root: str, nonce: str, started_at: str) -> None:
        self.server, self.gate = server, server.gate
        self.store_root, self.tree_root = store_root, tree_root
        self.nonce, self.started_at = nonce, started_at
        self.views = Views(store_root)
        self.transcripts = Transcripts(store_root, tree_root)
        self.hub = Hub(self.views, lambda view, events, total: session_api.make_delta(self, view, events, total))
        self.summaries: dict[str, tuple[Any, dict[str, Any]]] = {}
        self.cache: dict[str, tuple[Any, Any]] = {}
        self.cache_lock = threading.Lock()
        self.stop_asked = threading.Event()

    def answer(self, handler: Handler, head: Head, path: str, fields: Fields, body: Any) -> Answer | None:
        """The answer to a request that policy let through; None when a stream has already written its own."""
        bearer = self.gate.is_bearer(head.value("authorization"))
        if path == "/api/health" and head.method != "POST":
            # Whoever is not the owner of the token learns that something listens, and nothing else.
            return Answer(self.health()) if bearer else Answer(None, 204)
        if path == "/api/session":
            return self.open_session(head, body)
        if not bearer and not self.gate.is_session(head.values("cookie")):
            return Answer({"error": SIGN_IN}, 401)
        if path in ("/api/code", "/api/shutdown"):
            return self.owner_only(head, path, bearer)
        if path == "/api/stream":
            return self.stream(handler, head, fields)
        if head.method == "POST":
            change = POST_ROUTES.get(path)
            if change is None:
                return Answer({"error": "Nothing can be changed here."}, 405 if self.find(path) else 404)
            return _answer_of(change(self, body))
        found = self.find(path)
        if found is None:
            if path in POST_ROUTES:
                return Answer({"error": "Only POST is answered here."}, 405)
            return Answer({"error": "Not found."}, 404)
        call, rest = found
        return _answer_of(call(self, {**fields, "": rest}))

    def find(self, path: str) -> tuple[Callable[[Routes, Fields], Any], str] | None:
        """The function for an address, and the last part where the table has a `*` there."""
        if path in GET_ROUTES:
            return GET_ROUTES[path], ""
        head, _, last = path.rpartition("/")
        call = GET_ROUTES.get(head + "/*")
        return (call, last) if call is not None and last else None

    def health(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "pid": os.getpid(),
            "startedAt": self.started_at,
            "project": project_name(self.store_root),
            "nonce": self.nonce,
        }

    def open_session(self, head: Head, body: Any) -> Answer:
        """A one-time code for a session cookie."""
        if head.method != "POST":
            return Answer({"error": "Only POST is answered here."}, 405)
        session = self.gate.redeem(body.get("code"))
        if session is None:
            return Answer({"error": "This code was used or is too old. " + SIGN_IN}, 403)
        answer = Answer({"ok": True})
        answer.headers.append(("Set-Cookie", self.gate.cookie(session)))
        return answer

    def owner_only(self, head: Head, path: str, bearer: bool) -> Answer:
        if head.method != "POST":
            return Answer({"error": "Only POST is answered here."}, 405)
        if not bearer:
            return Answer({"error": "Only the owner of the token may ask this."}, 403)
        if path == "/api/code":
            return Answer({"code": self.gate.new_code()})
        self.stop_asked.set()
        return Answer({"ok": True})

    def stream(self, handler: Handler, head: Head, fields: Fields) -> Answer | None:
        if head.method != "GET":
            return Answer({"error": "Only GET is answered here."}, 405)
        last_id = (head.value("last-event-id") or fields.get("last") or "")[:80]
        view = None
        if fields.get("deltas") != "only":
            view = session_api.view_of(self, fields)
        if not self.hub.enter():
            answer = Answer({"error": "Too many streams."}, 503)
            answer.headers.append(("Retry-After", "5"))
            return answer
        try:
            if view is None:
                page_stream(handler, self.hub, last_id)
            else:
                session_stream(handler, self.hub, view, last_id)
        except OSError:
            pass  # the browser left, or did not read for too long
        finally:
            self.hub.leave()
        return None

    def cached(self, name: str, stamp: Any, make: Callable[[], Any]) -> Any:
        """A value that is made again only when its stamp changed."""
        with self.cache_lock:
            found = self.cache.get(name)
        if found is not None and found[0] == stamp:
            return found[1]
        value = make()
        with self.cache_lock:
            self.cache[name] = (stamp, value)
        return value


def _answer_of(value: Any) -> Answer:
    if isinstance(value, Answer):
        return value
    if value is None:
        return Answer({"error": "Not found."}, 404)
    return Answer(value)


GET_ROUTES.update(session_api.GET_ROUTES)
GET_ROUTES.update(project_api.GET_ROUTES)
GET_ROUTES.update(published.GET_ROUTES)
GET_ROUTES.update(published_project.GET_ROUTES)
GET_ROUTES.update(health_api.GET_ROUTES)
POST_ROUTES.update(session_api.POST_ROUTES)
POST_ROUTES.update(project_api.POST_ROUTES)
POST_ROUTES.update(health_api.POST_ROUTES)
