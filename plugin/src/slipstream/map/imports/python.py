"""Python: relative and absolute modules, packages with and without __init__, source roots, submodules named in `from`."""
from __future__ import annotations

import posixpath

from slipstream.map.imports.tree import Tree, ancestors, join


class Python:
    def __init__(self, tree: Tree):
        self.tree = tree
        self._roots: list[str] | None = None

    def resolve(self, importer: str, specifier: str, kind: str = "", names: tuple[str, ...] = ()) -> list[str]:
        folder = posixpath.dirname(importer)
        dots = len(specifier) - len(specifier.lstrip("."))
        if dots:
            for _ in range(dots - 1):
                if not folder:
                    return []
                folder = posixpath.dirname(folder)
            return self.module(join(folder, *specifier[dots:].split(".")), names)
        parts = specifier.split(".")
        for root in [*self.roots, folder]:
            found = self.module(join(root, *parts), names)
            if found:
                return found
        for above in ancestors(folder)[1:]:  # a script's neighbours: some folder above is on the path
            if join(above, parts[0] + ".py") in self.tree.paths or join(above, parts[0], "__init__.py") in self.tree.paths:
                return self.module(join(above, *parts), names)
        return []

    def module(self, base: str, names: tuple[str, ...]) -> list[str]:
        """The module's file; for a package, the submodules among `names`, and the package itself when others are asked."""
        paths = self.tree.paths
        for suffix in (".py", ".pyi"):
            if base and base + suffix in paths:
                return [base + suffix]
        if base not in self.tree.folders:
            return []
        init = next((join(base, name) for name in ("__init__.py", "__init__.pyi") if join(base, name) in paths), None)
        found = []
        rest = not names
        for name in names:
            inside = next((path for path in (join(base, name + ".py"), join(base, name, "__init__.py"),
                                             join(base, name + ".pyi")) if path in paths), None)
            if inside:
                found.append(inside)
            else:
                rest = True
        return found + [init] if init and (rest or not found) else found

    @property
    def roots(self) -> list[str]:
        """Folders whose content is importable by its own name: the root, src, and the parents of top packages."""
        if self._roots is None:
            packages = {posixpath.dirname(path) for path in self.tree.paths if path.endswith("/__init__.py")}
            tops = {posixpath.dirname(folder) for folder in packages if posixpath.dirname(folder) not in packages}
            projects = set()
            for path in self.tree.paths:
                if posixpath.basename(path) in ("pyproject.toml", "setup.py", "setup.cfg"):
                    projects |= {posixpath.dirname(path), join(posixpath.dirname(path), "src")}
            found = ({"", "src", "lib"} | tops | projects) & set(self.tree.folders)
            self._roots = sorted(found, key=lambda root: (root.count("/") + bool(root), root))
        return self._roots
