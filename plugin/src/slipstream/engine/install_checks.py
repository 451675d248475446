"""Is what is installed what should be? Files of the plugin, the pyz against its source, registrations, the skills."""
from __future__ import annotations

import os
import re
import time
import zipfile
from collections.abc import Callable

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.base.packing import pack_source
from slipstream.build_info import VERSION
from slipstream.engine.diagnosis import FAIL, OK, WARN, Finding, Patient
from slipstream.engine.issue import has_errors
from slipstream.engine.jsonc import Node, parse_jsonc
from slipstream.engine.library import default_folders, load_library
from slipstream.engine.plugin_validate import render_provided, validate_plugin
from slipstream.engine.setup import apply_change, is_own_status_line, is_plugin_enabled, plan_status_line

# What the plugin is to bring; a test holds this to what is in the folder.
SHIPPED = {"hooks": 15, "mcpServers": 1, "skills": 36, "commands": 11, "agents": 3, "outputStyles": 1}
FAILURE_KEPT_S = 900
ENOUGH = 3  # differing files that need not be counted further


def check_pyz(patient: Patient) -> list[Finding]:
    """The pyz is readable and holds what the source beside it says."""
    if not patient.pyz or not os.path.isfile(patient.pyz):
        return [Finding("pyz", FAIL, "there is no slipstream.pyz",
                        "install the plugin again, or run python3 build_zipapp.py in a checkout")]
    try:
        with zipfile.ZipFile(patient.pyz) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        return [Finding("pyz", FAIL, "%s is damaged: %s" % (patient.short(patient.pyz), error), "install the plugin again")]
    source = os.path.join(os.path.dirname(patient.pyz), "src")
    if not os.path.isdir(os.path.join(source, "slipstream")):
        return [Finding("pyz", OK, "%d kB, no source beside it" % (os.path.getsize(patient.pyz) / 1000))]
    files = {os.path.relpath(os.path.join(place, name), source).replace(os.sep, "/"): os.path.join(place, name)
             for place, _folders, names in os.walk(os.path.join(source, "slipstream")) for name in names
             if not name.endswith(".pyc")}
    differing = [name for name in held if name.startswith("slipstream/") and name not in files]
    for name in sorted(files, key=lambda name: -os.stat(files[name]).st_mtime):  # what was edited last is compared first
        wanted = read_text(files[name]).replace("\r\n", "\n")
        if name in held or name.endswith(".py"):
            packed = pack_source(wanted) if name.endswith(".py") else wanted
            if held.get(name) != packed.encode("utf-8"):
                differing.append(name)
        if len(differing) >= ENOUGH:
            break
    if differing:
        return [Finding("pyz", FAIL,
                        "differs from the source beside it: %s" % ", ".join(differing),
                        "python3 build_zipapp.py in a checkout, else install the plugin again")]
    return [Finding("pyz", OK, "%d kB, agrees with its source" % (os.path.getsize(patient.pyz) / 1000))]


def check_plugin(patient: Patient) -> list[Finding]:
    if not patient.plugin:
        return [Finding("plugin", OK, "a lone pyz, not a plugin")]
    issues, provides = validate_plugin(patient.plugin)
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        return [Finding("plugin", FAIL, "%s, the first: %s" % (count_of(len(errors), "error"), errors[0]),
                        "slipstream plugin-validate shows all; install the plugin again")]
    lacking = ["%d of %d %s" % (provides.get(name, 0), count, name) for name,
               count in SHIPPED.items() if provides.get(name, 0) < count]
    if lacking and _json_text(patient.plugin, "name") == "slipstream":
        return [Finding("plugin", FAIL, "incomplete: %s" % ", ".join(lacking), "install the plugin again")]
    version = _json_text(patient.plugin, "version")
    if version != VERSION:
        said = "the manifest says version %s, the code is %s" % (version, VERSION)
        return [Finding("plugin", FAIL, said, "install the plugin again")]
    return [Finding("plugin", OK, render_provided(provides))]


def _json_text(plugin: str, key: str) -> str:
    node = _json_at(os.path.join(plugin, ".claude-plugin", "plugin.json"))
    found = node.at(key) if node else None
    return str(found.value) if found is not None else ""


def check_skills(patient: Patient) -> list[Finding]:
    folders = [pair for pair in default_folders(patient.tree_root, patient.home) if pair[0] != "plugin"]
    if patient.plugin:
        folders.insert(0, ("plugin", os.path.join(patient.plugin, "skills")))
    library = load_library(folders)
    if has_errors(library.issues):
        first = next(issue for issue in library.issues if issue.severity == "error")
        return [Finding("skills", FAIL, str(first), "slipstream validate shows all; the good skills work beside it")]
    return [Finding("skills", OK, count_of(len(library.skills), "skill"))]


