// Common behaviour of all commands, tested for each: help that names every option, exit codes, and with --json exactly one JSON value on
// standard output, whether the command succeeds, fails, or is called with invalid arguments. A new command needs a row.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeProgram } from '../src/program.js'
import { runInProcess } from './in-process.js'
import type { Ended } from './in-process.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-commands-')))
const SCRIPT = `import "std/testing"
tool ping(text: string) -> string {
  description "Says it again"
  return text
}
@test
pipeline test_ping(task) { assert_eq(1, 1) }
pipeline default(task) {
  println("said")
  let now = now_ms()
  return 0
}
`
const FILES: Readonly<Record<string, string>> = {
  'fine.harn': SCRIPT,
  'plain.harn': 'println("said")\n',
  'asks.harn': 'println(ask_user("Name?"))\n',
  'waits.harn': 'sleep(10m)\n',
  'throws.harn': 'fn f() {\n  throw "boom"\n}\nf()\n',
  'refused.harn': 'let x = 1\nnope_at_all(x)\n',
  'endless.harn': 'while true { }\n',
  'noise.jsonl': 'noise\nnoise\n',
  'suite/a.harn': 'println(1)\n',
  'suite/a.expected': '1\n',
  'suite/b.harn': 'println(1)\n',
  'suite/b.expected': '2\n',
  'good/a.harn': 'println(1)\n',
  'good/a.expected': '1\n',
  'failing/f_test.harn': 'pipeline test_f(task) { throw "no" }\n',
  'eval/run.json': '{}',
}

const bridle = (...words: readonly string[]): Promise<Ended> => runInProcess(folder, words)

