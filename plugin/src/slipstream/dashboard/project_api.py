"""Addresses about the whole project: memory and its search, map, usage, savings, budget, health."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slipstream.base.errors import SlipstreamError
from slipstream.dashboard.query import Fields, number

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes


def search(routes: Routes, fields: Fields) -> Any:
    """Published {hits}: the one search over everything remembered."""
    from slipstream.memory.search import search_memory

    query = fields.get("q", "").strip()[:400]
    if not query:
        return {"hits": []}
    hits = search_memory(
        routes.store_root,
        query,
        kind=fields.get("kind") or None,
        session=fields.get("session") or None,
        limit=number(fields, "limit", 20, 1, 100),
    )
    return {"hits": [hit.to_record() for hit in hits]}


def search_conversation(routes: Routes, fields: Fields) -> Any:
    return search(routes, {**fields, "kind": "conversation"})


def observation(routes: Routes, fields: Fields) -> Any:
    from slipstream.memory.search import find_records

    if not fields[""].isascii() or not fields[""].isdigit():
        raise SlipstreamError("not a number")
    found = find_records(routes.store_root, [int(fields[""][:12])])
    return found[0] if found else None


def item(routes: Routes, fields: Fields) -> Any:
    """The whole text of any hit, by its id."""
    from slipstream.memory.search import show_item

    text = show_item(routes.store_root, fields.get("id", "")[:400])
    return None if text is None else {"id": fields.get("id", ""), "text": text[:200_000]}


GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {
    "/api/search": search,
    "/api/search/conversation": search_conversation,
    "/api/observation/*": observation,
    "/api/item": item,
}
POST_ROUTES: dict[str, Callable[[Routes, dict[str, Any]], Any]] = {}
