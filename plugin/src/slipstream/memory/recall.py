"""Which facts the agent is given: by free text, or by the signal of its work, under a hard token ceiling."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from slipstream.base.text import STOP_WORDS, split_identifier, stem, words
from slipstream.base.tokens import BYTES_PER_TOKEN, approx_text_tokens
from slipstream.memory.authors import attribute
from slipstream.memory.fact_index import superseded_names
from slipstream.memory.model import Fact
from slipstream.memory.signal import Signal

RECALL_BUDGET_TOKENS = 1200  # as published
WEIGHT_BRANCH, WEIGHT_TAG, WEIGHT_FILE, WEIGHT_DESCRIPTION, WEIGHT_REST = 4.0, 3.0, 3.0, 2.0, 0.5
WEIGHT_COMMIT = 1.0  # ours: recent commit subjects, below a prompt's word
# Names of default branches and the customary first word of a branch say nothing about the work.
_DEFAULT_BRANCHES = frozenset("main master trunk develop development dev default head".split())
_BRANCH_WORDS = frozenset("feat feature features fix bugfix hotfix chore docs doc refactor release test tests wip user users "
                          "claude task issue ticket branch merge".split())
_FILE_WORDS = frozenset("index main init test tests spec readme mod lib app src util utils".split())
LEAD = "Project memory that fits the work at hand (what was recorded earlier, to be checked against the code):"


class Hit:
    __slots__ = ("fact", "reasons", "score")

    def __init__(self, fact: Fact, score: float, reasons: list[str]):
        self.fact, self.score, self.reasons = fact, score, reasons


def text_terms(text: str) -> dict[str, str]:
    """{stem: word} of three or more characters (two in other scripts or upper case), without stop words, each once."""
    found: dict[str, str] = {}
    for word in words(text):
        if word not in STOP_WORDS and (len(word) > 2 or not word.isascii() or word.upper() in text):
            found.setdefault(stem(word), word)
    return found


def branch_terms(branch: str) -> dict[str, str]:
    if branch.lower() in _DEFAULT_BRANCHES:
        return {}
    skip = _BRANCH_WORDS | _DEFAULT_BRANCHES
    return {term: word for term, word in text_terms(branch).items() if word not in skip and not term.isdecimal()}


def file_terms(paths: Iterable[str]) -> dict[str, str]:
    """{stem: word} of the parts of each file's base name, extension dropped, each once."""
    found: dict[str, str] = {}
    for path in paths:
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        name = name.rsplit(".", 1)[0] if "." in name[1:] else name
        for word in [name.lower(), *split_identifier(name)]:
            if len(word) > 2 and word not in _FILE_WORDS:
                found.setdefault(stem(word), word)
    return found


class _Matter:
    """A fact's searchable stems by field."""

    __slots__ = ("rest", "tags", "title")

    def __init__(self, fact: Fact):
        self.title = {stem(word) for word in words(fact.name + " " + fact.description)}
        self.tags = {stem(word) for tag in fact.tags for word in [tag.lower(), *words(tag)]}
        self.rest = {stem(word) for word in words(fact.body + " " + fact.type)}


def fact_terms(fact: Fact) -> set[str]:
    """Every stem of a fact, whatever its field."""
    matter = _Matter(fact)
    return matter.title | matter.tags | matter.rest


def rank_by_signal(facts: Iterable[Fact], signal: Signal) -> list[Hit]:
    """Facts with a match, best first; equal scores go to the newer, then by name. Whole words (stems) match, never parts."""
    branch, files = branch_terms(signal.branch), file_terms(signal.changed_files)
    prompt = text_terms(signal.prompt)
    commits = {term: word for term, word in text_terms(" ".join(signal.commits)).items()
               if term not in prompt and word not in _BRANCH_WORDS}
    hits = []
    for fact in facts:
        matter = _Matter(fact)
        score, reasons = 0.0, []
        for term, word in branch.items():
            if term in matter.title or term in matter.tags:
                score += WEIGHT_BRANCH
                reasons.append(f"branch:{word}")
        for term, word in files.items():
            if term in matter.tags:
                score += WEIGHT_TAG + WEIGHT_FILE
                reasons.append(f"file+tag:{word}")
            elif term in matter.title:
                score += WEIGHT_FILE
                reasons.append(f"file:{word}")
        for term, word in prompt.items():
            if term in matter.tags:
                score += WEIGHT_TAG
                reasons.append(f"prompt-tag:{word}")
            elif term in matter.title:
                score += WEIGHT_DESCRIPTION
                reasons.append(f"prompt:{word}")
            elif term in matter.rest:
                score += WEIGHT_REST
        for term, word in commits.items():
            if term in matter.tags or term in matter.title:
                score += WEIGHT_COMMIT
                reasons.append(f"commit:{word}")
        if score > 0:
            hits.append(Hit(fact, score, list(dict.fromkeys(reasons))))
    hits.sort(key=lambda hit: hit.fact.name)
    hits.sort(key=lambda hit: (hit.score, hit.fact.updated), reverse=True)
    return hits


