"""What the client accepts in a plugin, as data: manifest keys and types, hook events, handler kinds, tools, agent keys."""
from __future__ import annotations

PATHS = "paths"  # "./x", a list of them
PATHS_OR_OBJECT = "paths or object"
MANIFEST_KEYS: dict[str, str] = {
    "$schema": "text", "name": "text", "displayName": "text", "version": "text", "description": "text", "author": "object",
    "homepage": "text", "repository": "text or object", "license": "text", "keywords": "list", "metadata": "object",
    "defaultEnabled": "flag", "dependencies": "any", "engines": "object", "network": "object", "icon": "text",
    "commands": "any", "agents": PATHS, "skills": PATHS, "hooks": PATHS_OR_OBJECT, "mcpServers": PATHS_OR_OBJECT,
    "lspServers": PATHS_OR_OBJECT, "outputStyles": PATHS, "workflows": PATHS, "channels": "any", "userConfig": "object",
    "settings": "object", "experimental": "object",
}
MARKET_KEYS = (
    "$schema", "name", "owner", "plugins", "metadata", "description", "version",
    "allowCrossMarketplaceDependenciesOn", "renames", "forceRemoveDeletedPlugins",
)
TYPES: dict[str, tuple[tuple[str, ...], str]] = {
    "text": (("string",), "text"), "object": (("object",), "an object"), "list": (("array",), "a list"),
    "text or object": (("string", "object"), "text or an object"), "flag": (("literal",), "true or false"),
    PATHS: (("string", "array"), "a path or a list of paths"),
    PATHS_OR_OBJECT: (("string", "array", "object"), "a path, a list or an object"),
    "any": (("string", "array", "object", "literal", "number"), ""),
}
# Event -> what its matcher is compared with, "" when it takes none.
EVENTS: dict[str, str] = {
    "PreToolUse": "tool", "PostToolUse": "tool", "PostToolUseFailure": "tool", "PostToolBatch": "", "Notification": "type",
    "UserPromptSubmit": "", "UserPromptExpansion": "command", "SessionStart": "source", "SessionEnd": "reason", "Stop": "",
    "StopFailure": "error", "SubagentStart": "agent", "SubagentStop": "agent", "PreCompact": "trigger",
    "PostCompact": "trigger", "PreModelSwitch": "model", "PostModelSwitch": "model", "PermissionRequest": "tool",
    "PermissionDenied": "tool", "Setup": "trigger", "TeammateIdle": "", "TaskCreated": "", "TaskCompleted": "",
    "Elicitation": "server", "ElicitationResult": "server", "ConfigChange": "source", "WorktreeCreate": "",
    "WorktreeRemove": "", "InstructionsLoaded": "reason", "CwdChanged": "", "FileChanged": "file", "DirectoryAdded": "",
    "MessageDisplay": "",
}
GUARDING = ("PreToolUse", "PermissionRequest")  # an entry of these that cannot be read stops the whole plugin
HANDLERS: dict[str, str] = {
    "command": "command", "mcp_tool": "server tool", "http": "url", "prompt": "prompt", "agent": "prompt",
}
HANDLER_KEYS = (
    "type", "command", "args", "server", "tool", "input", "url", "headers", "allowedEnvVars", "prompt", "model", "if",
    "timeout", "statusMessage", "once", "async", "asyncRewake", "rewakeMessage", "rewakeSummary", "shell", "onFailure",
)
SESSION_END_LIMIT_S = 1.5
TIMEOUT_LIMIT_S = 600
SESSION_STARTS = {"startup", "resume", "clear", "fork"}  # here no server is connected yet
TOOLS = (
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "KillShell", "ListAgents",
    "ListMcpResourcesTool", "NotebookEdit", "Read", "ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "SendMessage",
    "Skill", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "ToolSearch", "WebFetch",
    "WebSearch", "Workflow", "Write",
)
AGENT_KEYS = (
    "name", "description", "tools", "disallowedTools", "model", "maxTurns", "skills", "memory", "background", "effort",
    "isolation", "color", "initialPrompt",
)
AGENT_IGNORED = ("hooks", "mcpServers", "permissionMode")
STYLE_KEYS = ("name", "description", "keep-coding-instructions", "force-for-plugin")
MCP_KEYS = ("type", "command", "args", "env", "cwd", "url", "headers", "headersHelper", "oauth", "timeout", "alwaysLoad")
PLACES = {"commands": "commands", "agents": "agents", "skills": "skills", "outputStyles": "output-styles"}
