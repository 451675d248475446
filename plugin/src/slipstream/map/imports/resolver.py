"""The way in: (importer, language, import) -> files of the project."""
from __future__ import annotations

from collections.abc import Callable, Iterable

from slipstream.map.imports.tree import Read, Tree

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from typing import Any

    from slipstream.map.model import Import

Declared = Callable[[str], Iterable[tuple[str, str, Iterable[str]]]]

JAVASCRIPT = ("javascript", "jsx", "typescript", "tsx", "vue", "svelte", "astro")
JVM = ("java", "kotlin", "scala")  # one name space: they import each other
ANYWHERE = ("java", "kotlin", "csharp", "go", "php")  # an import that names no path means the same wherever it stands
OF_ONE_FILE = ("rust", "scala", "c", "cpp", "css", "scss")  # in others all files of a folder mean the same by an import
Rule = Callable[[str, str, str, "tuple[str, ...]"], "list[str]"]


class Resolver:
    """`declared(language)` yields (path, package, top-level names) of every file of a language that names its package."""

    def __init__(self, paths: Iterable[str], read: Read, declared: Declared | None = None):
        self.tree = Tree(paths, read)
        self._declared: Declared = declared or (lambda language: ())
        self._families: dict[str, Any] = {}
        self._rules: dict[str, Rule] = {}
        self._known: dict[tuple[object, ...], list[str]] = {}

    def resolve(self, importer: str, language: str, wanted: Import) -> list[str]:
        """Files an import means, sorted, the importer itself left out; [] for what lies outside the project."""
        specifier, kind, names = wanted
        if kind in ("package", "namespace") or not specifier:
            return []
        key: tuple[object, ...]
        if language in ANYWHERE and kind not in ("require", "include") and specifier[0] != ".":
            key = (language, wanted)
        else:
            place = importer if language in OF_ONE_FILE else importer.rpartition("/")[0]
            key = (place, "", specifier) if language in JAVASCRIPT else (place, language, wanted)
        found = self._known.get(key)
        if found is None:
            rule = self._rules.get(language)
            if rule is None:
                rule = self._rules[language] = self._rule(language)
            found = self._known[key] = sorted(set(rule(importer, specifier, kind, names)))
        return [path for path in found if path != importer] if importer in found else found

    def _rule(self, language: str) -> Rule:
        rule: Rule
        if language in JAVASCRIPT or language == "markdown":     # of Markdown only MDX imports
            from slipstream.map.imports.javascript import JavaScript
            rule = self._family("javascript", lambda: JavaScript(self.tree)).resolve
            return rule
        if language == "python":
            from slipstream.map.imports.python import Python
            return Python(self.tree).resolve
        if language in ("go", "rust", "c", "cpp", "swift"):
            from slipstream.map.imports import compiled
            rules: dict[str, Any] = {"go": compiled.Go, "rust": compiled.Rust, "c": compiled.Native, "cpp": compiled.Native,
                                     "swift": compiled.Swift}
            rule = rules[language](self.tree).resolve
            return rule
        if language in ("ruby", "shell", "lua", "css", "scss", "proto", "makefile", "terraform"):
            from slipstream.map.imports import scripts
            rules = {"ruby": scripts.Ruby, "shell": scripts.Shell, "lua": scripts.Lua, "css": scripts.Sheets,
                     "scss": scripts.Sheets, "proto": scripts.Proto, "makefile": scripts.Shell, "terraform": scripts.Terraform}
            rule = rules[language](self.tree).resolve
            return rule
        if language not in (*JVM, "csharp", "php"):
            return lambda importer, specifier, kind, names: []
        from slipstream.map.imports import packages
        if language == "php":
            return packages.Php(self.tree, lambda: self._declared("php")).resolve
        group = JVM if language in JVM else ("csharp",)
        family = self._family(group[0], lambda: packages.Packages(
            lambda: (row for member in group for row in self._declared(member))))
        rule = family.resolve_scala if language == "scala" else family.resolve
        return rule

    def _family(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._families:
            self._families[name] = make()
        return self._families[name]
