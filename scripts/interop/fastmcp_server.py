# The server of FastMCP that run.ts connects to: `fastmcp_server.py stdio|http|sse [PORT]`.
import sys

from fastmcp import Context, FastMCP
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

server = FastMCP("fastmcp", version="1")


class Name(BaseModel):
    name: str


class Point(BaseModel):
    x: int
    y: int


@server.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.tool
def point() -> Point:
    """A structured result."""
    return Point(x=1, y=9007199254740993)


@server.tool
def fail() -> str:
    """Fails."""
    raise ValueError("no tea")


@server.tool
async def steps(ctx: Context) -> str:
    """Tells how far it is."""
    await ctx.report_progress(1, 2, "half")
    return "done"


@server.tool
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Asks the client's person."""
    if (ctx.request_context.protocol_version or "") < "2026-07-28":
        answer = await ctx.elicit("Who?", Name)
        return f"hello {answer.data.name}"
    given = (ctx.input_responses or {}).get("who")
    if given is None:
        form = ElicitRequestFormParams(message="Who?", requested_schema=Name.model_json_schema())
        return InputRequiredResult(input_requests={"who": ElicitRequest(params=form)}, request_state="asked")
    return f"hello {given.content['name']}"


@server.resource("tea://green")
def tea() -> str:
    """A text."""
    return "green"


@server.prompt
def brew(leaf: str) -> str:
    """A prompt."""
    return f"How is {leaf} tea brewed?"


transport = sys.argv[1]
if transport == "stdio":
    server.run(transport, show_banner=False)
else:
    server.run(transport, show_banner=False, host="127.0.0.1", port=int(sys.argv[2]))
