"""Check any plugin or marketplace folder as the client reads it; each finding has a file and a line.

Where the client only warns, or passes what cannot work, the rules follow what it was seen to do at run time.
"""
from __future__ import annotations

import os
import re
import shlex
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text
from slipstream.engine.issue import ERROR, WARNING, Issue, closest, sort_issues
from slipstream.engine.jsonc import Node, parse_jsonc, position
from slipstream.engine.plugin_tables import MANIFEST_KEYS, MARKET_KEYS, MCP_KEYS, PATHS, PATHS_OR_OBJECT, PLACES, TYPES

MANIFEST = ".claude-plugin/plugin.json"
MARKET = ".claude-plugin/marketplace.json"
ROOT_VARIABLE = "${CLAUDE_PLUGIN_ROOT}"
READ_LIMIT_BYTES = 4_000_000
_KEBAB = re.compile(r"^[a-z0-9][a-z0-9._-]*$")
_VERSION = re.compile(r"^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$")
_RUNNABLE = re.compile(r"[\w./ -]+\.(?:py|pyz|js|mjs|cjs|ts|sh|bash|rb|pl|exe|cmd|ps1|jar)$")


def render_provided(provides: dict[str, int]) -> str:
    """What a plugin brings, in words: `2 hooks, 1 MCP server`."""
    nouns = {"mcpServers": "MCP server", "outputStyles": "output style"}
    return ", ".join(count_of(count, nouns.get(name, name.removesuffix("s"))) for name, count in provides.items() if count)


class Plugin:
    """A plugin folder under inspection: what was found in it, and what was said of it."""

    def __init__(self, folder: str, shown: str = "") -> None:
        self.folder = folder
        self.shown = shown
        self.issues: list[Issue] = []
        self.name = ""
        self.version = ""
        self.servers: set[str] = set()
        self.declared: dict[str, list[tuple[str, int]]] = {}
        self.provides: dict[str, int] = {}

    def path(self, relative: str) -> str:
        return os.path.join(self.folder, *relative.split("/"))

    def add(self, relative: str, line: int, severity: str, rule: str, message: str) -> None:
        self.issues.append(Issue((self.shown + "/" if self.shown else "") + relative, line, severity, rule, message))

    def load(self, relative: str) -> tuple[Node, str] | None:
        """(tree, text) of a strict JSON object; None after saying why it cannot be read."""
        try:
            text = read_text(self.path(relative), READ_LIMIT_BYTES)
        except OSError as error:
            self.add(relative, 0, ERROR, "path", "cannot be read: %s" % (error.strerror or error))
            return None
        try:
            node = parse_jsonc(text, relative, strict=True)
        except SlipstreamError as error:
            self.add(relative, error.line or 0, ERROR, "json", "not JSON: %s (column %s)" % (error.message, error.column))
            return None
        if node.kind != "object":
            self.add(relative, 1, ERROR, "json", "must be an object")
            return None
        return node, text

    def keys(self, relative: str, node: Node, text: str, known: list[str], where: str = "") -> None:
        for key, start, _value in node.members:
            if key not in known:
                near = closest(key, known)
                self.add(relative, position(text, start)[0], WARNING, "unknown-key",
                         "unknown key `%s`%s%s; the client ignores it" % (
                    key, where and " in %s" % where, ", did you mean `%s`?" % near if near else ""))


def validate_plugin(folder: str) -> tuple[list[Issue], dict[str, int]]:
    """(findings, how many of each component) of a plugin folder, a marketplace folder, or one that is both."""
    if os.path.isfile(os.path.join(folder, *MARKET.split("/"))):
        return _validate_market(folder)
    plugin = Plugin(folder)
    _validate_one(plugin)
    return sort_issues(plugin.issues), plugin.provides


def _validate_one(plugin: Plugin, listed: str = "") -> None:
    """`listed` is the name a marketplace gives the plugin; such a one may do without a manifest."""
    from slipstream.engine.plugin_hooks import check_hooks
    from slipstream.engine.plugin_parts import check_parts
    if os.path.isfile(plugin.path(MANIFEST)):
        loaded = plugin.load(MANIFEST)
    elif listed:
        plugin.name, loaded = listed, None
    else:
        plugin.add(MANIFEST, 0, ERROR, "missing", "there is no manifest")
        return
    if loaded:
        _check_manifest(plugin, *loaded)
    if os.path.isfile(plugin.path("CLAUDE.md")):
        plugin.add("CLAUDE.md", 0, WARNING, "unread", "the client does not load a plugin's CLAUDE.md; put it into a skill")
    check_hooks(plugin, loaded[0] if loaded else None)
    _check_servers(plugin, loaded)
    check_parts(plugin)


