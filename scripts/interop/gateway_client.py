# A client of Python that run.ts points at a gateway: `gateway_client.py mcp|fastmcp URL|- MODE SCRIPT [COMMAND ARGUMENT …]`. It approves what it is
# asked, and prints what each feature gave, as JSON.
import asyncio
import json
import sys

asked = []


def open_mcp(target, mode):
    from mcp import Client, StdioServerParameters
    from mcp_types import ElicitResult

    async def answer(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"approved": True})

    if isinstance(target, list):
        target = StdioServerParameters(command=target[0], args=target[1:])
    return Client(target, mode=mode, elicitation_callback=answer)


def open_fastmcp(target, mode):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def answer(message, _type, _params, _context):
        asked.append(message)
        return {"approved": True}

    if isinstance(target, list):
        target = StdioTransport(command=target[0], args=target[1:])
    return Client(target, mode=mode, elicitation_handler=answer)


async def main():
    library, url, mode, script, *command = sys.argv[1:]
    make = {"mcp": open_mcp, "fastmcp": open_fastmcp}[library]
    out = {}
    async with make(command if url == "-" else url, mode) as client:
        out["revision"] = client.protocol_version
        listed = await client.list_tools()
        out["four tools"] = sorted(tool.name for tool in getattr(listed, "tools", listed))
        found = (await client.call_tool("search_tools", {"query": "sum of numbers"})).content[0].text
        out["search"] = "everything.get_sum(" in found
        result = (await client.call_tool("run_script", {"script": script})).structured_content
        out["one script, three servers"] = result.get("value", result)
        out["approvals by forms"] = [sum(name in message for message in asked) > 0 for name in ("write_file", "create_entities")]
    print(json.dumps(out))


asyncio.run(asyncio.wait_for(main(), 80))
