// A client based on the official TypeScript SDK of the Agent Client Protocol for `bridle serve acp`; does the same as acp_client.py.

import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { PROTOCOL_VERSION, client, ndJsonStream } from '@agentclientprotocol/sdk'
import type { ClientContext } from '@agentclientprotocol/sdk'

/** Observations of a client, by feature; run.ts knows the correct ones. */
export type SeenByClient = { readonly [feature: string]: unknown }

export async function useAgent(node: string, command: string, script: string, folder: string): Promise<SeenByClient> {
  const updates = new Set<string>()
  const asked: string[] = []
  let said = ''
  let option = 'reject-once'
  const app = client({ name: 'interop' })
    .onNotification('session/update', ({ params: { update } }) => {
      updates.add(update.sessionUpdate)
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') said += update.content.text
    })
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params.toolCall.title ?? '')
      return { outcome: { outcome: 'selected', optionId: option } }
    })
    .onRequest('fs/read_text_file', () => ({ content: 'not saved' }))
    .onRequest('fs/write_text_file', ({ params }) => {
      asked.push(`write ${params.content}`)
      return {}
    })
  const use = async (agent: ClientContext): Promise<SeenByClient> => {
    const initialized = await agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
      clientInfo: { name: 'interop', version: '1' },
    })
    const { sessionId, modes } = await agent.request('session/new', { cwd: folder, mcpServers: [] })
    const ask = async (text: string): Promise<string> =>
      (await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason
    const reasons: string[] = []
    for (option of ['reject-once', 'allow-once']) reasons.push(await ask('go'))
    const waits = ask('wait')
    await agent.notify('session/cancel', { sessionId })
    reasons.push(await waits)
    await agent.request('session/set_mode', { sessionId, modeId: 'dry_run' })
    const listed = (await agent.request('session/list', {})).sessions.map((each) => each.cwd)
    const before = said
    await agent.request('session/close', { sessionId })
    said = ''
    await agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] })
    const loaded = said
    await agent.request('session/delete', { sessionId })
    const left = (await agent.request('session/list', {})).sessions.length
    return {
      'version and modes': [initialized.protocolVersion, modes?.currentModeId],
      'stop reasons, cancel': reasons,
      'permissions, files of the client': [before, asked],
      updates: [...updates].sort(),
      'list, load, delete': [listed, loaded === before, left],
    }
  }
  const agent = spawn(node, [command, 'serve', 'acp', script, '--sessions', `${folder}/sessions-ts`], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const stream = ndJsonStream(
    Writable.toWeb(agent.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>,
  )
  try {
    return await app.connectWith(stream, use)
  } finally {
    agent.kill()
  }
}
