// Tools that others wrote, as scripts are checked against them: the reference servers everything, filesystem and memory, and the standard
// catalogue. Each tool is declared, and three right and three wrong calls of it are compiled, which are made of its schema.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { stdTools } from '../host/catalogue/index.js'
import { CompileError } from '../host/compile-errors.js'
import { createRuntime } from '../host/runtime.js'
import { harnTypes, tsTypes } from '../tools/host-tools/print-types.js'
import { declareTools, readToolDeclarations, toolsOfDeclarations } from '../tools/host-tools/declarations.js'
import type { Tool } from '../tools/host-tools/define.js'
import { isSchema, resolveRef } from '../tools/host-tools/edge.js'
import type { JsonSchema } from '../tools/host-tools/schema.js'
import type { McpServerDeclaration } from './config.js'
import { fromMcpServer } from './tools.js'

const require = createRequire(join(process.cwd(), 'package.json'))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-declared-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, ...args: readonly string[]): McpServerDeclaration {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`)
  const { bin } = require(manifest) as { bin: { [key: string]: string } }
  return { command: process.execPath, args: [join(dirname(manifest), Object.values(bin)[0]!), ...args] }
}

const SOURCES: { readonly [name: string]: () => Promise<readonly Tool[]> } = {
  everything: () => listed(program('server-everything', 'stdio')),
  filesystem: () => listed(program('server-filesystem', folder)),
  memory: () => listed({ ...program('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }),
  catalogue: async () => stdTools(),
}

async function listed(server: McpServerDeclaration): Promise<readonly Tool[]> {
  await using set = await fromMcpServer(server, { prefix: 'srv' })
  expect(set.warnings).toEqual([])
  return set.tools
}

/** A value that the schema allows, as it is written in a script. */
function sample(schema: unknown, root: JsonSchema): string {
  const found = isSchema(schema) ? (resolveRef(schema, root) ?? {}) : {}
  if (Array.isArray(found['enum'])) return JSON.stringify(found['enum'][0])
  if ('const' in found) return JSON.stringify(found['const'])
  const alternatives = found['anyOf'] ?? found['oneOf']
  if (Array.isArray(alternatives)) return sample(alternatives[0], root)
  const type = Array.isArray(found['type']) ? (found['type'][0] as unknown) : found['type']
  switch (type) {
    case 'string':
      return JSON.stringify('x'.repeat(Math.max(1, Number(found['minLength'] ?? 1))))
    case 'integer':
    case 'number':
      return String(found['minimum'] ?? 1)
    case 'boolean':
      return 'true'
    case 'null':
      return 'nil'
    case 'array': {
      const item = sample(found['items'], root)
      return `[${Array.from({ length: Number(found['minItems'] ?? 1) || 1 }, () => item).join(', ')}]`
    }
    case 'object':
      return dict(found, root, Object.keys(isSchema(found['properties']) ? found['properties'] : {}))
    default:
      return '"x"'
  }
}

function dict(schema: JsonSchema, root: JsonSchema, keys: readonly string[]): string {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {}
  return `{${keys.map((key) => `${key}: ${sample(properties[key], root)}`).join(', ')}}`
}

/** A value that the schema does not allow; null when it allows any. */
function otherKind(schema: unknown, root: JsonSchema): string | null {
  const found = isSchema(schema) ? (resolveRef(schema, root) ?? {}) : {}
  if (Array.isArray(found['enum'])) return '"none of these"'
  return typeof found['type'] === 'string' ? (found['type'] === 'object' ? '5' : '{other: 1}') : null
}

interface Calls {
  readonly right: readonly string[]
  readonly wrong: readonly string[]
}

function callsOf({ name, input }: Tool): Calls {
  const root = input?.json ?? {}
  const properties = isSchema(root['properties']) ? root['properties'] : {}
  const all = Object.keys(properties)
  const required = Array.isArray(root['required']) ? root['required'].map(String) : []
  const call = (args: string): string => `host_tool_call(${JSON.stringify(name)}, ${args})`
  const needed = dict(root, root, required)
  const right = [needed, dict(root, root, all), `{...${needed}}`].map(call)
  const typed = all.flatMap((key) => {
    const value = otherKind(properties[key], root)
    const others = dict(
      root,
      root,
      required.filter((each) => each !== key),
    ).slice(1, -1)
    return value === null ? [] : [call(`{${others === '' ? '' : `${others}, `}${key}: ${value}}`)]
  })
  const missing = required.map((key) =>
    call(
      dict(
        root,
        root,
        required.filter((each) => each !== key),
      ),
    ),
  )
  const shapes = [call('"text"'), call('[1]'), call('5')]
  const unknown = all.length === 0 ? [] : [call(`${needed.slice(0, -1)}${needed === '{}' ? '' : ', '}not_an_argument: 1}`)]
  return { right, wrong: [...unknown, ...missing.slice(0, 1), ...typed.slice(0, 1), ...shapes].slice(0, 3) }
}

describe.each(Object.keys(SOURCES))('%s', (source) => {
  test('its tools are declared, and calls of them are held to that', async () => {
    const tools = await SOURCES[source]!()
    expect(tools.length).toBeGreaterThan(5)

    const [full, short, ts] = [harnTypes(tools), harnTypes(tools, { short: true }), tsTypes(tools)]
    for (const { name } of tools) for (const text of [short, ts]) expect(text).toContain(name)
    expect(short.trimEnd().split('\n')).toHaveLength(tools.length)
    expect(full.split('\n/**\n').length).toBeGreaterThan(tools.length / 2)

    // Declarations of a file are checked like real tools.
    const data: unknown = JSON.parse(JSON.stringify(declareTools(tools)))
    for (const own of [tools, toolsOfDeclarations(readToolDeclarations(data))]) {
      const runtime = createRuntime({ tools: own })
      for (const tool of own) {
        const { right, wrong } = callsOf(tool)
        expect(wrong).toHaveLength(3)
        for (const call of right) {
          const { warnings } = runtime.compile(`println(${call})`, { checkTools: 'complete' })
          expect(
            warnings.map(({ message }) => message),
            call,
          ).toEqual([])
        }
        for (const call of wrong) {
          let told: unknown = null
          try {
            runtime.compile(`println(${call})`, { checkTools: 'complete' })
          } catch (cause) {
            told = cause
          }
          expect(told, call).toBeInstanceOf(CompileError)
          expect((told as CompileError).diagnostics[0]?.code, call).toMatch(/^A00\d$/)
        }
      }
    }
  }, 60_000)
})