beforeAll(async () => {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  for (const words of [
    'run --record run.jsonl plain.harn',
    'run --trace run.trace fine.harn',
    'snapshot -o run.snap waits.harn',
    'run --store runs.db --id asked asks.harn',
    'run --store runs.db --id other asks.harn',
    'run --store runs.db --id third asks.harn',
    'run --trace traces/ fine.harn',
    'tools lock fine.harn --no-servers',
  ])
    await bridle(...words.split(' '))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Row {
  /** Arguments that succeed; null if nothing can be reached here. */
  readonly ok: string | null
  /** Their exit code; 0 when absent. */
  readonly code?: number
  /** Arguments that fail, with the exit code and `error.code`. */
  readonly failures: readonly (readonly [words: string, exitCode: number, code: string])[]
  /** The script's output goes to standard error, so that only the result is on standard output. */
  readonly prints?: true
  /** It prints until it is stopped, or speaks a protocol, and has no --json. */
  readonly speaks?: true
}

const GONE = 'gone.harn'
const UNREADABLE = [GONE, 2, 'unreadable_file'] as const
/** In a folder without a manifest. */
const NO_MANIFEST = ['', 1, 'failed'] as const
const ROWS: Readonly<Record<string, Row>> = {
  run: {
    ok: 'fine.harn',
    failures: [
      UNREADABLE,
      ['refused.harn', 1, 'N001'],
      ['throws.harn', 1, 'thrown'],
      ['waits.harn --timeout 1', 124, 'interrupted'],
      ['endless.harn --fuel 1000', 1, 'limit'],
    ],
  },
  signal: {
    ok: 'asked Name? "Ada" --store runs.db',
    failures: [
      ['nobody Name? 1 --store runs.db', 1, 'not_found'],
      ['asked Name? 1 --store none/runs.db', 2, 'unreadable_file'],
    ],
  },
  worker: { ok: '--store runs.db --until-idle', failures: [['--store none/runs.db --until-idle', 2, 'unreadable_file']] },
  'runs list': { ok: '--store runs.db', failures: [['--store none/runs.db', 2, 'unreadable_file']] },
  'runs show': { ok: 'other --store runs.db', failures: [['nobody --store runs.db', 1, 'not_found']] },
  'runs stats': { ok: '--store runs.db', failures: [['--store none/runs.db', 2, 'unreadable_file']] },
  'runs quota': {
    ok: 'shop --parked 100 --store runs.db',
    failures: [
      ['--store none/runs.db', 2, 'unreadable_file'],
      ['shop --parked 1 --none --store runs.db', 2, 'usage'],
    ],
  },
  'runs query': { ok: null, failures: [['nobody stage --store runs.db', 1, 'not_found']] },
  'runs events': { ok: 'other --store runs.db', failures: [['nobody --store runs.db', 1, 'not_found']] },
  'runs cancel': { ok: 'third --store runs.db', failures: [['nobody --store runs.db', 1, 'not_found']] },
  'runs retry': { ok: null, failures: [['nobody --store runs.db', 1, 'not_found']] },
  'runs fork': { ok: 'other forked --store runs.db', failures: [['nobody b --store runs.db', 1, 'not_found']] },
  'runs migrate': {
    ok: 'other --to asks.harn --store runs.db',
    failures: [
      ['nobody --to asks.harn --store runs.db', 1, 'not_found'],
      ['other --to gone.harn --store runs.db', 1, 'not_found'],
    ],
  },
  'runs export': { ok: 'other --store runs.db -o other.jsonl', failures: [['nobody --store runs.db', 1, 'not_found']] },
  replay: { ok: 'run.jsonl', failures: [UNREADABLE, ['noise.jsonl', 1, 'failed']] },
  snapshot: {
    ok: '-o b.snap waits.harn',
    failures: [
      [`-o c.snap ${GONE}`, 2, 'unreadable_file'],
      ['-o c.snap throws.harn', 1, 'thrown'],
    ],
  },
  resume: { ok: 'run.snap --timeout 1', code: 124, failures: [UNREADABLE, ['noise.jsonl', 1, 'failed']] },
  check: { ok: 'fine.harn', failures: [[GONE, 2, 'unreadable_file']] },
  lint: { ok: 'plain.harn', failures: [[GONE, 2, 'unreadable_file']] },
  fmt: {
    ok: 'plain.harn',
    failures: [
      [GONE, 2, 'unreadable_file'],
      ['plain.harn --line-width x', 2, 'usage'],
    ],
  },
  repl: { ok: null, failures: [], speaks: true },
  disasm: { ok: 'plain.harn', failures: [UNREADABLE, ['refused.harn', 1, 'N001']] },
  gateway: { ok: null, failures: [], speaks: true },
  'serve mcp': { ok: null, failures: [], speaks: true },
  'serve acp': { ok: null, failures: [], speaks: true },
  lsp: { ok: null, failures: [], speaks: true },
  'serve a2a': { ok: null, failures: [], speaks: true },
  'mcp serve': { ok: null, failures: [], speaks: true },
  'orchestrator serve': { ok: null, failures: [], speaks: true },
  'orchestrator dlq': { ok: null, failures: [NO_MANIFEST] },
  'orchestrator fire': { ok: null, failures: [['x', 1, 'failed']] },
  'orchestrator inspect': { ok: null, failures: [NO_MANIFEST] },
  'orchestrator queue drain': { ok: null, failures: [['q', 1, 'failed']] },
  'orchestrator queue ls': { ok: null, failures: [NO_MANIFEST] },
  'orchestrator queue purge': { ok: null, failures: [['q', 1, 'failed']] },
  'orchestrator recover': { ok: null, failures: [['', 2, 'usage']] },
  'orchestrator reload': { ok: null, failures: [['', 1, 'failed']] },
  'orchestrator replay': { ok: null, failures: [['x', 1, 'failed']] },
  'orchestrator resume': { ok: null, failures: [['x', 1, 'failed']] },
  'orchestrator stats': { ok: null, failures: [NO_MANIFEST] },
  'trigger cancel': { ok: null, failures: [['nobody', 1, 'failed']] },
  'trigger replay': { ok: null, failures: [['nobody', 1, 'failed']] },
  'trust demote': { ok: 'an-agent --to shadow', failures: [['an-agent', 2, 'usage']] },
  'trust promote': { ok: 'an-agent --to act_auto', failures: [['an-agent', 2, 'usage']] },
  'trust query': { ok: '', failures: [] },
  'trust verify-chain': { ok: '', failures: [] },
  conformance: {
    ok: 'good',
    failures: [
      [GONE, 2, 'unreadable_file'],
      ['good --mode nope', 2, 'usage'],
    ],
  },
  test: {
    ok: 'fine.harn',
    failures: [
      [GONE, 2, 'unreadable_file'],
      ['fine.harn --filter nothing', 2, 'usage'],
    ],
  },
  simulate: { ok: 'plain.harn --seeds 1', failures: [UNREADABLE, ['refused.harn', 1, 'N001']] },
  init: { ok: 'script fresh', failures: [['nonsense', 2, 'usage']] },
  primer: { ok: '', failures: [['--tools gone.json', 2, 'unreadable_file']] },
  completions: { ok: 'bash', failures: [['tcsh', 2, 'usage']] },
  builtins: { ok: 'len', failures: [['nope_at_all', 1, 'failed']] },
  explain: { ok: 'N001', failures: [['X999', 1, 'failed']] },
  'tools list': { ok: 'fine.harn --no-servers', failures: [UNREADABLE] },
  'tools types': { ok: 'fine.harn --no-servers', failures: [UNREADABLE] },
  'tools describe': { ok: 'ping fine.harn --no-servers', failures: [['nope fine.harn', 1, 'failed']] },
  'tools call': {
    prints: true,
    ok: 'ping fine.harn {"text":"x"} --no-servers',
    failures: [
      ['ping gone.harn', 2, 'unreadable_file'],
      ['nope fine.harn --no-servers', 1, 'not_registered'],
    ],
  },
  'tools lock': { ok: 'fine.harn --no-servers', failures: [UNREADABLE] },
  'tools diff': { ok: 'fine.harn --no-servers', failures: [['fine.harn --lock-file gone.json', 2, 'unreadable_file']] },
  'mcp login': { ok: null, failures: [['nobody', 2, 'usage']] },
  'mcp logout': { ok: null, failures: [['', 2, 'usage']] },
  'mcp list': { ok: '', failures: [] },
  'cache clear': { ok: null, failures: [] },
  eval: { ok: null, failures: [['gone.json', 2, 'unreadable_file']] },
  'trace list': { ok: '--dir traces', failures: [['--dir gone', 2, 'unreadable_file']] },
  'trace show': { ok: 'run.trace', failures: [['gone.trace', 2, 'unreadable_file']] },
  'trace verify': {
    ok: 'run.trace',
    failures: [
      ['gone.trace', 2, 'unreadable_file'],
      ['noise.jsonl', 1, 'failed'],
    ],
  },
  'trace diff': { ok: 'run.trace run.trace', failures: [['run.trace gone.trace', 2, 'unreadable_file']] },
  'trace dag': { ok: 'run.trace', failures: [['gone.trace', 2, 'unreadable_file']] },
}

const program = describeProgram()

function listLeaves(command: Command, path: readonly string[]): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(' '), command]]
  return command.commands.flatMap((each) => listLeaves(each, [...path, each.name()]))
}
const listMandatory = (command: Command): readonly string[] =>
  command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long!, 'x'])
