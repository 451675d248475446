"""Go modules, Rust crates, C and C++ includes, Swift modules."""
from __future__ import annotations

import posixpath
import re

from slipstream.map.imports.tree import Tree, ancestors, join

MAX_PACKAGE_FILES = 200


class Go:
    """An import names a folder; every file of that package is meant, tests apart."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._modules: list[tuple[str, str]] | None = None

    @property
    def modules(self) -> list[tuple[str, str]]:
        """(module path, folder) of every go.mod, longest path first."""
        if self._modules is None:
            self._modules = []
            for folder in self.tree.named("go.mod"):
                found = re.search(r"^module\s+\"?([^\s\"]+)", self.tree.read(join(folder, "go.mod")) or "", re.M)
                if found:
                    self._modules.append((found.group(1), folder))
            self._modules.sort(key=lambda row: -len(row[0]))
        return self._modules

    def resolve(self, importer: str, specifier: str) -> list[str]:
        if specifier.startswith("."):
            return self.package(join(posixpath.dirname(importer), specifier))
        for name, folder in self.modules:
            if specifier == name or specifier.startswith(name + "/"):
                return self.package(join(folder, specifier[len(name) + 1:]))
        return self.package(join("vendor", specifier))

    def package(self, folder: str) -> list[str]:
        files = self.tree.folders.get(folder, [])
        return [path for path in files if path.endswith(".go") and not path.endswith("_test.go")][:MAX_PACKAGE_FILES]


class Rust:
    """`mod x;` names a file below the module; a `use` path walks the crate, its parents or a workspace member."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._crates: dict[str, str] | None = None

    def resolve(self, importer: str, specifier: str, kind: str) -> list[str]:
        if kind == "mod":
            return self.below(importer, [specifier], exact=True)
        path = [part.strip() for part in specifier.split("::") if part.strip()]
        if not path:
            return []
        head, rest = path[0], path[1:]
        if head == "crate":
            root = self.crate_root(importer)
            return self.below(root, rest) if root else []
        if head == "self":
            return self.below(importer, rest)
        if head == "super":
            module = importer
            while path and path[0] == "super":
                module = self.parent(module)
                path.pop(0)
            return self.below(module, path) if module else []
        if head in self.crates:
            return self.below(self.crates[head], rest)
        return self.below(importer, path, exact=True)

    def module_folder(self, file: str) -> str:
        name = posixpath.basename(file)
        folder = posixpath.dirname(file)
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else join(folder, name[:-3])

    def below(self, file: str, path: list[str], exact: bool = False) -> list[str]:
        """The deepest file along `path` under the module in `file`; the module itself when there is none, unless `exact`."""
        folder, found = self.module_folder(file), "" if exact else file
        for part in path:
            files = (join(folder, part + ".rs"), join(folder, part, "mod.rs"))
            target = next((name for name in files if name in self.tree.paths), None)
            if target is None:
                break
            found, folder = target, join(folder, part)
        return [found] if found else []

    def parent(self, file: str) -> str:
        """The file that holds `mod` for this one, or ``."""
        if not file:
            return ""
        folder = posixpath.dirname(file)
        if posixpath.basename(file) == "mod.rs":
            folder = posixpath.dirname(folder)
        candidates = [join(folder, name) for name in ("mod.rs", "lib.rs", "main.rs")] + [folder + ".rs"]
        return next((path for path in candidates if path in self.tree.paths and path != file), "")

    def crate_root(self, importer: str) -> str:
        for above in ancestors(posixpath.dirname(importer)):
            for name in ("lib.rs", "main.rs"):
                if join(above, name) in self.tree.paths and not above.endswith("/bin"):
                    return join(above, name)
        return ""

    @property
    def crates(self) -> dict[str, str]:
        """Crate name as code writes it -> its root file."""
        if self._crates is None:
            self._crates = {}
            for folder in self.tree.named("Cargo.toml"):
                text = self.tree.read(join(folder, "Cargo.toml")) or ""
                package = re.search(r"^\[package\][^\[]*?^\s*name\s*=\s*\"([^\"]+)\"", text, re.M | re.S)
                lib = re.search(r"^\[lib\][^\[]*?^\s*path\s*=\s*\"([^\"]+)\"", text, re.M | re.S)
                named = re.search(r"^\[lib\][^\[]*?^\s*name\s*=\s*\"([^\"]+)\"", text, re.M | re.S)
                root = join(folder, lib.group(1) if lib else "src/lib.rs")
                if package and root in self.tree.paths:
                    self._crates.setdefault((named or package).group(1).replace("-", "_"), root)
        return self._crates


class Native:
    """C and C++ includes: beside the includer, then wherever in the tree the path ends so, nearest first."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str) -> list[str]:
        folder = posixpath.dirname(importer)
        beside = join(folder, specifier)
        if beside in self.tree.paths:
            return [beside]
        specifier = join(specifier)
        while specifier.startswith("../"):
            specifier = specifier[3:]
        found = [path for path in self.tree.with_suffix(specifier) if path != importer] if specifier else []
        return [max(found, key=lambda path: (len(posixpath.commonpath([path, importer])), -len(path)))] if found else []


class Swift:
    """`import Name` means a target of the package: Sources/Name, or a folder of that name."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str) -> list[str]:
        name = specifier.split(".")[-1] if specifier.startswith(("struct ", "class ", "func ")) else specifier.split(".")[0]
        for folder in self.tree.folders:
            parent, last = posixpath.split(folder)
            if last == name and posixpath.basename(parent) in ("Sources", "Source", "Tests"):
                inside = [path for path in sorted(self.tree.paths) if path.startswith(folder + "/") and path.endswith(".swift")]
                return [] if importer in inside else inside[:MAX_PACKAGE_FILES]
        return []
