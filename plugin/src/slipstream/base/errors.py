"""The one exception for what the user can fix; everything else is a bug and keeps its traceback."""
from __future__ import annotations


class SlipstreamError(Exception):
    """One line for a person. Parse errors carry where: str() is `path:line:column: message`."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None, column: int | None = None):
        super().__init__(message)
        self.message, self.path, self.line, self.column = message, path, line, column

    def __str__(self) -> str:
        if self.path is None:
            return self.message
        from slipstream.base.shown_path import shown_path
        where = [str(part) for part in (self.line, self.column) if part is not None]
        return ":".join([shown_path(self.path), *where, " " + self.message])


class UsageError(SlipstreamError):
    """A call whose words are off, before anything was done: exit status 2."""


class LockTimeout(OSError):
    """Held by somebody else for longer than we wait. Nothing may be written unlocked."""
