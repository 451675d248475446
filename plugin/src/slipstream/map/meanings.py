"""Which of several definitions of a name a using file means, by what it imports (query path)."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipstream.map.fresh import View
from slipstream.map.imports.resolver import JAVASCRIPT, Resolver
from slipstream.map.imports.tree import project_reader
from slipstream.map.index_file import HEAD_ROWS, IMPORTS

TYPE_CHECKING = False  # not from typing, which costs a third of a start
if TYPE_CHECKING:
    from slipstream.map.model import Import

MAX_PASSED_ON, MAX_VISITED = 5, 300  # steps from file to file that pass a name on; files looked at for one that uses it


class Meanings:
    """Asked of one name. `homes`: the files that define it; `holders`: the slots of the files that may hold it."""

    def __init__(self, root: str, view: View, name: str, homes: dict[str, bool], holders: Iterable[int]) -> None:
        self.view, self.name, self.homes, self.holders = view, name, homes, set(holders)
        self.tops = {home for home, top in homes.items() if top}  # what can be imported by name
        self.slots = {path: slot for slot, path in enumerate(view.paths) if path}
        self.resolver = Resolver(self.slots, project_reader(root), self._declared)
        self.passed: dict[str, set[str]] = {}

    def of(self, path: str) -> str:
        """The home that a file's imports lead to, when they lead to one; a home means its own."""
        if path in self.homes:
            return path
        language, imports = self._read(self.slots[path])
        naming = [one for one in imports if self.name in one[2]]
        near, seen = self._resolve(path, language, naming or imports), {path}
        homes = self.tops if naming else self.homes.keys()
        found = near & homes
        for _ in range(0 if found else MAX_PASSED_ON):  # a package's front file passes on what it has
            near -= seen
            seen |= near
            if len(seen) > MAX_VISITED:
                break
            near = set().union(*(self._passed_on(one) & homes or self._passed_on(one) for one in near - homes))
            found |= near & homes
        return found.pop() if len(found) == 1 else ""

    def _passed_on(self, path: str) -> set[str]:
        """The files a file has the name from for those that import it: by name, else whatever is there."""
        if path not in self.passed:
            language, imports = self._read(self.slots[path])
            wanted = [one for one in imports if self.name in one[2]]
            if not wanted and language in (*JAVASCRIPT, "python"):
                wanted = [one for one in imports if "*" in one[2]]
            elif not wanted and self.slots[path] in self.holders and language in ("c", "cpp", "rust", "ruby"):
                wanted = imports
            self.passed[path] = self._resolve(path, language, wanted)
        return self.passed[path]

    def _resolve(self, path: str, language: str, wanted: list[Import]) -> set[str]:
        return {target for one in wanted for target in self.resolver.resolve(path, language, one)}

    def _read(self, slot: int) -> tuple[str, list[Import]]:
        """Language and imports, without the definitions."""
        rows = self.view.section(slot).split(b"\n", IMPORTS + 1)
        cells = [cell.split("\x1f") for cell in rows[IMPORTS].decode("utf-8", "replace").split("\t")]
        return rows[0].split(b"\t", 1)[0].decode("utf-8", "replace"), [
            (cell[0], cell[1], tuple(filter(None, cell[2].split(",")))) for cell in cells if len(cell) == 3]

    def _declared(self, language: str) -> Iterator[tuple[str, str, Iterable[str]]]:
        """Of languages with declared packages only the homes are known as targets."""
        from slipstream.map.imports.packages import own_packages, told_by_name
        for home in self.homes:
            found, imports = self._read(self.slots[home])
            if found == language:
                rows = [] if told_by_name(found, home) else self.view.section(self.slots[home]).split(b"\n")[HEAD_ROWS:]
                names = [row.split(b"\t")[6].decode("utf-8", "replace") for row in rows if row.startswith(b"0\t")]
                for package in own_packages(language, imports):
                    yield home, package, names
