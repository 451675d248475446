"""Check a plugin's Markdown components: skills where the client finds them, commands, agents and their tools, output styles."""
from __future__ import annotations

import os
import re
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.base.frontmatter import parse_frontmatter
from slipstream.engine.contract import HOST_KEYS
from slipstream.engine.issue import ERROR, WARNING
from slipstream.engine.library import find_skill_files, load_library
from slipstream.engine.matter import MatterReader, key_lines
from slipstream.engine.plugin_tables import AGENT_IGNORED, AGENT_KEYS, PLACES, STYLE_KEYS, TOOLS
from slipstream.engine.plugin_validate import READ_LIMIT_BYTES, Plugin, component_files


def check_parts(plugin: Plugin) -> None:
    _check_skills(plugin)
    files = component_files(plugin, "commands")
    plugin.provides["commands"] = len(files)
    for relative in files:
        _read(plugin, relative, HOST_KEYS, ("description",), WARNING)
    files = component_files(plugin, "agents")
    plugin.provides["agents"] = len(files)
    for relative in files:
        _check_agent(plugin, relative)
    files = component_files(plugin, "outputStyles")
    plugin.provides["outputStyles"] = len(files)
    for relative in files:
        _read(plugin, relative, STYLE_KEYS, ("name", "description"), WARNING)


def _read(plugin: Plugin, relative: str, known: tuple[str, ...], required: tuple[str, ...], severity: str
          ) -> tuple[dict[str, Any], MatterReader] | None:
    """Frontmatter of a component with its keys checked; None when it cannot be read."""
    try:
        text = read_text(plugin.path(relative), READ_LIMIT_BYTES)
    except OSError as error:
        plugin.add(relative, 0, ERROR, "path", "cannot be read: %s" % (error.strerror or error))
        return None
    try:
        matter, body = parse_frontmatter(text, relative)
    except SlipstreamError as error:
        plugin.add(relative, error.line or 1, ERROR, "frontmatter", error.message)
        return None
    lines, body_line = key_lines(text)
    reader = MatterReader(plugin.shown + "/" + relative if plugin.shown else relative, lines)
    reader.unknown(matter, known, "")
    for key in required:
        if not matter.get(key):
            reader.add(key, severity, "missing", "`%s` is missing" % key)
        elif not isinstance(matter[key], str):
            reader.add(key, ERROR, "type", "`%s` must be text" % key)
    plugin.issues += reader.issues
    if not body.strip():
        plugin.add(relative, body_line, ERROR, "body", "the file says nothing after its frontmatter")
    return matter, reader


def _check_skills(plugin: Plugin) -> None:
    places = [path for path, _line in plugin.declared.get("skills", [])] + [PLACES["skills"]]
    count = 0
    for place in dict.fromkeys(places):
        folder = plugin.path(place)
        if not os.path.isdir(folder):
            continue
        direct = os.path.isfile(os.path.join(folder, "SKILL.md"))
        for path in find_skill_files(folder):
            relative = os.path.relpath(path, plugin.folder).replace(os.sep, "/")
            depth = os.path.relpath(path, folder).replace(os.sep, "/").count("/")
            if depth > 1 or (direct and depth):
                plugin.add(relative, 0, ERROR, "skill-place",
                           "the client looks for %s/NAME/SKILL.md only, so it never finds this skill" % place)
                continue
            count += 1
            found = _read(plugin, relative, HOST_KEYS + ("slipstream",), ("description",), WARNING)
            if found and "slipstream" in found[0]:
                _check_contract(plugin, os.path.dirname(path))
        for name in sorted(os.listdir(folder)):
            full = os.path.join(folder, name)
            if os.path.isdir(full) and not direct and not find_skill_files(full):
                plugin.add("%s/%s" % (place, name), 0, WARNING, "skill-place", "the folder holds no SKILL.md")
    plugin.provides["skills"] = count


def _check_contract(plugin: Plugin, folder: str) -> None:
    """The findings of our own contract for a skill that has its block; what `requires` names is looked for in the plugin."""
    library = load_library([("folder", folder)], plugin.folder)
    said = {(issue.path.rpartition("/")[2], issue.line, issue.rule) for issue in plugin.issues if issue.rule == "unknown-key"}
    siblings = {os.path.basename(os.path.dirname(path)) for path in find_skill_files(os.path.dirname(folder))}
    for issue in library.issues:
        named = re.search(r"requires `([^`]+)`", issue.message)
        if issue.rule == "requires" and named and named.group(1) in siblings:
            continue
        if (issue.path.rpartition("/")[2], issue.line, issue.rule) in said:
            continue
        if plugin.shown:
            issue.path = plugin.shown + "/" + issue.path
        plugin.issues.append(issue)


def _check_agent(plugin: Plugin, relative: str) -> None:
    found = _read(plugin, relative, AGENT_KEYS + AGENT_IGNORED, ("description",), ERROR)
    if not found:
        return
    matter, reader = found
    count = len(reader.issues)
    if not matter.get("name"):
        reader.add("name", WARNING, "missing", "`name` is missing; the client takes the file's")
    for key in AGENT_IGNORED:
        if key in matter:
            reader.add(key, WARNING, "ignored-key", "the client ignores `%s` in a plugin's agent" % key)
    for key in ("tools", "disallowedTools"):
        value = matter.get(key)
        for name in value if isinstance(value, list) else split_tools(str(value or "")):
            _check_tool(plugin, reader, key, str(name).strip())
    plugin.issues += reader.issues[count:]


def split_tools(text: str) -> list[str]:
    """Names in a tool list, commas and blanks between them, brackets kept together: `Bash(git log:*), Read`."""
    return [name.strip() for name in re.findall(r"[^,\s(]+(?:\([^)]*\))?", text)]


def _check_tool(plugin: Plugin, reader: MatterReader, key: str, name: str) -> None:
    plain = name.partition("(")[0]
    if plain in TOOLS or plain in ("*", "inherit", ""):
        return
    if not plain.startswith("mcp__"):
        reader.add(key, WARNING, "tool", "this client offers no tool `%s`" % plain)
        return
    prefix = "mcp__plugin_%s_" % re.sub(r"[^A-Za-z0-9_-]", "_", plugin.name)
    if not plain.startswith(prefix):
        server = plain.split("__")[1]
        if server in plugin.servers:
            reader.add(key, ERROR, "tool",
                       "a plugin's own tool is called `%s%s__...`, so `%s` is never found" % (prefix, server, plain))
        return
    server = plain[len(prefix):].partition("__")[0]
    if server not in plugin.servers:
        reader.add(key, ERROR, "tool", "`%s` names the server `%s`, which the plugin does not have" % (plain, server))
    elif plugin.name == "slipstream":
        tool = plain[len(prefix):].partition("__")[2]
        known = list_own_tools(plugin)
        if known and tool not in known:
            reader.add(key, ERROR, "tool", "the server has no tool `%s`" % tool)


def list_own_tools(plugin: Plugin) -> set[str]:
    """Names of the tools slipstream's server offers, read from the table beside its source; empty when it is not there."""
    import json
    try:
        tools = json.loads(read_text(plugin.path("src/slipstream/mcp/tools.json")))
    except (OSError, ValueError):
        return set()
    rows = tools if isinstance(tools, list) else tools.get("tools", []) if isinstance(tools, dict) else []
    return {str(row["name"]) for row in rows if isinstance(row, dict) and "name" in row}
