// The program cache: an entry is used only if it equals the result of compiling, whatever its bytes are.

import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decodeKept, encodeKept } from './program-cache.js'
import type { ProgramCache } from './program-cache.js'
import { memoryModules } from './modules.js'
import { programFiles } from '../node/program-files.js'
import { createRuntime } from './runtime.js'
import type { RuntimeOptions } from './runtime-options.js'

class MemoryPrograms implements ProgramCache {
  readonly entries = new Map<string, Uint8Array>()
  engine = 'one'
  writes = 0

  read(name: string): Uint8Array | null {
    return this.entries.get(name) ?? null
  }

  write(name: string, bytes: Uint8Array): void {
    this.writes++
    this.entries.set(name, bytes)
  }
}

const SCRIPT =
  'fn half(n: int) -> float { return n / 2.5 }\npipeline main() {\n  let big = 9007199254740993\n  println("${half(5)} ${big} ${-7}")\n}\n'

async function runToOutcome(programs: ProgramCache, text: string, options: RuntimeOptions = {}): Promise<string> {
  const runtime = createRuntime({ ...options, programs })
  const result = await runtime.start(runtime.compile(text, { file: '/s/main.harn' })).result
  if (result.status !== 'failed') return result.output
  const [place] = result.error.trace
  return `${result.error.message} at ${place?.line}:${place?.column}`
}

describe('a kept program', () => {
  test('runs as the compiled one does', async () => {
    const programs = new MemoryPrograms()
    const first = await runToOutcome(programs, SCRIPT)
    expect(first).toBe('2.0 9007199254740993 -7\n')
    expect(await runToOutcome(programs, SCRIPT)).toBe(first)
    expect(programs.writes).toBe(1)
  })

  test('is what runs: nothing is compiled again', async () => {
    const programs = new MemoryPrograms()
    await runToOutcome(programs, SCRIPT)
    const [[name = '', bytes] = []] = programs.entries
    const kept = decodeKept(bytes!, {
      engine: 'one',
      entry: { key: '/s/main.harn', text: SCRIPT },
      settings: '[[],[],"full"]',
    })
    const other = new MemoryPrograms()
    await runToOutcome(other, 'pipeline main() { println("another program") }')
    const [another] = other.entries.values()
    const { program } = decodeKept(another!, {
      engine: 'one',
      entry: { key: '/s/main.harn', text: 'pipeline main() { println("another program") }' },
      settings: '[[],[],"full"]',
    })!
    programs.entries.set(name, encodeKept(kept!.facts, program))
    expect(await runToOutcome(programs, SCRIPT)).toBe('another program\n')
  })

  test('reports the same position when it fails, and the same facts about itself', async () => {
    const programs = new MemoryPrograms()
    const text = 'pipeline main() {\n  println(1)\n  throw "no"\n}\n'
    const first = await runToOutcome(programs, text)
    expect(first).toMatch(/no at 3:/)
    expect(await runToOutcome(programs, text)).toBe(first)
    const fresh = createRuntime().compile(text, { file: '/s/main.harn' })
    const kept = createRuntime({ programs }).compile(text, { file: '/s/main.harn' })
    expect(programs.writes).toBe(1)
    expect(kept.hash).toBe(fresh.hash)
    expect(kept.manifest).toEqual(fresh.manifest)
    expect([...kept.files.keys()]).toEqual([...fresh.files.keys()])
    expect([...kept.grants.keys()]).toEqual([...fresh.grants.keys()])
  })

  test('is made anew when its text, the engine or the settings change', async () => {
    const programs = new MemoryPrograms()
    await runToOutcome(programs, SCRIPT)
    expect(await runToOutcome(programs, SCRIPT.replace('-7', '-8'))).toBe('2.0 9007199254740993 -8\n')
    programs.engine = 'two'
    await runToOutcome(programs, SCRIPT.replace('-7', '-8'))
    expect(programs.writes).toBe(3)
    await runToOutcome(programs, SCRIPT.replace('-7', '-8'), { globals: ['argv'] })
    expect(programs.writes).toBe(4)
    await runToOutcome(programs, SCRIPT.replace('-7', '-8'), { strictness: 'language' })
    expect(programs.writes).toBe(5)
  })

  test('is made anew when a module that it imports changes or is another one', async () => {
    const programs = new MemoryPrograms()
    const text =
      'import { name } from "./part"\nimport { clear_host_mocks } from "std/testing"\npipeline main() { println(name()) }\n'
    const withPart = (path: string, name: string): RuntimeOptions => ({
      resolve: memoryModules({ [path]: `pub fn name() { return "${name}" }` }),
    })
    expect(await runToOutcome(programs, text, withPart('s/part.harn', 'a'))).toBe('a\n')
    const { writes } = programs
    expect(await runToOutcome(programs, text, withPart('s/part.harn', 'a'))).toBe('a\n')
    expect(programs.writes).toBe(writes)
    expect(await runToOutcome(programs, text, withPart('s/part.harn', 'b'))).toBe('b\n')
    expect(await runToOutcome(programs, text)).toMatch('no access to files')
  })

  test('is none where there are findings, or a host that takes part in compiling', async () => {
    const programs = new MemoryPrograms()
    const runtime = createRuntime({ programs, strictness: 'language' })
    const warned = 'fn f(a) { return a }\npipeline main() { println(f(1, 2)) }\n'
    for (let time = 0; time < 2; time++) expect(runtime.compile(warned, { file: '/s/main.harn' }).warnings).toHaveLength(1)
    expect(() => runtime.compile('pipeline main() {', { file: '/s/main.harn' })).toThrow()
    runtime.compile(SCRIPT)
    runtime.compile(SCRIPT, { file: '/s/main.harn', strict: true })
    createRuntime({ programs, std: { mine: 'pub fn f() { return 1 }' } }).compile(SCRIPT, { file: '/s/main.harn' })
    createRuntime({ programs, builtins: { deny: ['exec'] } }).compile(SCRIPT, { file: '/s/main.harn' })
    expect(programs.writes).toBe(0)
  })

  test('with any byte changed or missing is compiled as usual', async () => {
    const programs = new MemoryPrograms()
    const text = 'pipeline main() { println(1) }'
    await runToOutcome(programs, text)
    const [[name = '', bytes] = []] = programs.entries
    const wanted = { engine: 'one', entry: { key: '/s/main.harn', text }, settings: '[[],[],"full"]' }
    expect(decodeKept(bytes!, wanted)).not.toBeNull()
    for (let at = 0; at < bytes!.length; at++) {
      const damaged = bytes!.slice()
      damaged[at]! ^= 1 << (at % 8)
      expect(decodeKept(damaged, wanted)).toBeNull()
      expect(decodeKept(bytes!.slice(0, at), wanted)).toBeNull()
    }
    programs.entries.set(name, bytes!.slice(0, 20))
    expect(await runToOutcome(programs, text)).toBe('1\n')
    expect(programs.entries.get(name)).toEqual(bytes)
  })
})

