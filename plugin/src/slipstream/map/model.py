"""What the map knows about one file: its definitions, imports, purpose and outline, as plain cheap classes."""
from __future__ import annotations

# Kinds published for the exported surface of a file: function, class, interface, type, const, enum, component, default;
# of what stands inside a definition: method, field, accessor (nested types keep their kind of the surface).

# An import as its language writes it: (specifier, kind, imported names).
# Kinds: import, type (types only), reexport, dynamic, require, include, mod, package (the file's own package), namespace.
Import = tuple[str, str, "tuple[str, ...]"]


class Definition:
    """One definition; lines are 1-based and inclusive.

    `line` holds the name, `start` is the first line of its doc comment, decorators or annotations (never after `line`),
    `end` the last line of the whole statement. `overload` marks a signature whose implementation follows.
    """

    __slots__ = (
        "default",
        "doc",
        "end",
        "exported",
        "kind",
        "line",
        "members",
        "name",
        "overload",
        "parent",
        "signature",
        "start",
    )

    def __init__(self, name: str, kind: str, line: int, start: int, end: int, signature: str = "",
                 parent: str = "", exported: bool = False, default: bool = False, doc: str = "") -> None:
        self.name = name
        self.kind = kind
        self.line = line
        self.start = start
        self.end = end
        self.signature = signature
        self.parent = parent
        self.exported = exported
        self.default = default
        self.doc = doc
        self.overload = False
        self.members: list[Definition] = []

    @property
    def qualified(self) -> str:
        """The name with its containers: `Class.method`."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


class OutlineEntry:
    """One entry of a document's outline (heading, table, target, top-level key); never among the symbols."""

    __slots__ = ("end", "kind", "level", "line", "name")

    def __init__(self, name: str, kind: str, line: int, end: int, level: int = 1) -> None:
        self.name = name
        self.kind = kind
        self.line = line
        self.end = end
        self.level = level


class FileScan:
    """What one reading of one file gave.

    `definitions` holds the top level in the order of the lines, members inside their owners (`walk` gives both).
    `reexports` are names a file passes on: (exported name, line, specifier or "", name there).
    `hints` are signs of an entry point (`shebang:python3`, `main`), `warnings` sentences about what could not be read.
    """

    __slots__ = ("definitions", "hints", "imports", "language", "lines", "outline", "purpose", "reexports", "warnings")

    def __init__(self, language: str, lines: int = 0) -> None:
        self.language = language
        self.lines = lines
        self.purpose = ""
        self.imports: list[Import] = []
        self.definitions: list[Definition] = []
        self.outline: list[OutlineEntry] = []
        self.reexports: list[tuple[str, int, str, str]] = []
        self.hints: list[str] = []
        self.warnings: list[str] = []

    def walk(self) -> list[Definition]:
        """Every definition, members after their owner."""
        out: list[Definition] = []
        stack = self.definitions[::-1]
        while stack:
            definition = stack.pop()
            out.append(definition)
            if definition.members:
                stack.extend(reversed(definition.members))
        return out
