"""JavaScript and TypeScript: relative and extensionless paths, index files, tsconfig paths, workspaces, package exports."""
from __future__ import annotations

import posixpath

from slipstream.map.imports.tree import Tree, ancestors, join

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

EXTENSIONS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro", ".json")
# A specifier names the built file; the source beside it has one of these endings.
SOURCES_OF = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx",), ".mjs": (".mts", ".d.mts"),
              ".cjs": (".cts", ".d.cts")}
CONDITIONS = ("source", "types", "import", "module", "default", "require", "node", "browser", "development", "production")
BUILT_FOLDERS = ("dist", "lib", "build", "out", "esm", "cjs", "es", "types")
MAX_EXTENDS = 8


class JavaScript:
    def __init__(self, tree: Tree):
        self.tree = tree
        self._configs: dict[str, list[tuple[str, list[str]]]] = {}
        self._nearest: dict[str, list[tuple[str, list[str]]]] = {}
        self._packages: dict[str, str] | None = None
        self._stems: set[str] | None = None
        self._holders: dict[str, set[str]] = {}
        self._bases: dict[str, list[str]] = {}
        self._files: dict[str, list[str]] = {}
        self._known: dict[tuple[str, int], list[str]] = {}  # by specifier and the config that holds

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        """The one file meant, or none: outside the project, or not there."""
        specifier = specifier.split("?", 1)[0]
        folder = posixpath.dirname(importer)
        if specifier.startswith(("./", "../")) or specifier in (".", ".."):
            return self.file(join(folder, specifier))
        if specifier.startswith("/"):
            return self.file(join(specifier.lstrip("/"))) or self.file(join("public", specifier.lstrip("/")))
        patterns = self.config(folder)
        found = self._known.get((specifier, id(patterns)))
        if found is None:
            found = self._known[specifier, id(patterns)] = self.by_config(patterns, specifier) or self.by_package(specifier)
        return found or self.by_habit(folder, specifier)

    def file(self, path: str) -> list[str]:
        """`path` as a module: itself, its source, with an extension, or a folder's entry."""
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = self._file(path)
        return found

    def _file(self, path: str) -> list[str]:
        paths = self.tree.paths
        if path.startswith(".."):
            return []
        if path in paths:
            return [path]
        if path.endswith(tuple(SOURCES_OF)):
            stem, extension = posixpath.splitext(path)
            for other in SOURCES_OF.get(extension, ()):
                if stem + other in paths:
                    return [stem + other]
        if path in self.stems:
            return [next(path + extension for extension in EXTENSIONS if path + extension in paths)]
        if path in self.tree.folders:
            index = path and path + "/"
            index += "index"
            if index in self.stems:
                return [next(index + extension for extension in EXTENSIONS if index + extension in paths)]
            package = self.tree.json(join(path, "package.json"))
            for key in ("source", "types", "module", "main"):
                if isinstance(package.get(key), str) and join(path, package[key]) != path:
                    found = self.file(join(path, package[key])) or self.source_of(path, package[key])
                    if found:
                        return found
        return []

    @property
    def stems(self) -> set[str]:
        """Every path that has one of `EXTENSIONS`, without it."""
        if self._stems is None:
            self._stems = {path.rpartition(".")[0] for path in self.tree.paths if path.endswith(EXTENSIONS)}
            self._stems.update(path[:-5] for path in self.tree.paths if path.endswith(".d.ts"))
        return self._stems

    def by_config(self, patterns: list[tuple[str, list[str]]], specifier: str) -> list[str]:
        for pattern, targets in patterns:
            head, star, tail = pattern.partition("*")
            if star:
                if not (specifier.startswith(head) and specifier.endswith(tail) and len(specifier) >= len(head) + len(tail)):
                    continue
                middle = specifier[len(head):len(specifier) - len(tail)]
            elif specifier == pattern:
                middle = ""
            else:
                continue
            for target in targets:
                found = self.file(join(target.replace("*", middle, 1)))
                if found:
                    return found
        return []

    def config(self, folder: str) -> list[tuple[str, list[str]]]:
        """Path patterns that hold in a folder: (pattern, targets relative to the root), most specific first."""
        if folder not in self._nearest:
            for above in ancestors(folder):
                if above in self._nearest:
                    break
                patterns: list[tuple[str, list[str]]] = []
                for name in ("tsconfig.json", "jsconfig.json"):
                    path = join(above, name)
                    if self.tree.json(path):
                        patterns = self.patterns(path, 0)
                        for reference in self.tree.json(path).get("references") or []:
                            target = reference.get("path") if isinstance(reference, dict) else None
                            if isinstance(target, str):
                                target = join(above, target)
                                patterns = patterns + self.patterns(
                                    target if target.endswith(".json") else join(target, "tsconfig.json"), 0)
                        break
                if patterns or not above:
                    self._nearest[above] = sorted(patterns, key=lambda row: -len(row[0].partition("*")[0]))
                    break
            self._nearest[folder] = self._nearest[above]  # the same object, by which `_known` knows it
        return self._nearest[folder]

    def patterns(self, path: str, depth: int) -> list[tuple[str, list[str]]]:
        """`paths` and `baseUrl` of one config file, those it extends below its own."""
        if path in self._configs or depth > MAX_EXTENDS:
            return self._configs.get(path, [])
        self._configs[path] = []
        config = self.tree.json(path)
        folder = posixpath.dirname(path)
        options = config.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base = join(folder, options["baseUrl"]) if isinstance(options.get("baseUrl"), str) else None
        found: list[tuple[str, list[str]]] = []
        declared = options.get("paths")
        for pattern, targets in (declared if isinstance(declared, dict) else {}).items():
            if isinstance(targets, list):
                found.append((pattern, [join(folder if base is None else base, target)
                                        for target in targets if isinstance(target, str)]))
        if base is not None:
            found.append(("*", [join(base, "*")]))
        extends = config.get("extends")
        if not declared:
            for parent in reversed(extends if isinstance(extends, list) else [extends]):
                if isinstance(parent, str) and parent.startswith("."):
                    target = join(folder, parent)
                    found += self.patterns(target if target.endswith(".json") else target + ".json", depth + 1)
        self._configs[path] = found
        return found

    @property
    def packages(self) -> dict[str, str]:
        """Name -> folder of every package in the tree: workspaces, whatever tool declares them."""
        if self._packages is None:
            self._packages = {}
            for folder in self.tree.named("package.json"):
                name = self.tree.json(join(folder, "package.json")).get("name")
                if isinstance(name, str):
                    self._packages.setdefault(name, folder)
        return self._packages

    def by_package(self, specifier: str) -> list[str]:
        if specifier.startswith("#"):
            return []
        parts = specifier.split("/")
        name = "/".join(parts[:2]) if specifier.startswith("@") else parts[0]
        home = self.packages.get(name)
        if home is None:
            return []
        inside = specifier[len(name):].lstrip("/")
        exports = self.tree.json(join(home, "package.json")).get("exports")
        if isinstance(exports, (str, dict, list)):
            table = exports if isinstance(exports, dict) and any(key.startswith(".") for key in exports) else {".": exports}
            found = self.by_exports(home, table, "./" + inside if inside else ".")
            if found:
                return found
        if not inside:
            return self.file(home) or self.file(join(home, "src")) or self.file(join(home, "src", "main"))
        return self.file(join(home, inside)) or self.file(join(home, "src", inside))

    def by_exports(self, home: str, table: dict[str, Any], key: str) -> list[str]:
        for pattern in sorted(table, key=lambda pattern: -len(pattern.partition("*")[0])):
            head, star, tail = pattern.partition("*")
            if pattern == key:
                middle = ""
            elif star and key.startswith(head) and key.endswith(tail) and len(key) >= len(head) + len(tail):
                middle = key[len(head):len(key) - len(tail)]
            else:
                continue
            for target in _targets(table[pattern]):
                target = target.replace("*", middle)
                found = self.file(join(home, target)) if target.startswith(".") else []
                found = found or self.source_of(home, target)
                if found:
                    return found
        return []

    def source_of(self, home: str, target: str) -> list[str]:
        """The source behind a built file that the map does not list: dist/x.js -> src/x.ts, x.ts; else the package's entry."""
        whole = join(target)
        for suffix in (".d.ts", ".d.mts", ".mjs", ".cjs", ".js", ".ts"):
            whole = whole.removesuffix(suffix)
        parts = whole.split("/")
        stem = "/".join(part for part in parts if part not in BUILT_FOLDERS)
        below = "/".join(parts[1:]) if parts[0] in BUILT_FOLDERS else stem  # dist/lib/x.js may come from src/lib/x.ts
        plain = stem.split(".", 1)[0]  # vue.runtime.esm-bundler -> vue
        for candidate in (join("src", below), join("src", stem), below, stem, join("src", plain), plain, join("src", "index")):
            found = self.file(join(home, candidate)) if candidate and join(home, candidate) != home else []
            if found:
                return found
        return []

    def by_habit(self, folder: str, specifier: str) -> list[str]:
        """`#x` is as the package says; `@/x` and `~/x` mean the nearest package's src where no config says otherwise.

        So do the templates of Vite, Nuxt and Next.
        """
        if specifier.startswith("#"):
            for above in ancestors(folder):
                imports = self.tree.json(join(above, "package.json")).get("imports")
                if isinstance(imports, dict):
                    return self.by_exports(above, imports, specifier)
        if specifier.startswith("$lib/"):
            return next(filter(None, (self.file(join(above, "src/lib", specifier[5:])) for above in ancestors(folder))), [])
        if specifier.startswith(("@/", "~/")):
            path = specifier[2:]
            head, slash, _ = path.partition("/")
            even = slash and head.strip(".") and ".." not in path and not path.endswith(("/", "/."))
            for base in self.bases(folder):
                if not even or base in self.holders.get(head, ()):
                    found = self.file(join(base, path))
                    if found:
                        return found
        return []

    def bases(self, folder: str) -> list[str]:
        """Where `@/` may lead in a folder."""
        if folder not in self._bases:
            self._bases[folder] = [join(above, base) for above in ancestors(folder) for base in ("src", "app", "")]
        return self._bases[folder]

    @property
    def holders(self) -> dict[str, set[str]]:
        """Name of a folder -> the folders that hold one so called."""
        if not self._holders:
            for folder in self.tree.folders:
                parent, _, name = folder.rpartition("/")
                self._holders.setdefault(name, set()).add(parent)
        return self._holders


def _targets(value: Any) -> list[str]:
    """Every target a conditional export can mean, in the order a source reader prefers."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [target for item in value for target in _targets(item)]
    if isinstance(value, dict):
        keys = [key for key in CONDITIONS if key in value] + [key for key in value if key not in CONDITIONS]
        return [target for key in keys for target in _targets(value[key])]
    return []
