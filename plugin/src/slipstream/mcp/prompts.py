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
    plugin = os.path.dirname(os.path.realpath(folder or skills_folder()))  # the host fills it in skills, not in prompts
    body = body.replace("${CLAUDE_PLUGIN_ROOT}", plugin.replace(os.sep, "/"))
    return {"description": description, "messages": [{"role": "user", "content": {"type": "text", "text": body}}]}


def load_skills(folder: str | None = None) -> dict[str, tuple[str, str]]:
    """name -> (description, body) of the context skills; one that cannot be read is left out."""
    from slipstream.base.errors import SlipstreamError
    from slipstream.base.files import read_text
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
                fields, body = _parse(read_text(path, MAX_SKILL_BYTES), path)
            except (OSError, SlipstreamError):
                continue
            if base == nested or _is_discipline(fields):
                name = fields.get("name")
                description = fields.get("description")
                found.setdefault(name if isinstance(name, str) and name else entry,
                                 (description if isinstance(description, str) else "", body.strip()))
    return found


def _parse(text: str, path: str) -> tuple[dict[str, Any], str]:
    """Name, description and category; all but plain one-line values goes to the whole parser, which takes long to load."""
    head, mark, body = text.removeprefix("---\n").partition("\n---\n")
    fields: dict[str, Any] = {"slipstream": {}}
    simple = bool(mark) and text.startswith("---\n") and "\r" not in text
    for line in head.split("\n"):
        key, _, value = line.partition(": ")
        value = value.strip()
        if key in ("name", "description", "  category"):
            simple = simple and value[:1] not in ("", *"\"'|>&*!%@`[{#") and ": " not in value and " #" not in value
            (fields if key[0] != " " else fields["slipstream"])[key.strip()] = value
    if not simple or "name" not in fields:
        from slipstream.base.frontmatter import parse_frontmatter
        return parse_frontmatter(text, path)
    return fields, body


def _is_discipline(fields: dict[str, Any]) -> bool:
    """A skill on how to work with context and memory, told by its category."""
    for holder in (fields.get("slipstream"), fields.get("metadata"), fields):
        if isinstance(holder, dict) and holder.get("category") in ("context", "memory"):
            return True
    return False
