"""The official Python SDK 2.x as a client; argument: auto (modern), legacy, or a version. Prints what it was told."""
from __future__ import annotations

import asyncio
import json
import os
import sys

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client


async def main(mode: str, job: dict) -> dict:
    command, *arguments = job["server"]
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(stdio_client(parameters), mode=mode) as client:
        tools = (await client.list_tools()).tools
        calls = []
        for name, values in job["calls"]:
            result = await client.call_tool(name, values)
            calls.append([name, bool(result.is_error), "".join(part.text for part in result.content)])
        resources = (await client.list_resources()).resources
        read = [[str(one.uri), (await client.read_resource(one.uri)).contents[0].text] for one in resources]
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        got = [[one.name, (await client.get_prompt(one.name)).messages[0].content.text] for one in prompts]
        if client.protocol_version >= "2026":
            async with client.listen(tools_list_changed=True):  # waits for our acknowledgement
                await client.list_tools()
        return {"version": client.protocol_version, "server": client.server_info.name,
                "instructions": client.instructions, "tools": [tool.name for tool in tools], "calls": calls,
                "resources": read, "templates": len(templates), "prompts": got}

print(json.dumps(asyncio.run(main(sys.argv[1], json.load(sys.stdin)))))
