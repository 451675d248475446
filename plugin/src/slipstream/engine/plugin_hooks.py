"""Check a plugin's hooks: events, handler kinds, matchers, scripts that exist, timeouts the client will honour."""
from __future__ import annotations

import os
import re

from slipstream.engine.issue import ERROR, NOTE, WARNING, closest
from slipstream.engine.jsonc import Node, position
from slipstream.engine.plugin_tables import (
    EVENTS,
    GUARDING,
    HANDLER_KEYS,
    HANDLERS,
    SESSION_END_LIMIT_S,
    SESSION_STARTS,
    TIMEOUT_LIMIT_S,
    TOOLS,
)
from slipstream.engine.plugin_validate import MANIFEST, ROOT_VARIABLE, Plugin, check_scripts, split_shell

DEFAULT = "hooks/hooks.json"
_NAMES = re.compile(r"^[A-Za-z0-9_\- ,|]*$")


def check_hooks(plugin: Plugin, manifest: Node | None) -> None:
    """Look at hooks/hooks.json, at the files the manifest names, and at hooks written into the manifest."""
    files = [path for path, _line in plugin.declared.get("hooks", [])]
    if os.path.isfile(plugin.path(DEFAULT)) and DEFAULT not in files:
        files.append(DEFAULT)
    plugin.provides["hooks"] = 0
    for relative in files:
        loaded = plugin.load(relative)
        if loaded is None:
            continue
        node, text = loaded
        hooks = node.member("hooks")
        if hooks is None and node.member("modules") is None:
            plugin.add(relative, 1, ERROR, "hooks", "has neither `hooks` nor `modules`")
        elif hooks is not None and hooks.kind != "object":
            plugin.add(relative, position(text, hooks.start)[0], ERROR, "hooks", "`hooks` must be an object of events")
        elif hooks is not None:
            _check_events(plugin, relative, hooks, text)
    inline = manifest.member("hooks") if manifest else None
    if inline is not None and inline.kind == "object":
        loaded = plugin.load(MANIFEST)
        if loaded:
            _check_events(plugin, MANIFEST, inline.member("hooks") or inline, loaded[1])


def _check_events(plugin: Plugin, relative: str, hooks: Node, text: str) -> None:
    for event, start, entries in hooks.members:
        line = position(text, start)[0]
        if event not in EVENTS:
            near = closest(event, list(EVENTS))
            plugin.add(relative, line, WARNING, "event", "there is no event `%s`%s; the client ignores it" % (
                event, ", did you mean `%s`?" % near if near else ""))
            continue
        if entries.kind != "array" or not entries.items:
            plugin.add(relative, line, ERROR, "hooks", "`%s` must be a list with at least one entry" % event)
            continue
        for entry in entries.items:
            place = position(text, entry.start)[0]
            handlers = entry.member("hooks")
            if entry.kind != "object" or handlers is None or handlers.kind != "array" or not handlers.items:
                plugin.add(relative, place, ERROR, "hooks", "an entry of `%s` has no list `hooks`" % event)
                continue
            matcher = entry.member("matcher")
            value = matcher.value if matcher is not None else ""
            if matcher is not None and matcher.kind != "string":
                plugin.add(relative, position(text, matcher.start)[0], ERROR, "matcher", "a matcher is text")
                value = ""
            elif matcher is not None:
                _check_matcher(plugin, relative, position(text, matcher.start)[0], event, str(value))
            for handler in handlers.items:
                plugin.provides["hooks"] += 1
                _check_handler(plugin, relative, position(text, handler.start)[0], event, str(value), handler, text)


def _check_matcher(plugin: Plugin, relative: str, line: int, event: str, matcher: str) -> None:
    if not EVENTS[event] and matcher not in ("", "*"):
        plugin.add(relative, line, WARNING, "matcher", "`%s` takes no matcher; this one is ignored" % event)
        return
    if matcher in ("", "*"):
        return
    if not _NAMES.match(matcher):
        try:
            re.compile(matcher)
        except re.error as error:
            plugin.add(relative, line, ERROR, "matcher", "`%s` is not a regular expression: %s" % (matcher, error))
        return
    for name in re.split(r"[|, ]+", matcher):
        if EVENTS[event] != "tool" or not name:
            continue
        if re.match(r"^mcp__[^_]+(_[^_]+)*$", name) and name.count("__") == 1:
            plugin.add(relative, line, WARNING, "matcher",
                       "`%s` is an exact name and matches no tool; write `%s__.*`" % (name, name))
        elif not name.startswith("mcp__") and name not in TOOLS:
            near = closest(name, list(TOOLS))
            plugin.add(relative, line, NOTE, "matcher", "this client has no tool `%s`%s" % (
                name, ", did you mean `%s`?" % near if near else ""))


