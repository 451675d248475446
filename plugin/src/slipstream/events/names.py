"""Session ids that are no plain file names: encoded one to one, and back."""

from __future__ import annotations

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
MAX_NAME_CHARS = 120
_DEVICES = frozenset(("con", "prn", "aux", "nul", *(port + figure for port in ("com", "lpt") for figure in "0123456789")))


def encode_session(session: str) -> str:
    """Letters, figures, `_`, `-` and inner dots stay, every other byte becomes %XX, as does the first of a name that is a
    device of Windows; a long id ends in its digest. Never empty. An id that is a secret becomes its digest."""
    session = safe_session(session)
    raw = session.encode("utf-8", "surrogatepass")
    name = (
        "".join(
            chr(byte) if byte in _PLAIN or (byte == 46 and 0 < index < len(raw) - 1) else "%%%02X" % byte
            for index, byte in enumerate(raw)
        )
        or "%"
    )
    if name.partition(".")[0].lower() in _DEVICES:
        name = "%%%02X" % raw[0] + name[1:]
    if len(name) > MAX_NAME_CHARS:
        from hashlib import sha256

        name = f"{name[:80].rstrip('.')}%{sha256(raw).hexdigest()[:32]}"
    return name


def safe_session(session: str) -> str:
    """The id itself; an alias, the same each time, for one that holds a secret, as when a token was passed by mistake."""
    if all(byte in _PLAIN or byte == 46 for byte in session.encode("utf-8", "surrogatepass")):  # no sign before a value
        if len(session) < 16:
            return session
        from slipstream.events.patterns import PATTERNS

        low = session.lower()
        if not any(hint in low for _, hints, _ in PATTERNS for hint in hints.split(" ")):
            return session
    from hashlib import sha256

    from slipstream.events.redact import redact_text

    digest = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
    return f"redacted-{digest[:32]}" if redact_text(session)[1] else session


def decode_session(name: str) -> str:
    """The id a file name stands for; a shortened name stands for itself."""
    from urllib.parse import unquote_to_bytes

    if name == "%":
        return ""
    session = unquote_to_bytes(name).decode("utf-8", "surrogatepass") if _is_whole(name) else name
    return session if _is_whole(name) and encode_session(session) == name else name


def _is_whole(name: str) -> bool:
    return all(
        len(piece) >= 2 and piece[0] in "0123456789ABCDEF" and piece[1] in "0123456789ABCDEF" for piece in name.split("%")[1:]
    )
