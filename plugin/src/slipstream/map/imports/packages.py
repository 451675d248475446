"""Languages whose files name the package or namespace they belong to: Java, Kotlin, Scala, C#, and PHP with Composer."""
from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from slipstream.map.imports.tree import Tree, join

MAX_PACKAGE_FILES = 200


class Packages:
    """Declared packages (Java, Kotlin, Scala) or namespaces (C#). `declared` yields (path, package, names defined at top)."""

    def __init__(self, declared: Callable[[], Iterable[tuple[str, str, Iterable[str]]]]):
        self._declared = declared
        self._members: dict[str, dict[str, list[str]]] | None = None
        self._files: dict[str, list[str]] = {}
        self._own: dict[str, str] = {}
        self._known: dict[tuple[str, int], list[str]] = {}  # many files import the same
        self._scala: dict[tuple[str, str], list[str]] = {}
        self._starts: set[str] = set()  # every package and those around it

    @property
    def members(self) -> dict[str, dict[str, list[str]]]:
        """Package -> name -> files."""
        if self._members is None:
            self._members = {}
            for path, package, names in self._declared():
                table = self._members.setdefault(package, {})
                self._files.setdefault(package, []).append(path)
                self._own.setdefault(path, package)
                stem, extension = posixpath.splitext(posixpath.basename(path))
                facade = {stem[:1].upper() + stem[1:] + "Kt"} if extension == ".kt" else set()  # as Java sees its functions
                for name in {*names, stem} | facade:
                    table.setdefault(name, []).append(path)
            for package in self._members:
                while package and package not in self._starts:
                    self._starts.add(package)
                    package = package.rpartition(".")[0]
        return self._members

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        return self.find(specifier)

    def find(self, specifier: str, least: int = 1) -> list[str]:
        """`a.b.C`, `a.b.C.member`, `a.b.*`, `a.b` (C#); the package has at least `least` parts."""
        found = self._known.get((specifier, least))
        if found is None:
            found = self._known[specifier, least] = self._find(specifier, least)
        return found

    def _find(self, specifier: str, least: int) -> list[str]:
        parts = specifier.replace("_root_.", "").split(".")
        wild = parts[-1] in ("*", "_", "given")
        if wild:
            parts.pop()
        whole = ".".join(parts)
        members = self.members
        table = members.get(".".join(parts[:-1]), {})
        if whole in members and not (wild and parts[-1] in table):
            return self._files[whole][:MAX_PACKAGE_FILES]
        for cut in range(len(parts) - 1, least - 1, -1):
            found = members.get(".".join(parts[:cut]), {}).get(parts[cut])
            if found:
                return found
        return []

    def resolve_scala(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        """Every path of `a.{b, c => d}, e.*`; a path may start in any package around the importer."""
        members = self.members
        package = self._own.get(importer, "")
        if (package, specifier) in self._scala:
            return self._scala[package, specifier]
        found: list[str] = []
        own = package.split(".")
        for path in expand_scala(specifier):
            bases = [""] if path.startswith("_root_.") else [""] + [".".join(own[:cut]) + "." for cut in range(len(own), 0, -1)]
            head = path.partition(".")[0]
            bases = [base for base in bases if base + head in self._starts or head in members.get(base[:-1], ()) or not base]
            found += next(filter(None, (self.find(base + path, max(1, base.count("."))) for base in bases)), [])
        self._scala[package, specifier] = found
        return found


def expand_scala(specifier: str) -> list[str]:
    """`a.{b, c => d, *}, e.f as g` as `a.b`, `a.c`, `a.*`, `e.f`."""
    paths = []
    for part in re.findall(r"[^,{}]*\{[^{}]*\}?|[^,{}]+", specifier):
        head, brace, inside = part.partition("{")
        for name in inside.rstrip("} ").split(",") if brace else [""]:
            alias = re.split(r"\s*=>\s*|\s+as\s+", (head + name.strip()).strip())
            if alias[0] and alias[1:] != ["_"]:  # `x => _` and `x as _` leave a name out
                paths.append(re.sub(r"\s+|`", "", alias[0].split("given ")[0] + ("given" if "given " in alias[0] else "")))
    return list(dict.fromkeys(paths))


class Php:
    """Composer's psr-4 and psr-0 prefixes, then the namespaces the files declare; include by path."""

    def __init__(self, tree: Tree, declared: Callable[[], Iterable[tuple[str, str, Iterable[str]]]]):
        self.tree = tree
        self.packages = Packages(lambda: ((path, name.replace("\\", "."), names) for path, name, names in declared()))
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

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        if kind in ("require", "include"):
            path = join(posixpath.dirname(importer), specifier.lstrip("/"))
            if path in self.tree.paths or not specifier.endswith((".php", ".inc", ".phtml")):
                return [path] if path in self.tree.paths else []
            name = join(specifier).lstrip("./")
            return [name] if name in self.tree.paths else self.tree.with_suffix(name)[:1] if "vendor/" not in name else []
        name = specifier.strip("\\").replace("\\", "/")
        for prefix, folder in self.prefixes:
            if name.startswith(prefix):
                path = join(folder, name[len(prefix):] + ".php")
                if path in self.tree.paths:
                    return [path]
        return self.packages.find(name.replace("/", ".")) if "/" in name else []


def own_packages(language: str, imports: Iterable[tuple[str, str, tuple[str, ...]]]) -> list[str]:
    """The packages or namespaces a file says it belongs to: Scala's clauses continue each other."""
    named = list(dict.fromkeys(specifier for specifier, kind, _ in imports if kind in ("package", "namespace")))
    if language == "scala":
        return [".".join(named)] if named else []
    return named if language in ("csharp", "php") else named[:1]


def told_by_name(language: str, path: str) -> bool:
    """Whether a file's name says what it defines, so that nobody needs to look: Java's classes, PHP's class files."""
    return language == "java" or (language == "php" and path.rpartition("/")[2][:1].isupper())