describe('programs in files', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bridle-programs-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('are there for another process, and for their owner only', async () => {
    expect(await runToOutcome(programFiles(folder, 'one'), SCRIPT)).toBe('2.0 9007199254740993 -7\n')
    if (process.platform === 'linux')
      expect(await runToOutcome(programFiles('/proc/nowhere', 'one'), SCRIPT)).toBe('2.0 9007199254740993 -7\n')
    const [name = ''] = readdirSync(join(folder, 'one'))
    expect(programFiles(folder, 'one').read(name)).not.toBeNull()
    expect(programFiles(folder, 'two').read(name)).toBeNull()
    if (process.platform === 'win32') return
    expect(statSync(join(folder, 'one')).mode & 0o077).toBe(0)
    expect(statSync(join(folder, 'one', name)).mode & 0o077).toBe(0)
  })

  test('do not grow without limit: the oldest go, and unused folders', () => {
    const abandoned = programFiles(folder, 'abandoned')
    abandoned.write('x', new Uint8Array(1))
    utimesSync(join(folder, 'abandoned'), 0, 0)
    const programs = programFiles(folder, 'one')
    for (let at = 0; at < 500; at++) {
      programs.write(`entry${at}`, new Uint8Array(1))
      utimesSync(join(folder, 'one', `entry${at}`), at, at)
    }
    expect(abandoned.read('x')).toBeNull()
    expect(readdirSync(join(folder, 'one')).length).toBe(500)
    programs.write('new', new Uint8Array(1))
    expect(readdirSync(join(folder, 'one')).length).toBe(400)
    expect(programs.read('entry100')).toBeNull()
    expect(programs.read('entry102')).not.toBeNull()
    expect(programs.read('new')).not.toBeNull()
  })

  test('an entry that cannot be written is not an error', () => {
    writeFileSync(join(folder, 'file'), '')
    const programs = programFiles(join(folder, 'file'), 'one')
    programs.write('x', new Uint8Array(1))
    expect(programs.read('x')).toBeNull()
  })
})
