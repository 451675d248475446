"""Find the skill for a task: BM25 over name, tags, trigger and body, with the name and the trigger weighing most."""
from __future__ import annotations

import math
import os
from typing import Any

from slipstream.base.text import terms
from slipstream.engine.contract import Skill
from slipstream.engine.library import Library
from slipstream.engine.places import find_pyz

OWN_COMMAND = 'python3 -I -S "${CLAUDE_PLUGIN_ROOT}/slipstream.pyz"'
# Okapi BM25 with the constants of Robertson and Zaragoza (2009).
K1 = 1.2
B = 0.75
FIELD_WEIGHTS = (("name", 4.0), ("tags", 3.0), ("description", 3.0), ("category", 2.0), ("body", 0.5))


def _weighted_terms(skill: Skill) -> dict[str, float]:
    counts: dict[str, float] = {}
    for field, weight in FIELD_WEIGHTS:
        value = getattr(skill, field)
        text = " ".join(value) if isinstance(value, list) else str(value).replace("-", " ")
        for term in terms(text):
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def search_skills(library: Library, query: str, limit: int = 8, category: str = "") -> list[tuple[Skill, float]]:
    """(skill, score) of the best matches, highest first; with no query all of them by category and name."""
    skills = [skill for _name, skill in sorted(library.skills.items()) if not category or skill.category == category]
    wanted = set(terms(query))
    if not wanted:
        return [(skill, 0.0) for skill in sorted(skills, key=lambda s: (s.category, s.name))][:limit]
    documents = [(skill, _weighted_terms(skill)) for skill in skills]
    if not documents:
        return []
    average = sum(sum(counts.values()) for _skill, counts in documents) / len(documents)
    rarity: dict[str, float] = {}
    for term in wanted:
        having = sum(1 for _skill, counts in documents if term in counts)
        rarity[term] = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
    scored: list[tuple[Skill, float]] = []
    for skill, counts in documents:
        length = sum(counts.values()) / (average or 1.0)
        score = 0.0
        for term in wanted:
            frequency = counts.get(term, 0.0)
            score += rarity[term] * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))
        if score > 0:
            scored.append((skill, score))
    scored.sort(key=lambda pair: (-pair[1], pair[0].shown_name))
    return scored[:limit]


def skill_record(skill: Skill, body: bool = False) -> dict[str, Any]:
    """The skill as JSON for a program."""
    gate = skill.gate
    record: dict[str, Any] = {
        "name": skill.shown_name, "description": skill.description, "category": skill.category,
        "origin": skill.origin, "listed": skill.listed, "requires": skill.requires, "tags": skill.tags,
        "path": skill.path,
        "gate": None if gate is None else {
            "kind": gate.kind, "description": gate.description, "command": gate.command, "expect": gate.expect or None,
            "effect": gate.effect or None, "inputs": list(skill.inputs)},
    }
    if body:
        record["body"] = fill_paths(skill.body)
    return record


def render_hits(hits: list[tuple[Skill, float]], query: str) -> str:
    """One line a skill; with a query, how to read the first one."""
    if not hits:
        return "no skill fits `%s`" % query if query else "no skill of that category"
    width = max(len(skill.shown_name) for skill, _score in hits)
    lines = ["%-*s  %-10s  %s" % (width, skill.shown_name, skill.category, skill.description) for skill, _score in hits]
    if query:
        lines.append("read one: %s skills show %s" % (fill_paths(OWN_COMMAND), hits[0][0].shown_name))
    return "\n".join(lines)


def render_skill(skill: Skill) -> str:
    lines = ["# %s (%s, %s)" % (skill.shown_name, skill.category, skill.origin), skill.description]
    if skill.requires:
        lines.append("requires: %s" % ", ".join(skill.requires))
    if skill.gate:
        lines.append("gate: %s" % skill.gate.command)
    return "\n".join(lines + ["", fill_paths(skill.body.strip())])


def fill_paths(text: str) -> str:
    """The text with the host's placeholder for the plugin's folder filled, as the host does for a skill it loads itself."""
    pyz = find_pyz()
    return text.replace("${CLAUDE_PLUGIN_ROOT}", os.path.dirname(pyz).replace("\\", "/")) if pyz else text
