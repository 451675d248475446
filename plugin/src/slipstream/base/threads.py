"""What a process that lives long or has threads sets up before it goes on. Loaded at every start of the MCP server."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_held: list[tuple[str, int]] = []  # the archive and its descriptor


def let_threads_import() -> None:
    """Makes imports from the pyz safe for our threads, in two ways in which zipimport is not; once is enough."""
    zipimport = sys.modules.get("zipimport")
    if zipimport is None:
        return
    # It tells a second thread that there is no zlib while a first is on its way to it; some of our modules are deflated.
    zipimport.__dict__["_get_decompress_func"] = lambda: __import__("zlib").decompress
    import builtins
    if sys.version_info < (3, 10) and builtins.__import__.__name__ != "load_alone":
        # there it shows other threads a module that is still being filled
        import _thread
        lock, load = _thread.RLock(), builtins.__import__

        def load_alone(*args: Any, **named: Any) -> Any:
            with lock:
                return load(*args, **named)

        builtins.__import__ = load_alone


def hold_archive() -> None:
    """Keeps the pyz open, so that what is loaded later comes from the file this process started from.

    An update replaces or removes it under running sessions; zipimport, which opens it by name each time, then fails.
    """
    archive, zipimport = getattr(globals()["__loader__"], "archive", None), sys.modules.get("zipimport")
    if _held or archive is None or zipimport is None or os.name != "posix":  # Windows does not let go of a file that is open
        return
    try:
        fd = os.open(archive, os.O_RDONLY)
    except OSError:
        return
    _held.append((archive, fd))
    by_name = zipimport.__dict__["_io"].open_code

    class Held:
        """The file as zipimport uses it, with a place of its own."""

        at = 0

        def __enter__(self) -> Held:
            return self

        def __exit__(self, *unused: object) -> None:
            pass

        def seek(self, offset: int, whence: int = 0) -> None:
            self.at = offset + (os.fstat(fd).st_size if whence else 0)

        def tell(self) -> int:
            return self.at

        def read(self, size: int = -1) -> bytes:
            data = os.pread(fd, size if size >= 0 else os.fstat(fd).st_size, self.at)
            self.at += len(data)
            return data

    class Opener:
        """All that zipimport asks of `_io`."""

        @staticmethod
        def open_code(path: str) -> Any:
            return Held() if path == archive else by_name(path)

    zipimport.__dict__["_io"] = Opener
    for name in zipimport.__dict__["_zip_directory_cache"].get(archive, ()):
        folder, mark, _ = name.rpartition(os.sep + "__init__.py")
        if mark:  # a folder's own importer is made at its first import, and asks whether the file is there
            path = archive + os.sep + folder
            sys.path_importer_cache.setdefault(path, zipimport.zipimporter(path))


def is_archive_gone() -> bool:
    """Whether the held pyz was removed or replaced: another process would not load what this one runs."""
    for archive, fd in _held:
        try:
            return not os.path.samestat(os.stat(archive), os.fstat(fd))
        except OSError:
            return True
    return False
