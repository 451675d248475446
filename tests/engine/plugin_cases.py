"""Plugins, good and broken: each case is the base plugin with some files changed, and what is to be said of it.

`rule` and `severity` are ours; `client` is what Claude Code 2.1.328 answers to `plugin validate --strict` (tests/clients asks
it again): "pass", "fail", or "silent" where it passes a plugin that does not work, which is why the rule exists.
"""
from __future__ import annotations

import json
import os
from typing import Any, Union

MANIFEST: dict[str, Any] = {
    "name": "probe", "version": "1.2.0", "description": "A plugin for the tests of the validator", "author": {"name": "Tester"},
    "license": "MIT", "mcpServers": {"probe": {"command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/server.py"]}},
}
HOOKS: dict[str, Any] = {"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [
    {"type": "command", "command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/hook.py"], "timeout": 5}]}]}}
SKILL = "---\nname: tidy\ndescription: Use when the desk is untidy and has to be cleared\n---\n# Tidy\n\nClear it.\n"
COMMAND = "---\ndescription: Say hello to somebody\nargument-hint: \"[name]\"\n---\nSay hello to $ARGUMENTS.\n"
AGENT = "---\nname: scout\ndescription: Looks around and reports what is there\ntools: Read, Bash, mcp__plugin_probe_probe__look\n---\nLook around.\n"
STYLE = "---\nname: terse\ndescription: Says little\n---\nSay little.\n"
BASE: dict[str, Any] = {
    ".claude-plugin/plugin.json": MANIFEST, "hooks/hooks.json": HOOKS, "server.py": "", "hook.py": "",
    "skills/tidy/SKILL.md": SKILL, "commands/hello.md": COMMAND, "agents/scout.md": AGENT, "output-styles/terse.md": STYLE,
    "README.md": "# Probe\n", "LICENSE": "MIT\n",
}
MARKET: dict[str, Any] = {"name": "probes", "owner": {"name": "Tester"}, "metadata": {"description": "Probes"},
                          "plugins": [{"name": "probe", "source": "./probe", "description": "A plugin for the tests"}]}


def manifest(**changes: Any) -> dict[str, Any]:
    value = {**MANIFEST, **changes}
    return {".claude-plugin/plugin.json": {key: item for key, item in value.items() if item is not None}}


def hooks(event: str, handler: Any, matcher: Any = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"hooks": [handler]}
    if matcher is not None:
        entry["matcher"] = matcher
    return {"hooks/hooks.json": {"hooks": {event: [entry]}}}