def _check_manifest(plugin: Plugin, node: Node, text: str) -> None:
    plugin.keys(MANIFEST, node, text, list(MANIFEST_KEYS))

    def line_of(key: str) -> int:
        return next((position(text, start)[0] for name, start, _value in node.members if name == key), 1)

    for key, _start, value in node.members:
        kinds, called = TYPES[MANIFEST_KEYS.get(key, "any")]
        if value.kind not in kinds:
            plugin.add(MANIFEST, line_of(key), ERROR, "type", "`%s` must be %s" % (key, called))
        elif MANIFEST_KEYS.get(key) in (PATHS, PATHS_OR_OBJECT) or (key == "commands" and value.kind != "object"):
            items = value.items if value.kind == "array" else [value] if value.kind == "string" else []
            plugin.declared[key] = []
            for item in items:
                if item.kind == "string":
                    _check_path(plugin, key, str(item.value), position(text, item.start)[0])
    for key, severity in (("name", ERROR), ("version", WARNING), ("description", WARNING), ("author", WARNING)):
        value_node = node.member(key)
        if value_node is None or value_node.value == "":
            plugin.add(MANIFEST, line_of(key), severity, "missing", "`%s` is missing" % key)
    plugin.name = _text(node, "name")
    plugin.version = _text(node, "version")
    if plugin.name and not _KEBAB.match(plugin.name):
        plugin.add(MANIFEST, line_of("name"), ERROR, "name", "`%s` must be lower-case words joined by hyphens" % plugin.name)
    if plugin.version and not _VERSION.match(plugin.version):
        plugin.add(MANIFEST, line_of("version"), WARNING, "version", "`%s` is not a semantic version" % plugin.version)


def _text(node: Node, *path: str) -> str:
    found = node.at(*path)
    return str(found.value) if found is not None and found.kind == "string" else ""


def _check_path(plugin: Plugin, key: str, value: str, line: int) -> None:
    if not value.startswith("./"):
        if key not in ("mcpServers", "lspServers"):
            plugin.add(MANIFEST, line, ERROR, "path", "`%s`: the path `%s` must start with ./" % (key, value))
        return
    if key == "agents" and not value.endswith(".md"):
        plugin.add(MANIFEST, line, ERROR, "path", "`agents`: the path `%s` must end in .md" % value)
    elif ".." in value.split("/"):
        plugin.add(MANIFEST, line, ERROR, "path", "`%s`: the path `%s` leaves the plugin" % (key, value))
    elif not os.path.exists(plugin.path(value[2:].rstrip("/"))):
        plugin.add(MANIFEST, line, ERROR, "path", "`%s`: there is no `%s`; the plugin does not load" % (key, value))
    else:
        plugin.declared.setdefault(key, []).append((value[2:].rstrip("/"), line))


def component_files(plugin: Plugin, key: str) -> list[str]:
    """Relative paths of the .md files of a component: from the manifest's paths, else from the default folder."""
    places = [path for path, _line in plugin.declared.get(key, [])] if key in plugin.declared else [PLACES[key]]
    found: list[str] = []
    for place in places:
        full = plugin.path(place)
        if os.path.isfile(full):
            found.append(place)
        for folder, folders, names in os.walk(full):
            folders.sort()
            relative = os.path.relpath(folder, plugin.folder).replace(os.sep, "/")
            found += ["%s/%s" % (relative, name) for name in sorted(names) if name.endswith(".md")]
    return found


def _check_servers(plugin: Plugin, loaded: tuple[Node, str] | None) -> None:
    sources: list[tuple[str, Node, str]] = []
    manifest = loaded[0].member("mcpServers") if loaded else None
    if loaded and manifest is not None and manifest.kind == "object":
        sources.append((MANIFEST, manifest, loaded[1]))
    files = [path for path, _line in plugin.declared.get("mcpServers", []) if path.endswith(".json")]
    for relative in files or ([".mcp.json"] if os.path.isfile(plugin.path(".mcp.json")) else []):
        found = plugin.load(relative)
        if found:
            sources.append((relative, found[0].member("mcpServers") or found[0], found[1]))
    for relative, node, text in sources:
        for name, start, server in node.members:
            line = position(text, start)[0]
            plugin.servers.add(name)
            if server.kind != "object" or not (_text(server, "command") or _text(server, "url")):
                plugin.add(relative, line, ERROR, "mcp", "server `%s` has neither a command nor a url" % name)
                continue
            plugin.keys(relative, server, text, list(MCP_KEYS), "server `%s`" % name)
            args = server.member("args")
            words = [_text(server, "command")] + ([str(item.value) for item in args.items] if args is not None else [])
            check_scripts(plugin, relative, line, words)
    plugin.provides["mcpServers"] = len(plugin.servers)


