# The client of the official Python SDK that run.ts points at a server of ours: `mcp_client.py URL|- MODE [COMMAND ARGUMENT …]`. It prints
# what each feature gave, as JSON.
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult


async def answer(_context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def main():
    url, mode, *command = sys.argv[1:]
    target = url if url != "-" else StdioServerParameters(command=command[0], args=command[1:])
    out = {}

    async def feature(name, make):
        try:
            out[name] = await make()
        except Exception as cause:  # noqa: BLE001
            out[name] = f"failed: {cause}"

    async with Client(target, mode=mode, elicitation_callback=answer) as client:
        out["revision"] = client.protocol_version

        async def tools():
            return [tool.name for tool in (await client.list_tools()).tools if not tool.name.startswith("changed")]

        async def call():
            return (await client.call_tool("add", {"a": 2, "b": 3})).structured_content

        async def error():
            result = await client.call_tool("fail", {})
            return [result.is_error, result.content[0].text]

        async def ask():
            return (await client.call_tool("ask", {})).content[0].text

        async def progress():
            seen = []

            async def note(done, total, message):
                seen.append([done, total, message])

            await client.call_tool("steps", {}, progress_callback=note)
            return seen

        async def resource():
            return (await client.read_resource("tea://green")).contents[0].text

        async def prompt():
            return (await client.get_prompt("brew", {"leaf": "green"})).messages[0].content.text

        async def changes():
            if client.protocol_version < "2026-07-28":
                return "tools"
            async with client.listen(tools_list_changed=True) as heard:
                await client.call_tool("change", {})
                async for _ in heard:
                    return "tools"

        await feature("tools", tools)
        await feature("call", call)
        await feature("error", error)
        await feature("ask", ask)
        await feature("progress", progress)
        await feature("resource", resource)
        await feature("prompt", prompt)
        await feature("changes", changes)
    print(json.dumps(out))


asyncio.run(asyncio.wait_for(main(), 60))
