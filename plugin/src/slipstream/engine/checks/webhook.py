"""Check of a webhook endpoint: it must take what is rightly signed and refuse everything else."""
from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable

from slipstream.base.counts import count_of
from slipstream.base.errors import UsageError
from slipstream.engine.checks.server import running, send

OLD_S = 3600


def sign_stripe(secret: str, body: bytes, when: int, event: str) -> dict[str, str]:
    """Stripe's scheme: hex HMAC-SHA256 over `timestamp.body`, in Stripe-Signature as t= and v1=."""
    digest = hmac.new(secret.encode(), b"%d." % when + body, hashlib.sha256).hexdigest()
    return {"Stripe-Signature": "t=%d,v1=%s" % (when, digest)}


def sign_svix(secret: str, body: bytes, when: int, event: str) -> dict[str, str]:
    """Svix's scheme (Standard Webhooks), used by Resend: base64 HMAC-SHA256 over `id.timestamp.body`."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, ("%s.%d." % (event, when)).encode() + body, hashlib.sha256).digest()
    return {"svix-id": event, "svix-timestamp": str(when), "svix-signature": "v1," + base64.b64encode(digest).decode()}


SCHEMES: dict[str, tuple[Callable[[str, bytes, int, str], dict[str, str]], str, dict[str, object]]] = {
    "stripe": (sign_stripe, "STRIPE_WEBHOOK_SECRET", {
        "id": "evt_check", "object": "event", "type": "checkout.session.completed",
        "data": {"object": {"id": "cs_check", "object": "checkout.session", "payment_status": "paid"}}}),
    "svix": (sign_svix, "RESEND_WEBHOOK_SECRET", {
        "type": "email.bounced", "created_at": "2026-01-01T00:00:00.000Z",
        "data": {"email_id": "check", "to": ["nobody@example.com"], "bounce": {"type": "Permanent"}}}),
}


def check_webhook(start: str = "", path: str = "/webhooks", scheme: str = "stripe", **rest: str) -> tuple[list[str], str]:
    if scheme not in SCHEMES:
        raise UsageError("no signature scheme %s; known: %s" % (scheme, ", ".join(SCHEMES)))
    sign, variable, payload = SCHEMES[scheme]
    secret = "whsec_" + base64.b64encode(os.urandom(24)).decode()
    body = json.dumps(payload, separators=(",", ":")).encode()
    altered = body.replace(b'"', b' "', 1)
    now = int(time.time())
    plain = {"Content-Type": "application/json"}
    good = {**plain, **sign(secret, body, now, "msg_check")}
    wrong_key = "whsec_" + base64.b64encode(os.urandom(24)).decode()
    cases = (
        ("an unsigned event", plain, body, False),
        ("an event signed with another secret", {**plain, **sign(wrong_key, body, now, "msg_check")}, body, False),
        ("an event whose body was altered", good, altered, False),
        ("an event signed an hour ago", {**plain, **sign(secret, body, now - OLD_S, "msg_check")}, body, False),
        ("a rightly signed event", good, body, True),
        ("the same event delivered again", good, body, True),
    )
    problems: list[str] = []
    with running(start, "", {rest.get("secret_env") or variable: secret}) as base:
        for what, headers, data, accepted in cases:
            status = send(base, "POST", path, headers, data).status
            if (200 <= status < 300) != accepted:
                problems.append("%s was %s (%d)" % (what, "accepted" if status < 300 else "refused", status))
            elif not accepted and status >= 500:
                problems.append("%s made the server fail (%d) instead of being refused with 4xx" % (what, status))
    return problems, count_of(len(cases), "delivery")
