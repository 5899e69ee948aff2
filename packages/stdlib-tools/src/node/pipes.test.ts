// Named pipes: they block until the other end is open, but stopping the run does not wait for that.

import { effectOfData } from '../test-support/effect-of-data.js'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { makeEffectCall } from '../test-support/effect-call.js'
import { fsProvider } from './fs.js'
import { FileSandbox } from './sandbox.js'
import { Workspace } from './workspace.js'

let root: string
let pipe: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bridle-pipe-'))
  pipe = join(root, 'pipe')
  if (process.platform !== 'win32') execFileSync('mkfifo', [pipe])
})

afterEach(() => rmSync(root, { recursive: true }))

type Asking = (
  kind: 'fs.read' | 'fs.write',
  args: { readonly [key: string]: Plain },
  signal?: AbortSignal,
) => Promise<EffectOutcome> | EffectOutcome

function makeProvider(sandbox: FileSandbox | null = null): Asking {
  const { perform } = fsProvider(new Workspace({ root, ...(sandbox === null ? {} : { sandbox }) }))
  return (kind, args, signal) =>
    perform(effectOfData(kind, args), { ...makeEffectCall(), ...(signal === undefined ? {} : { signal }) })
}

describe.skipIf(process.platform === 'win32')('a named pipe', () => {
  test('who reads gets what is written later, whole', async () => {
    const ask = makeProvider()
    const read = ask('fs.read', { path: 'pipe', encoding: 'utf8' })
    const text = 'line\n'.repeat(100_000)
    expect(await ask('fs.write', { path: 'pipe', op: 'write', data: text })).toEqual({ ok: true, value: { path: pipe } })
    expect(await read).toEqual({ ok: true, value: { path: pipe, data: text } })
  })

  test('who writes waits for a reader', async () => {
    const ask = makeProvider()
    const written = ask('fs.write', { path: 'pipe', op: 'append', data: 'tea' })
    expect(await ask('fs.read', { path: 'pipe', encoding: 'utf8' })).toMatchObject({ value: { data: 'tea' } })
    expect(await written).toMatchObject({ ok: true })
  })

  test('content that is not text is refused as such', async () => {
    const ask = makeProvider()
    const read = ask('fs.read', { path: 'pipe', encoding: 'utf8' })
    await ask('fs.write', { path: 'pipe', op: 'write', data: new Uint8Array([0xff]) })
    expect(await read).toMatchObject({ value: { refused: true, code: 'EILSEQ' } })
  })

  test.each([
    ['fs.read', { path: 'pipe', encoding: 'utf8' }],
    ['fs.write', { path: 'pipe', op: 'write', data: 'x' }],
  ] as const)('%s ends when the run is stopped', async (kind, args) => {
    const stop = new AbortController()
    const asked = makeProvider()(kind, args, stop.signal)
    stop.abort(new Error('interrupted'))
    expect(await asked).toMatchObject({ value: { refused: true, detail: 'interrupted' } })
  })

  test('a reader that leaves early is an error of the writer', async () => {
    const asked = makeProvider()('fs.write', { path: 'pipe', op: 'write', data: 'y'.repeat(1_000_000) })
    execFile('head', ['-c', '5', pipe])
    expect(await asked).toMatchObject({ value: { refused: true, code: 'EPIPE' } })
  })

  test('a confined run does not wait', () => {
    const ask = makeProvider(new FileSandbox({ roots: [root] }))
    expect(ask('fs.read', { path: 'pipe', encoding: 'utf8' })).toMatchObject({ value: { data: '' } })
    expect(ask('fs.write', { path: 'pipe', op: 'write', data: 'x' })).toMatchObject({
      value: { refused: true, code: 'ENXIO', detail: 'No such device or address (os error 6)' },
    })
  })
})
