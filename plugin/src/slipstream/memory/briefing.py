"""What an agent is given, and when: at session start, at a prompt, around a compaction, in a subagent. Hard token ceilings.

Each text is a pure function of the store and the signal, no clock in it, so that the same state gives the same bytes.
"""
from __future__ import annotations

import os

from slipstream.base.tokens import BYTES_PER_TOKEN, approx_text_tokens
from slipstream.memory.authors import attribute, find_authors
from slipstream.memory.digest_facts import newest_digest
from slipstream.memory.fact_reading import FactStore, load_facts
from slipstream.memory.model import Fact
from slipstream.memory.recall import Hit, current_facts, rank_by_signal, render_index_text, render_recall
from slipstream.memory.resume import resume_text
from slipstream.memory.shown import load_shown, save_shown
from slipstream.memory.signal import Signal, read_signal

SESSION_START_TOKENS, PROMPT_TOKENS, COMPACT_TOKENS = 800, 300, 900
_INDEX_TOKENS, _RESUME_TOKENS = 220, 260
_PROMPT_SCORE, _PROMPT_FACTS = 4.0, 3
HINT = "More of it: sp_search_memory (facts, past turns, chats), sp_recall (facts by topic), sp_remember to add a fact."


def session_start_text(store_root: str, tree_root: str, source: str = "startup", session: str = "", prompt: str = "",
                       signal: Signal | None = None, budget_tokens: int = SESSION_START_TOKENS) -> str:
    """Context for a new, resumed or cleared session; after a compaction its digest comes first. "" for an empty store."""
    store = load_facts(store_root)
    parts: list[str] = []
    if source == "compact":
        digest = newest_digest(store_root, session) if session else newest_digest(store_root)
        if digest is not None and os.path.basename(digest.path) not in find_authors(store_root):
            parts.append(_cut("From before the compaction, as recorded:\n" + digest.body, budget_tokens * 2 // 3))
    elif source != "clear":
        parts.append(resume_text(store_root, min(_RESUME_TOKENS, budget_tokens // 3)))
    facts = current_facts(store.facts)
    if facts:
        authors = find_authors(store_root)
        left = budget_tokens - _tokens(parts) - approx_text_tokens(HINT) - 4
        hits = rank_by_signal(facts, signal or read_signal(tree_root, prompt))
        index_room = min(_INDEX_TOKENS, left // 3)
        recalled, taken = render_recall(hits, left - index_room, lambda fact: _note(tree_root, fact), authors)
        parts.append(recalled)
        if session:
            save_shown(store_root, session, [fact.name for fact in taken], anew=source in ("clear", "compact"))
        left = budget_tokens - _tokens(parts) - approx_text_tokens(HINT) - 4
        parts.append(render_index_text(facts, min(_INDEX_TOKENS, left), [fact.name for fact in taken], authors))
    if not any(parts):
        return ""
    return _join([*parts, HINT], budget_tokens)


def prompt_text(store_root: str, tree_root: str, prompt: str, session: str = "", budget_tokens: int = PROMPT_TOKENS) -> str:
    """Facts that the words of one prompt ask for; "" unless a fact clearly fits that this session was not given before."""
    store = load_facts(store_root)
    facts = current_facts(store.facts)
    if not facts or len(prompt.split()) < 2:
        return ""
    shown = load_shown(store_root, session) if session else set()
    hits = [hit for hit in rank_by_signal(facts, Signal(prompt=prompt)) if is_clear(hit) and hit.fact.name not in shown]
    if not hits:
        return ""
    text, taken = render_recall(hits[:_PROMPT_FACTS], budget_tokens, lambda fact: _note(tree_root, fact),
                                find_authors(store_root), lead="Project memory on this:")
    if session:
        save_shown(store_root, session, [fact.name for fact in taken])
    return text


def is_clear(hit: Hit) -> bool:
    """Two of the prompt's words in a fact's name, description or tags, or enough weight from more."""
    return hit.score >= _PROMPT_SCORE and len(hit.reasons) >= 2


def compact_text(store_root: str, tree_root: str, session: str, trigger: str = "auto", transcript_path: str | None = None,
                 hint: str = "", budget_tokens: int = COMPACT_TOKENS) -> str:
    """Saves the digest and returns what joins the summary's instructions: keep these things, word for word."""
    from slipstream.memory.digest import take_digest
    digest, fact = take_digest(store_root, session, trigger, transcript_path, hint, tree_root)
    lead = f"Keep in the summary, exactly as written (also saved as the memory {fact.name}):"
    return _cut(f"{lead}\n\n{digest.render()}", budget_tokens)


def render_facts(store_root: str, tree_root: str, facts: list[Fact], store: FactStore) -> str:
    """Facts in full, as recall by text shows them: `## name (type)`, description, body, with freshness and attribution."""
    from slipstream.memory.fact_index import superseded_names
    authors, replaced = find_authors(store_root), superseded_names(store.facts)
    blocks = []
    for fact in facts:
        notes = [_note(tree_root, fact),
                 f"[superseded by {replaced[fact.name]}]" if fact.name in replaced else ""]
        text = f"{fact.description}\n\n{fact.body}"
        author = authors.get(os.path.basename(fact.path), "")
        if author:
            text = attribute(text, author)
        blocks.append(" ".join([f"## {fact.name} ({fact.type})", *filter(None, notes)]) + "\n" + text)
    return "\n\n".join(blocks) if blocks else "no matching memories"


def _note(tree_root: str, fact: Fact) -> str:
    """Whether the code that the fact cites is still what it was; "" for a fact that cites none."""
    if not fact.sources:
        return ""
    from slipstream.memory.freshness import mark_sources
    return mark_sources(tree_root, fact.sources)


def _tokens(parts: list[str]) -> int:
    return sum(approx_text_tokens(part) + 1 for part in parts if part)


def _join(parts: list[str], budget_tokens: int) -> str:
    return _cut("\n\n".join(part for part in parts if part), budget_tokens)


def _cut(text: str, budget_tokens: int) -> str:
    """At most so many tokens, cut at a line end where one is near."""
    limit = int(budget_tokens * BYTES_PER_TOKEN)
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    piece = raw[:limit].decode("utf-8", "ignore")
    return piece[:piece.rfind("\n")] if piece.rfind("\n") > len(piece) * 2 // 3 else piece