def check_scripts(plugin: Plugin, relative: str, line: int, words: list[str]) -> None:
    """Every file below the plugin that a command names must exist."""
    for word in words:
        for part in re.findall(r"\$\{CLAUDE_PLUGIN_ROOT\}/([^\"'\s;|&]+|[^\"']+(?=[\"']))", word):
            if "$" not in part and not os.path.exists(plugin.path(part)):
                plugin.add(relative, line, ERROR, "script", "names `%s`, which is not in the plugin" % part)
        if word.startswith("./") and _RUNNABLE.match(word) and not os.path.exists(plugin.path(word[2:])):
            plugin.add(relative, line, WARNING, "script",
                       "`%s` is looked for in the user's project, not in the plugin; write %s/%s" % (
                word, ROOT_VARIABLE, word[2:]))


def split_shell(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _validate_market(folder: str) -> tuple[list[Issue], dict[str, int]]:
    market = Plugin(folder)
    loaded = market.load(MARKET)
    provides: dict[str, int] = {"plugins": 0}
    if loaded is None:
        return market.issues, provides
    node, text = loaded
    market.keys(MARKET, node, text, list(MARKET_KEYS))

    def line_of(item: Node | None) -> int:
        return position(text, item.start)[0] if item is not None else 1

    for key, kind in (("name", "string"), ("owner", "object"), ("plugins", "array")):
        value = node.member(key)
        if value is None:
            market.add(MARKET, 1, ERROR, "missing", "`%s` is missing" % key)
        elif value.kind != kind:
            market.add(MARKET, line_of(value), ERROR, "type",
                       "`%s` must be %s" % (key, {"string": "text", "object": "an object",
                                                                                     "array": "a list"}[kind]))
    if node.member("owner") is not None and not _text(node, "owner", "name"):
        market.add(MARKET, line_of(node.member("owner")), ERROR, "missing", "`owner.name` is missing")
    if not _text(node, "metadata", "description") and not _text(node, "description"):
        market.add(MARKET, 1, WARNING, "missing", "`metadata.description` is missing")
    entries = node.member("plugins")
    seen: dict[str, int] = {}
    if entries is not None and entries.kind == "array" and not entries.items:
        market.add(MARKET, line_of(entries), WARNING, "plugins", "the marketplace lists no plugin")
    for entry in entries.items if entries is not None else []:
        _check_entry(market, entry, line_of(entry), seen, provides, _text(node, "metadata", "pluginRoot"))
    if os.path.isfile(market.path(MANIFEST)) and not any(path == "." for path in seen):
        plugin = Plugin(folder)
        _validate_one(plugin)
        market.issues += plugin.issues
    return sort_issues(market.issues), provides


def _check_entry(market: Plugin, entry: Node, line: int, seen: dict[str, int], provides: dict[str, int], base: str) -> None:
    name = _text(entry, "name")
    if not name:
        market.add(MARKET, line, ERROR, "missing", "a plugin entry has no `name`")
    elif name in seen:
        market.add(MARKET, line, ERROR, "duplicate", "plugin `%s` is listed twice" % name)
        return
    seen[name] = line
    source = entry.member("source")
    if source is None:
        market.add(MARKET, line, ERROR, "missing", "plugin `%s` has no `source`" % name)
        return
    provides["plugins"] += 1
    if source.kind != "string":
        return  # fetched from elsewhere: not here to look at
    place = str(source.value)
    if base and not place.startswith("./"):
        place = base.rstrip("/") + "/" + place
    relative = os.path.normpath(place).replace(os.sep, "/")
    if relative.startswith("..") or os.path.isabs(place):
        market.add(MARKET, line, ERROR, "path", "the source `%s` leaves the marketplace" % place)
        return
    folder = os.path.normpath(os.path.join(market.folder, place))
    if not os.path.isdir(folder):
        market.add(MARKET, line, ERROR, "path", "there is no folder `%s`" % place)
        return
    plugin = Plugin(folder, "" if relative == "." else relative)
    _validate_one(plugin, name)
    market.issues += plugin.issues
    for key, count in plugin.provides.items():
        provides[key] = provides.get(key, 0) + count
    version: Any = _text(entry, "version")
    if version and plugin.version and version != plugin.version:
        market.add(MARKET, line, ERROR, "version", "says version %s, the plugin's manifest says %s" % (version, plugin.version))
    if name and plugin.name and name != plugin.name:
        market.add(MARKET, line, ERROR, "name", "is listed as `%s`, the plugin's manifest says `%s`" % (name, plugin.name))
