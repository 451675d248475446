"""The store of facts: one Markdown file each, every change under one lock, one bad file never hides the others."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.base.files import write_atomic
from slipstream.base.store import store_path
from slipstream.memory.fact_reading import (
    INDEX_NAME,
    LOCK_WAIT_S,
    FactStore,
    facts_dir,
    facts_lock,
    file_stem,
    load_locked,
    write_index,
)
from slipstream.memory.fact_reading import (
    load_facts as load_facts,
)
from slipstream.memory.model import FACT_TYPES, Fact


def add_fact(store_root: str, description: str, type: str = "decision", body: str = "", name: str | None = None,
             tags: Iterable[str] = (), sources: Iterable[dict[str, str]] = (), place: Mapping[str, str] | None = None,
             supersedes: Iterable[str] = (), now: str | None = None, update: bool = True, wait_s: float = LOCK_WAIT_S) -> Fact:
    """Writes one fact and the index. SlipstreamError for an unknown type or an empty field. `place`: see read_place.
    LockTimeout when another process holds the facts for `wait_s`, as from all that change them.

    The same name (or, unnamed, the same description) replaces that fact and keeps `created`; a slug that
    another fact holds gets a number behind it, so that nothing is ever overwritten by accident.
    """
    if type not in FACT_TYPES:
        raise SlipstreamError(f"unknown memory type {type!r}: one of {', '.join(FACT_TYPES)}")
    description, body, name = (_clean(store_root, text) for text in (description, body, name or ""))
    if not description:
        raise UsageError("a memory needs a description")
    if not body:
        raise UsageError("a memory needs a body")
    from slipstream.memory.slugs import build_slug
    slug = build_slug(name or description)
    if not slug:
        raise UsageError("a memory needs a name or description with a letter or a digit in it")
    stamp, place = now or now_iso(), {key: _clean(store_root, value) for key, value in (place or {}).items()}
    cited = [{**source, "file": _clean(store_root, str(source["file"]))} for source in sources]
    fact = Fact(slug, description, type, body, _clean_tags(store_root, tags), stamp, stamp, cited,
                place.get("branch", ""), [old for old in supersedes if old],
                {key: value for key, value in place.items() if key != "branch"})
    with facts_lock(store_root, wait_s):
        existing = load_locked(store_root)
        held = _same_fact(existing, fact, name) if update else None
        if held is not None:
            fact.name, fact.created = held.name, held.created or stamp
            fact.sources, fact.branch = fact.sources or held.sources, fact.branch or held.branch
            fact.supersedes = fact.supersedes or held.supersedes
            kept = {key: value for key, value in held.extra.items() if key != "worktree" or not place}
            fact.extra, fact.path = {**kept, **fact.extra}, held.path
        else:
            fact.name = _free_slug(store_root, slug)
            fact.path = store_path(store_root, "memory", fact.name + ".md")
        _save(store_root, fact)
    return fact


def update_fact(store_root: str, name: str, now: str | None = None, wait_s: float = LOCK_WAIT_S, **patch: Any) -> Fact:
    """Changes description, body, type, tags, sources, branch or supersedes of one fact; SlipstreamError when absent."""
    if patch.get("type") is not None and patch["type"] not in FACT_TYPES:
        raise SlipstreamError(f"unknown memory type {patch['type']!r}: one of {', '.join(FACT_TYPES)}")
    with facts_lock(store_root, wait_s):
        fact = load_locked(store_root).find(name)
        if fact is None:
            raise SlipstreamError(f'no memory named "{name}"')
        for key, value in patch.items():
            if value is None:
                continue
            if key in ("description", "body"):
                value = _clean(store_root, value)
                if not value:
                    raise UsageError(f"a memory needs a {key}")
            elif key == "tags":
                value = _clean_tags(store_root, value)
            setattr(fact, key, value)
        fact.updated = now or now_iso()
        _save(store_root, fact)
    return fact


def supersede_fact(store_root: str, old_name: str, description: str, body: str, type: str | None = None,
                   tags: Iterable[str] | None = None, sources: Iterable[dict[str, str]] = (),
                   place: Mapping[str, str] | None = None) -> Fact:
    """A new fact that replaces an old one: the old stays on disk and is no longer given to an agent."""
    old = get_fact(store_root, old_name)
    return add_fact(store_root, description, type or old.type, body, tags=old.tags if tags is None else tags,
                    sources=sources, place=place, supersedes=[old.name], update=False)


def get_fact(store_root: str, name: str) -> Fact:
    fact = load_facts(store_root).find(name)
    if fact is None:
        raise SlipstreamError(f'no memory named "{name}"')
    return fact


def prune_fact(store_root: str, name: str, wait_s: float = LOCK_WAIT_S) -> bool:
    """Deletes one fact by its name; False when there is none. A name that is a path is refused, never followed."""
    return bool(remove_facts(store_root, [name], wait_s))


def remove_facts(store_root: str, names: Iterable[str], wait_s: float = LOCK_WAIT_S) -> list[str]:
    """Deletes files of the memory folder by fact name or file stem; returns what was there. The index follows."""
    from slipstream.memory.slugs import is_safe_name
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if not is_safe_name(name):
            raise SlipstreamError(f"not a memory name: {name!r}")
    removed = []
    with facts_lock(store_root, wait_s):
        existing = load_locked(store_root)
        for name in wanted:
            fact = existing.find(name)
            path = fact.path if fact else os.path.join(facts_dir(store_root), name + ".md")
            try:
                os.unlink(path)
            except OSError:
                continue
            removed.append(name)
        write_index(store_root)
    return removed


def rebuild_index(store_root: str) -> str:
    """Renders the index from the files, writes it, returns its text."""
    with facts_lock(store_root):
        return write_index(store_root)


def _clean(store_root: str, text: str) -> str:
    from slipstream.events.redact import redact_text
    return redact_text(text, store_root)[0].strip()


def _clean_tags(store_root: str, tags: Iterable[str]) -> list[str]:
    """Redacted together, for a text that commas cut into tags tells only as a whole what is secret in it."""
    return [tag for tag in (" ".join(tag.split()) for tag in _clean(store_root, ",".join(tags)).split(",")) if tag]


def _same_fact(existing: FactStore, fact: Fact, given_name: str) -> Fact | None:
    if given_name:
        held = existing.find(given_name) or existing.find(fact.name)
        return held if held and (given_name in (held.name, file_stem(held.path)) or held.description == fact.description
                                 ) else None
    held = existing.find(fact.name)
    if held is None or held.description == fact.description:
        return held
    return next((other for other in existing.facts if other.description == fact.description), None)


def _free_slug(store_root: str, slug: str) -> str:
    folder, number, free = facts_dir(store_root), 1, slug
    while os.path.lexists(os.path.join(folder, free + ".md")):
        number += 1
        free = f"{slug[:56].rstrip('-')}-{number}"
    return free


def _save(store_root: str, fact: Fact) -> None:
    store_path(store_root, "memory", INDEX_NAME)
    from slipstream.memory.fact_file import render_fact
    write_atomic(fact.path, render_fact(fact))
    write_index(store_root)
