"""What every language reader shares: the list of definitions it fills and small questions to a syntax tree.

Every definition is a dict: `name`, `names` (spellings that agree), `kind`, `kinds` (kinds that agree), `line` (of the name),
`start` (first decorator or annotation), `end`, `ends` (right ends), `level` (top, member, local), `parent`, `exported`,
`req` (must be found; else it counts neither way) and `end_sure` (False when a parse error lies inside).
"""

from __future__ import annotations

from types import SimpleNamespace


class Found:
    """The definitions of one file, and the ranges of lines where the truth is unknown."""

    def __init__(self, source, language):
        self.src, self.lang, self.defs, self.unsure = source, language, [], []

    def text(self, node):
        return self.src[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def last_code_line(self, node):
        """End without trailing comments (the Python grammar keeps those in the block)."""
        while node.children:
            code = [child for child in node.children if child.type != "comment"]
            if not code:
                break
            node = code[-1]
        return end_line(node)

    def add(
        self, name, kind, node, name_node=None, outer=None, level="top", parent="", exported=True, req=True, kinds=(), names=()
    ):
        if not name:
            return None
        outer = outer or node
        names = {name, *names}
        if name[0] == "`":
            names.add(name.strip("`"))
        if name.startswith("r#"):
            names.add(name[2:])
        line = (name_node or node).start_point[0] + 1
        ends = sorted({end_line(outer), self.last_code_line(node) if self.lang == "python" else end_line(node)})
        definition = {
            "name": name,
            "names": sorted(names),
            "kind": kind,
            "kinds": sorted({kind, *kinds}),
            "line": line,
            "start": min(line, outer.start_point[0] + 1),
            "end": ends[0] if self.lang == "python" else end_line(outer),
            "ends": ends,
            "level": level,
            "parent": parent,
            "exported": bool(exported),
            "req": bool(req),
            "end_sure": not node.has_error,
        }
        self.defs.append(definition)
        return definition


def end_line(node):
    row, column = node.end_point
    return row if column == 0 and row > node.start_point[0] else row + 1


def children(node):
    return node.named_children


def field(node, *names):
    """The child in the first of these fields that there is."""
    return next((child for child in map(node.child_by_field_name, names) if child is not None), None)


def first(node, *types):
    return next((child for child in node.named_children if child.type in types), None)


def has_token(node, *tokens):
    return any(child.type in tokens for child in node.children)


def keyword(node, word):
    return next((child for child in node.children if child.type == word), None)


def walk(node, *types):
    """Nodes of these types in order, without what lies inside one of them."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in types:
            yield node
        else:
            stack.extend(reversed(node.named_children))


def holder(*nodes):
    """A parent of these nodes, for a reader that takes parents."""
    return SimpleNamespace(named_children=list(nodes))


def join(*parts):
    return ".".join(part for part in parts if part)
