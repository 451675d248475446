"""Digests as facts: how they are named and which is the newest. Light: a session's start reads them and writes none."""
from __future__ import annotations

import re

from slipstream.memory.fact_reading import load_facts
from slipstream.memory.model import Fact

PREFIX = "session-digest-"


def digest_name(session: str) -> str:
    """Published: the session lower-cased, other runs of characters `-`, at most 40; `main` when nothing is left."""
    return PREFIX + (re.sub(r"[^a-z0-9]+", "-", session.lower()).strip("-")[:40] or "main")


def newest_digest(store_root: str, session: str | None = None) -> Fact | None:
    """The latest digest of the project, or of one session; by its own time, then by name."""
    found = [fact for fact in load_facts(store_root).facts if fact.is_digest and fact.name.startswith(PREFIX)
             and (session is None or (same_session(fact, session) and fact.name.startswith(digest_name(session))))]
    def rank(fact: Fact) -> tuple[str, bool, str]:
        return fact.updated or fact.created, fact.name == digest_name(digest_session(fact)), fact.name
    return max(found, key=rank, default=None)


def digest_session(fact: Fact) -> str:
    held = fact.extra.get("session")
    return held if isinstance(held, str) else fact.name[len(PREFIX):]


def same_session(fact: Fact, session: str) -> bool:
    held = fact.extra.get("session")
    return not isinstance(held, str) or held == session
