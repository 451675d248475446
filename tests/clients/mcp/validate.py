"""Validates a recorded conversation with mcp-types: {"messages": [{version, method or null, message}]} on standard input.

Prints {"checked": n, "problems": [...]}: every result, error and notification against the schema of its revision.
"""
from __future__ import annotations

import json
import sys

import mcp_types
from mcp_types import methods


def main(job: dict) -> dict:
    problems = []
    for one in job["messages"]:
        message, version = one["message"], one["version"]
        try:
            if "error" in message:
                mcp_types.JSONRPCError.model_validate(message)
            elif "method" in message:
                mcp_types.JSONRPCNotification.model_validate(message)
                methods.parse_server_notification(message["method"], version, message.get("params"))
            else:
                mcp_types.JSONRPCResponse.model_validate(message)
                methods.validate_server_result(one["method"], version, message["result"])
        except Exception as error:
            problems.append(f"{version} {one['method']}: {error}"[:1500])
    return {"checked": len(job["messages"]), "problems": problems}

print(json.dumps(main(json.load(sys.stdin))))
