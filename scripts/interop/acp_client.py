# A client of the Python package `agent-client-protocol` at `bridle serve acp`: prints one JSON object with what it got.
# Usage: acp_client.py NODE COMMAND SCRIPT FOLDER [SESSIONS], which keeps sessions in a folder and tries what is done with them.

import asyncio
import json
import sys
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, ClientCapabilities, FileSystemCapabilities, Implementation
from acp.schema import ReadTextFileResponse, RequestPermissionResponse, WriteTextFileResponse


class Editor:
    def __init__(self) -> None:
        self.updates: list[str] = []
        self.said = ""
        self.asked: list[str] = []
        self.option = "reject-once"

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update.session_update)
        if update.session_update == "agent_message_chunk":
            self.said += update.content.text

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
        self.asked.append(tool_call.title)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.option))

    async def read_text_file(self, path: str, session_id: str, **_: Any) -> Any:
        return ReadTextFileResponse(content="not saved")

    async def write_text_file(self, content: str, path: str, session_id: str, **_: Any) -> Any:
        self.asked.append("write " + content)
        return WriteTextFileResponse()

    async def ext_method(self, method: str, params: Any) -> Any:
        self.asked.append(method)
        return {}

    async def ext_notification(self, method: str, params: Any) -> None:
        self.asked.append(method)


async def use_sessions(agent: Any, editor: Editor, session_id: str, folder: str) -> dict[str, Any]:
    waits = asyncio.ensure_future(agent.prompt(session_id=session_id, prompt=[text_block("wait")]))
    await asyncio.sleep(0)
    await agent.cancel(session_id=session_id)
    cancelled = (await waits).stop_reason
    listed = [each.cwd for each in (await agent.list_sessions()).sessions]
    before = editor.said
    await agent.close_session(session_id=session_id)
    editor.said = ""
    await agent.load_session(cwd=folder, session_id=session_id, mcp_servers=[])
    return {"cancelled": cancelled, "listed": listed, "loaded": editor.said == before}


async def main(node: str, command: str, script: str, folder: str, sessions: str = "") -> None:
    editor = Editor()
    kept = ("--sessions", sessions) if sessions else ()
    async with spawn_agent_process(editor, node, command, "serve", "acp", script, *kept, cwd=folder) as (agent, _process):
        initialized = await agent.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True)),
            client_info=Implementation(name="test", version="1"),
        )
        session = await agent.new_session(cwd=folder, mcp_servers=[])
        reasons = []
        for option in ("reject-once", "allow-once"):
            editor.option = option
            answer = await agent.prompt(session_id=session.session_id, prompt=[text_block("go")])
            reasons.append(answer.stop_reason)
        await agent.set_session_mode(session_id=session.session_id, mode_id="dry_run")
        said = editor.said
        more = await use_sessions(agent, editor, session.session_id, folder) if sessions else {}
        print(
            json.dumps(
                {
                    "version": initialized.protocol_version,
                    "mode": session.modes.current_mode_id,
                    "reasons": reasons,
                    "said": said,
                    "asked": editor.asked,
                    "updates": sorted(set(editor.updates)),
                    **more,
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