const leaves = listLeaves(program, [])

test('rows and commands correspond', () => {
  expect(Object.keys(ROWS).sort()).toEqual(leaves.map(([path]) => path).sort())
})

/** The one value; throws for none and for more. */
function readOne(out: string): unknown {
  return JSON.parse(out) as unknown
}

function expectRefusal({ code, stdout, stderr }: Ended, exitCode: number, errorCode: string, prints = false): void {
  const document = readOne(stdout) as { readonly errors: readonly unknown[] }
  expect(document).toMatchObject({
    status: errorCode === 'limit' ? 'limit' : errorCode === 'interrupted' ? 'cancelled' : 'failed',
    exit_code: exitCode,
    error: { code: errorCode, message: expect.stringMatching(/\S/) as string },
  })
  expect(document.errors.length).toBeGreaterThan(0)
  if (!prints) expect(stderr).toBe('')
  expect(code).toBe(exitCode)
}

// A command without a row is reported above.
describe.each(leaves.filter(([path]) => Object.hasOwn(ROWS, path)))('%s', (path, command) => {
  const words = path.split(' ')
  const row = ROWS[path]!
  const split = (text: string): string[] => text.split(' ').filter((word) => word !== '')

  test('its help names its arguments and options', async () => {
    const { code, stdout, stderr } = await bridle(...words, '--help')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Usage: bridle /)
    expect(command.description()).toMatch(/^\S.{9,}/)
    for (const option of command.options.filter(({ hidden }) => !hidden)) {
      expect(stdout).toContain(option.flags)
      expect(option.description, option.flags).toMatch(/\S{3}/)
    }
  })

  test('it has --json, or speaks a protocol', () => {
    expect(command.options.some(({ long }) => long === '--json')).toBe(row.speaks !== true)
  })

  test('an unknown option is a usage error', async () => {
    // Otherwise a missing required option would be reported first.
    const given = [...words, ...listMandatory(command)]
    expectRefusal(await bridle(...given, '--json', '--no-such-option'), 2, 'usage')
    const { code, stdout, stderr } = await bridle(...given, '--no-such-option')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: unknown option '--no-such-option'/)
  })

  test('so are surplus arguments', async () => {
    if (command.registeredArguments.some(({ variadic }) => variadic)) return
    const most = [...command.registeredArguments.map(() => 'x'), 'one-too-many']
    expectRefusal(await bridle(...words, ...most, ...listMandatory(command), '--json'), 2, 'usage')
  })

  test('and missing arguments', async () => {
    if (!command.registeredArguments.some(({ required }) => required)) return
    expectRefusal(await bridle(...words, '--json'), 2, 'usage')
  })

  test.each(row.failures)('%s', async (given, exitCode, code) => {
    expectRefusal(await bridle(...words, ...split(given), '--json'), exitCode, code, row.prints)
    const plain = await bridle(...words, ...split(given))
    expect(plain.code).toBe(exitCode)
    expect(plain.stderr).toMatch(/^error: \S/m)
  })

  test.runIf(row.ok !== null)('its result is one JSON value', async () => {
    const { code, stdout, stderr } = await bridle(...words, ...split(row.ok!), '--json')
    expect(code).toBe(row.code ?? 0)
    readOne(stdout)
    if (row.prints !== true) expect(stderr).toBe('')
  })
})
