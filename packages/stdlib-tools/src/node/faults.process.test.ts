// Each file operation of a script, with each of its calls to the operating system failing in turn: it says what failed, the old content
// stays whole, and no temporary files remain.

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { withFault } from '../test-support/faulty-fs.js'
import type { Fault } from '../test-support/faulty-fs.js'
import type { EffectOutcome } from '@bridle/vm'
import type { EffectCall } from '../tools/executors/provider.js'
import { fileSessions } from './acp-files.js'
import { fileAuthStore } from './auth-file.js'
import { fileJournal } from './journal-file.js'
import { programFiles } from './program-files.js'
import { nodeProviders } from './providers.js'
import { fileRunStore } from './run-store.js'
import { fileStore } from './store.js'
import { overwriteFile } from './whole-file.js'

vi.mock('node:fs', async (original) => {
  const { makeFaultyFs } = await import('../test-support/faulty-fs.js')
  return makeFaultyFs(await original())
})

let box: string
beforeEach(() => {
  box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-faults-')))
})
afterEach(() => rmSync(box, { recursive: true }))

/** All files with their contents. */
function readContents(folder: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(folder, below))) {
    const path = below === '' ? name : `${below}/${name}`
    if (statSync(join(folder, path)).isDirectory()) Object.assign(found, readContents(folder, path))
    else found[path] = readFileSync(join(folder, path), 'utf8')
  }
  return found
}

const FILES = {
  'a.txt': 'old\n',
  'b.txt': 'other\n',
  'd/x.txt': 'x',
  '.harn/store.json': '{"k": "old"}',
  '.harn/checkpoints/main.json': '{"k": "old"}',
  '.harn/memory/n/events.jsonl': '{"_type": "memory_record", "id": "1", "key": "k", "text": "old"}\n',
}

function prepare(): void {
  rmSync(box, { recursive: true })
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(box, path, '..'), { recursive: true })
    writeFileSync(join(box, path), text)
  }
}

/** What is printed, or the message of the error. */
async function run(source: string, sandbox: 'root' | 'none'): Promise<string> {
  const runtime = createRuntime({ providers: nodeProviders({ root: box, sandbox }), grants: ['*'] })
  const result = await runtime.start(runtime.compile(source, { file: join(box, 'main.harn') })).result
  return result.status === 'failed' ? `failed: ${result.error.message}` : `${result.status}: ${result.output}`
}

/** Source, and the words of which the message of a failure has one: paths as the script gave them. */
const OPERATIONS: readonly (readonly [name: string, source: string, names: RegExp])[] = [
  ['write_file', 'write_file("a.txt", "new content")', /a\.txt/],
  ['write_file, a new one', 'write_file("c.txt", "new content")', /c\.txt/],
  ['write_file_bytes', 'write_file_bytes("a.txt", bytes_from_string("new content"))', /a\.txt/],
  ['append_file', 'append_file("a.txt", "more")', /a\.txt/],
  ['copy_file', 'copy_file("b.txt", "a.txt")', /a\.txt/],
  ['move_file', 'move_file("b.txt", "a.txt")', /b\.txt|move_file/],
  ['delete_file', 'delete_file("a.txt")', /a\.txt/],
  ['delete_file, a folder', 'delete_file("d")', /d/],
  ['mkdir', 'mkdir("p/q/r")', /p\/q/],
  ['read_file', 'println(read_file("a.txt"))', /a\.txt/],
  ['read_file_bytes', 'println(read_file_bytes("a.txt"))', /a\.txt/],
  ['list_dir', 'println(list_dir("d"))', /d/],
  ['stat', 'println(stat("a.txt").size)', /a\.txt/],
  ['store_set', 'store_set("k", "new")', /store/],
  ['store_get', 'println(store_get("k"))', /store/],
  ['store_clear', 'store_clear()', /store/],
  ['checkpoint', 'checkpoint("k", "new")', /checkpoint/],
  ['checkpoint_clear', 'checkpoint_clear()', /checkpoint/],
  ['metadata_save', 'metadata_set("d", "n", {a: 1})\nmetadata_save()\nprintln(metadata_get("d"))', /metadata/],
  ['memory_store', 'import { memory_store } from "std/memory"\nmemory_store("n", "k", "new")', /memory/],
  ['memory_recall', 'import { memory_recall } from "std/memory"\nprintln(memory_recall("n", "old"))', /memory/],
]

const NO_CALL: EffectCall = {
  id: 0,
  runId: 'r',
  idempotencyKey: 'r:0',
  signal: new AbortController().signal,
  now: 0,
  exit: () => {},
}

const CODES = ['ENOSPC', 'EIO', 'EACCES', 'EROFS', 'EMFILE'] as const

