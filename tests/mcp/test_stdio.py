from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any

from tests import PROGRAM, PYZ
from tests.mcp import Server, environment, initialize, message, modern_meta
from tests.waiting import wait_until


class Process(unittest.TestCase):
    def test_both_eras_in_one_process(self) -> None:
        with Server() as server:
            self.assertIn("result", server.ask(message("server/discover", "p", _meta=modern_meta())))
            self.assertEqual(server.ask(initialize())["result"]["protocolVersion"], "2025-11-25")
            self.assertEqual(server.ask(message("ping", 3))["result"], {})
            self.assertEqual(len(server.ask(message("tools/list", 4))["result"]["tools"]), 19)
            rest, errors, status = server.close()
            self.assertEqual((rest, errors, status), ([], "", 0))

    def test_lines_that_are_not_json(self) -> None:
        with Server() as server:
            for line in (b"{", b"\xff\xfe{}", b"nope", b"[" * 100_000, b"NaN", b"{\"a\":Infinity}", b"\"\\"):
                server.send(line + b"\n")
                answer = server.receive()
                self.assertEqual((answer["id"], answer["error"]["code"]), (None, -32700), line[:20])
            server.send(b"\n", b"   \n", b"\r\n", b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
            self.assertEqual(server.receive()["id"], 1)

    def test_modern_parse_error_has_no_id(self) -> None:
        with Server() as server:
            server.ask(message("server/discover", _meta=modern_meta()))
            server.send(b"{\n")
            self.assertNotIn("id", server.receive())

    def test_everything_read_is_answered_at_the_end_of_input(self) -> None:
        with Server() as server:
            server.send(initialize(), *[message("prompts/list", n) for n in range(40)])
            server.send(json.dumps(message("ping", "last")).encode())  # without its newline
            rest, errors, status = server.close()
            self.assertEqual({one["id"] for one in rest}, {0, "last", *range(40)})
            self.assertEqual((errors, status), ("", 0))

    def test_the_first_lists_do_not_wait_for_the_workers(self) -> None:
        from slipstream.mcp.server import Loop
        sent: list[Any] = []

        class Wire:
            send = sent.append

        loop = Loop(Wire(), tempfile.gettempdir())  # type: ignore[arg-type]
        for number, (method, ready) in enumerate((("prompts/list", False), ("resources/list", True))):
            loop.take(json.dumps(message(method, number)).encode())
            self.assertEqual([number, ready], [sent[-1]["id"], loop._workers is not None])
            self.assertIn("result", sent[-1])
        loop.finish()

    def test_an_open_subscription_ends_in_good_order(self) -> None:
        with Server() as server:
            server.send(message("subscriptions/listen", "s", _meta=modern_meta(), notifications={}))
            self.assertEqual(server.receive()["method"], "notifications/subscriptions/acknowledged")
            rest, _, _ = server.close()
            self.assertEqual([one["id"] for one in rest], ["s"])
            self.assertEqual(rest[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s")

    def test_batch(self) -> None:
        with Server() as server:
            server.ask(initialize("2025-03-26"))
            server.send([message("ping", 1), message("prompts/list", 2)])
            self.assertEqual([one["id"] for one in server.receive()], [1, 2])

    def test_a_line_beyond_the_limit_costs_itself_only(self) -> None:
        with Server() as server:
            server.send(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 33_000_000 + b'"}\n')
            self.assertEqual(server.receive()["error"]["code"], -32700)
            self.assertEqual(server.ask(message("ping", 2))["result"], {})

    @unittest.skipIf(os.name == "nt", "POSIX signals")
    def test_interrupt_ends_it_at_once_and_quietly(self) -> None:
        with Server() as server:
            server.ask(initialize())
            server.ask(message("prompts/list", 1))
            server.process.send_signal(signal.SIGINT)
            rest, errors, _ = server.close()
            self.assertEqual((rest, errors), ([], ""))

    def test_a_reader_that_goes_away(self) -> None:
        with Server() as server:
            server.ask(initialize())
            assert server.process.stdout
            server.process.stdout.close()
            server.send(message("ping", 1))
            self.assertEqual(server.process.wait(20), 0)

    def test_command_line(self) -> None:
        for arguments, status in ((["--root", "/nowhere/at/all"], 2), (["--nope"], 2), (["--help"], 0)):
            done = subprocess.run([sys.executable, PROGRAM, "mcp", *arguments], capture_output=True, timeout=20)
            self.assertEqual(done.returncode, status, arguments)
            self.assertNotIn(b"Traceback", done.stderr)

    def test_hidden_tool_is_served_but_not_listed(self) -> None:
        with Server() as server:
            listed = server.ask(message("tools/list"))["result"]["tools"]
            self.assertNotIn("sp_hook", [tool["name"] for tool in listed])
            for arguments in ({"hook_event_name": "Nope"}, {}, [], "x", None):
                result = server.ask(message("tools/call", name="sp_hook", arguments=arguments))["result"]
                self.assertNotIn("isError", result)
                self.assertEqual(result["content"][0]["type"], "text")


@unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc to see the children")
class NoChildIsLeft(unittest.TestCase):
    """A scan in worker processes, cut short: they end with the server."""

    FILES = 2000
    root: str

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = os.path.realpath(folder.name)
        body = "".join(f"def step_{n}(value):\n    return value + {n}\n\n\n" for n in range(60))
        for number in range(cls.FILES):
            with open(os.path.join(cls.root, f"m{number}.py"), "w", encoding="utf-8") as stream:
                stream.write(body)

    def setUp(self) -> None:
        self.server = Server(self.root)
        self.addCleanup(shutil.rmtree, os.path.join(self.root, ".claude"))
        self.addCleanup(self.server.__exit__)
        self.server.ask(initialize())
        self.server.send(message("tools/call", 1, name="sp_map", arguments={}))
        self.workers = wait_until(self.scanning)

    def scanning(self) -> list[int]:
        """The process that refreshes, and those that scan for it."""
        children = self.children(self.server.process.pid)
        below = [pid for child in children for pid in self.children(child)]
        return children + below if below else []

    def children(self, parent: int) -> list[int]:
        found: list[int] = []
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
        except OSError:
            return []
        for task in tasks:
            try:
                with open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as stream:
                    found += map(int, stream.read().split())
            except OSError:
                continue
        return found

    def are_gone(self) -> bool:
        for pid in self.workers:
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as stream:
                    if b"slipstream.map." in stream.read():
                        return False
            except OSError:
                continue
        return True

    def test_interrupt(self) -> None:
        self.server.process.send_signal(signal.SIGINT)
        self.server.process.wait(20)  # by the signal alone: the input is still open
        rest, errors, _ = self.server.close()
        self.assertEqual((rest, errors), ([], ""))
        wait_until(self.are_gone)

    @unittest.skipIf(os.name == "nt", "POSIX signals")
    def test_killed(self) -> None:
        self.server.process.kill()
        self.server.process.wait(20)
        wait_until(self.are_gone)

    def test_end_of_input(self) -> None:
        rest, errors, status = self.server.close()
        self.assertEqual(([one.get("id") for one in rest], errors, status), ([1], "", 0))
        wait_until(self.are_gone)

    def test_cancelled(self) -> None:
        self.server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        self.assertEqual(self.server.ask(message("ping", 2))["result"], {})
        wait_until(self.are_gone)
        self.assertEqual(self.server.close(), ([], "", 0))
        self.assertFalse(os.path.exists(os.path.join(self.server.root, ".claude", "slipstream", "map.md")))


class Guard(unittest.TestCase):
    def test_a_stray_print_does_not_reach_the_wire(self) -> None:
        """A module planted before the package prints on import, through both the stream and the descriptor."""
        code = ("import os, sys; sys.path.insert(0, sys.argv[1]); from slipstream.mcp import server, protocol\n"
                "def loud(*_):\n print('stray'); os.write(1, b'stray\\n'); os.system('echo stray; cat'); return {}\n"
                "protocol._METHODS['ping'] = loud\nserver.main(['mcp'])")
        from tests import SOURCE
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-I", "-S", "-c", code, SOURCE], cwd=folder, env=environment(),
                                  input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 2, capture_output=True, timeout=20)
        self.assertEqual([json.loads(line)["result"] for line in done.stdout.splitlines()], [{}, {}])
        self.assertEqual(done.stderr.count(b"stray"), 6)

    def test_threads_load_deflated_modules_side_by_side(self) -> None:
        """zipimport tells a second thread that zlib is not there; the server's start takes that away."""
        code = textwrap.dedent("""
            import sys, threading
            sys.path.insert(0, sys.argv[1])
            sys.setswitchinterval(1e-6)
            from slipstream.mcp import server
            server.main(["mcp"])
            names = sys.argv[2:]
            failed = []
            gate = threading.Barrier(len(names))

            def load(name):
                gate.wait()
                try:
                    __import__(name)
                except Exception as error:
                    if "zlib" in str(error):  # older Pythons know other races between threads that import
                        failed.append(f"{name}: {error}")
            threads = [threading.Thread(target=load, args=(name,)) for name in names]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            sys.exit("; ".join(failed) or None)
        """)
        names = ["slipstream.map.languages." + one for one in ("python", "go", "rust", "java", "csharp", "php", "ruby", "swift")]
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                done = subprocess.run([sys.executable, "-I", "-S", "-c", code, PYZ, *names], cwd=folder, env=environment(), input=b"",
                                      capture_output=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_start_loads_little(self) -> None:
        """The modules that answering tools/list takes: what a start costs, as a test that does not depend on the machine."""
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from slipstream.mcp import server; server.main(['mcp'])\n"
                "sys.stderr.write(' '.join(sorted(sys.modules)))")
        from tests import SOURCE
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-I", "-S", "-c", code, SOURCE], cwd=folder, env=environment(),
                                  input="\n".join(json.dumps(one) for one in (initialize(), message("tools/list"))).encode(),
                                  capture_output=True, timeout=20)
        loaded = done.stderr.decode().split()
        self.assertEqual([name for name in loaded if name.startswith("slipstream")],
                         ["slipstream", "slipstream.base", "slipstream.base.threads", "slipstream.build_info", "slipstream.mcp", "slipstream.mcp.codec",
                          "slipstream.mcp.protocol", "slipstream.mcp.server"])
        heavy = {"argparse", "asyncio", "concurrent", "dataclasses", "inspect", "json", "logging", "pathlib", "queue", "re", "signal",
                 "socket", "subprocess", "threading", "typing"}
        self.assertFalse(heavy & set(loaded))
