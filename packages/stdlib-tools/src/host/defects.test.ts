// Defects of the systems that this one learned from (reference 05 §10), each with the test that shows it is not here; those that need
// little are tested in place. And the tables of 05 §2.9–2.13 with the tests of their rows.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { MemoryTrace, VirtualClock, createRuntime, defineTool } from '../index.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

const HERE = 'packages/stdlib-tools/src'
const RULES = 'packages/compiler/src/grants/rules.test.ts'
const TRACE = `${HERE}/trace/trace.test.ts`
const RETRY = 'packages/stdlib-tools/src/tools/dispatch/retry.test.ts'
const DISPATCH = 'packages/stdlib-tools/src/tools/dispatch/dispatch.test.ts'
const FILES = `${HERE}/node/files.test.ts`
const RUNTIME = `${HERE}/runtime.test.ts`
const MANIFEST = `${HERE}/manifest.test.ts`
const STREAMS = `${HERE}/executors/streams.test.ts`

type Place = string | readonly [file: string, text: string]

const DEFECTS: readonly (readonly [row: number, what: string, places: readonly Place[]])[] = [
  [
    1,
    'hosts split by hand',
    [
      [RULES, "['*.example.com', 'https://evil.io?.example.com', false]"],
      [RULES, "'https://api.example.com:x@evil.io/', false"],
    ],
  ],
  [2, 'domains that overwrite, grants that leak', [[RULES, "describe('grants of one scope'"], 'grants/scopes_narrow']],
  [
    4,
    'retry, drift, replay, snapshots and keys that nothing uses',
    [
      [DISPATCH, 'is retried with the same call id'],
      'drift/reactions',
      [RUNTIME, 'a replay performs nothing'],
      [RUNTIME, 'a run goes on elsewhere'],
    ],
  ],
  [
    8,
    'MCP without handshake',
    [
      [`${HERE}/mcp/provider.process.test.ts`, 'one that dies before the handshake'],
      [`${HERE}/mcp/provider.process.test.ts`, 'calls run side by side'],
    ],
  ],
  [9, 'one grant for every effect', [[MANIFEST, 'a grant without an effect clause covers its own tool']]],
  [
    10,
    'jitter above the cap, dates ignored',
    [
      [RETRY, 'jitter stays within a quarter and the cap'],
      [`${HERE}/tools/stub.test.ts`, 'Thu, 01 Jan 1970 00:00:10 GMT'],
    ],
  ],
  [
    11,
    'files and environment without a sandbox',
    [
      [FILES, 'a confined run sees nothing outside'],
      [`${HERE}/catalogue/standard-tools.test.ts`, 'secrets are never'],
    ],
  ],
  [
    12,
    'paths and domains by prefix and suffix',
    [
      [RULES, "['/box/w', '/box/wfoo/x', false]"],
      [RULES, "'https://notexample.com/', false"],
      [FILES, 'between judging a path and opening it'],
    ],
  ],
  [
    13,
    'results through text, two formats unannounced',
    [[`${HERE}/tools/registry.test.ts`, 'what is returned and what is thrown']],
  ],
  [14, 'calls that block the script', [[RUNTIME, 'several at once, answers in order of arrival']]],
  [
    15,
    'streams, batches and agents as tools that are announced only',
    [[STREAMS, 'chunks in order, then the result'], 'tool_call/batches_and_given_arguments', 'agents/sub_agents'],
  ],
  [16, 'programs judged by their name alone', [[`${HERE}/node/process.process.test.ts`, 'a host that says no']]],
  [17, 'work done twice after a crash', [[STREAMS, 'after a restore a tool that must not be done twice is not']]],
  [
    18,
    'a tool that prepares itself again at every attempt',
    [[`${HERE}/tools/registry.test.ts`, 'every attempt of a call sees what was prepared once']],
  ],
  [
    19,
    'what is missing shows at the call only',
    [
      [RUNTIME, 'nothing under that name'],
      [RUNTIME, 'source that does not compile'],
    ],
  ],
  [
    20,
    'synthesised tools of one run, no limits',
    [
      ['packages/stdlib-tools/src/tools/definitions/tools.test.ts', 'the id of a synthesized tool is the reference vector'],
      [RUNTIME, 'an endless loop stops on fuel'],
    ],
  ],
]

