"""What a page of another site, another user or a careless client must not get, line by line, from the real server."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import stat
import time
import unittest

from slipstream.dashboard import launch
from slipstream.dashboard.policy import CONTENT_SECURITY_POLICY, SECURITY_HEADERS

from tests.dashboard.serving import Project, Stream
from tests.waiting import wait_until

ROUTES = ("now", "state", "sessions", "timeline", "events", "event?seq=0", "moment", "story", "search?q=x", "stream?deltas=only")


class Checklist(unittest.TestCase):
    project: Project

    @classmethod
    def setUpClass(cls) -> None:
        cls.project = Project()
        cls.project.emit("session-start", "session started")
        cls.project.emit("user-prompt", "a private question")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.project.close()

    def refused(self, reply: object, *statuses: int) -> None:
        self.assertIn(reply.status, statuses)  # type: ignore[attr-defined]
        self.assertNotIn(b"private question", reply.body)  # type: ignore[attr-defined]

    # 1

    def test_listens_on_the_loopback_address_alone(self) -> None:
        wanted = "%04X" % self.project.port
        try:
            with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
                rows = [line.split() for line in four.readlines()[1:] + six.readlines()[1:]]
        except OSError:
            self.skipTest("no /proc/net/tcp here")
        listening = {row[1] for row in rows if row[3] == "0A" and row[1].endswith(":" + wanted)}
        self.assertEqual(listening, {"0100007F:" + wanted})

    # 2

    def test_host_is_matched_exactly(self) -> None:
        port = self.project.port
        for host in ("127.0.0.1:%d", "localhost:%d", "LOCALHOST:%d", "[::1]:%d"):
            self.assertEqual(self.project.get("/api/sessions", Host=host % port).status, 200, host)
        evil = ["evil.example:%d", "127.0.0.1.evil.example:%d", "0.0.0.0:%d", "[::]:%d", "localhost.:%d", "127.0.0.1.:%d", "127.1:%d"]
        evil += ["127.0.0.2:%d", "[::ffff:127.0.0.1]:%d", "user@127.0.0.1:%d", "127.0.0.1:%d,evil.example"]
        for host in [name % port for name in evil] + ["127.0.0.1", "localhost", "127.0.0.1:%d" % (port + 1), " "]:
            for target in ("/", "/api/sessions", "/app.js", "/api/health"):
                reply = self.project.get(target, Host=host)
                self.refused(reply, 403, 400)
                self.assertNotIn(b"<html", reply.body)

    def test_missing_and_doubled_host(self) -> None:
        host = self.project.host.encode("ascii")
        self.refused(self.project.raw(b"GET /api/sessions HTTP/1.1\r\nConnection: close\r\n\r\n"), 403)
        twice = b"GET /api/sessions HTTP/1.1\r\nHost: %s\r\nHost: %s\r\nConnection: close\r\n\r\n" % (host, host)
        self.refused(self.project.raw(twice), 403)
        self.assertIn(b"Host refused", self.project.raw(twice).body)

    def test_absolute_targets_are_refused(self) -> None:
        for target in ("http://evil.example/api/sessions", "http://%s/api/sessions" % self.project.host, "//evil.example/", "*"):
            self.refused(self.project.get(target), 403, 400)

    # 3

    def test_origin_is_matched_exactly(self) -> None:
        port = self.project.port
        for origin in ("http://127.0.0.1:%d", "http://localhost:%d", "http://[::1]:%d"):
            self.assertEqual(self.project.get("/api/sessions", Origin=origin % port).status, 200)
        evil = ["null", "http://evil.example", "http://localhost", "https://localhost:%d" % port, "http://127.0.0.1:%d" % (port + 1)]
        evil += ["http://192.168.0.1:%d" % port, "http://localhost.:%d" % port, "http://localhost:%d.evil.example" % port, "file://"]
        for origin in evil:
            self.refused(self.project.get("/api/sessions", Origin=origin), 403)
            self.refused(self.project.post("/api/sessions/remove", {"session": "s1"}, Origin=origin), 403)

    def test_rebinding_names_get_nothing(self) -> None:
        """A name of the attacker's that resolves to 127.0.0.1: Host and Origin agree with each other, and with nobody else."""
        name = "rebind.evil.example:%d" % self.project.port
        self.refused(self.project.get("/api/now", Host=name, Origin="http://" + name), 403)

    # 4

    def test_fetch_metadata(self) -> None:
        for site in ("cross-site", "same-site", "none"):
            self.refused(self.project.get("/api/sessions", **{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors"}), 403)
            self.refused(self.project.post("/api/sessions/remove", {}, Sec_Fetch_Site=site), 403)
        self.assertEqual(self.project.get("/api/sessions", **{"Sec-Fetch-Site": "same-origin"}).status, 200)
        self.assertEqual(self.project.get("/", **{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}).status, 200)
        self.refused(self.project.get("/", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}), 403)
        self.refused(self.project.get("/api/now", **{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}), 403)

    # 5

    def test_secrets_are_private_files(self) -> None:
        folder = os.path.join(self.project.root, ".claude", "slipstream", "dashboard")
        if os.name != "posix":
            self.skipTest("no modes here")
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        for name in ("server.token", "session.key", "server.json"):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode), 0o600, name)
        with open(os.path.join(folder, "server.token"), encoding="ascii") as stream:
            self.assertRegex(stream.read(), r"^[0-9a-f]{64}\n$")

    def test_codes_work_once_and_only_for_their_owner(self) -> None:
        code = launch.one_time_code(self.project.root)
        self.assertGreaterEqual(len(code), 40)
        first, second = self.project.redeem(code), self.project.redeem(code)
        self.assertEqual((first.status, second.status), (200, 403))
        self.assertIsNone(second.value("set-cookie"))
        self.refused(self.project.redeem("guess"), 403)
        # A page's session cannot make codes for others, nor stop the server.
        for target in ("/api/code", "/api/shutdown"):
            self.refused(self.project.post(target, {}), 403)
            self.refused(self.project.post(target, {}, Cookie="", Authorization="Bearer " + "0" * 64), 401)

    def test_every_address_needs_a_session(self) -> None:
        for route in ROUTES:
            reply = self.project.ask("GET", "/api/" + route)
            self.refused(reply, 401)
            self.assertIn("dashboard open", reply.json["error"])
        for cookie in ("slipstream-%d=x.1.y" % self.project.port, "slipstream=%s" % self.project.sign_in().partition("=")[2], "="):
            self.refused(self.project.ask("GET", "/api/now", {"Cookie": cookie}), 401)

    def test_a_changed_session_is_no_session(self) -> None:
        name, _, value = self.project.sign_in().partition("=")
        who, end, mac = value.split(".")
        for forged in ("%s.%d.%s" % (who, int(end) + 1, mac), "%s.%s.%s" % (who[::-1], end, mac), "%s.%s.%s" % (who, end, "0" * 64)):
            self.refused(self.project.ask("GET", "/api/now", {"Cookie": name + "=" + forged}), 401)

    def test_health_answers_the_owner_alone(self) -> None:
        for fields in ({}, {"Cookie": self.project.sign_in()}, {"Authorization": "Bearer x"}, {"Authorization": "Basic x"}):
            reply = self.project.ask("GET", "/api/health", fields)
            self.assertEqual((reply.status, reply.body), (204, b""))
        answer = self.project.ask("GET", "/api/health", {"Authorization": self.project.bearer()}).json
        self.assertEqual(answer["project"], self.project.root)
        self.assertEqual(set(answer), {"version", "pid", "startedAt", "project", "nonce"})

    # 6

    def test_cookie(self) -> None:
        reply = self.project.redeem(launch.one_time_code(self.project.root))
        cookie = reply.value("set-cookie") or ""
        self.assertRegex(cookie, r"^slipstream-%d=[0-9a-f.]+; HttpOnly; SameSite=Strict; Path=/$" % self.project.port)

    # 7

    def test_changes_need_all_of_it(self) -> None:
        wanted = {"session": "nobody", "dryRun": True}
        self.assertEqual(self.project.post("/api/sessions/remove", wanted).status, 200)
        cases: list[tuple[dict[str, str], int]] = [({"Content_Type": "text/plain"}, 415), ({"Content_Type": ""}, 415)]
        cases += [({"Content_Type": "application/x-www-form-urlencoded"}, 415), ({"X_Slipstream": ""}, 403), ({"Origin": ""}, 403)]
        cases += [({"X_HTTP_Method_Override": "GET"}, 400), ({"Content_Length": ""}, 411), ({"Transfer_Encoding": "chunked"}, 411)]
        cases += [({"Content_Length": "1_0"}, 411), ({"Content_Length": "+5"}, 411), ({"Cookie": ""}, 401)]
        for changes, status in cases:
            reply = self.project.post("/api/sessions/remove", wanted, **changes)
            self.assertEqual(reply.status, status, changes)
        self.refused(self.project.post("/api/sessions/remove", b"[]"), 400)
        self.refused(self.project.post("/api/sessions/remove", b"{"), 400)
        self.refused(self.project.post("/api/sessions/remove", b"[" * 60000), 400)
        self.refused(self.project.post("/api/sessions/remove", b'{"a": "' + b"x" * 70000 + b'"}'), 413)

    def test_get_changes_nothing(self) -> None:
        for target in ("/api/sessions/remove?session=s1", "/api/code", "/api/shutdown", "/api/session", "/api/budget?targetTokens=5"):
            self.assertIn(self.project.get(target).status, (200, 404, 405), target)
        self.assertTrue(os.path.exists(os.path.join(self.project.root, ".claude", "slipstream", "dashboard", "s1.jsonl")))
        self.assertIsNotNone(launch.live_record(self.project.root))

    def test_a_body_on_a_get_is_refused(self) -> None:
        reply = self.project.ask("GET", "/api/now", {"Cookie": self.project.sign_in(), "Content-Length": "4"}, b"GET ")
        self.refused(reply, 400)

    # 8

    def test_other_methods_and_no_cors(self) -> None:
        for method in ("OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "FOO", "get"):
            reply = self.project.ask(method, "/api/sessions/s1", {"Cookie": self.project.sign_in(), "Origin": self.project.origin})
            self.refused(reply, 405)
            self.assertEqual(reply.value("allow"), "GET, HEAD, POST")
        for target in ("/", "/api/now", "/api/health", "/nothing"):
            names = [name for name, _ in self.project.get(target).fields]
            self.assertFalse([name for name in names if name.startswith("access-control")])

    # 9

    def test_headers_on_every_answer(self) -> None:
        replies = [self.project.get(target) for target in ("/", "/app.js", "/nothing", "/api/now", "/api/nothing", "/api/health")]
        replies += [self.project.ask("GET", "/api/now"), self.project.ask("GET", "/", {"Host": "evil"}), self.project.ask("OPTIONS", "/")]
        replies += [self.project.raw(b"rubbish\r\n\r\n"), self.project.post("/api/budget", b"{")]
        stream = Stream(self.project, "/api/stream?deltas=only")
        stream.close()
        self.assertIn("Content-Security-Policy: " + CONTENT_SECURITY_POLICY, stream.head)
        for reply in replies:
            for name, value in SECURITY_HEADERS:
                self.assertEqual(reply.value(name.lower()), value, (reply.status, name))
            self.assertIsNone(reply.value("server"))
        for word in ("require-trusted-types-for 'script'", "trusted-types 'none'", "frame-ancestors 'none'", "default-src 'none'"):
            self.assertIn(word, CONTENT_SECURITY_POLICY)
        self.assertNotIn("unsafe", CONTENT_SECURITY_POLICY)

    # 10

    def test_static_files_are_a_dictionary(self) -> None:
        for target in ("/../server.py", "/..%2fserver.py", "/%2e%2e/etc/passwd", "/app.js%00.html", "/static/app.js", "/app.js/", "/.",
                       "/C:/x", "/APP.JS", "/app.js%2f..", "/\\app.js"):
            self.refused(self.project.get(target), 404, 400)
        self.assertEqual(self.project.get("/app.js?x=1").status, 200)
        self.assertEqual(self.project.get("/").value("content-type"), "text/html; charset=utf-8")

    def test_session_ids_are_no_paths(self) -> None:
        outside = os.path.join(self.project.root, "outside.jsonl")
        with open(outside, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({"seq": 0, "ts": "x", "session": "s", "agent": "main", "kind": "stop", "label": "a private question"}))
        for session in ("../../../outside", "..%2f..%2f..%2foutside", "%2e%2e/outside", "/etc/passwd", "a%00b", "..", "x" * 300):
            for route in ("now", "state", "timeline", "events", "moment", "story"):
                reply = self.project.get("/api/%s?session=%s" % (route, session))
                self.refused(reply, 200, 400)
            reply = self.project.post("/api/sessions/remove", {"session": session})
            self.assertIn(reply.status, (200, 400))
        self.assertTrue(os.path.exists(outside))

    # 11

    def test_limits(self) -> None:
        long = "/" + "a" * 9000
        self.refused(self.project.get(long), 414)
        self.refused(self.project.ask("GET", "/", {"X-Long": "y" * 40000}), 431)
        self.refused(self.project.ask("GET", "/", {"X-%d" % index: "y" for index in range(80)}), 431)
        for bad in (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n",
                    b"\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\r\n\r\n", b"\x16\x03\x01\x00\r\n\r\n"):
            self.assertEqual(self.project.raw(bad).status, 400, bad)
        self.assertLessEqual(len(self.project.get("/api/events?limit=100000").json["events"]), 500)
        self.refused(self.project.get("/api/events?" + "&".join("a%d=1" % index for index in range(60))), 400)

    def test_mutated_requests_end_nothing(self) -> None:
        chance = random.Random(42)
        good = ("GET /api/now?session=s1&at=1 HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nOrigin: %s\r\nContent-Length: 0\r\nAccept: */*\r\n\r\n"
                % (self.project.host, self.project.sign_in(), self.project.origin)).encode("ascii")
        for _ in range(300):
            data = bytearray(good)
            for _ in range(chance.randrange(1, 6)):
                at = chance.randrange(len(data))
                data[at:at + chance.randrange(3)] = bytes(chance.randrange(256) for _ in range(chance.randrange(4)))
            with socket.create_connection(("127.0.0.1", self.project.port), 5) as link:
                link.sendall(bytes(data))
                link.shutdown(socket.SHUT_WR)
                link.settimeout(5)
                answer = b""
                try:
                    while chunk := link.recv(65536):
                        answer += chunk
                except ConnectionResetError:
                    pass
            self.assertNotIn(b" 500 ", answer[:20], bytes(data))
        self.assertEqual(self.project.get("/api/now?session=s1").status, 200)

    def test_a_slow_request_does_not_hold_the_others(self) -> None:
        slow = [socket.create_connection(("127.0.0.1", self.project.port), 5) for _ in range(20)]
        try:
            for link in slow:
                link.sendall(b"GET / HTTP/1.1\r\nHos")
            begun = time.monotonic()
            self.assertEqual(self.project.get("/api/sessions").status, 200)
            self.assertLess(time.monotonic() - begun, 5)
        finally:
            for link in slow:
                link.close()

    def open_stream(self) -> Stream | None:
        """A stream; None while one that another test closed still holds its place, which it does for a moment."""
        stream = Stream(self.project, "/api/stream?deltas=only")
        if stream.status == 200:
            return stream
        stream.close()
        return None

    def test_seventeenth_stream(self) -> None:
        streams = []
        try:
            for _ in range(16):
                streams.append(wait_until(self.open_stream))
            reply = self.project.get("/api/stream?deltas=only")
            self.refused(reply, 503)
            self.assertEqual(reply.value("retry-after"), "5")
        finally:
            for stream in streams:
                stream.close()

    # 12: text nodes only

    def test_the_page_makes_no_html_from_strings(self) -> None:
        forbidden = re.compile(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|createContextualFragment|"
                               rb"DOMParser|setHTML|srcdoc|javascript:|\.on(?:click|load|error)\s*=\s*[\"']|https?://(?!www\.w3\.org/2000/svg)")
        from slipstream.dashboard.static import load_static

        for path, (_, data) in load_static().items():
            if path.endswith(".js"):
                self.assertIsNone(forbidden.search(data), path)
        page = load_static()["/"][1]
        self.assertNotRegex(page, rb"(?i)<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=\"app\.js\"></script>)|https?://")

    # 14

    def test_record_proves_whose_it_is(self) -> None:
        record = launch.load_record(self.project.root)
        assert record is not None
        self.assertLessEqual({"pid", "port", "url", "startedAt", "version", "project", "nonce", "processStart"}, set(record))
        self.assertTrue(launch.probe(self.project.root, record))
        for key, value in (("nonce", "0" * 32), ("pid", os.getpid()), ("processStart", "1")):
            if value != record[key]:
                self.assertFalse(launch.probe(self.project.root, {**record, key: value}), key)


if __name__ == "__main__":
    unittest.main()