describe.each(['root', 'none'] as const)('sandbox: %s', (sandbox) => {
  test.each(OPERATIONS)('%s', async (_name, source, names) => {
    prepare()
    const { result, calls } = await withFault({ at: Infinity, code: '' }, () => run(source, sandbox))
    expect(result).toMatch(/^done/)
    const after = readContents(box)
    const faults: Fault[] = calls.map((_call, at) => ({ at: at + 1, code: CODES[at % CODES.length]! }))
    faults.push(...calls.flatMap((call, at) => (call === 'writeSync' ? [{ at: at + 1, code: 'ENOSPC', short: true }] : [])))
    for (const fault of faults) {
      prepare()
      const { result: outcome, failed } = await withFault(fault, () => run(source, sandbox))
      const where = `${failed} (${fault.at} of ${calls.join(' ')}): ${fault.code}${fault.short === true ? ' after a part' : ''}`
      const found = readContents(box)
      if (outcome.startsWith('done')) {
        expect(stripVolatile(outcome), where).toBe(stripVolatile(result))
        expect(withoutTimes(found), where).toEqual(withoutTimes(after))
        continue
      }
      expect(outcome, where).toMatch(/\(os error \d+\)|File access violation/)
      expect(outcome, where).toMatch(names)
      for (const [path, text] of Object.entries(FILES)) {
        // Old or new, and nothing between.
        if (found[path] !== after[path]) expect(found[path], `${where}: ${path}`).toBe(text)
      }
      const strays = Object.keys(found).filter((path) => !(path in FILES) && !(path in after))
      expect(strays, where).toEqual([])
    }
  })
})

/** What hosts and the command keep in files. `error`: what the message says; null where a failure is no reason to stop. */
const KEPT: readonly {
  readonly name: string
  readonly files: Record<string, string>
  readonly work: () => unknown
  readonly error: RegExp | null
}[] = [
  {
    name: 'fileStore',
    files: { 'kept.json': '{"n":{"k":"old"}}' },
    work: () => {
      const { perform } = fileStore(join(box, 'kept.json'))
      const outcome = perform({ kind: 'store.op', args: { op: 'set', namespace: 'n', key: 'k', value: 'new' } }, NO_CALL)
      if (!(outcome as EffectOutcome).ok) throw new Error(JSON.stringify(outcome))
    },
    error: /kept\.json.*os error/,
  },
  {
    name: 'fileAuthStore',
    files: { 'auth.json': '{"a":"old"}' },
    work: () => fileAuthStore(join(box, 'auth.json')).set('a', 'new'),
    error: /cannot (read|write) .*auth\.json: E/,
  },
  {
    name: 'fileSessions',
    files: { 's/one.json': '{"id":"one"}' },
    work: () =>
      fileSessions(join(box, 's')).save({ id: 'one', cwd: '/', parent: null, branchedAt: null, title: null, turns: [] }),
    error: /^E[A-Z]+/,
  },
  {
    name: 'fileJournal',
    files: { 'run.jsonl': '' },
    work: () => {
      const journal = fileJournal(join(box, 'run.jsonl'))
      try {
        journal.append({ type: 'cancel', reason: 'x', now: 0 })
      } finally {
        journal.close?.()
      }
    },
    error: /^E[A-Z]+/,
  },
  {
    name: 'fileRunStore',
    files: {},
    work: () => {
      const store = fileRunStore(join(box, 'runs'))
      const lease = store.claim('r', { owner: 'a', now: 0, leaseMs: 1000 })!
      store.append(lease, 'line')
      store.release(lease, 'done')
      store.close?.()
    },
    error: /E[A-Z]+/,
  },
  {
    name: 'programFiles',
    files: { 'p/e/name': 'old' },
    work: () => programFiles(join(box, 'p'), 'e').write('name', new TextEncoder().encode('new')),
    error: null,
  },
  { name: 'overwriteFile', files: { f: 'old' }, work: () => overwriteFile(join(box, 'f'), 'new'), error: /^E[A-Z]+/ },
]

test.each(KEPT)('$name', async ({ files, work, error }) => {
  const prepareKept = (): void => {
    rmSync(box, { recursive: true })
    mkdirSync(box)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(box, path, '..'), { recursive: true })
      writeFileSync(join(box, path), text)
    }
  }
  prepareKept()
  const { calls } = await withFault({ at: Infinity, code: '' }, work)
  const after = readContents(box)
  const faults: Fault[] = calls.map((_call, at) => ({ at: at + 1, code: CODES[at % CODES.length]! }))
  faults.push(...calls.flatMap((call, at) => (call === 'writeSync' ? [{ at: at + 1, code: 'ENOSPC', short: true }] : [])))
  for (const fault of faults) {
    prepareKept()
    let message: string | null = null
    const attempt = (): void => {
      try {
        work()
      } catch (cause) {
        message = (cause as Error).message
      }
    }
    const { failed } = await withFault(fault, attempt)
    const where = `${failed} (${fault.at} of ${calls.join(' ')}): ${fault.code}`
    const found = readContents(box)
    if (message !== null) expect(message, where).toMatch(error!)
    else if (error !== null) expect(found, where).toEqual(after)
    for (const [path, text] of Object.entries(found)) {
      // Of a lease there are several, one after the other.
      if (path.endsWith('lease.json')) expect(JSON.parse(text), where).toMatchObject({ fence: 1 })
      else expect([files[path] ?? '', after[path]], `${where}: ${path}`).toContain(text)
    }
  }
})

function stripVolatile(text: string): string {
  return text.replaceAll(/"?\b(id|stored_at|generatedAt|modified)"?: ?("[^"]*"|[^,}]*)/g, '$1')
}

/** Ids and times differ from run to run. */
function withoutTimes(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, stripVolatile(text)]))
}
