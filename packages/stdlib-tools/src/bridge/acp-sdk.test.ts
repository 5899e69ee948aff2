// An agent driven by the client of the official SDK of the Agent Client Protocol.

import { PassThrough } from 'node:stream'
import { PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import type { RequestPermissionRequest, RequestPermissionResponse, SessionNotification } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { connectAcpClient } from '../test-support/acp-client.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { ACP_GLOBALS, AcpServer } from './acp.js'

const SOURCE = `
import { with_policies } from "std/policy"
import { tool_call } from "std/tools"
tool_bind(tool_define(tool_registry(), "drop", "", {parameters: {table: "string"}, handler: { a -> "ran" }}))
log_info("about to ask")
if prompt == "hang" { host_call("never.comes") }
println(try { with_policies({approval_policy: {require_approval: ["*"]}}, { -> tool_call("drop", {table: "t"}) }) } catch (e) { e.code })`

async function connect(answer: (asked: RequestPermissionRequest) => Promise<RequestPermissionResponse>) {
  const [toAgent, toClient] = [new PassThrough(), new PassThrough()]
  const runtime = createRuntime({ globals: ACP_GLOBALS, grants: ['approval'] })
  const module = runtime.compile(SOURCE)
  const server = new AcpServer({ runtime, module: () => module }, new StreamTransport(toAgent, toClient))
  await server.start()
  const updates: SessionNotification['update'][] = []
  let onHang = (): void => {}
  const hangs = new Promise<void>((resolve) => (onHang = resolve))
  const connection = connectAcpClient(toAgent, toClient, {
    requestPermission: answer,
    sessionUpdate: ({ update }) => updates.push(update),
    extMethod: async (method) => {
      if (method === 'host/capabilities') return { never: ['comes'] }
      if (method !== 'host/call') throw RequestError.methodNotFound(method)
      onHang()
      return new Promise(() => {})
    },
  })
  const { agentCapabilities } = await connection.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'editor', version: '1' },
    clientCapabilities: { _meta: { harn: true } },
  })
  expect(agentCapabilities?.loadSession).toBe(true)
  const { sessionId, modes } = await connection.request('session/new', { cwd: '/', mcpServers: [] })
  expect(modes).toMatchObject({ currentModeId: 'default', availableModes: [{ id: 'default' }, { id: 'dry_run' }] })
  const prompt = (text: string, signal?: AbortSignal) =>
    connection.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }, signal)
  return { connection, sessionId, prompt, updates, hangs, close: () => server.close() }
}

test.each([
  ['allow-once', 'ran\n'],
  ['reject-once', 'approval_denied\n'],
])('%s', async (optionId, said) => {
  const asked: RequestPermissionRequest[] = []
  const { prompt, updates, close } = await connect(async (request) => {
    asked.push(request)
    return { outcome: { outcome: 'selected', optionId } }
  })
  expect(await prompt('go')).toEqual({ stopReason: 'end_turn' })
  expect(asked[0]).toMatchObject({
    options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }],
    toolCall: { toolCallId: expect.any(String) as string, rawInput: { table: 't' } },
  })
  expect(updates).toContainEqual({
    sessionUpdate: 'agent_message_chunk',
    content: expect.objectContaining({ text: said }) as object,
  })
  await close()
})

test('cancelling ends what waits for a person, and what waits for the client', async () => {
  let onAsked = (): void => {}
  const asked = new Promise<void>((resolve) => (onAsked = resolve))
  const { connection, sessionId, prompt, hangs, close } = await connect(() => {
    onAsked()
    return new Promise(() => {})
  })
  const first = prompt('go')
  await asked
  await connection.cancel(sessionId)
  expect(await first).toEqual({ stopReason: 'cancelled' })
  const second = prompt('hang')
  await hangs
  await connection.cancel(sessionId)
  expect(await second).toEqual({ stopReason: 'cancelled' })
  const givenUp = new AbortController()
  const third = prompt('hang', givenUp.signal)
  givenUp.abort()
  expect(await third).toEqual({ stopReason: 'cancelled' })
  await close()
})