const TABLES: readonly (readonly [section: string, what: string, places: readonly Place[]])[] = [
  [
    '2.9',
    'constraints and their texts',
    [
      [RULES, "describe('constraints'"],
      [RULES, 'is well formed: %s'],
      [RULES, 'pinned values and limits are put in'],
      [RULES, "describe('versions'"],
      [RETRY, 'a grant lowers the number of retries'],
      'grants/budgets',
      'grants/costs',
      'grants/pinned_arguments',
    ],
  ],
  ['2.9', 'redirects', ['grants/redirects']],
  [
    '2.10',
    'host patterns',
    [
      [RULES, "describe('domain patterns'"],
      [RULES, 'wide patterns are known'],
    ],
  ],
  [
    '2.11',
    'merging and scopes',
    [
      [RULES, "describe('grants of one scope'"],
      [RULES, 'leaves nothing of'],
      'grants/scopes_narrow',
      [TRACE, 'the ceiling of the host binds aliases, ids and builtins alike'],
    ],
  ],
  [
    '2.12',
    'before the run, at link and at run time',
    [
      [MANIFEST, 'allowEffects'],
      [MANIFEST, 'withinManifest'],
      [`${HERE}/tool-codes.test.ts`, 'effect_violation'],
    ],
  ],
  [
    '2.13',
    'effects of calls',
    [
      [MANIFEST, "describe('what a function can reach'"],
      [MANIFEST, "describe('tools'"],
    ],
  ],
  [
    '2.13',
    'findings',
    [
      [MANIFEST, "E001 'f'"],
      [MANIFEST, "E002 'f'"],
      [MANIFEST, "E003 'f'"],
      [MANIFEST, 'E004 '],
      [MANIFEST, "E005 'f'"],
      [MANIFEST, "E006 the row of 'f'"],
      [MANIFEST, "E007 'f'"],
    ],
  ],
  [
    '2.22',
    'imports',
    [
      'grants/imports_narrow_hosts',
      'grants/imports_narrow_calls',
      [`${HERE}/policy/imports.test.ts`, 'ceilings are in a snapshot'],
    ],
  ],
]

function hold(places: readonly Place[]): void {
  for (const place of places) {
    if (typeof place === 'string') {
      const script = `conformance/tests/${place}.harn`
      expect({ script, exists: existsSync(join(root, script)) }).toEqual({ script, exists: true })
    } else {
      const [file, text] = place
      const path = join(root, file)
      expect({ file, text, found: existsSync(path) && readFileSync(path, 'utf8').includes(text) }).toEqual({
        file,
        text,
        found: true,
      })
    }
  }
}

test.each(DEFECTS)('defect %i: %s', (_row, _what, places) => hold(places))
test.each(TABLES)('table %s: %s', (_section, _what, places) => hold(places))

describe('in place', () => {
  test('defect 3: a time limit of a grant ends the call itself', async () => {
    const never = defineTool({ name: 'never', execute: () => new Promise(() => {}) })
    const runtime = createRuntime({ tools: [never], clock: new VirtualClock(), toolGrants: { never: { timeoutMs: 50 } } })
    const source = 'import { tool_try } from "std/tools"\nreturn unwrap_err(tool_try("never", {})).message'
    expect(await runtime.run(source)).toBe('timeout: elapsed 50ms, limit 50ms')
  })

  test('defect 5: versions are those of the tools, arguments are checked, hashes are there', async () => {
    const trace = new MemoryTrace()
    const tool = defineTool({
      name: 'double',
      version: '3.1.4',
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      execute: (args) => (args as { n: number }).n * 2,
    })
    const runtime = createRuntime({ tools: [tool], tracing: () => ({ sinks: [trace] }) })
    await runtime.run('import { tool_try } from "std/tools"\ntool_try("double", {n: 2})\ntool_try("double", {n: "two"})')
    const [good, bad] = trace.events.filter(({ kind }) => kind === 'tool_call')
    const hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string
    expect(good).toMatchObject({ tool_version: '3.1.4', inputs_hash: hash, outputs_hash: hash })
    expect(bad?.details).toMatchObject({ denied: true, error: { code: 'invalid_args' } })
  })

  test('defect 6: nothing stands in for the result of a tool that is not there', async () => {
    const source =
      'import { tool_try } from "std/tools"\nreturn [is_ok(tool_try("llm.chatt", {})), unwrap_err(tool_try("llm.chatt", {})).code]'
    expect(await createRuntime().run(source)).toEqual([false, 'not_registered'])
  })

  test.each([
    ['{json: [1, 2.5], path: "[0]"}', 1],
    ['{json: [1, 2.5], path: "[1]"}', 2.5],
    ['{json: {a: [1, 2]}, path: "a"}', [1, 2]],
    ['{json: {a: true}, path: "a"}', true],
    ['{json: {a: nil}, path: "a"}', null],
  ])('defect 7: json.get of %s', async (args, expected) => {
    expect(await createRuntime().run(`import { tool_call } from "std/tools"\nreturn tool_call("json.get", ${args})`)).toEqual(
      expected,
    )
  })
})
