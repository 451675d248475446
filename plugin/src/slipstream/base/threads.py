"""What a process with threads sets up before the first of them. Loaded at every start of the MCP server."""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def let_threads_import() -> None:
    """Makes imports from the pyz safe for our threads, in two ways in which zipimport is not."""
    zipimport = sys.modules.get("zipimport")
    if zipimport is None:
        return
    # It tells a second thread that there is no zlib while a first is on its way to it; some of our modules are deflated.
    zipimport.__dict__["_get_decompress_func"] = lambda: __import__("zlib").decompress
    if sys.version_info < (3, 10):  # there it shows other threads a module that is still being filled
        import _thread
        import builtins
        lock, load = _thread.RLock(), builtins.__import__

        def load_alone(*args: Any, **named: Any) -> Any:
            with lock:
                return load(*args, **named)

        builtins.__import__ = load_alone
