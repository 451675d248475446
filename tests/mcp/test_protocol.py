from __future__ import annotations

import io
import json
import os
import tempfile
import unittest
from typing import Any
from unittest import mock

from slipstream.mcp import protocol
from slipstream.mcp.protocol import Connection, handle_request

from tests.mcp import META_CAPABILITIES, META_VERSION, initialize, message, modern_meta

CASES = os.path.join(os.path.dirname(__file__), "cases")


class Messages(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.connection = Connection(folder.name)

    def ask(self, value: Any) -> Any:
        return handle_request(value, self.connection)

    def code(self, value: Any) -> int:
        return int(self.ask(value)["error"]["code"])


class Legacy(Messages):
    def test_each_known_version_is_confirmed(self) -> None:
        for version in protocol.LEGACY_VERSIONS:
            self.assertEqual(self.ask(initialize(version))["result"]["protocolVersion"], version)

    def test_unknown_version_gets_our_newest_legacy_one(self) -> None:
        for version in ("2026-07-28", "2030-01-01", "", None, 7):
            answer = self.ask(message("initialize", protocolVersion=version))
            self.assertEqual(answer["result"]["protocolVersion"], "2025-11-25")

    def test_initialize_names_server_capabilities_and_instructions(self) -> None:
        result = self.ask(initialize())["result"]
        self.assertEqual(result["serverInfo"]["name"], "slipstream")
        self.assertEqual(sorted(result["capabilities"]), ["prompts", "resources", "tools"])
        self.assertLessEqual(len(result["instructions"].encode()), 2048)

    def test_ids_keep_their_type(self) -> None:
        for request_id in (0, 7, -1, 2**60, "7", "", "\ud800"):
            self.assertEqual(self.ask(message("ping", request_id)), {"jsonrpc": "2.0", "id": request_id, "result": {}})

    def test_results_carry_nothing_of_the_modern_era(self) -> None:
        for method in ("ping", "tools/list", "prompts/list", "resources/templates/list"):
            result = self.ask(message(method))["result"]
            self.assertFalse({"resultType", "ttlMs", "_meta"} & set(result), method)

    def test_recorded_exchange_replays(self) -> None:
        """What the real client sent is answered, and each answer has the fields it relied on."""
        with open(os.path.join(CASES, "claude-code-exchange.jsonl"), encoding="utf-8") as stream:
            lines = [json.loads(line) for line in stream]
        for line in lines:
            if line["way"] != "in":
                continue
            answer = self.ask(line["message"])
            method = line["message"]["method"]
            if "id" not in line["message"]:
                self.assertIsNone(answer)
            elif method == "tools/call":  # the lab's own tools
                self.assertEqual(answer["error"]["code"], protocol.INVALID_PARAMS)
            else:
                self.assertIn("result", answer, method)


class Modern(Messages):
    def test_discover(self) -> None:
        result = self.ask(message("server/discover", _meta=modern_meta()))["result"]
        self.assertEqual(result["supportedVersions"], ["2026-07-28"])
        self.assertEqual(result["resultType"], "complete")
        self.assertEqual(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "slipstream")
        self.assertGreaterEqual(result["ttlMs"], 0)
        self.assertIn(result["cacheScope"], ("public", "private"))

    def test_cache_hints_where_they_belong(self) -> None:
        for method in ("tools/list", "prompts/list", "resources/templates/list"):
            result = self.ask(message(method, _meta=modern_meta()))["result"]
            self.assertIn("ttlMs", result, method)
            self.assertEqual(result["resultType"], "complete", method)

    def test_required_meta(self) -> None:
        for meta in ({META_VERSION: "2026-07-28"}, {META_CAPABILITIES: {}}, {META_VERSION: 3, META_CAPABILITIES: {}},
                     {META_VERSION: "2026-07-28", META_CAPABILITIES: []}):
            self.assertEqual(self.code(message("tools/list", _meta=meta)), protocol.INVALID_PARAMS, meta)
        self.assertEqual(self.code(message("server/discover")), protocol.INVALID_PARAMS)

    def test_version_not_served(self) -> None:
        for version in ("2025-11-25", "2027-01-01"):
            error = self.ask(message("tools/list", _meta=modern_meta(version)))["error"]
            self.assertEqual(error["code"], -32022)
            self.assertEqual(error["data"], {"supported": ["2026-07-28"], "requested": version})

    def test_gone_methods(self) -> None:
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe"):
            self.assertEqual(self.code(message(method, _meta=modern_meta())), protocol.METHOD_NOT_FOUND, method)

    def test_eras_interleave(self) -> None:
        self.ask(initialize("2025-06-18"))
        self.assertIn("ttlMs", self.ask(message("tools/list", _meta=modern_meta()))["result"])
        self.assertEqual(self.ask(message("ping"))["result"], {})
        self.assertNotIn("ttlMs", self.ask(message("tools/list"))["result"])
        self.assertEqual(self.connection.legacy_version, "2025-06-18")
        self.assertEqual(self.connection.client, "Test Client")

    def test_listen_is_acknowledged_and_stays_open(self) -> None:
        sent: list[Any] = []
        self.connection.send = sent.append
        self.assertIsNone(self.ask(message("subscriptions/listen", "sub", _meta=modern_meta(),
                                           notifications={"toolsListChanged": True})))
        self.assertEqual(sent[0]["method"], "notifications/subscriptions/acknowledged")
        self.assertEqual(sent[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub")
        self.assertEqual(len(self.connection.listening), 1)
        self.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "sub"}})
        self.assertEqual(self.connection.listening, [])


