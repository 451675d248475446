"""Where each editor documents its MCP servers: file for a project, file for the user, key, and the shape of an entry."""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

SERVER = "slipstream"


class Editor:
    """`marker` is the folder that shows the editor is used in a project; paths are relative to the project or to home."""

    __slots__ = ("after", "entry", "format", "key", "marker", "name", "project", "source", "title", "user")

    def __init__(self, name: str, title: str, marker: str, format: str, key: str, project: str, user: str,
                 entry: Mapping[str, Any], source: str, after: str) -> None:
        self.name = name
        self.title = title
        self.marker = marker
        self.format = format
        self.key = key
        self.project = project
        self.user = user
        self.entry = entry
        self.source = source
        self.after = after


def _code_user(env: Mapping[str, str]) -> str:
    if sys.platform == "win32":
        return os.path.join(env.get("APPDATA", ""), "Code", "User", "mcp.json")
    if sys.platform == "darwin":
        return "Library/Application Support/Code/User/mcp.json"
    return os.path.join(env.get("XDG_CONFIG_HOME") or ".config", "Code", "User", "mcp.json")


def _zed_user(env: Mapping[str, str]) -> str:
    if sys.platform == "win32":
        return os.path.join(env.get("APPDATA", ""), "Zed", "settings.json")
    return os.path.join((env.get("XDG_CONFIG_HOME") if sys.platform != "darwin" else "") or ".config", "zed", "settings.json")


def load_editors(env: Mapping[str, str] = os.environ) -> dict[str, Editor]:
    """The editors whose files are written, by name."""
    codex = os.path.join(env.get("CODEX_HOME") or ".codex", "config.toml")
    return {editor.name: editor for editor in (
        Editor("claude-code", "Claude Code", ".claude", "json", "mcpServers", ".mcp.json", "", {},
               "code.claude.com/docs/en/mcp", "Claude Code asks once before it uses a project's server."),
        Editor("cursor", "Cursor", ".cursor", "json", "mcpServers", ".cursor/mcp.json", ".cursor/mcp.json", {},
               "cursor.com/docs/mcp", "Switch the server on in Cursor's MCP settings."),
        Editor("vscode", "VS Code", ".vscode", "json", "servers", ".vscode/mcp.json", _code_user(env), {"type": "stdio"},
               "code.visualstudio.com/docs/agents/reference/mcp-configuration", "VS Code asks whether to trust the server."),
        Editor("zed", "Zed", ".zed", "json", "context_servers", ".zed/settings.json", _zed_user(env), {},
               "zed.dev/docs/ai/mcp", "Zed starts a project's server once the project is trusted."),
        Editor("codex", "Codex CLI", ".codex", "toml", "mcp_servers", ".codex/config.toml", codex, {},
               "developers.openai.com/codex/mcp",
               "Codex reads a project's file only in a trusted project; `codex mcp list` shows it."),
        Editor("gemini", "Gemini CLI", ".gemini", "json", "mcpServers", ".gemini/settings.json", ".gemini/settings.json", {},
               "geminicli.com/docs/tools/mcp-server", "`gemini mcp list` shows it."),
    )}


# Editors whose file is not ours to write: it is per machine, undocumented for others, or kept by the program itself.
OTHERS = ("windsurf", "antigravity", "jetbrains", "claude-desktop", "cline", "roo-code", "continue", "amp", "kiro", "warp",
          "opencode")


def server_entry(editor: Editor | None, command: list[str]) -> dict[str, Any]:
    """The entry of our server as this editor wants it."""
    return {**(editor.entry if editor else {}), "command": command[0], "args": command[1:]}


def snippet(command: list[str]) -> str:
    """What to paste into an editor that is not in the table: the form most clients share."""
    return json.dumps({"mcpServers": {SERVER: server_entry(None, command)}}, indent=2)


def detect_editors(root: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """Names of the editors whose folder is in the project; one that holds our own store alone shows nothing."""
    folders = ((editor.name, os.path.join(root, editor.marker)) for editor in load_editors(env).values())
    return [name for name, folder in folders if os.path.isdir(folder) and os.listdir(folder) != [SERVER]]
