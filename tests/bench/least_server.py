"""The least MCP server that a plugin with hooks could have: one tool, every call answered with nothing. A control for the client's bench."""
from __future__ import annotations

import json
import sys

for line in sys.stdin.buffer:
    message = json.loads(line)
    if message.get("id") is None:
        continue
    answers = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "least", "version": "1"}},
        "tools/list": {"tools": [{"name": "sp_map", "description": "map", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": ""}]},
    }
    known = answers.get(message["method"])
    answer = {"result": known} if known else {"error": {"code": -32601, "message": "unknown method"}}
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode() + b"\n")
    sys.stdout.buffer.flush()
