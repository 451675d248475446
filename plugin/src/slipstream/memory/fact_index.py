"""MEMORY.md, the index of facts: always rendered from the files, grouped by type as published."""
from __future__ import annotations

from collections.abc import Iterable

from slipstream.memory.model import Fact

_NOTE = ("Generated from the files in this folder, one fact each. Edit those, not this list: it is rebuilt whenever "
         "one of them changes.")


def superseded_names(facts: Iterable[Fact]) -> dict[str, str]:
    """{name of an outdated fact: name of the one that replaces it}. Of facts that replace each other the newest stands."""
    held = {fact.name: fact for fact in facts}
    replaced = {old: fact.name for fact in held.values() for old in fact.supersedes if old != fact.name}
    done: set[str] = set()
    for start in list(replaced):
        name, chain = start, dict[str, None]()
        while name in replaced and name not in done and name not in chain:
            chain[name] = None
            name = replaced[name]
        if name in chain:  # a circle, as edits on two branches can make
            circle = list(chain)[list(chain).index(name):]
            del replaced[max(circle, key=lambda one: (held[one].updated, one))]
        done.update(chain)
    return replaced


def render_index(facts: list[Fact]) -> str:
    lines = ["# Project memory index", "", _NOTE, ""]
    if not facts:
        lines.append("No memories yet.")
    replaced = superseded_names(facts)
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact.type, []).append(fact)
    for type_name in sorted(groups):
        lines += [f"## {type_name}", ""]
        lines += [_index_line(fact, replaced.get(fact.name)) for fact in groups[type_name]]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _index_line(fact: Fact, replaced_by: str | None) -> str:
    line = f"- **{fact.name}**: {' '.join(fact.description.split())}"
    if fact.tags:
        line += f" (tags: {', '.join(fact.tags)})"
    return line + (f" (superseded by {replaced_by})" if replaced_by else "")
