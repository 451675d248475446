from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Any
from unittest import mock

from slipstream.events.log import list_sessions, read_events
from slipstream.mcp import feeder, protocol
from slipstream.mcp.protocol import Connection, handle_request
from slipstream.memory.search import close_catalogs

from tests import PROGRAM
from tests.folders import FolderCase
from tests.mcp import Server, environment, initialize, message


def quiet_feeder(case: unittest.TestCase) -> None:
    """No thread that waits for idle turns outlives the test."""
    patch = mock.patch.object(feeder, "_watch")
    patch.start()
    case.addCleanup(patch.stop)


class Gates(unittest.TestCase):
    def test_mode(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            for env, client, mode, reason in (
                    ({}, "cursor", "mcp-only", "no Claude Code signals"),
                    ({"SLIPSTREAM_MODE": "plugin"}, "cursor", "plugin", "SLIPSTREAM_MODE"),
                    ({"SLIPSTREAM_MODE": "mcp-only", "CLAUDE_PLUGIN_ROOT": "/x"}, "claude-code", "mcp-only", "SLIPSTREAM_MODE"),
                    ({"SLIPSTREAM_MODE": "nonsense"}, "", "mcp-only", "no Claude Code signals"),
                    ({"CLAUDE_PLUGIN_ROOT": "/x"}, "claude-code", "plugin", "CLAUDE_PLUGIN_ROOT"),
                    ({"CLAUDE_CODE_SESSION": "x"}, "claude-code", "plugin", "CLAUDE_CODE_SESSION")):
                self.assertEqual(feeder.find_mode(root, client, env), (mode, reason))
            os.makedirs(os.path.join(root, ".claude", "hooks"))
            self.assertEqual(feeder.find_mode(root, "claude-code", {}), ("plugin", ".claude/hooks marker"))
            self.assertEqual(feeder.find_mode(root, "cursor", {})[0], "mcp-only")

    def test_switches_win_over_the_mode(self) -> None:
        for value, mode, found in ((None, "plugin", False), (None, "mcp-only", True), ("0", "mcp-only", False),
                                   ("1", "plugin", True), ("", "mcp-only", True), ("yes", "plugin", False)):
            env = {} if value is None else {"SLIPSTREAM_MCP_EMIT": value}
            self.assertIs(feeder.is_on("SLIPSTREAM_MCP_EMIT", mode, env), found)

    def test_session_id(self) -> None:
        for client, pattern in (("Cursor IDE", r"cursor-ide-[0-9a-z]{5}"), ("", r"mcp-[0-9a-z]{5}"), ("***", r"mcp-[0-9a-z]{5}"),
                                ("Zed", r"zed-[0-9a-z]{5}"), ("x" * 500, r"x{60}-[0-9a-z]{5}")):
            connection = Connection("/")
            request = protocol.Request(1, "tools/call", {})
            request.client = client
            self.assertRegex(feeder.session_id(request, connection), f"^{pattern}$")
            self.assertEqual(feeder.session_id(request, connection), feeder.session_id(request, connection))

    def test_a_secret_in_the_name_of_a_client_gets_into_no_session(self) -> None:
        key = "sk-ant-api03-" + "Zx9Kq2Lm7" * 5
        request = protocol.Request(1, "tools/call", {})
        for client in ("Cursor " + key, key, "editor token=" + key):
            request.client = client
            session = feeder.session_id(request, Connection("/"))
            self.assertNotIn("zx9kq2lm7", session)
            self.assertIn("redacted", session)

    def test_servers_that_start_in_one_millisecond_have_sessions_of_their_own(self) -> None:
        request = protocol.Request(1, "tools/call", {})
        with mock.patch("time.time", return_value=1_800_000_000.0):
            self.assertEqual(len({feeder.session_id(request, Connection("/")) for _ in range(50)}), 50)


class Feeding(FolderCase):
    """An editor without hooks, without a process."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(close_catalogs)
        with open(os.path.join(self.root, "a.py"), "w", encoding="utf-8") as stream:
            stream.write("def f():\n    return 1\n")
        patch = mock.patch.dict(os.environ, environment(SLIPSTREAM_MODE="mcp-only"), clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        quiet_feeder(self)
        self.connection = Connection(self.root)
        handle_request(initialize(), self.connection)

    def call(self, tool: str, **arguments: Any) -> Any:
        return handle_request(message("tools/call", 5, name=tool, arguments=arguments), self.connection)["result"]

    def events(self) -> list[dict[str, Any]]:
        return [event for row in list_sessions(self.root) for event in read_events(self.root, row["session"])]

    def test_one_event_per_successful_call(self) -> None:
        feeder.start_session(self.connection)
        self.call("sp_lines", file="a.py", start=1, end=2)
        self.call("sp_lines", file="nope.py", start=1, end=2)
        self.call("sp_recall", query="deploy")
        found = self.events()
        self.assertEqual([(event["kind"], event["label"]) for event in found[1:]],
                         [("post-tool", "sp_lines a.py"), ("post-tool", "sp_recall deploy")])
        self.assertRegex(found[0]["label"], r"^mcp session: test-client-[0-9a-z]{5} \(SLIPSTREAM_MODE\)$")
        self.assertEqual(found[1]["data"]["source"], "mcp")
        self.assertGreater(found[1]["data"]["bytes"], 10)
        self.assertTrue(re.match("test-client-", found[0]["session"]))

    def test_a_store_that_cannot_be_written_is_told_in_the_errors_log(self) -> None:
        with mock.patch("slipstream.events.append.append_event", side_effect=OSError("no room")):
            feeder.start_session(self.connection)
        self.assertEqual(self.events(), [])
        with open(os.path.join(self.root, ".claude", "slipstream", "errors.log"), encoding="utf-8") as stream:
            self.assertIn("mcp session-start: OSError: no room", stream.read())

    def test_the_modern_era_has_no_handshake_and_is_fed_all_the_same(self) -> None:
        from tests.mcp import modern_meta
        connection = Connection(self.root)
        handle_request(message("tools/call", 1, name="sp_lines", arguments={"file": "a.py", "start": 1, "end": 1},
                               _meta=modern_meta()), connection)
        self.assertEqual([event["kind"] for event in self.events()], ["session-start", "post-tool"])
        self.assertTrue(self.events()[0]["session"].startswith("a-client-"))

    def test_the_event_goes_to_the_store_of_the_calls_root(self) -> None:
        other = os.path.join(self.root, "inner")
        os.makedirs(os.path.join(other, ".git"))
        with open(os.path.join(other, "b.py"), "w", encoding="utf-8") as stream:
            stream.write("x = 1\n")
        self.call("sp_lines", file="b.py", start=1, end=1, root="inner")
        self.assertEqual(self.events(), [])
        self.assertEqual([row["session"].rpartition("-")[0] for row in list_sessions(other)], ["test-client"])

    def test_an_idle_turn_is_closed_and_remembered(self) -> None:
        self.call("sp_lines", file="a.py", start=1, end=2)
        feeder._close(self.connection.cache["feed"], 3600)
        self.assertEqual([event["kind"] for event in self.events()], ["session-start", "post-tool"])
        feeder.end_session(self.connection)
        self.assertEqual([event["kind"] for event in self.events()], ["session-start", "post-tool", "stop"])
        self.assertIn("sp_lines", self.call("sp_observations", ids=[1])["content"][0]["text"])

    def test_a_call_after_a_long_pause_begins_a_new_turn(self) -> None:
        self.call("sp_lines", file="a.py", start=1, end=2)
        feed = self.connection.cache["feed"]
        for key in feed.turns:
            feed.turns[key] -= feeder.IDLE_S + 1
        self.call("sp_lines", file="a.py", start=1, end=2)
        self.assertEqual([event["kind"] for event in self.events()], ["session-start", "post-tool", "stop", "post-tool"])

    def test_nothing_is_written_where_hooks_do_it(self) -> None:
        os.environ["SLIPSTREAM_MODE"] = "plugin"
        feeder.start_session(self.connection)
        self.call("sp_lines", file="a.py", start=1, end=2)
        self.assertEqual(self.events(), [])


class OneStore(unittest.TestCase):
    def test_two_servers_and_ten_hooks_lose_nothing(self) -> None:
        calls, hooks = 12, 10
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, ".git"))  # a hook finds its project by walking up
            with open(os.path.join(root, "a.py"), "w", encoding="utf-8") as stream:
                stream.write("def f():\n    return 1\n")
            env = environment(SLIPSTREAM_MODE="mcp-only")
            payload = {"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": "a.py"},
                       "tool_response": "x", "cwd": root, "session_id": "host"}
            with Server(root, env) as one, Server(root, env) as two, Server(root) as hooked:
                processes = [subprocess.Popen([sys.executable, "-I", "-S", PROGRAM, "hook", "post-tool-use"],
                                              stdin=subprocess.PIPE, env=env, cwd=root) for _ in range(hooks)]

                def serve(server: Server) -> None:
                    server.ask(initialize())
                    server.send(*[message("tools/call", n, name="sp_remember", arguments={
                        "fact": f"Server {server.process.pid} says {n}"}) for n in range(calls)])
                    for _ in range(calls):
                        answer = server.receive()
                        assert "isError" not in answer["result"], answer

                def record(server: Server) -> None:
                    server.send(*[message("tools/call", n, name="sp_hook", arguments={
                        **payload, "tool_input": json.dumps(payload["tool_input"])}) for n in range(calls)])
                    for _ in range(calls):
                        assert server.receive()["result"]["content"][0]["text"] == ""

                threads = [threading.Thread(target=serve, args=(server,)) for server in (one, two)]
                threads.append(threading.Thread(target=record, args=(hooked,)))
                for thread in threads:
                    thread.start()
                for process in processes:
                    assert process.stdin
                    process.stdin.write(json.dumps(payload).encode())
                    process.stdin.close()
                for thread in threads:
                    thread.join(60)
                for process in processes:
                    self.assertEqual(process.wait(60), 0)
                for server in (one, two, hooked):
                    self.assertEqual(server.close()[1:], ("", 0))
            found = {row["session"]: read_events(root, row["session"]) for row in list_sessions(root)}
            self.assertEqual(len(found.pop("host")), hooks + calls)
            kinds = [event["kind"] for events in found.values() for event in events]
            self.assertEqual(sorted(kinds), ["post-tool"] * (2 * calls) + ["session-start"] * len(found) + ["stop"] * len(found))
            for events in found.values():
                self.assertEqual([event["seq"] for event in events], list(range(len(events))))
            memory = os.path.join(root, ".claude", "slipstream", "memory")
            self.assertEqual(len([name for name in os.listdir(memory) if name.startswith("server-")]), 2 * calls)
            with open(os.path.join(memory, "MEMORY.md"), encoding="utf-8") as stream:
                self.assertEqual(stream.read().count(" says "), 2 * calls)