COMMAND_HOOK = {"type": "command", "command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/hook.py"]}
# name: (files changed; None removes one, rule or "" for a good plugin, severity, what the client says)
Case = tuple[dict[str, Union[str, dict[str, Any], None]], str, str, str]
CASES: dict[str, Case] = {
    "good": ({}, "", "", "pass"),
    "good-minimal": ({name: None for name in BASE if name != ".claude-plugin/plugin.json"} | manifest(mcpServers=None), "", "", "pass"),
    "good-paths": (manifest(commands=["./more/"]) | {"more/other.md": COMMAND}, "", "", "pass"),
    "manifest-not-json": ({".claude-plugin/plugin.json": '{"name": "probe",}\n'}, "json", "error", "fail"),
    "manifest-not-object": ({".claude-plugin/plugin.json": "[]\n"}, "json", "error", "fail"),
    "manifest-no-name": (manifest(name=None), "missing", "error", "fail"),
    "manifest-bad-name": (manifest(name="My Probe"), "name", "error", "fail"),
    "manifest-unknown-key": (manifest(statusLine={"type": "command", "command": "x"}), "unknown-key", "warning", "fail"),
    "manifest-typo": (manifest(comands=["./commands"]), "unknown-key", "warning", "fail"),
    "manifest-wrong-type": (manifest(version=3), "type", "error", "fail"),
    "manifest-author-text": (manifest(author="Tester"), "type", "error", "fail"),
    "manifest-keywords-text": (manifest(keywords="a, b"), "type", "error", "fail"),
    "manifest-no-version": (manifest(version=None), "missing", "warning", "fail"),
    "manifest-no-description": (manifest(description=None), "missing", "warning", "fail"),
    "manifest-no-author": (manifest(author=None), "missing", "warning", "fail"),
    "manifest-odd-version": (manifest(version="one"), "version", "warning", "silent"),
    "manifest-missing-path": (manifest(commands=["./nowhere/"]), "path", "error", "fail"),
    "manifest-path-form": (manifest(commands=["commands/"]), "path", "error", "fail"),
    "manifest-path-outside": (manifest(commands=["./../commands/"]), "path", "error", "fail"),
    "claude-md": ({"CLAUDE.md": "# Notes\n"}, "unread", "warning", "fail"),
    "hooks-runner": (hooks("PostToolUse", {"type": "command", "command": "npx some-package"}), "network", "note", "pass"),
    "hooks-absent-tool": (hooks("PostToolUse", COMMAND_HOOK, "Edit|MultiEdit"), "matcher", "note", "pass"),
    "manifest-agents-folder": (manifest(agents=["./agents/"]), "path", "error", "fail"),
    "good-agents-file": (manifest(agents=["./agents/scout.md"]), "", "", "pass"),
    "mcp-no-command": (manifest(mcpServers={"probe": {"args": []}}), "mcp", "error", "fail"),
    "mcp-missing-script": ({"server.py": None}, "script", "error", "silent"),
    "hooks-not-json": ({"hooks/hooks.json": "{"}, "json", "error", "fail"),
    "hooks-no-hooks": ({"hooks/hooks.json": {"PostToolUse": []}}, "hooks", "error", "fail"),
    "hooks-unknown-event": (hooks("PostTooluse", COMMAND_HOOK), "event", "warning", "fail"),
    "hooks-unknown-type": (hooks("PostToolUse", {"type": "comand", "command": "x"}), "handler", "error", "fail"),
    "hooks-unknown-type-before": (hooks("PreToolUse", {"type": "comand", "command": "x"}, "Read"), "handler", "error", "fail"),
    "hooks-no-command": (hooks("PostToolUse", {"type": "command"}), "handler", "error", "fail"),
    "hooks-handler-text": (hooks("PostToolUse", "python3 hook.py"), "handler", "error", "fail"),
    "hooks-bad-matcher": (hooks("PostToolUse", COMMAND_HOOK, "mcp__(.*"), "matcher", "error", "silent"),
    "hooks-matcher-mcp-alone": (hooks("PostToolUse", COMMAND_HOOK, "mcp__probe"), "matcher", "warning", "silent"),
    "hooks-matcher-unused": (hooks("Stop", COMMAND_HOOK, "Read"), "matcher", "warning", "silent"),
    "hooks-missing-script": (hooks("PostToolUse", {**COMMAND_HOOK, "args": ["${CLAUDE_PLUGIN_ROOT}/gone.py"]}), "script", "error", "silent"),
    "hooks-unquoted": (hooks("PostToolUse", {"type": "command", "command": "python3 ${CLAUDE_PLUGIN_ROOT}/hook.py"}), "quote", "warning", "fail"),
    "good-quoted": (hooks("PostToolUse", {"type": "command", "command": "python3 \"${CLAUDE_PLUGIN_ROOT}/hook.py\""}), "", "", "pass"),
    "hooks-timeout-text": (hooks("PostToolUse", {**COMMAND_HOOK, "timeout": "5"}), "timeout", "error", "fail"),
    "hooks-timeout-milliseconds": (hooks("PostToolUse", {**COMMAND_HOOK, "timeout": 5000}), "timeout", "warning", "silent"),
    "hooks-end-too-slow": (hooks("SessionEnd", {**COMMAND_HOOK, "timeout": 30}), "timeout", "note", "pass"),
    "hooks-tool-without-tool": (hooks("PostToolUse", {"type": "mcp_tool", "server": "plugin:probe:probe"}), "handler", "error", "fail"),
    "hooks-tool-bare-server": (hooks("PostToolUse", {"type": "mcp_tool", "server": "probe", "tool": "look"}), "handler", "error", "silent"),
    "hooks-tool-at-start": (hooks("SessionStart", {"type": "mcp_tool", "server": "plugin:probe:probe", "tool": "look"}), "handler", "error", "silent"),
    "hooks-tool-before-tools": (hooks("PreToolUse", {"type": "mcp_tool", "server": "plugin:probe:probe", "tool": "look"}), "handler", "warning", "silent"),
    "skill-deep": ({"skills/tidy/SKILL.md": None, "skills/group/tidy/SKILL.md": SKILL}, "skill-place", "error", "silent"),
    "skill-no-file": ({"skills/tidy/SKILL.md": None, "skills/tidy/skill.txt": SKILL}, "skill-place", "warning", "silent"),
    "skill-bad-frontmatter": ({"skills/tidy/SKILL.md": "---\nname: [tidy\n---\nx\n"}, "frontmatter", "error", "fail"),
    "skill-no-description": ({"skills/tidy/SKILL.md": "---\nname: tidy\n---\nClear it.\n"}, "missing", "warning", "fail"),
    "skill-typo": ({"skills/tidy/SKILL.md": SKILL.replace("name: tidy", "name: tidy\nallowed_tools: Read")}, "unknown-key", "warning", "silent"),
    "skill-contract": ({"skills/tidy/SKILL.md": SKILL.replace("---\n#", "slipstream:\n  category: git\n---\n## Steps\n\n1. One.\n\n## Verify\n\nLook.\n\n#")}, "gate", "error", "silent"),
    "command-bad-frontmatter": ({"commands/hello.md": "---\ndescription: [x\n---\nHello\n"}, "frontmatter", "error", "silent"),
    "command-no-description": ({"commands/hello.md": "Hello\n"}, "missing", "warning", "fail"),
    "command-empty": ({"commands/hello.md": "---\ndescription: Say hello to somebody\n---\n"}, "body", "error", "silent"),
    "agent-no-name": ({"agents/scout.md": AGENT.replace("name: scout\n", "")}, "missing", "warning", "silent"),
    "agent-no-description": ({"agents/scout.md": AGENT.replace("description: Looks around and reports what is there\n", "")}, "missing", "error", "fail"),
    "agent-unknown-tool": ({"agents/scout.md": AGENT.replace("Bash", "Grep")}, "tool", "warning", "silent"),
    "agent-unknown-server": ({"agents/scout.md": AGENT.replace("mcp__plugin_probe_probe__look", "mcp__probe__look")}, "tool", "error", "silent"),
    "agent-ignored-key": ({"agents/scout.md": AGENT.replace("tools:", "permissionMode: plan\ntools:")}, "ignored-key", "warning", "silent"),
    "style-bad-frontmatter": ({"output-styles/terse.md": "---\nname: [x\n---\nSay little.\n"}, "frontmatter", "error", "silent"),
    "style-empty": ({"output-styles/terse.md": "---\nname: terse\ndescription: Says little\n---\n"}, "body", "error", "silent"),
}
# The same for a marketplace around the base plugin: (change of marketplace.json, change of the plugin's manifest, ...)
MARKET_CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, str]] = {
    "market-good": ({}, {}, "", "", "pass"),
    "market-no-manifest": ({}, {}, "", "", "pass"),
    "market-no-owner": ({"owner": None}, {}, "missing", "error", "fail"),
    "market-no-name": ({"name": None}, {}, "missing", "error", "fail"),
    "market-no-plugins": ({"plugins": None}, {}, "missing", "error", "fail"),
    "market-empty": ({"plugins": []}, {}, "plugins", "warning", "fail"),
    "market-typo": ({"plugin": []}, {}, "unknown-key", "warning", "fail"),
    "market-missing-source": ({"plugins": [{"name": "probe", "source": "./gone"}]}, {}, "path", "error", "silent"),
    "market-no-source": ({"plugins": [{"name": "probe"}]}, {}, "missing", "error", "fail"),
    "market-twice": ({"plugins": [MARKET["plugins"][0], MARKET["plugins"][0]]}, {}, "duplicate", "error", "fail"),
    "market-other-version": ({"plugins": [{**MARKET["plugins"][0], "version": "1.1.0"}]}, {}, "version", "error", "fail"),
    "market-other-name": ({"plugins": [{**MARKET["plugins"][0], "name": "other"}]}, {}, "name", "error", "silent"),
    "market-no-description": ({"metadata": None}, {}, "missing", "warning", "fail"),
    "market-broken-plugin": ({}, {"name": None}, "missing", "error", "fail"),
}


def write_files(folder: str, files: dict[str, Any]) -> None:
    for name, content in files.items():
        if content is None:
            continue
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")


def write_plugin(folder: str, name: str) -> None:
    write_files(folder, {**BASE, **CASES[name][0]})


def write_market(folder: str, name: str) -> None:
    market, plugin, _rule, _severity, _client = MARKET_CASES[name]
    changed = {key: value for key, value in {**MARKET, **market}.items() if value is not None}
    write_files(folder, {".claude-plugin/marketplace.json": changed})
    files = {**BASE, **manifest(**plugin)}
    if name == "market-no-manifest":
        del files[".claude-plugin/plugin.json"]
        files["agents/scout.md"] = AGENT.replace(", mcp__plugin_probe_probe__look", "")
    write_files(os.path.join(folder, "probe"), files)
