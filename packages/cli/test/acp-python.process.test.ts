// `bridle serve acp` driven by the client of the Python package `agent-client-protocol`; skipped without that package.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'

const python = process.env['BRIDLE_PYTHON'] ?? 'python3'
const isInstalled = spawnSync(python, ['-c', 'import acp']).status === 0
if (!isInstalled)
  process.stdout.write(
    `skipped: ${python} has no agent-client-protocol; name one that has by BRIDLE_PYTHON (pip install agent-client-protocol)\n`,
  )

const AGENT = `
import { with_policies } from "std/policy"
import { tool_call } from "std/tools"

pipeline default() {
  tool_bind(tool_define(tool_registry(), "drop", "", {parameters: {table: "string"}, handler: { a -> "ran" }}))
  println(read_file("notes.txt"))
  write_file("notes.txt", "new")
  println(
    try {
      with_policies({approval_policy: {require_approval: ["*"]}}, { -> tool_call("drop", {table: "t"}) })
    } catch (e) {
      e.code
    },
  )
}
`

test.skipIf(!isInstalled)('a session of the Python client', { timeout: 60_000 }, async () => {
  const command = await bundledCommand()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-acp-python-')))
  try {
    writeFileSync(join(folder, 'agent.harn'), AGENT)
    writeFileSync(join(folder, 'notes.txt'), 'on disk')
    const client = fileURLToPath(new URL('../../../scripts/interop/acp_client.py', import.meta.url))
    const words = [client, process.execPath, command.path, join(folder, 'agent.harn'), folder]
    const { stdout, stderr } = spawnSync(python, words, { encoding: 'utf8', timeout: 50_000 })
    expect(stdout, stderr).not.toBe('')
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      mode: 'default',
      reasons: ['end_turn', 'end_turn'],
      said: 'not saved\napproval_denied\nnot saved\nran\n',
      asked: ['write new', 'drop', 'write new', 'drop'],
      updates: ['agent_message_chunk', 'tool_call', 'tool_call_update'],
    })
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('on disk')
  } finally {
    for (const each of [folder, command.folder]) rmSync(each, { recursive: true, force: true })
  }
})
