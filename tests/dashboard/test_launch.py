"""Starting once, finding again, never trusting a stranger, leaving nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from unittest import mock

from slipstream.base.errors import SlipstreamError
from slipstream.dashboard import launch

from tests import PROGRAM, SOURCE
from tests.dashboard.serving import Project, Stream
from tests.waiting import wait_until


def servers_of(root: str) -> list[int]:
    """Process ids of the dashboards that serve a project."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/cmdline" % name, "rb") as stream:
                    words = stream.read().split(b"\0")
            except OSError:
                continue
            if b"--store" in words and root.encode() in words:
                found.append(int(name))
    return found


class Launch(unittest.TestCase):
    def setUp(self) -> None:
        self.project = Project(start=False)
        self.addCleanup(self.project.close)

    @unittest.skipUnless(sys.platform.startswith("linux"), "elsewhere there is always something that opens")
    def test_without_a_browser_it_says_what_to_paste(self) -> None:
        done = self.cli("open")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r'prints a link: python3 -I -S "/.*/slipstream.pyz" dashboard open --root "%s"\n$' % self.project.root)

    def cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", PROGRAM, "dashboard", *words, "--root", self.project.root]
        env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)

    def test_the_address_is_known_at_once_and_answers(self) -> None:
        address = launch.ensure_started(self.project.root, self.project.root)
        assert address is not None
        self.project.port = int(address.rstrip("/").rpartition(":")[2])
        self.assertEqual(self.project.ask("GET", "/").status, 200)
        self.assertEqual(launch.ensure_started(self.project.root, self.project.root), address)

    @unittest.skipUnless(os.path.isdir("/proc/self"), "counts processes in /proc")
    def test_simultaneous_starts_leave_one_server(self) -> None:
        script = "import sys;sys.path.insert(0,sys.argv[1]);from slipstream.dashboard.launch import start;"
        script += "sys.stdin.readline();print(start(sys.argv[2],sys.argv[2],wait_s=20)[0])"
        command = [sys.executable, "-I", "-S", "-c", script, SOURCE, self.project.root]
        starters = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(5)]
        for starter in starters:
            assert starter.stdin is not None
            starter.stdin.write("\n")
            starter.stdin.flush()
        addresses = {starter.communicate(timeout=40)[0].strip() for starter in starters}
        self.assertEqual(len(addresses), 1)
        wait_until(lambda: len(servers_of(self.project.root)) == 1, 30)

    def test_switched_off_starts_nothing(self) -> None:
        for text, env, wanted in (
            ('{"enabled": false}', {}, (False, False)),
            ('{"enabled": false}', {"SLIPSTREAM_DASHBOARD": "1"}, (True, False)),
            ('{"autoOpen": true}', {}, (True, True)),
            ('{"autoOpen": true}', {"SLIPSTREAM_DASHBOARD_OPEN": "0", "SLIPSTREAM_DASHBOARD": "0"}, (False, False)),
            ("{", {}, (True, False)),
            ("[1]", {}, (True, False)),
        ):
            store = os.path.join(self.project.root, ".claude", "slipstream")
            os.makedirs(store, exist_ok=True)
            with open(os.path.join(store, "dashboard.json"), "w", encoding="utf-8") as stream:
                stream.write(text)
            self.assertEqual(launch.page_settings(self.project.root, env), wanted, text)
        with open(os.path.join(store, "dashboard.json"), "w", encoding="utf-8") as stream:
            stream.write('{"enabled": false}')
        self.assertIsNone(launch.ensure_started(self.project.root, self.project.root))

    def test_a_stranger_on_the_port_is_not_believed_and_not_shown_the_token(self) -> None:
        self.project.start()
        record = launch.load_record(self.project.root)
        assert record is not None
        os.kill(record["pid"], signal.SIGKILL)
        wait_until(lambda: not launch.is_running(record))
        with socket.create_server(("127.0.0.1", record["port"])) as stranger:
            stranger.setblocking(False)  # the system takes connections, and what is sent on them, by itself
            self.assertIsNone(launch.live_record(self.project.root))
            with self.assertRaises(BlockingIOError):
                stranger.accept()

    def test_a_record_from_a_clone_is_not_believed(self) -> None:
        folder = os.path.join(self.project.root, ".claude", "slipstream", "dashboard")
        os.makedirs(folder)
        for text in ("{", "[]", '{"pid": "1"}', '{"pid": 1, "port": 99999, "nonce": "x"}', '{"pid": -1, "port": 80, "nonce": "x"}',
                     json.dumps({"pid": os.getpid(), "port": 1, "nonce": "x", "url": "http://evil.example/"})):
            with open(os.path.join(folder, "server.json"), "w", encoding="utf-8") as stream:
                stream.write(text)
            self.assertIsNone(launch.live_record(self.project.root))
        with open(os.path.join(folder, "server.token"), "w", encoding="ascii") as stream:
            stream.write("a" * 64)
        os.chmod(os.path.join(folder, "server.token"), 0o644)
        from slipstream.dashboard.token import read_token

        if os.name == "posix":
            self.assertIsNone(read_token(self.project.root))

    @unittest.skipUnless(os.path.isdir("/proc/self"), "only /proc tells that a process has ended before its parent notices")
    def test_a_process_that_has_ended_does_not_run_though_nobody_has_noticed(self) -> None:
        with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
            record = {"pid": process.pid, "processStart": launch.process_start(process.pid)}
            self.assertTrue(launch.is_running(record))
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.close()
            wait_until(lambda: not launch.is_running(record))  # its parent has not asked for its status

    def test_a_process_whose_first_thread_alone_has_ended_still_runs(self) -> None:
        rest = b" 1 7 7 0 -1 4194304 9 0 0 0 1 2 0 0 20 0 %d 0 4711 0 0 18446744073709551615"
        for state, threads, wanted in ((b"S", 3, "4711"), (b"Z", 2, "4711"), (b"Z", 1, ""), (b"X", 0, "")):
            self.assertEqual(launch.parse_start(b"7 (a) (b) S) " + state + rest % threads), wanted)

    def test_killed_server_comes_back_where_the_page_waits_for_it(self) -> None:
        self.project.start()
        self.project.emit("user-prompt", "before")
        cookie, port = self.project.sign_in(), self.project.port
        record = launch.load_record(self.project.root)
        assert record is not None
        os.kill(record["pid"], signal.SIGKILL)
        wait_until(lambda: not launch.is_running(record))
        self.project.start()
        self.assertEqual(self.project.port, port)
        self.assertEqual(self.project.ask("GET", "/api/now", {"Cookie": cookie}).status, 200)

    @unittest.skipUnless(os.path.isdir("/proc/self"), "a process is known by its start time in /proc")
    def test_a_server_that_does_not_answer_is_named_and_keeps_its_token(self) -> None:
        self.project.start()
        record = launch.load_record(self.project.root)
        assert record is not None
        wait_until(lambda: launch.find_silent(self.project.root) is None, 20)
        os.kill(record["pid"], signal.SIGSTOP)
        try:
            for done in (self.cli("stop"), self.cli("status")):
                self.assertEqual(done.returncode, 1)
                self.assertIn("(process %d) does not answer" % record["pid"], done.stdout + done.stderr)
            with mock.patch.object(launch, "live_record", return_value=record), self.assertRaisesRegex(SlipstreamError, "does not answer"):
                launch.start(self.project.root, self.project.root, wait_s=0.1)
        finally:
            os.kill(record["pid"], signal.SIGCONT)
        wait_until(lambda: launch.stop(self.project.root), 20)

    def test_stop_ends_sessions_and_leaves_no_secret(self) -> None:
        self.project.start()
        cookie, port = self.project.sign_in(), self.project.port
        self.assertTrue(launch.stop(self.project.root))
        folder = os.path.join(self.project.root, ".claude", "slipstream", "dashboard")
        self.assertFalse(os.path.exists(os.path.join(folder, "server.json")))
        self.assertEqual(self.cli("stop").stdout, "no dashboard runs for this project\n")
        self.assertFalse({"server.token", "session.key"} & set(os.listdir(folder)))
        self.project.start()
        self.assertEqual(self.project.port, port)
        self.assertEqual(self.project.ask("GET", "/api/now", {"Cookie": cookie}).status, 401)

    def test_an_old_version_makes_room(self) -> None:
        self.project.start()
        record = launch.load_record(self.project.root)
        assert record is not None
        from unittest import mock

        with mock.patch.object(launch, "VERSION", "99.0.0"):
            self.assertIsNone(launch.live_record(self.project.root))
            address, started = launch.start(self.project.root, self.project.root)
        self.assertTrue(started)
        wait_until(lambda: not launch.is_running(record))
        self.assertEqual(address, "http://127.0.0.1:%d/" % (launch.load_record(self.project.root) or {})["port"])

    def test_commands(self) -> None:
        self.assertEqual(self.cli("status").returncode, 1)
        started = self.cli("start", "--json")
        self.assertTrue(json.loads(started.stdout)["started"], started.stderr)
        again = self.cli("start")
        self.assertRegex(again.stdout, r"^http://127\.0\.0\.1:\d+/\n$")
        self.assertEqual(again.stderr, "already running\n")
        status = json.loads(self.cli("status", "--json").stdout)
        self.assertTrue(status["running"])
        # Without a terminal and without a browser no code is printed anywhere.
        refused = self.cli("open")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertNotIn("#code=", refused.stderr)
        self.assertEqual(self.cli("stop").stdout, "stopped\n")

    def test_foreground_serves_until_interrupted(self) -> None:
        command = [sys.executable, "-I", "-S", PROGRAM, "dashboard", "start", "--foreground", "--root", self.project.root]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        self.project.port = int(address.rstrip("/").rpartition(":")[2])
        self.assertEqual(wait_until(lambda: self.project.ask("GET", "/").status), 200)
        wait_until(lambda: launch.live_record(self.project.root))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        self.assertIsNone(launch.load_record(self.project.root))

    def start_impatient(self, idle_s: float) -> None:
        """A server that leaves after so many idle seconds, and that looks often whether its project is still there."""
        os.environ["SLIPSTREAM_DASHBOARD_IDLE_S"] = str(idle_s)
        try:
            self.project.start()
        finally:
            del os.environ["SLIPSTREAM_DASHBOARD_IDLE_S"]

    def test_leaves_when_the_project_is_gone(self) -> None:
        self.start_impatient(4)
        record = launch.load_record(self.project.root)
        assert record is not None
        import shutil

        shutil.rmtree(os.path.join(self.project.root, ".claude"))
        wait_until(lambda: not launch.is_running(record), 20)
        self.assertFalse(os.path.exists(os.path.join(self.project.root, ".claude")))

    def test_importing_the_launcher_is_cheap(self) -> None:
        script = "import sys;sys.path.insert(0,sys.argv[1]);import slipstream.dashboard.launch;print(' '.join(sorted(sys.modules)))"
        done = subprocess.run([sys.executable, "-I", "-S", "-c", script, SOURCE], capture_output=True, text=True, check=True)
        for heavy in ("http", "socket", "subprocess", "argparse", "pathlib", "secrets", "hashlib", "threading", "dataclasses"):
            self.assertNotIn(heavy, done.stdout.split())

    def test_idle_server_leaves(self) -> None:
        for idle_s in (0.5, 2.0, 8.0):  # a machine that is slow to come back finds it gone, and is given longer
            self.start_impatient(idle_s)
            record = launch.load_record(self.project.root)
            try:
                stream = Stream(self.project, "/api/stream?deltas=only")
                break
            except (AssertionError, EOFError, OSError, SlipstreamError):
                self.project.cookie = ""
        assert record is not None
        until = time.monotonic() + 2 * idle_s
        while time.monotonic() < until and launch.is_running(record):
            time.sleep(0.1)
        self.assertTrue(launch.is_running(record), "a page that looks keeps the server")
        stream.close()
        wait_until(lambda: not launch.is_running(record), 20)


if __name__ == "__main__":
    unittest.main()
