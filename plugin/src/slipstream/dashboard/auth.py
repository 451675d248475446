"""Who may see the page: bearer token, one-time codes and the browser's session (security-relevant)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

CODE_LIFETIME_S = 60.0
SESSION_LIFETIME_S = 7 * 24 * 3600
MAX_OPEN_CODES = 16


class Gate:
    """Codes and sessions of one running server; sessions are signed with a key on disk, so they outlive a crash."""

    def __init__(self, token: str, session_key: str, port: int, clock: Callable[[], float] = time.time) -> None:
        self._token = token.encode("ascii")
        self._key = session_key.encode("ascii")
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._lock = threading.Lock()
        # Cookies are shared by all ports of a host, so the port is part of the name.
        self.cookie_name = "slipstream-%d" % port

    def is_bearer(self, authorization: str | None) -> bool:
        scheme, _, value = (authorization or "").partition(" ")
        given = value.strip().encode("utf-8", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token)

    def new_code(self) -> str:
        """A code for the launch link: good once, for a minute."""
        now = self._clock()
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._drop_stale(now)
            while len(self._codes) >= MAX_OPEN_CODES:
                self._codes.pop(next(iter(self._codes)))
            self._codes[_digest(code)] = now + CODE_LIFETIME_S
        return code

    def redeem(self, code: object) -> str | None:
        """The session value that a fresh code buys; None for a used, late or unknown one."""
        if not isinstance(code, str) or len(code) > 200:
            return None
        now = self._clock()
        with self._lock:
            self._drop_stale(now)
            if self._codes.pop(_digest(code), None) is None:
                return None
        return self.sign("%s.%d" % (secrets.token_hex(16), int(now) + SESSION_LIFETIME_S))

    def sign(self, body: str) -> str:
        mac = hmac.new(self._key, b"session:" + body.encode("ascii"), hashlib.sha256).hexdigest()
        return body + "." + mac

    def cookie(self, session: str) -> str:
        return "%s=%s; HttpOnly; SameSite=Strict; Path=/" % (self.cookie_name, session)

    def is_session(self, cookies: list[str]) -> bool:
        """Whether one of the request's Cookie fields holds a session that we signed and that has not ended."""
        for field in cookies:
            for pair in field.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self.cookie_name and self._is_signed(value):
                    return True
        return False

    def _is_signed(self, value: str) -> bool:
        body, dot, _ = value.rpartition(".")
        if not dot or not value.isascii() or len(value) > 200:
            return False
        if not hmac.compare_digest(self.sign(body), value):
            return False
        expiry = body.rpartition(".")[2]
        return expiry.isdigit() and self._clock() < int(expiry)

    def _drop_stale(self, now: float) -> None:
        # A clock that jumped backwards must not keep a code alive for longer than its life.
        for key, end in list(self._codes.items()):
            if not now < end <= now + CODE_LIFETIME_S:
                del self._codes[key]


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
