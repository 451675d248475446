"""Go modules, Rust crates, C and C++ includes, Swift modules."""
from __future__ import annotations

import posixpath
import re

from slipstream.map.imports.tree import Tree, ancestors, join

MAX_PACKAGE_FILES = 200
_CARGO_PATH = re.compile(r"^\s*path\s*=\s*\"([^\"\n]+\.rs)\"", re.M)
_SWIFT_TARGET = re.compile(r"\.(?:target|testTarget|executableTarget|macro|plugin|systemLibrary)\s*\(")
_SWIFT_NAME = re.compile(r"\bname:\s*\"([^\"\n]+)\"")
_SWIFT_PATH = re.compile(r"\bpath:\s*\"([^\"\n]+)\"")
_SYSTEM_FOLDERS = ("sys/", "linux/", "netinet/", "arpa/", "net/")
# Headers of the C library and of POSIX: with angle brackets they are never the project's own.
_SYSTEM = frozenset("""assert complex ctype dirent errno fcntl fenv float getopt grp inttypes iso646 limits locale malloc math
memory netdb poll pthread pwd regex sched semaphore setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
stdnoreturn string strings syslog termios tgmath threads time uchar unistd utime wchar wctype windows winsock2""".split())


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

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
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
        self._roots: set[str] = set()

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        if kind == "mod":
            if specifier.endswith(".rs"):
                file = join(posixpath.dirname(importer), specifier)
                return [file] if file in self.tree.paths else []
            return self.below(importer, specifier.split("::"), exact=True)
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
        return folder if name in ("mod.rs", "lib.rs", "main.rs") or self.is_root(file) else join(folder, name[:-3])

    def is_root(self, file: str) -> bool:
        """Whether a crate starts here: named by a manifest, a lib or main, or one of the folders cargo looks into."""
        _ = self.crates
        if file in self._roots:
            return True
        folder, name = posixpath.split(file)
        holder, last = posixpath.split(folder)
        if last in ("tests", "examples", "benches", "bin"):
            return not any(root.startswith(folder + "/") for root in self._roots) and (
                last == "bin" or join(holder, "Cargo.toml") in self.tree.paths or
                self.tree.read(join(holder, "Cargo.toml")) is not None)
        return name in ("lib.rs", "main.rs", "build.rs")

    def below(self, file: str, path: list[str], exact: bool = False) -> list[str]:
        """The deepest file along `path` under the module in `file`; the module itself when there is none, unless `exact`."""
        folder, found = self.module_folder(file), "" if exact else file
        for part in path:
            files = (join(folder, part + ".rs"), join(folder, part, "mod.rs"))
            target = next((name for name in files if name in self.tree.paths), None)
            if target is None and join(folder, part) not in self.tree.folders:
                break
            found, folder = target or found, join(folder, part)  # a folder without a file is a module written in place
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
        if self.is_root(importer):
            return importer
        for above in ancestors(posixpath.dirname(importer)):
            for name in ("lib.rs", "main.rs"):
                if join(above, name) in self.tree.paths:
                    return join(above, name)
            named = sorted(root for root in self._roots if posixpath.dirname(root) == above and root in self.tree.paths)
            if named:
                return named[0]
            if join(above + ".rs") in self.tree.paths and self.is_root(above + ".rs"):
                return above + ".rs"
            if posixpath.basename(above) in ("tests", "examples", "benches"):  # a module the crates of a folder share
                return next((path for path in self.tree.folders[above] if path.endswith(".rs")), "")
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
                self._roots.update(join(folder, path) for path in _CARGO_PATH.findall(text))
                if package and root in self.tree.paths:
                    self._crates.setdefault((named or package).group(1).replace("-", "_"), root)
        return self._crates


class Native:
    """C and C++ includes: beside the includer, then wherever in the tree the path ends so, nearest first."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        folder = posixpath.dirname(importer)
        system = "system" in names
        if system and (specifier.removesuffix(".h") in _SYSTEM or specifier.startswith(_SYSTEM_FOLDERS)):
            return []
        beside = join(folder, specifier)
        if beside in self.tree.paths and not system:
            return [beside]
        specifier = join(specifier)
        while specifier.startswith("../"):
            specifier = specifier[3:]
        found = [path for path in self.tree.with_suffix(specifier) if path != importer] if specifier else []
        return [max(found, key=lambda path: (len(posixpath.commonpath([path, importer])), -len(path)))] if found else []


class Swift:
    """`import Name` means a target: where a Package.swift says it lies, else Sources/Name, else a folder of that name."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self._targets: dict[str, str] | None = None
        self._files: dict[str, list[str]] = {}

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        name = specifier.split(".")[0]
        if name not in self._files:
            folder = self.targets.get(name)
            self._files[name] = [] if folder is None else [
                path for inside in self._below(folder) for path in self.tree.folders[inside] if path.endswith(".swift")]
        files = self._files[name]
        return [] if self.targets.get(name) and importer.startswith(self.targets[name] + "/") else files[:MAX_PACKAGE_FILES]

    def _below(self, folder: str) -> list[str]:
        return [name for name in sorted(self.tree.folders) if name == folder or name.startswith(folder + "/") or not folder]

    @property
    def targets(self) -> dict[str, str]:
        """Module name -> folder, the packages' own words first."""
        if self._targets is None:
            self._targets = {}
            for home in self.tree.named("Package.swift"):
                for name, path in swift_targets(self.tree.read(join(home, "Package.swift")) or ""):
                    for folder in (path,) if path else ("Sources/" + name, "Source/" + name, "src/" + name, "Tests/" + name):
                        if join(home, folder) in self.tree.folders:
                            self._targets.setdefault(name, join(home, folder))
            swift = {posixpath.dirname(path) for path in self.tree.paths if path.endswith(".swift")}
            for folder in sorted(swift, key=lambda folder: (folder.count("/"), folder)):
                for above in ancestors(folder)[-4:-1]:
                    parent, last = posixpath.split(above)
                    if not parent or posixpath.basename(parent) in ("Sources", "Source", "Tests"):
                        self._targets.setdefault(last, above)
        return self._targets


def swift_targets(manifest: str, kind: str = "") -> list[tuple[str, str]]:
    """(name, path or ``) of the targets a Package.swift declares, of one kind or of all."""
    found = []
    for start in _SWIFT_TARGET.finditer(manifest):
        if kind and start.group().rstrip("( \t\n") != "." + kind:
            continue
        depth, at = 1, start.end()
        while depth and at < min(len(manifest), start.end() + 20_000):
            depth += {"(": 1, ")": -1}.get(manifest[at], 0)
            at += 1
        body = manifest[start.end():at]
        name, path = _SWIFT_NAME.search(body), _SWIFT_PATH.search(body)
        if name and body[:name.start()].strip() == "":
            found.append((name.group(1), path.group(1).rstrip("/") if path else ""))
    return found
