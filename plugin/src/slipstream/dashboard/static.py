"""The page's files, read once into a dictionary: a request is looked up by name and never becomes a path."""

from __future__ import annotations

import pkgutil

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
NAMES = (
    "index.html",
    "style.css",
    "icon.svg",
    "app.js",
    "dom.js",
    "net.js",
    "store.js",
    "agents.js",
    "now.js",
    "timeline.js",
    "replay.js",
    "sessions.js",
    "memory.js",
    "map.js",
    "usage.js",
    "health.js",
    "inspector.js",
)


def load_static() -> dict[str, tuple[str, bytes]]:
    """Request path -> (content type, bytes)."""
    files = {}
    for name in NAMES:
        data = pkgutil.get_data(__package__ or "slipstream.dashboard", "static/" + name)
        if data is not None:
            files["/" + name] = (TYPES[name.rpartition(".")[2]] + "; charset=utf-8", data)
    files["/"] = files["/index.html"]
    return files
