"""Languages that name packages, namespaces or load paths: Java, Kotlin, Scala, C#, PHP, Ruby, shell."""
from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable

from slipstream.map.imports.tree import Tree, ancestors, join

MAX_PACKAGE_FILES = 200


class Packages:
    """Declared packages (Java, Kotlin, Scala) or namespaces (C#). `declared` yields (path, package, names defined at top)."""

    def __init__(self, declared: Callable[[], Iterable[tuple[str, str, Iterable[str]]]]):
        self._declared = declared
        self._members: dict[str, dict[str, list[str]]] | None = None
        self._files: dict[str, list[str]] = {}

    @property
    def members(self) -> dict[str, dict[str, list[str]]]:
        """Package -> name -> files."""
        if self._members is None:
            self._members = {}
            for path, package, names in self._declared():
                table = self._members.setdefault(package, {})
                self._files.setdefault(package, []).append(path)
                for name in {*names, posixpath.splitext(posixpath.basename(path))[0]}:
                    table.setdefault(name, []).append(path)
        return self._members

    def resolve(self, importer: str, specifier: str) -> list[str]:
        """`a.b.C`, `a.b.C.member`, `a.b.*`, `a.b` (C#)."""
        parts = specifier.replace("_root_.", "").split(".")
        if parts[-1] in ("*", "_"):
            parts.pop()
            whole = ".".join(parts)
            if whole in self.members:
                return [path for path in self._files[whole] if path != importer][:MAX_PACKAGE_FILES]
        elif specifier in self.members:
            return [path for path in self._files[specifier] if path != importer][:MAX_PACKAGE_FILES]
        for cut in range(len(parts) - 1, 0, -1):
            table = self.members.get(".".join(parts[:cut]))
            if table is not None:
                return [path for path in table.get(parts[cut], []) if path != importer]
        return []


class Php:
    """Composer's psr-4 and psr-0 prefixes, then a file whose path ends as the name does; include by path."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._prefixes: list[tuple[str, str]] | None = None

    @property
    def prefixes(self) -> list[tuple[str, str]]:
        """(namespace prefix with slashes, folder), longest first."""
        if self._prefixes is None:
            found = []
            for folder in self.tree.named("composer.json"):
                composer = self.tree.json(join(folder, "composer.json"))
                for section in ("autoload", "autoload-dev"):
                    rules = composer.get(section)
                    for standard in ("psr-4", "psr-0"):
                        table = rules.get(standard) if isinstance(rules, dict) else None
                        for prefix, targets in (table if isinstance(table, dict) else {}).items():
                            for target in targets if isinstance(targets, list) else [targets]:
                                if isinstance(target, str):
                                    name = prefix.replace("\\", "/")
                                    found.append((name, join(folder, target, name if standard == "psr-0" else "")))
            self._prefixes = sorted(found, key=lambda row: -len(row[0]))
        return self._prefixes

    def resolve(self, importer: str, specifier: str, kind: str) -> list[str]:
        if kind in ("require", "include"):
            path = join(posixpath.dirname(importer), specifier.lstrip("/"))
            return [path] if path in self.tree.paths else self.tree.with_suffix(join(specifier).lstrip("/"))[:1]
        name = specifier.strip("\\").replace("\\", "/")
        for prefix, folder in self.prefixes:
            if name.startswith(prefix):
                path = join(folder, name[len(prefix):] + ".php")
                if path in self.tree.paths:
                    return [path]
        parts = name.split("/")
        return self.tree.with_suffix("/".join(parts[-2:]) + ".php")[:1] if len(parts) > 1 and not self.prefixes else []


class Ruby:
    """require_relative beside the file; require below a `lib` (or app) folder or the root."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str) -> list[str]:
        name = specifier if specifier.endswith(".rb") else specifier + ".rb"
        beside = join(posixpath.dirname(importer), name)
        if kind == "include" or specifier.startswith("."):
            return [beside] if beside in self.tree.paths else []
        for above in ancestors(posixpath.dirname(importer)):
            for base in ("lib", "", "test", "spec"):
                if join(above, base, name) in self.tree.paths:
                    return [join(above, base, name)]
        found = [path for path in self.tree.with_suffix(name) if path == name or path[:-len(name) - 1].endswith("lib")]
        return found[:1]


class Shell:
    """`source x` and `. x`: beside the script or from the root, `$(dirname ...)/` left out."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str) -> list[str]:
        name = specifier.rpartition("}/")[2].rpartition(")/")[2]
        if "$" in name:
            name = name.rpartition("/")[2]
        for folder in (posixpath.dirname(importer), ""):
            if "$" not in name and join(folder, name) in self.tree.paths:
                return [join(folder, name)]
        return []
