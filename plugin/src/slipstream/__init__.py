"""slipstream: memory, scoped reads and observability under a coding agent. HOT: halves what each import from the pyz costs."""
from __future__ import annotations

import os
from zipimport import zipimporter  # loaded before any of our code: the interpreter's start puts it on sys.path_hooks

_archive, _find_out = getattr(__spec__ and __spec__.loader, "archive", None), zipimporter.get_filename


def _get_filename(self: zipimporter, fullname: str) -> str:
    """Where a module of the pyz lies. zipimport itself compiles the module to tell, and compiles it again to load it."""
    name = fullname.rpartition(".")[2] + (os.sep + "__init__.py" if self.is_package(fullname) else ".py")
    return os.path.join(_archive, self.prefix, name) if self.archive == _archive else _find_out(self, fullname)


zipimporter.get_filename = _get_filename  # type: ignore[method-assign]
