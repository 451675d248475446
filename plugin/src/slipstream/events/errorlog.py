"""errors.log: why something that fails quietly failed. Redacted as every sink is, bounded; kept outside the store where the
store cannot be written. Security-relevant."""
from __future__ import annotations

import os

NAME = "errors.log"
MAX_BYTES = 65_536
MAX_LINE_CHARS = 400
TAIL_BYTES = 4096  # more than a line has: 400 characters of up to 4 bytes, and the time
MAX_SAID_CHARS = 65_536
AGAIN_S = 3600.0


def log_error(store_root: str | None, where: str, error: BaseException) -> str | None:
    """Appends one line and returns the file's path; None when no place at all takes it. Never raises.

    What the last line says already, within the hour, is not said again: a store that cannot be written fails at every call.
    """
    from slipstream.base.clock import now_iso  # all of it is loaded only when there is something to log
    said = _describe(store_root, where, error)
    for path in error_log_paths(store_root):
        try:
            if not _is_last(path, said):
                _append(path, f"{now_iso()} {said}\n".encode("utf-8", "replace"))
            return path
        except Exception:
            continue
    return None


def _describe(store_root: str | None, where: str, error: BaseException) -> str:
    """What failed where, in one line. An error may quote what it was given: without the redactor only its class is told."""
    detail = type(error).__name__
    try:
        from slipstream.events.redact import redact_text
        detail = redact_text(f"{where}: {detail}: {error}"[:MAX_SAID_CHARS])[0]
        detail = redact_text(detail, store_root)[0]
    except OSError:
        pass  # a store that is refused has no patterns of its own
    except Exception:
        detail = type(error).__name__
    return " ".join(detail.split())[:MAX_LINE_CHARS]


def error_log_paths(store_root: str | None) -> list[str]:
    """The places in order: the store, the plugin's data folder as the host names it, the folder for temporary files."""
    paths = []
    if store_root:
        try:
            from slipstream.base.store import store_path
            paths.append(store_path(store_root, NAME))
        except Exception:  # a store that is refused or cannot be made
            pass
    data = os.environ.get("CLAUDE_PLUGIN_DATA")
    if data and os.path.isdir(data):
        paths.append(os.path.join(data, NAME))
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        from tempfile import gettempdir
        paths.append(os.path.join(gettempdir(), f"slipstream-{user}-{NAME}"))
    except OSError:  # there is none that can be written
        pass
    return paths


def _is_last(path: str, said: str) -> bool:
    """Whether the log's last line says this and is not old. False where it cannot be read."""
    import time

    from slipstream.base.files import open_regular
    try:
        if abs(time.time() - os.lstat(path).st_mtime) > AGAIN_S:
            return False
        with os.fdopen(open_regular(path), "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL_BYTES))
            last = stream.read(TAIL_BYTES).rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return False
    return last.partition(b" ")[2] == said.encode("utf-8", "replace")


def _append(path: str, line: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    fd = os.open(path, flags, 0o600)
    try:
        os.write(fd, line)
        size = os.fstat(fd).st_size
    finally:
        os.close(fd)
    if size > MAX_BYTES:  # the newest half stays, from a line's start
        from slipstream.base.files import read_bytes, write_atomic
        kept = read_bytes(path)[-MAX_BYTES // 2:]
        write_atomic(path, kept[kept.find(b"\n") + 1:])
