"""The project as a mind map: Mermaid for the chat (the published form), folded breadth-first with "+N more"."""
from __future__ import annotations

from collections.abc import Iterable

from slipstream.base.counts import count_of

THEME = ("%%{init: {'theme':'base','themeVariables':{'primaryColor':'#0d1117','primaryTextColor':'#f5f7fa',"
         "'primaryBorderColor':'#38bdf8','lineColor':'#22d3ee','fontFamily':'monospace'}}}%%")
MAX_CHAT_EDGES = 80


class Node:
    """A folder or file; `files` counts the files at and below it, `label` is what is shown."""

    __slots__ = ("children", "detail", "files", "is_folder", "label", "path", "size")

    def __init__(self, label: str, path: str, is_folder: bool):
        self.label, self.path, self.is_folder = label, path, is_folder
        self.children: list[Node] = []
        self.files = 0 if is_folder else 1
        self.size = 0
        self.detail = ""


def build_tree(root_label: str, files: Iterable[tuple[str, int, str]]) -> Node:
    """A tree of folders from (path, weight such as symbols, detail such as the purpose), in the order of the paths."""
    root = Node(root_label, "", True)
    folders = {"": root}
    for path, weight, detail in files:
        parts = path.split("/")
        parent = root
        chain = [root]
        for depth in range(1, len(parts)):
            name = "/".join(parts[:depth])
            if name not in folders:
                folders[name] = Node(parts[depth - 1], name, True)
                parent.children.append(folders[name])
            parent = folders[name]
            chain.append(parent)
        leaf = Node(parts[-1], path, False)
        leaf.size, leaf.detail = weight, detail
        parent.children.append(leaf)
        for folder in chain:
            folder.files += 1
            folder.size += weight
    return root


def fold(root: Node, max_edges: int) -> Node:
    """A copy with at most `max_edges` edges: level by level, every folder gets a fair share, the rest is "+N more"."""
    copy = _bare(root)
    budget = max_edges
    level = [(root, copy)]
    while level:
        following = []
        for position, (node, shown) in enumerate(level):
            share = max(0, budget // (len(level) - position))
            children = node.children
            if len(children) > share:
                keep = max(0, share - 1)
                ranked = sorted(range(len(children)), key=lambda index: (-children[index].files, -children[index].size, index))
                chosen = sorted(ranked[:keep])
                children = [children[index] for index in chosen]
                left = node.files - sum(child.files for child in children)
                if share:
                    more = Node("+" + count_of(left, "more file"), node.path + "/+", False)
                    shown.children.append(more)
                    budget -= 1
            kept = [_bare(child) for child in children]
            shown.children[:0] = kept
            budget -= len(kept)
            following += [pair for pair in zip(children, kept) if pair[0].children]
        level = following
    return copy


def render_mermaid(root: Node, max_edges: int = MAX_CHAT_EDGES) -> str:
    """A flowchart: theme line, `flowchart LR`, one edge a line, ids in order of first mention."""
    lines = [THEME, "flowchart LR"]
    shapes: dict[int, str] = {}

    def shape(node: Node) -> str:
        if id(node) not in shapes:
            label = _mermaid_text(node.label)
            number = len(shapes)
            if node.is_folder and number:
                label += f"/ ({count_of(node.files, 'file')})" if node.files and not node.children else "/"
            shapes[id(node)] = f'n{number}["{label}"]' if number else f'n{number}(["{label}"])'
        return shapes[id(node)]

    folded = fold(root, max_edges)
    stack = [(folded, child) for child in reversed(folded.children)]
    if not stack:
        lines.append("  " + shape(folded))
    while stack:
        parent, node = stack.pop()
        lines.append(f"  {shape(parent)} --> {shape(node)}")
        stack.extend((node, child) for child in reversed(node.children))
    return "\n".join(lines) + "\n"


def _bare(node: Node) -> Node:
    copy = Node(node.label, node.path, node.is_folder)
    copy.files, copy.size, copy.detail = node.files, node.size, node.detail
    return copy


def _mermaid_text(label: str) -> str:
    """Quotes as the published form has them; markup, entities and control characters escaped."""
    text = "".join(character if character.isprintable() else "\ufffd" for character in label)
    return text.replace("#", "#35;").replace('"', "'").replace("<", "#lt;").replace(">", "#gt;").replace("`", "#96;")
