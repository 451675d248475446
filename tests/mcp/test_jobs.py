from __future__ import annotations

import json
import threading
import unittest
from typing import Any
from unittest import mock

from slipstream.mcp import jobs, protocol, server

from tests.mcp import initialize, message

WAIT_S = 20.0


class FakeWire:
    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.changed = threading.Condition()

    def send(self, one: Any) -> None:
        with self.changed:
            self.sent.append(json.loads(json.dumps(one)))
            self.changed.notify_all()

    def wait_for(self, found: Any) -> Any:
        with self.changed:
            ok = self.changed.wait_for(lambda: any(found(one) for one in self.sent), WAIT_S)
            assert ok, self.sent
            return next(one for one in self.sent if found(one))

    def ids(self) -> list[Any]:
        return [one["id"] for one in self.sent if "method" not in one]


class Concurrent(unittest.TestCase):
    """The loop without pipes; prompts/list stands for slow work that ends when told to."""

    def setUp(self) -> None:
        self.wire = FakeWire()
        self.loop = server.Loop(self.wire, None)  # type: ignore[arg-type]
        self.running, self.go = threading.Event(), threading.Event()
        self.addCleanup(self.go.set)

        def slow(request: protocol.Request, connection: protocol.Connection) -> dict[str, Any]:
            self.running.set()
            self.go.wait(WAIT_S)
            return {"prompts": []}

        for patch in (mock.patch.dict(protocol._METHODS, {"prompts/list": slow}),
                      mock.patch.object(jobs, "EXIT_GRACE_S", 0.05), mock.patch.object(jobs, "PROGRESS_EVERY_S", 0.01),
                      mock.patch.dict("os.environ", {"SLIPSTREAM_MODE": "plugin"})):
            patch.start()
            self.addCleanup(patch.stop)
        self.loop.workers()  # before they are loaded, the loop answers the first lists itself

    def take(self, one: Any) -> None:
        self.loop.take(json.dumps(one).encode())

    def test_slow_work_holds_nobody_up(self) -> None:
        for number in range(jobs.MAX_WORKERS + 3):  # more than one lane takes
            self.take(message("prompts/list", number))
        self.assertTrue(self.running.wait(WAIT_S))
        self.take(message("ping", "p"))
        self.take(message("tools/call", "hook", name="sp_hook", arguments={}))
        self.wire.wait_for(lambda one: one.get("id") == "hook")
        self.assertEqual(self.wire.ids(), ["p", "hook"])
        self.go.set()
        self.loop.finish()
        self.assertEqual(len(self.wire.ids()), jobs.MAX_WORKERS + 5)

    def test_cancelled_work_is_not_answered(self) -> None:
        self.take(message("prompts/list", 1))
        self.take(message("prompts/list", "1"))
        self.assertTrue(self.running.wait(WAIT_S))
        self.take({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        self.go.set()
        self.loop.finish()
        self.assertEqual(self.wire.ids(), ["1"])

    def test_progress_grows_and_ends_with_the_answer(self) -> None:
        self.take(message("prompts/list", 1, _meta={"progressToken": "t"}))
        self.wire.wait_for(lambda one: one.get("method") and one["params"]["progress"] >= 0.1)
        self.go.set()
        self.wire.wait_for(lambda one: one.get("id") == 1)
        steps = [one["params"]["progress"] for one in self.wire.sent if "method" in one]
        self.assertEqual(steps, sorted(steps))
        self.assertEqual({one["params"]["progressToken"] for one in self.wire.sent if "method" in one}, {"t"})
        self.assertEqual(self.wire.sent[-1]["id"], 1)

    def test_end_of_input_cuts_what_still_runs_and_answers_it(self) -> None:
        self.take(message("prompts/list", 1))
        self.take(initialize("2025-03-26", 2))
        self.take([message("prompts/list", 3), message("ping", 4)])
        self.loop.finish()
        errors = {one["id"]: one["error"]["message"] for group in self.wire.sent
                  for one in (group if isinstance(group, list) else [group]) if "error" in one}
        self.assertEqual(errors, {1: jobs.CUT_TEXT, 3: jobs.CUT_TEXT, 4: jobs.CUT_TEXT})
        count = len(self.wire.sent)
        self.go.set()
        self.loop.finish()
        self.assertEqual(len(self.wire.sent), count)  # answered once

    def test_a_hook_call_has_the_time_that_a_held_lock_may_take(self) -> None:
        def record(request: protocol.Request, connection: protocol.Connection) -> dict[str, Any]:
            self.go.wait(WAIT_S)
            return {"content": []}

        with mock.patch.dict(protocol._METHODS, {"tools/call": record}), mock.patch.object(jobs, "HOOK_GRACE_S", WAIT_S):
            self.take(message("tools/call", 1, name="sp_hook", arguments={}))
            later = threading.Timer(0.3, self.go.set)
            later.start()
            self.loop.finish()
            later.join()
        self.assertEqual([one["result"] for one in self.wire.sent], [{"content": []}])

    def test_facts_are_written_one_after_another(self) -> None:
        """Else eight threads try for the store's lock again and again, and one of them gives up in the end."""
        writing, most = [0], [0]

        def add(*_: Any, **__: Any) -> Any:
            writing[0] += 1
            most[0] = max(most[0], writing[0])
            self.go.wait(0.02)
            writing[0] -= 1
            return mock.Mock(type="decision")

        with mock.patch("slipstream.memory.facts.add_fact", add):
            for number in range(6):
                self.take(message("tools/call", number, name="sp_remember", arguments={"fact": f"fact {number}"}))
            for number in range(6):
                self.wire.wait_for(lambda one, number=number: one.get("id") == number)  # type: ignore[misc]
        self.assertEqual(most, [1])
        self.assertEqual([one for one in self.wire.sent if one["result"].get("isError")], [])

    def test_what_is_cancelled_while_it_waits_to_write_is_not_written(self) -> None:
        written: list[Any] = []

        def add(*given: Any, **__: Any) -> Any:
            self.running.set()
            self.go.wait(WAIT_S)
            written.append(given[3])
            return mock.Mock(type="decision")

        with mock.patch("slipstream.memory.facts.add_fact", add):
            self.take(message("tools/call", 0, name="sp_remember", arguments={"fact": "first"}))
            self.assertTrue(self.running.wait(WAIT_S))
            self.take(message("tools/call", 1, name="sp_remember", arguments={"fact": "second"}))
            self.take({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            self.go.set()
            self.wire.wait_for(lambda one: one.get("id") == 0)
            self.loop.finish()
        self.assertEqual(written, ["first"])

    def test_a_batch_is_judged_by_what_was_agreed_when_it_was_read(self) -> None:
        self.take(initialize("2025-03-26"))
        self.take([message("prompts/list", 1)])
        self.take(initialize("2025-11-25"))
        self.take([message("prompts/list", 2)])
        self.go.set()
        self.loop.finish()
        self.assertIn([1], [[one["id"] for one in group] for group in self.wire.sent if isinstance(group, list)])
        self.assertEqual([one["error"]["code"] for one in self.wire.sent if isinstance(one, dict) and "error" in one],
                         [protocol.INVALID_REQUEST])


class Roots(unittest.TestCase):
    def test_the_host_is_asked_for_its_roots_once(self) -> None:
        import os
        import tempfile

        from slipstream.base.errors import SlipstreamError
        from slipstream.mcp.roots import resolve_root
        with tempfile.TemporaryDirectory() as folder:
            base = os.path.realpath(folder)
            project, other, far = (os.path.join(base, name) for name in ("project", "an other", "far"))
            for one in (project, other, far):
                os.mkdir(one)
            asked: list[Any] = []
            connection = protocol.Connection(project)

            def send(one: Any) -> None:
                asked.append(one)
                protocol.handle_request({"jsonrpc": "2.0", "id": one["id"], "result": {"roots": [
                    {"uri": "file://" + project}, {"uri": "file://" + other.replace(" ", "%20")}, {"uri": "http://x"},
                    {"uri": 3}, None]}}, connection)

            connection.send = send
            request = protocol.Request(1, "tools/call", {})
            with mock.patch.dict("os.environ", {"HOME": base, "CLAUDE_PROJECT_DIR": ""}):
                self.assertEqual(resolve_root("", request, connection), project)
                with self.assertRaises(SlipstreamError):
                    resolve_root(other, request, connection)
                self.assertEqual(asked, [])  # this client has no roots
                connection.client_capabilities = {"roots": {}}
                self.assertEqual(resolve_root(other, request, connection), other)
                self.assertEqual(resolve_root("../an other", request, connection), other)
                for bad in (far, "..", "/", "/etc", "/nowhere"):
                    with self.assertRaises(SlipstreamError):
                        resolve_root(bad, request, connection)
                self.assertEqual([one["method"] for one in asked], ["roots/list"])
                protocol.handle_request({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}, connection)
                resolve_root(other, request, connection)
                self.assertEqual(len(asked), 2)
                request.modern = True
                with self.assertRaises(SlipstreamError):
                    resolve_root(other, request, connection)  # nothing to ask in the modern era

    def test_a_link_out_of_the_project_is_refused(self) -> None:
        import os
        import tempfile

        from slipstream.base.errors import SlipstreamError
        from slipstream.mcp.roots import resolve_root
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as outside:
            os.symlink(outside, os.path.join(folder, "link"))
            with self.assertRaises(SlipstreamError):
                resolve_root("link", protocol.Request(1, "tools/call", {}), protocol.Connection(folder))
