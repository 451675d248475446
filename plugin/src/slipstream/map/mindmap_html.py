"""The mind map as one self-contained page: inline SVG with zoom, details on selection, every file in a list; no network."""
from __future__ import annotations

import base64
import hashlib
import pkgutil
from html import escape

from slipstream.base.counts import count_of
from slipstream.map.mindmap import Node, fold

MAX_DRAWN_EDGES = 90
ROW, COLUMN, PADDING = 22, 220, 24
LABEL_CHARS = 26


def render_html(root: Node, facts: dict[str, str]) -> str:
    """The page for a whole tree; `facts` are shown in its head (name -> text). The drawing folds, the list has every file."""
    drawing, width, height = _draw(fold(root, MAX_DRAWN_EDGES))
    style, script = _part("mindmap.css"), _part("mindmap.js")
    policy = f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    head = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(root.label)}: mind map</title>\n<style>{style}</style></head>\n"
        f"<body><header><h1>{_text(root.label)}</h1><dl>{head}</dl></header>\n<main><div id=\"stage\">\n"
        f'<svg viewBox="0 0 {width} {height}" role="group" aria-label="Mind map of {_text(root.label)}">{drawing}</svg>\n'
        '<div id="tools"><button data-act="in" aria-label="Zoom in">+</button>'
        '<button data-act="out" aria-label="Zoom out">\u2212</button>'
        '<button data-act="home" aria-label="Whole map">0</button></div></div>\n'
        '<aside><section aria-live="polite"><h2 id="what">Select a node</h2><p id="detail" class="muted">'
        "Drag to move, wheel or + and \u2212 to zoom, 0 for the whole map.</p></section>\n"
        f"<h2>Every file</h2>{_listing(root)}</aside></main>\n<script>{script}</script></body></html>\n")


def _draw(root: Node) -> tuple[str, int, int]:
    """(SVG content, width, height): leaves on rows of their own, folders in the middle of theirs."""
    rows: dict[int, float] = {}
    depth_of: dict[int, int] = {}
    following = 0
    stack = [(root, 0, False)]
    while stack:
        node, depth, done = stack.pop()
        depth_of[id(node)] = depth
        if done:
            rows[id(node)] = sum(rows[id(child)] for child in (node.children[0], node.children[-1])) / 2
        elif node.children:
            stack.append((node, depth, True))
            stack.extend((child, depth + 1, False) for child in reversed(node.children))
        else:
            rows[id(node)] = following
            following += 1
    edges, nodes = [], []
    stack2 = [root]
    while stack2:
        node = stack2.pop()
        x, y = PADDING + depth_of[id(node)] * COLUMN, PADDING + rows[id(node)] * ROW
        label = node.label + "/" * (node.is_folder and node is not root)
        if len(label) > LABEL_CHARS:
            label = label[:LABEL_CHARS - 1] + "\u2026"
        wide = 12 + 7.3 * len(label)
        for child in node.children:
            to_x, to_y = PADDING + depth_of[id(child)] * COLUMN, PADDING + rows[id(child)] * ROW
            bend = (x + wide + to_x) / 2
            curve = f"M{x + wide:.0f} {y:.0f}C{bend:.0f} {y:.0f} {bend:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
            edges.append(f'<path class="edge" d="{curve}"/>')
        kind = "folder" if node.is_folder else "more" if node.path.endswith("/+") or node.path == "/+" else "file"
        about = f"{count_of(node.files, 'file')}, {count_of(node.size, 'symbol')}" if node.is_folder else node.detail
        nodes.append(f'<g class="node {kind}" tabindex="0" role="button" data-path="{_text(node.path)}" '
                     f'data-label="{_text(node.label)}" data-detail="{_text(about)}">'
                     f'<title>{_text(node.path or node.label)}</title>'
                     f'<rect x="{x:.0f}" y="{y - 9:.0f}" width="{wide:.0f}" height="18" rx="6"/>'
                     f'<text x="{x + 6:.0f}" y="{y + 4:.0f}">{_text(label)}</text></g>')
        stack2.extend(node.children)
    width = PADDING * 2 + (max(depth_of.values()) + 1) * COLUMN
    return "".join(edges + nodes), width, int(PADDING * 2 + max(1, following) * ROW)


def _listing(root: Node) -> str:
    """Nested lists of every file, folders closed; written without recursion, since a tree may be deep."""
    out: list[str] = []
    stack: list[Node | str] = ["</ul>", *reversed(root.children), "<ul>"]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
        elif item.is_folder:
            out.append(f'<li><details><summary>{_text(item.label)}/ <span class="muted">{item.files}</span></summary><ul>')
            stack.append("</ul></details></li>")
            stack.extend(reversed(item.children))
        else:
            detail = f' <span class="muted">{_text(item.detail)}</span>' if item.detail else ""
            out.append(f"<li>{_text(item.label)}{detail}</li>")
    return "".join(out)


def _text(value: str) -> str:
    """Any text as HTML text or attribute: markup escaped, control and direction-changing characters made visible."""
    return escape("".join(char if char.isprintable() or char == " " else "\ufffd" for char in value), quote=True)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _part(name: str) -> str:
    data = pkgutil.get_data("slipstream.map", name)  # works from the zip, too
    return (data or b"").decode("utf-8")
