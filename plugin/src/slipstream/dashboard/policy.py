"""Which requests the local server answers, and the headers on every answer (security-relevant, pure)."""

from __future__ import annotations

from typing import NamedTuple

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)

# Sent with every answer, refusals included. "Server" and any CORS header are left out on purpose.
SECURITY_HEADERS: tuple[tuple[str, str], ...] = (
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Permissions-Policy", ""),
)

ALLOWED_METHODS = ("GET", "HEAD", "POST")
MAX_TARGET_BYTES = 8 * 1024
MAX_HEAD_BYTES = 32 * 1024
MAX_HEADERS = 64
MAX_BODY_BYTES = 64 * 1024
CUSTOM_HEADER = "x-slipstream"


class Refusal(NamedTuple):
    """An answer that carries no data: HTTP status and one sentence for a person."""

    status: int
    reason: str


class Head(NamedTuple):
    """A request line and its header fields, names in lower case, in the order received."""

    method: str
    target: str
    fields: list[tuple[str, str]]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    def value(self, name: str) -> str | None:
        """The only value of a field; None when it is absent or sent more than once."""
        found = self.values(name)
        return found[0] if len(found) == 1 else None


def allowed_hosts(port: int, extra: tuple[str, ...] = ()) -> frozenset[str]:
    """The exact values of Host that are answered: the loopback names with our port, and names that were opted in."""
    own = {"127.0.0.1:%d" % port, "localhost:%d" % port, "[::1]:%d" % port}
    return frozenset(own | {name.lower() for name in extra})


def allowed_origins(hosts: frozenset[str]) -> frozenset[str]:
    return frozenset("http://" + host for host in hosts)


def parse_head(raw: bytes) -> Head | Refusal:
    """Request line and fields from the bytes before the blank line; strict, so that no two parsers can disagree."""
    try:
        text = raw.decode("latin-1")
    except UnicodeDecodeError:  # pragma: no cover - latin-1 decodes every byte
        return Refusal(400, "The request could not be read.")
    lines = text.split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        return Refusal(400, "The request line could not be read.")
    if len(parts[1]) > MAX_TARGET_BYTES:
        return Refusal(414, "The address is too long.")
    if len(lines) - 1 > MAX_HEADERS:
        return Refusal(431, "Too many header fields.")
    fields = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or "\n" in line or "\r" in line or "\0" in line:
            return Refusal(400, "A header field could not be read.")
        fields.append((name.lower(), value.strip(" \t")))
    return Head(parts[0], parts[1], fields)


def check_head(head: Head, hosts: frozenset[str]) -> Refusal | None:
    """The first rule that a request breaks, or None. Host comes before anything else that could tell a stranger more."""
    host = head.value("host")
    if host is None or host.lower() not in hosts:
        shown = ", ".join(head.values("host"))[:100] or "none"
        return Refusal(
            403,
            "Host refused: %s. Open the address that `dashboard status` prints; over an SSH forward use the same port"
            " on both sides, or name the host in SLIPSTREAM_DASHBOARD_HOSTS." % printable(shown),
        )
    if not head.target.startswith("/") or head.target.startswith("//"):
        return Refusal(403, "Only plain paths are answered.")
    if head.method not in ALLOWED_METHODS:
        return Refusal(405, "Method not allowed.")
    origins = head.values("origin")
    if len(origins) > 1 or (origins and origins[0] not in allowed_origins(hosts)):
        return Refusal(403, "Origin refused.")
    sites = head.values("sec-fetch-site")
    if sites and sites != ["same-origin"]:
        top_level = head.method == "GET" and head.value("sec-fetch-mode") == "navigate"
        if sites != ["none"] or not top_level or head.target.startswith("/api/"):
            return Refusal(403, "Requests from other sites are refused.")
    if head.values("transfer-encoding"):
        return Refusal(411, "A body needs a Content-Length.")
    if head.method != "POST":
        return Refusal(400, "No body is read here.") if body_length(head) else None
    return check_post(head)


def check_post(head: Head) -> Refusal | None:
    """A change of state needs what no cross-site form or fetch can send without asking first."""
    if head.value("origin") is None:
        return Refusal(403, "Origin required.")
    media = (head.value("content-type") or "").lower().replace(" ", "")
    if media not in ("application/json", "application/json;charset=utf-8"):
        return Refusal(415, "The body must be application/json.")
    if head.value(CUSTOM_HEADER) != "1":
        return Refusal(403, "X-Slipstream required.")
    if head.values("x-http-method-override"):
        return Refusal(400, "No method override.")
    length = body_length(head)
    if length is None:
        return Refusal(411, "A body needs a Content-Length.")
    if length > MAX_BODY_BYTES:
        return Refusal(413, "The body is too large.")
    return None


def body_length(head: Head) -> int | None:
    """Content-Length as a number; None when it is absent, repeated or not plain digits."""
    text = head.value("content-length")
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return None
    return int(text)


def printable(text: str) -> str:
    """Text from a request as plain ASCII, so that it can be repeated in an answer."""
    return "".join(char if " " <= char <= "~" else "?" for char in text)