class Faults(Messages):
    def test_not_a_request(self) -> None:
        for value in (None, 1, "x", True, 1.5, {}, {"id": 1}, {"jsonrpc": "2.0", "id": 1}, {"method": "ping", "id": 2},
                      {"jsonrpc": "2.0", "id": None, "method": "ping"}, {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
                      {"jsonrpc": "2.0", "id": True, "method": "ping"}, {"jsonrpc": "2.0", "id": [], "method": "ping"},
                      {"jsonrpc": "2.0", "id": 3, "method": 4}, {"jsonrpc": "2.0", "method": 4}):
            self.assertEqual(self.code(value), protocol.INVALID_REQUEST, value)

    def test_id_is_echoed_where_it_is_one(self) -> None:
        self.assertEqual(self.ask({"id": 5, "method": "ping"})["id"], 5)
        self.assertIsNone(self.ask({"jsonrpc": "2.0", "id": {}, "method": "ping"})["id"])

    def test_params_by_position(self) -> None:
        for params in ([], "x", 3, {"_meta": []}):
            self.assertEqual(self.code({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params}),
                             protocol.INVALID_PARAMS)

    def test_unknown_method(self) -> None:
        for method in ("", "nope", "tools", "completion/complete", "x" * 100_000):
            self.assertEqual(self.code(message(method)), protocol.METHOD_NOT_FOUND)

    def test_unknown_tool_prompt_resource_cursor(self) -> None:
        self.assertEqual(self.code(message("tools/call", name="nope")), protocol.INVALID_PARAMS)
        self.assertEqual(self.code(message("tools/call", name=7)), protocol.INVALID_PARAMS)
        self.assertEqual(self.code(message("prompts/get", name="nope")), protocol.INVALID_PARAMS)
        self.assertEqual(self.code(message("tools/list", cursor="x")), protocol.INVALID_PARAMS)
        for uri in ("http://x", "slipstream://", "slipstream://nope/1", "slipstream://observation/x"):
            self.assertEqual(self.code(message("resources/read", uri=uri)), protocol.RESOURCE_NOT_FOUND, uri)
            self.assertEqual(self.code(message("resources/read", uri=uri, _meta=modern_meta())),
                             protocol.INVALID_PARAMS, uri)

    def test_notifications_and_answers_are_not_answered(self) -> None:
        for value in ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"method": "nope"},
                      {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
                      {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []},
                      {"jsonrpc": "2.0", "id": 1, "result": {}}, {"id": None, "error": {}}):
            self.assertIsNone(self.ask(value), value)

    def test_a_bug_is_an_internal_error(self) -> None:
        def broken(*_: object) -> dict[str, Any]:
            raise KeyError("x")
        with mock.patch.dict(protocol._METHODS, {"ping": broken}), mock.patch("sys.stderr", io.StringIO()):
            self.assertEqual(self.code(message("ping")), protocol.INTERNAL_ERROR)


class Batches(Messages):
    def test_only_in_their_revision(self) -> None:
        for version in ("2024-11-05", "2025-06-18", "2025-11-25"):
            self.ask(initialize(version))
            self.assertEqual(self.code([message("ping")]), protocol.INVALID_REQUEST)

    def test_answers_come_as_one_array(self) -> None:
        self.ask(initialize("2025-03-26"))
        answers = self.ask([message("ping", 1), {"jsonrpc": "2.0", "method": "notifications/initialized"},
                            message("nope", "b"), initialize("2025-03-26", 9), [], 5])
        self.assertEqual([one["id"] for one in answers], [1, "b", 9, None, None])
        self.assertIsNone(self.ask([{"jsonrpc": "2.0", "method": "notifications/initialized"}]))
        self.assertEqual(self.code([]), protocol.INVALID_REQUEST)


class Cancelling(Messages):
    def test_a_cancelled_request_has_no_answer(self) -> None:
        ping = message("ping", "a")
        request = protocol.open_request(ping, self.connection)
        other = protocol.open_request(message("ping", "b"), self.connection)
        self.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}})
        self.assertTrue(request.cancelled)
        self.assertFalse(other.cancelled)
        self.assertIsNone(handle_request(ping, self.connection, request))
        self.assertEqual(list(self.connection.in_flight), [(str, "b")])

    def test_number_and_text_are_different_ids(self) -> None:
        request = protocol.open_request(message("ping", 1), self.connection)
        self.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "1"}})
        self.assertFalse(request.cancelled)
