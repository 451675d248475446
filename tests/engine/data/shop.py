"""The fixture server of the gate tests: a small shop whose FLAW variable breaks one thing at a time."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import time

FLAW = os.environ.get("FLAW", "")
SESSIONS = set()
COUNT = [0]


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def reply(self, status, value=None, headers=()):
        body = json.dumps(value if value is not None else {"error": {"code": str(status)}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def session(self):
        return self.headers.get("Cookie", "").partition("session=")[2]

    def do_GET(self):
        if self.path == "/health":
            return self.reply(500 if FLAW == "health" else 200, {"ok": True})
        if self.path == "/":
            return self.reply(200, "<title>shop 1.4.2")
        if self.path == "/v1/items":
            COUNT[0] += 1
            if FLAW != "limit" and COUNT[0] > 5:
                return self.reply(429, None, () if FLAW == "retry-after" else (("Retry-After", "30"),))
            return self.reply(200, [])
        if self.path == "/me":
            known = self.session() in SESSIONS or (FLAW == "forged" and self.session())
            return self.reply(200 if known else 401)
        if self.path == "/admin/users":
            who = self.headers.get("Authorization", "")
            allowed = who == "Bearer admin-test-token" or (FLAW == "role" and who)
            return self.reply(200 if allowed else 403 if who else 401)
        return self.reply(200 if FLAW == "fallback" else 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/v1/items":
            try:
                value = json.loads(body)
            except ValueError:
                return self.reply(500 if FLAW == "json" else 400)
            return self.reply(400 if not isinstance(value, dict) or not value.get("name") else 201)
        if self.path == "/login":
            token = os.urandom(8).hex()
            SESSIONS.add(token)
            flags = "; Path=/" if FLAW == "cookie" else "; HttpOnly; Secure; SameSite=Lax; Path=/"
            return self.reply(200, {}, (("Set-Cookie", "__Host-session=" + token + flags),))
        if self.path == "/logout":
            if FLAW != "logout":
                SESSIONS.discard(self.session())
            return self.reply(200, {})
        if self.path.startswith("/webhooks/"):
            good = self.stripe(body) if self.path.endswith("stripe") else self.svix(body)
            return self.reply(200 if good or FLAW == "unsigned" else 400)
        return self.reply(404)

    def fresh(self, when):
        return FLAW == "old" or abs(time.time() - int(when)) < 300

    def stripe(self, body):
        parts = dict(part.split("=", 1) for part in self.headers.get("Stripe-Signature", "").split(",") if "=" in part)
        if "t" not in parts or "v1" not in parts:
            return False
        secret = os.environ["STRIPE_WEBHOOK_SECRET"].encode()
        wanted = hmac.new(secret, parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(wanted, parts["v1"]) and self.fresh(parts["t"])

    def svix(self, body):
        when, name = self.headers.get("svix-timestamp", ""), self.headers.get("svix-id", "")
        if not when:
            return False
        key = base64.b64decode(os.environ["RESEND_WEBHOOK_SECRET"][6:])
        digest = hmac.new(key, ("%s.%s." % (name, when)).encode() + body, hashlib.sha256).digest()
        wanted = "v1," + base64.b64encode(digest).decode()
        return hmac.compare_digest(wanted, self.headers.get("svix-signature", "")) and self.fresh(when)


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop)
    server.serve_forever()
