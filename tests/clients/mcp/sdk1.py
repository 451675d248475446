"""The last 1.x of the official Python SDK as a client. Prints what it was told."""
from __future__ import annotations

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(job: dict) -> dict:
    command, *arguments = job["server"]
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as client:
        hello = await client.initialize()
        await client.send_ping()
        tools = (await client.list_tools()).tools
        calls = []
        for name, values in job["calls"]:
            result = await client.call_tool(name, values)
            calls.append([name, bool(result.isError), "".join(part.text for part in result.content)])
        resources = (await client.list_resources()).resources
        read = [[str(one.uri), (await client.read_resource(one.uri)).contents[0].text] for one in resources]
        templates = (await client.list_resource_templates()).resourceTemplates
        prompts = (await client.list_prompts()).prompts
        got = [[one.name, (await client.get_prompt(one.name)).messages[0].content.text] for one in prompts]
        return {"version": hello.protocolVersion, "server": hello.serverInfo.name, "instructions": hello.instructions,
                "tools": [tool.name for tool in tools], "calls": calls, "resources": read,
                "templates": len(templates), "prompts": got}

print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
