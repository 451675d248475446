"""The way in: (importer, language, import) -> files of the project."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from slipstream.map.imports.tree import Read, Tree
from slipstream.map.model import Import

Declared = Callable[[str], Iterable[tuple[str, str, Iterable[str]]]]

JAVASCRIPT = ("javascript", "jsx", "typescript", "tsx", "vue", "svelte", "astro")
JVM = ("java", "kotlin", "scala")  # one name space: they import each other


class Resolver:
    """`declared(language)` yields (path, package, top-level names) of every file of a language that names its package."""

    def __init__(self, paths: Iterable[str], read: Read, declared: Declared | None = None):
        self.tree = Tree(paths, read)
        self._declared: Declared = declared or (lambda language: ())
        self._families: dict[str, Any] = {}

    def resolve(self, importer: str, language: str, wanted: Import) -> list[str]:
        """Files an import means, sorted, the importer itself left out; [] for what lies outside the project."""
        specifier, kind, names = wanted
        if kind in ("package", "namespace") or not specifier:
            return []
        found = self._resolve(importer, language, specifier, kind, names)
        return sorted({path for path in found if path != importer})

    def _resolve(self, importer: str, language: str, specifier: str, kind: str, names: tuple[str, ...]) -> list[str]:
        family: Any
        if language in JAVASCRIPT or language == "markdown":     # of Markdown only MDX imports
            from slipstream.map.imports.javascript import JavaScript
            family = self._family("javascript", lambda: JavaScript(self.tree))
            return list(family.resolve(importer, specifier))
        if language == "python":
            from slipstream.map.imports.python import Python
            family = self._family("python", lambda: Python(self.tree))
            return list(family.resolve(importer, specifier, names))
        if language in ("go", "rust", "c", "cpp", "swift"):
            from slipstream.map.imports import compiled
            if language == "rust":
                return list(self._family("rust", lambda: compiled.Rust(self.tree)).resolve(importer, specifier, kind))
            kinds = {"go": compiled.Go, "c": compiled.Native, "cpp": compiled.Native, "swift": compiled.Swift}
            family = self._family(language, lambda: kinds[language](self.tree))
            return list(family.resolve(importer, specifier, *([names] if language in ("c", "cpp") else [])))
        if language in ("ruby", "shell", "lua", "css", "scss", "proto", "makefile", "terraform"):
            from slipstream.map.imports import scripts
            if language == "ruby":
                return list(self._family("ruby", lambda: scripts.Ruby(self.tree)).resolve(importer, specifier, kind))
            rules = {"shell": scripts.Shell, "lua": scripts.Lua, "css": scripts.Sheets, "scss": scripts.Sheets,
                     "proto": scripts.Proto, "makefile": scripts.Shell, "terraform": scripts.Terraform}
            return list(self._family(language, lambda: rules[language](self.tree)).resolve(importer, specifier))
        if language not in (*JVM, "csharp", "php"):
            return []
        from slipstream.map.imports import packages
        if language in JVM or language == "csharp":
            group = JVM if language in JVM else ("csharp",)
            family = self._family(group[0], lambda: packages.Packages(
                lambda: (row for member in group for row in self._declared(member))))
            return list((family.resolve_scala if language == "scala" else family.resolve)(importer, specifier))
        php = self._family("php", lambda: packages.Php(self.tree, lambda: self._declared("php")))
        return list(php.resolve(importer, specifier, kind))

    def _family(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._families:
            self._families[name] = make()
        return self._families[name]
