// The standard modules come compiled. What the build wrote is what compiling their texts gives now, and it is used only where all that
// went into it is as it was.

import { compileProgram, writeModuleIdentity } from '@bridle/compiler'
import type { Resolution } from '@bridle/compiler'
import { createRegistry, collectSignatures } from '@bridle/vm'
import { expect, test } from 'vitest'
import { STD_MODULES } from '../std.generated.js'
import { createRuntime } from '../index.js'
import { STANDARD_FAMILIES } from '../test-support/standard-families.js'
import { allFamilies } from './families/all.js'
import { stdModule } from './modules.js'

const NOTHING_ADDED = new Map<string, string>()
const signatures = collectSignatures(createRegistry(allFamilies()))
const names = [...STD_MODULES.keys()]

function fromText(path: string): Resolution {
  const text = STD_MODULES.get(path.slice('std/'.length))
  return text === undefined
    ? { kind: 'error', message: `no ${path}` }
    : { kind: 'source', key: `<stdlib>/${path.slice('std/'.length)}.harn`, text }
}

function readChunk(name: string, resolve: (path: string) => Resolution, known = signatures) {
  const { program } = compileProgram({ key: 'entry', text: `import "std/${name}"\n` }, { signatures: known, resolve })
  return program?.modules.find((each) => each.key === `<stdlib>/${name}.harn`)
}

test.each(names)('std/%s is what its text compiles to; run `npm run generate` if not', (name) => {
  const compiled = readChunk(name, (path) => stdModule(path, NOTHING_ADDED))
  expect(compiled?.fingerprint, 'the module was compiled from its text').toBeDefined()
  expect(writeModuleIdentity(compiled!)).toBe(writeModuleIdentity(readChunk(name, fromText)!))
})

async function runToOutput(text: string, std: Record<string, string> = {}): Promise<string> {
  const runtime = createRuntime({ std })
  const run = runtime.start(runtime.compile(text))
  const result = await run.result
  return result.status === 'done' ? result.output : JSON.stringify(result)
}

test('a module that imports one of the host is compiled from its text', async () => {
  const script = 'import { distances } from "std/uses"\nprintln(distances())\n'
  const uses =
    'import { euclidean_distance } from "std/math"\npub fn distances() {\n  return euclidean_distance([0, 0], [3, 4])\n}\n'
  expect(await runToOutput(script, { uses })).toBe('5.0\n')
  const math = 'fn first() {\n  return 1\n}\npub fn euclidean_distance(_a, _b) {\n  return "of the host"\n}\n'
  expect(await runToOutput(script, { uses, math })).toBe('of the host\n')
  const own = compileProgram(
    { key: 'entry', text: 'import "std/prompt_library"\n' },
    { signatures, resolve: (path) => stdModule(path, new Map([['math', `${STD_MODULES.get('math')!}\npub fn more() {}\n`]])) },
  )
  const chunk = own.program?.modules.find((each) => each.key === '<stdlib>/prompt_library.harn')
  expect(chunk).toBeDefined()
  expect(chunk!.fingerprint).toBeUndefined()
})

test('a module of which a builtin is missing is compiled from its text', () => {
  const without = collectSignatures(createRegistry(STANDARD_FAMILIES))
  expect(without.has('__mcp_client')).toBe(false)
  expect(readChunk('mcp', (path) => stdModule(path, NOTHING_ADDED), without)!.fingerprint).toBeUndefined()
})

test('importing a module does not read its text', () => {
  const read: string[] = []
  const resolve = (path: string): Resolution => {
    const found = stdModule(path, NOTHING_ADDED)
    if (found.kind === 'error') return found
    return {
      kind: 'source',
      key: found.key,
      get text() {
        read.push(path)
        return found.text
      },
      ...(found.readCompiled === undefined ? {} : { readCompiled: found.readCompiled }),
    }
  }
  const { program, files, effects } = compileProgram(
    { key: 'entry', text: 'import "std/catalogue"\nprintln(1)\n' },
    { signatures, resolve },
  )
  expect(program).not.toBeNull()
  // Asked at every start.
  expect(effects!.hostImports).toEqual([])
  expect(read).toEqual([])
  expect(files.get('<stdlib>/catalogue.harn')!.text).toContain('The standard catalogue')
  expect(read).toEqual(['std/catalogue'])
})
