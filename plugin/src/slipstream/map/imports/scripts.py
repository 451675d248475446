"""Languages that load files by path or by a search path: Ruby, Lua, shell, style sheets, protobuf, Terraform."""
from __future__ import annotations

import posixpath

from slipstream.map.imports.tree import Tree, ancestors, join


class Ruby:
    """require_relative beside the file; require below a `lib` (or app) folder or the root."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
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

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        name = specifier.rpartition("}/")[2].rpartition(")/")[2]
        if "$" in name:
            name = name.rpartition("/")[2]
        for folder in (posixpath.dirname(importer), ""):
            if "$" not in name and join(folder, name) in self.tree.paths:
                return [join(folder, name)]
        return []


class Lua:
    """`require "a.b"`: a/b.lua or a/b/init.lua beside the file, from the root, below src or lua, else nearest by its ending."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        name = specifier.replace(".", "/").strip("/")
        if not name:
            return []
        for base in ("", "src", "lua", "lib", *ancestors(posixpath.dirname(importer))):
            for path in (join(base, name + ".lua"), join(base, name, "init.lua")):
                if path in self.tree.paths:
                    return [path]
        if "/" not in name:
            return []
        return (self.tree.with_suffix(name + ".lua") or self.tree.with_suffix(name + "/init.lua"))[:1]


class Sheets:
    """`@import`, `@use` and `@forward`: beside the file, partials (`_name.scss`), then the nearest folder that has it."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        if specifier.startswith(("http:", "https:", "//", "sass:", "url(")):
            return []
        folder, name = posixpath.split(specifier.lstrip("~"))
        extension = posixpath.splitext(importer)[1]
        kin = [name, name + extension, f"_{name}{extension}", f"_{name}", name + ".css", name + "/_index" + extension,
               name + "/index" + extension]
        for one in kin:
            path = join(posixpath.dirname(importer), folder, one)
            if path in self.tree.paths:
                return [path]
        if specifier.startswith("."):
            return []
        found = next(filter(None, (self.tree.with_suffix(join(folder, one)) for one in kin)), [])
        return [max(found, key=lambda path: len(posixpath.commonpath([path, importer])))] if found else []


class Terraform:
    """A module's source: every file of the folder it names."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        folder = join(posixpath.dirname(importer), specifier.partition("?")[0])
        return [path for path in self.tree.folders.get(folder, []) if path.endswith(".tf")]


class Proto:
    """An import path from any root: the importer's folder, the tree's root, else whatever ends so."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        for path in (join(posixpath.dirname(importer), specifier), specifier):
            if path in self.tree.paths:
                return [path]
        return self.tree.with_suffix(join(specifier))[:1] if not specifier.startswith(("google/protobuf/", ".")) else []