def _json_at(path: str) -> Node | None:
    try:
        return parse_jsonc(read_text(path), path)
    except (OSError, SlipstreamError):
        return None


def check_registration(patient: Patient) -> list[Finding]:
    """The server is started once, and only one side records."""
    places = []
    for path, keys in ((os.path.join(patient.tree_root, ".mcp.json"), ("mcpServers",)),
                       (os.path.join(patient.tree_root, ".claude", "mcp.json"), ("mcpServers",)),
                       (os.path.join(patient.home, ".claude.json"), ("mcpServers",)),
                       (os.path.join(patient.home, ".claude.json"), ("projects", patient.tree_root, "mcpServers"))):
        node = _json_at(path)
        found = node.at(*keys, "slipstream") if node else None
        if found is not None:
            places.append(path)
    enabled = is_plugin_enabled(patient.tree_root, patient.home) or bool(patient.env.get("CLAUDE_PLUGIN_ROOT"))
    if enabled and places:
        return [Finding("registration", FAIL,
                        "the plugin brings the server, and %s registers it again" % patient.short(places[0]),
                        "slipstream setup --undo --editor claude-code, or take `slipstream` out of that file")]
    # The client's own memory of servers that did not start: no session tries one again for as long.
    known = _json_at(os.path.join(patient.home, ".claude", "mcp-needs-auth-cache.json")) if enabled else None
    failed = known.at("plugin:slipstream:slipstream", "timestamp") if known else None
    left = failed.value / 1000 + FAILURE_KEPT_S - time.time() if failed and isinstance(failed.value, (int, float)) else 0
    if 0 < left <= FAILURE_KEPT_S:
        return [Finding("registration", WARN, "Claude Code could not start the server and will not try again for %s"
                        % count_of(int(-(-left // 60)), "minute"), "wait, then start a new session")]
    return [Finding("registration", OK, "once" if enabled or places else "not enabled in Claude Code here")]


def check_emission(patient: Patient) -> list[Finding]:
    inside = is_plugin_enabled(patient.tree_root, patient.home) or bool(patient.env.get("CLAUDE_PLUGIN_ROOT"))
    if inside and (patient.env.get("SLIPSTREAM_MCP_EMIT") == "1" or patient.env.get("SLIPSTREAM_MODE") == "mcp-only"):
        name = "SLIPSTREAM_MCP_EMIT" if patient.env.get("SLIPSTREAM_MCP_EMIT") == "1" else "SLIPSTREAM_MODE"
        return [Finding("emission", FAIL, "%s makes the server record what the hooks record too" % name, "unset %s" % name)]
    return [Finding("emission", OK, "each event once")]


def check_status_line(patient: Patient) -> list[Finding]:
    """A status line of ours in the user's settings names a pyz that is still there, and is this one."""
    settings = os.path.join(patient.home, ".claude", "settings.json")
    node = _json_at(settings)
    if node is None and os.path.isfile(settings):
        return [Finding("statusline-setting", FAIL, "%s is not JSON" % patient.short(settings),
                        "correct it; the client ignores it as it is")]
    present = node.at("statusLine") if node else None
    value = present.to_value() if present is not None else None
    if not isinstance(value, dict) or not is_own_status_line(value) or not patient.pyz:
        return [Finding("statusline-setting", OK,
                        "not set; `slipstream setup statusline` sets it" if value is None else "another program's")]
    named = re.search(r'"([^"]+\.pyz)"|(\S+\.pyz)', str(value["command"]))
    path = (named.group(1) or named.group(2)) if named else ""
    if os.path.realpath(path) == os.path.realpath(patient.pyz):
        return [Finding("statusline-setting", OK, "set to this slipstream")]

    def fix() -> str:
        apply_change(plan_status_line(patient.home, patient.pyz), patient.home)
        return "pointed the status line at %s" % patient.short(patient.pyz)
    if not os.path.isfile(path):
        return [Finding("statusline-setting", FAIL, "names %s, which is gone" % patient.short(path),
                        "slipstream setup statusline", fix)]
    return [Finding("statusline-setting", WARN, "names another copy: %s" % patient.short(path), "slipstream setup statusline",
                    fix)]


INSTALL_CHECKS: dict[str, Callable[[Patient], list[Finding]]] = {
    "pyz": check_pyz, "plugin": check_plugin, "skills": check_skills, "registration": check_registration,
    "emission": check_emission, "statusline-setting": check_status_line,
}
