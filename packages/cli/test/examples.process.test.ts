// Every example starts and does what its first lines say. They use the built packages, as an embedder does.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { McpConnections } from '@bridle/stdlib-tools/mcp'
import { createRuntime } from '@bridle/stdlib-tools'
import { bundledCommand } from '../../../scripts/bundled-command.js'

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
let command: Awaited<ReturnType<typeof bundledCommand>>
beforeAll(async () => {
  command = await bundledCommand()
}, 60_000)
afterAll(() => rmSync(command.folder, { recursive: true }))

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill()
})

function start(...words: string[]): ChildProcess {
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  running.push(child)
  return child
}

/** Its output until it ends, or until `isEnough`. */
async function readPrinted(child: ChildProcess, isEnough: (text: string) => boolean = () => false): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout!) {
    text += String(chunk)
    if (isEnough(text)) break
  }
  return text
}

test('embed.mjs takes a snapshot and continues from the bytes', async () => {
  expect(await readPrinted(start(join('examples', 'embed.mjs')))).toBe(
    'frozen while it waits: low on coffee\nlow on coffee\ncoffee: ordered\ndone: 1\n',
  )
})

test('script-server.mjs runs untrusted scripts within its grants and limits', async () => {
  const text = await readPrinted(start(join('examples', 'script-server.mjs'), '0'), (so) => so.includes('\n'))
  const url = /http:\S+/.exec(text)![0]
  const run = async (script: unknown, input?: unknown): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ script, input }) })
    return { code: response.status, ...((await response.json()) as object) }
  }
  expect(await run('import { find } from "host/people"\nprintln("hi")\nreturn find({name: "Ada"})')).toEqual({
    code: 200,
    status: 'done',
    output: 'hi\n',
    value: { name: 'Ada', born: 1815 },
  })
  expect(
    await run('import { runtime_pipeline_input } from "std/runtime"\nreturn runtime_pipeline_input().n * 2', { n: 4 }),
  ).toMatchObject({
    value: 8,
  })
  expect(await run('read_file("/etc/hostname")')).toMatchObject({ status: 'failed', error: expect.stringContaining('fs.read') })
  expect(await run('while true {}')).toMatchObject({ status: 'limit' })
  expect(await run('let x = ')).toMatchObject({ code: 422 })
  expect(await run(7)).toMatchObject({ code: 400 })
})

test('notes-server.harn is an MCP server', async () => {
  const servers = {
    notes: {
      command: process.execPath,
      args: [command.path, 'serve', 'mcp', join(root, 'examples', 'notes-server.harn')],
    },
  }
  const heard: string[] = []
  const runtime = createRuntime({
    providers: [() => new McpConnections({ servers, cwd: root, onNotification: (_server, method) => heard.push(method) })],
    grants: ['mcp'],
  })
  const value = await runtime.run(`
let notes = mcp_ensure_active("notes")
let said = mcp_call(notes, "add_note", {title: "tea", text: "buy tea"})
return [
  said,
  mcp_call(notes, "find_notes", {text: "buy"}),
  mcp_read_resource(notes, "note://tea"),
  mcp_get_prompt(notes, "summarize").messages[0].content.text,
]
`)
  expect(value).toEqual(['noted: tea', '{count: 1, titles: [tea]}', 'buy tea', 'Summarize these notes:\ntea: buy tea'])
  expect(heard).toContain('notifications/resources/list_changed')
})

test('order/shop.mjs keeps orders through kills, answers by webhook and days', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-shop-'))
  const open = async (...words: string[]): Promise<{ child: ChildProcess; url: string }> => {
    const child = start(join('examples', 'order', 'shop.mjs'), join(folder, 'orders.db'), '0', ...words)
    const text = await readPrinted(child, (so) => so.includes('\n'))
    return { child, url: `${/http:\S+/.exec(text)![0]}/orders/7` }
  }
  const ask = async (url: string, body?: unknown): Promise<object> => {
    const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
    return { code: response.status, ...((await response.json()) as object) }
  }
  const kill = (child: ChildProcess): Promise<void> =>
    new Promise((resolve) => {
      child.once('close', () => resolve())
      child.kill('SIGKILL')
    })
  try {
    const first = await open()
    expect(await ask(first.url, { article: 7 })).toMatchObject({ code: 400 })
    expect(await ask(first.url, { article: 'tea' })).toEqual({ code: 201, id: '7' })
    const isParked = async (url: string): Promise<void> =>
      expect(await ask(url)).toMatchObject({ state: 'parked', waits_for: ['approval'] })
    await vi.waitFor(() => isParked(first.url), { timeout: 25_000, interval: 20 })
    await kill(first.child)
    const second = await open('--fast')
    expect(await ask(second.url, { article: 'tea' })).toEqual({ code: 200, id: '7' })
    await isParked(second.url)
    expect(await ask(`${second.url}/approval`, { approved: true, by: 'Ada' })).toMatchObject({ code: 200, outcome: 'kept' })
    expect(await ask(`${second.url}/approval`, { approved: false, by: 'Eve' })).toMatchObject({ code: 409 })
    await vi.waitFor(async () => expect(await ask(second.url)).toMatchObject({ state: 'ended' }), {
      timeout: 25_000,
      interval: 20,
    })
    expect(await ask(second.url)).toMatchObject({
      value: { state: 'shipped', receipt: 'receipt 7:call_3', parcel: 'parcel 7:call_4' },
      error: null,
    })
    await kill(second.child)
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 90_000)
