"""Prompts: the plugin's discipline skills, read from `skills/` beside the pyz; a pyz copied alone has none."""
from __future__ import annotations

import os
from typing import Any

from slipstream.mcp.protocol import INVALID_PARAMS, ProtocolError

MAX_SKILL_BYTES = 200_000
MAX_PROMPTS = 200


def skills_folder() -> str:
    """plugin/skills: beside the pyz, or above the package of a checkout."""
    place = os.path.dirname(os.path.abspath(__file__))
    archive, mark, _ = place.partition(".pyz" + os.sep)
    if mark:
        return os.path.join(os.path.dirname(archive + ".pyz"), "skills")
    return os.path.join(place, *[os.pardir] * 3, "skills")  # mcp, slipstream, src -> plugin


def list_prompts(folder: str | None = None) -> list[dict[str, Any]]:
    return [{"name": name, "description": description} if description else {"name": name}
            for name, (description, _) in sorted(load_skills(folder).items())][:MAX_PROMPTS]


def get_prompt(name: Any, folder: str | None = None) -> dict[str, Any]:
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, "params.name is the name of a prompt")
    found = load_skills(folder).get(name)
    if found is None:
        raise ProtocolError(INVALID_PARAMS, "unknown prompt: %s" % name[:200])
    description, body = found
    return {"description": description, "messages": [{"role": "user", "content": {"type": "text", "text": body}}]}


def load_skills(folder: str | None = None) -> dict[str, tuple[str, str]]:
    """name -> (description, body) of the context skills; one that cannot be read is left out."""
    from slipstream.base.errors import SlipstreamError
    from slipstream.base.files import read_text
    from slipstream.base.frontmatter import parse_frontmatter
    skills = folder or skills_folder()
    nested = os.path.join(skills, "context")  # the published layout keeps the discipline skills in a folder of their own
    found: dict[str, tuple[str, str]] = {}
    for base in (nested, skills):
        try:
            names = sorted(os.listdir(base))
        except OSError:
            continue
        for entry in names:
            path = os.path.join(base, entry, "SKILL.md")
            try:
                fields, body = parse_frontmatter(read_text(path, MAX_SKILL_BYTES), path)
            except (OSError, SlipstreamError):
                continue
            if base == nested or _is_discipline(fields):
                name = fields.get("name")
                description = fields.get("description")
                found.setdefault(name if isinstance(name, str) and name else entry,
                                 (description if isinstance(description, str) else "", body.strip()))
    return found


def _is_discipline(fields: dict[str, Any]) -> bool:
    """A skill on how to work with context and memory, told by its category."""
    for holder in (fields.get("slipstream"), fields.get("metadata"), fields):
        if isinstance(holder, dict) and holder.get("category") in ("context", "memory"):
            return True
    return False
