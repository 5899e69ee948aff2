# The client of FastMCP that run.ts points at a server of ours: `fastmcp_client.py URL|- MODE [COMMAND ARGUMENT …]`. It prints what each
# feature gave, as JSON.
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def answer(_message, response_type, _params, _context):
    return {"name": "Ada"}


async def main():
    url, mode, *command = sys.argv[1:]
    target = url if url != "-" else StdioTransport(command=command[0], args=command[1:])
    out = {}
    seen = []

    async def note(done, total, message):
        seen.append([done, total, message])

    async def feature(name, make):
        try:
            out[name] = await make()
        except Exception as cause:  # noqa: BLE001
            out[name] = f"failed: {cause}"

    async with Client(target, mode=mode, elicitation_handler=answer) as client:
        out["revision"] = client.protocol_version

        async def tools():
            return [tool.name for tool in await client.list_tools() if not tool.name.startswith("changed")]

        async def call():
            return (await client.call_tool("add", {"a": 2, "b": 3})).structured_content

        async def error():
            result = await client.call_tool("fail", {}, raise_on_error=False)
            return [result.is_error, result.content[0].text]

        async def ask():
            return (await client.call_tool("ask", {})).content[0].text

        async def progress():
            await client.call_tool("steps", {}, progress_handler=note)
            return seen

        async def resource():
            return (await client.read_resource("tea://green"))[0].text

        async def prompt():
            return (await client.get_prompt("brew", {"leaf": "green"})).messages[0].content.text

        await feature("tools", tools)
        await feature("call", call)
        await feature("error", error)
        await feature("ask", ask)
        await feature("progress", progress)
        await feature("resource", resource)
        await feature("prompt", prompt)
    print(json.dumps(out))


asyncio.run(asyncio.wait_for(main(), 60))