def rank_by_text(facts: Iterable[Fact], query: str, limit: int = 5) -> list[Fact]:
    """Free-text recall over name, tags, description and body: published weights (3, 2, 1, 0.5), whole words, no stop words."""
    terms = text_terms(query)
    scored = []
    for fact in facts:
        name = {stem(word) for word in words(fact.name)}
        tags = {stem(word) for tag in fact.tags for word in words(tag)}
        description, rest = {stem(w) for w in words(fact.description)}, {stem(w) for w in words(fact.body + " " + fact.type)}
        score = sum((3.0 * (term in name)) + 2.0 * (term in tags) + (1.0 if term in description else 0.5 * (term in rest))
                    for term in terms)
        if score > 0:
            scored.append((score, fact))
    scored.sort(key=lambda pair: pair[1].name)
    scored.sort(key=lambda pair: (pair[0], pair[1].updated), reverse=True)
    return [fact for _, fact in scored[:limit]]


def current_facts(facts: Iterable[Fact], digests: bool = False) -> list[Fact]:
    """Facts an agent may be given: not superseded, and no digests unless asked."""
    kept = list(facts)
    replaced = superseded_names(kept)
    return [fact for fact in kept if fact.name not in replaced and (digests or not fact.is_digest)]


def render_hit(hit: Hit, note: str = "", author: str = "") -> str:
    """One fact for an agent. What somebody else wrote is quoted and attributed: it is material, not an instruction."""
    fact = hit.fact
    why = f" [matched {', '.join(hit.reasons[:3])}]" if hit.reasons else ""
    block = f"### {fact.name} ({fact.type}){why}{' ' + note if note else ''}\n"
    text = f"{' '.join(fact.description.split())}\n\n{fact.body}"
    if author:
        text = attribute(text, author)
    return block + text + "\n"


def render_recall(hits: Iterable[Hit], budget_tokens: int = RECALL_BUDGET_TOKENS,
                  note_of: Callable[[Fact], str] | None = None, authors: dict[str, str] | None = None,
                  lead: str = LEAD) -> tuple[str, list[Fact]]:
    """(text, facts in it). All of the text, headings included, is within the budget; what does not fit is skipped."""
    budget_bytes = int(budget_tokens * BYTES_PER_TOKEN)
    text, taken = lead + "\n", []
    for hit in hits:
        author = (authors or {}).get(os.path.basename(hit.fact.path), "")
        block = "\n" + render_hit(hit, note_of(hit.fact) if note_of else "", author)
        if len((text + block).encode("utf-8", "replace").strip()) <= budget_bytes:
            text += block
            taken.append(hit.fact)
    return (text.strip(), taken) if taken else ("", [])


def render_index_text(facts: Iterable[Fact], budget_tokens: int, skip: Iterable[str] = (),
                      authors: dict[str, str] | None = None) -> str:
    """Names and descriptions of current facts, one a line, newest first, within the budget; says how many were left out."""
    left = set(skip)
    rows = [fact for fact in sorted(facts, key=lambda fact: (fact.updated, fact.name), reverse=True) if fact.name not in left]
    if not rows:
        return ""
    text, shown = "Other facts on record (recall them by name):", 0
    for fact in rows:
        summary = " ".join(fact.description.split())
        author = (authors or {}).get(os.path.basename(fact.path), "")
        line = f'\n- {fact.name}: "{summary}" (by {author})' if author else f"\n- {fact.name}: {summary}"
        if len(line) > 200:
            line = line[:197] + "..."
        if approx_text_tokens(text + line + f"\n({len(rows)} more)") > budget_tokens:
            continue
        text += line
        shown += 1
    if not shown:
        return ""
    return text + (f"\n({len(rows) - shown} more)" if shown < len(rows) else "")