def _check_handler(plugin: Plugin, relative: str, line: int, event: str, matcher: str, handler: Node, text: str) -> None:
    effect = "the whole plugin does not load" if event in GUARDING else "the client ignores the entry"
    if handler.kind != "object":
        plugin.add(relative, line, ERROR, "handler", "a handler must be an object; %s" % effect)
        return
    kind_node = handler.member("type")
    kind = str(kind_node.value) if kind_node is not None else ""
    if kind not in HANDLERS:
        near = closest(kind, list(HANDLERS))
        plugin.add(relative, line, ERROR, "handler", "handler type `%s` is not known%s; %s" % (
            kind, ", did you mean `%s`?" % near if near else "", effect))
        return
    plugin.keys(relative, handler, text, list(HANDLER_KEYS), "a handler of `%s`" % event)
    for key in HANDLERS[kind].split():
        value = handler.member(key)
        if value is None or value.kind != "string" or not str(value.value).strip():
            plugin.add(relative, line, ERROR, "handler", "a %s handler needs `%s`; %s" % (kind, key, effect))
            return
    if kind == "command":
        _check_command(plugin, relative, line, handler)
    if kind == "mcp_tool":
        _check_tool_handler(plugin, relative, line, event, matcher, handler)
    _check_timeout(plugin, relative, line, event, handler)


def _check_command(plugin: Plugin, relative: str, line: int, handler: Node) -> None:
    command = str(handler.member("command").value)  # type: ignore[union-attr]
    args = handler.member("args")
    if args is not None:
        check_scripts(plugin, relative, line, [command] + [str(item.value) for item in args.items])
        return
    check_scripts(plugin, relative, line, [command])
    for found in re.finditer(re.escape(ROOT_VARIABLE), command):
        if command[:found.start()].count('"') % 2 == 0:
            plugin.add(relative, line, WARNING, "quote",
                       "%s without quotes: a path with a space breaks the command; use `args`" % ROOT_VARIABLE)
            break
    for word in split_shell(command)[:1]:
        if word in ("npx", "pnpx", "bunx", "uvx", "pipx"):
            plugin.add(relative, line, NOTE, "network", "`%s` may fetch a package at every event" % word)


def _check_tool_handler(plugin: Plugin, relative: str, line: int, event: str, matcher: str, handler: Node) -> None:
    server = str(handler.member("server").value)  # type: ignore[union-attr]
    prefix = "plugin:%s:" % plugin.name
    if server in plugin_servers(plugin):
        plugin.add(relative, line, ERROR, "handler",
                   "server `%s` is never found by that name; write `%s%s`" % (server, prefix, server))
    elif server.startswith(prefix) and server[len(prefix):] not in plugin_servers(plugin):
        plugin.add(relative, line, ERROR, "handler", "the plugin has no server `%s`" % server[len(prefix):])
    if event == "SessionEnd":
        plugin.add(relative, line, ERROR, "handler", "at SessionEnd the server is stopped already; use a command")
    if event == "SessionStart" and (matcher in ("", "*") or SESSION_STARTS & set(re.split(r"[|, ]+", matcher))):
        plugin.add(relative, line, ERROR, "handler", "at SessionStart only `matcher: \"compact\"` has a server; use a command")
    if event in GUARDING:
        plugin.add(relative, line, WARNING, "handler",
                   "an older client that does not know mcp_tool drops the whole plugin for this entry")


def plugin_servers(plugin: Plugin) -> set[str]:
    """Names of the plugin's own MCP servers, before they are checked."""
    names = set(plugin.servers)
    for relative, key in ((MANIFEST, "mcpServers"), (".mcp.json", "mcpServers")):
        if os.path.isfile(plugin.path(relative)):
            count = len(plugin.issues)
            loaded = plugin.load(relative)
            del plugin.issues[count:]
            node = loaded[0].member(key) if loaded else None
            if node is not None and node.kind == "object":
                names |= {name for name, _start, _value in node.members}
    return names


def _check_timeout(plugin: Plugin, relative: str, line: int, event: str, handler: Node) -> None:
    timeout = handler.member("timeout")
    if timeout is None:
        return
    if timeout.kind != "number" or timeout.value <= 0:
        plugin.add(relative, line, ERROR, "timeout",
                   "`timeout` must be a number of seconds above 0; the client ignores the entry")
    elif event == "SessionEnd" and timeout.value > SESSION_END_LIMIT_S:
        plugin.add(relative, line, NOTE, "timeout",
                   "SessionEnd hooks get %g s in all, whatever `timeout` says" % SESSION_END_LIMIT_S)
    elif timeout.value > TIMEOUT_LIMIT_S:
        plugin.add(relative, line, WARNING, "timeout",
                   "`timeout` is in seconds; %g is more than %d" % (timeout.value, TIMEOUT_LIMIT_S))
