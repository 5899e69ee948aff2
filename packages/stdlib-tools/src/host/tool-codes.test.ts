// The closed list of codes, each produced by a situation in which it really comes up: with the category and the default
// for repeats that the table says, as scripts see it and as TypeScript does.

import { TOOL_ERROR_CODES } from '../library/tool-errors.js'
import type { ToolErrorCode } from '../library/tool-errors.js'
import { describe, expect, test } from 'vitest'
import {
  DefinitionError,
  MemoryJournal,
  ToolError,
  VirtualClock,
  createRegistry,
  createRuntime,
  defineProvider,
  defineTool,
  errorFromResponse,
  isToolError,
  memoryRunStore,
  pending,
  toolsOf,
} from '../index.js'
import type { AnyToolError, Journal, RuntimeOptions, StartOptions, Tool, ToolContext } from '../index.js'
import { FileSandbox, Workspace, fsProvider } from '../node/index.js'

const makeTool = (
  execute: (args: unknown, context: ToolContext) => unknown,
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool => defineTool({ name: 't', execute, ...more })

interface Situation {
  /** Its last value is what `tool_try` gave; `t` is the tool that is called when absent. */
  readonly source?: string
  readonly runtime?: RuntimeOptions
  readonly start?: StartOptions
}

const CALL = 'tool_try("t", {})'
const makeAlways = (status: number, body = ''): Situation => ({
  runtime: {
    tools: [
      makeTool(() => {
        throw errorFromResponse({ status, body }, { provider: 'p', model: 'm' })
      }),
    ],
  },
})
const makeFailing = (code: ToolErrorCode): Situation => ({
  runtime: {
    tools: [
      makeTool(() => {
        throw new ToolError(code, 'as the tool says')
      }),
    ],
  },
})

const makeDurable = (
  execute: (context: ToolContext) => unknown,
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Situation => ({ runtime: { tools: [makeTool((_, context) => execute(context), more)] } })

const SITUATIONS: Partial<Record<ToolErrorCode, Situation>> = {
  not_registered: { source: 'tool_try("nothing", {})' },
  not_found: makeAlways(404, 'no such page'),
  invalid_args: {
    runtime: {
      tools: [makeTool(() => 1, { input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } })],
    },
  },
  execution_failed: {
    runtime: {
      tools: [
        makeTool(() => {
          throw new Error('broken')
        }),
      ],
    },
  },
  server_error: makeAlways(500),
  rate_limit: makeAlways(429),
  auth: makeAlways(401),
  model_not_found: makeAlways(404, 'no such model'),
  timeout: { source: 'tool_try("t", {}, {timeout_ms: 50})', runtime: { tools: [makeTool(() => new Promise(() => {}))] } },
  provider_unavailable: makeAlways(503),
  connection: makeFailing('connection'),
  output_validation_failed: { runtime: { tools: [makeTool(() => 'text', { output: { type: 'integer' } })] } },
  schema_drift: { runtime: { tools: [makeTool(() => ({}))], pins: new Map() } },
  policy_violation: {
    source: 'tool_try("t", {size: 9})',
    runtime: { tools: [makeTool(() => 1)], toolGrants: { t: { size: 1 } } },
  },
  effect_violation: {
    runtime: { tools: [makeTool((_, { performed }) => performed('http'), { effects: ['fs'] })] },
  },
  egress_blocked: {
    source: 'tool_try("http.get", {url: "https://b.test/"})',
    runtime: { toolGrants: { http: { domain: 'a.test' } } },
  },
  security_violation: {
    source: 'tool_try("fs.read", {path: "/etc/hostname"})',
    runtime: {
      providers: [fsProvider(new Workspace({ root: '.', sandbox: new FileSandbox({ roots: ['.'] }) }))],
      grants: ['fs'],
    },
  },
  approval_denied: {
    source:
      'import { with_approval_policy } from "std/policy"\nwith_approval_policy({auto_deny: ["t"]}, { -> tool_try("t", {}) })',
    runtime: { tools: [makeTool(() => 1)] },
  },
  budget_exhausted: { runtime: { tools: [makeTool(() => 1)] }, start: { budgets: { t: { calls: 0 } } } },
  resource_limit: makeFailing('resource_limit'),
  circuit_open: {
    source:
      'let r = tool_define(tool_registry(), "c", "", {parameters: {}, handler: { _ -> throw {category: "overloaded", message: "no"} }, circuit_breaker: {threshold: 1}})\ntool_try("c", {}, {registry: r})\ntool_try("c", {}, {registry: r})',
  },
  cancelled: makeFailing('cancelled'),
  unknown_outcome: makeFailing('unknown_outcome'),
  version_mismatch: {
    runtime: { tools: [makeTool(() => 1, { version: '1.0.0' })], toolGrants: { t: { version: '^2' } } },
  },
  grant_invalid: {
    source:
      'let r = tool_define(tool_registry(), "g", "", {parameters: {}, handler: { _ -> 1 }, grants: {timeout_ms: "soon"}})\ntool_try("g", {}, {registry: r})',
  },
  prepare_failed: {
    runtime: {
      tools: [
        makeTool(() => 1, {
          prepare: () => {
            throw new Error('not ready')
          },
        }),
      ],
    },
  },
  tool_contract_missing: {
    runtime: {
      tools: toolsOf(defineProvider({ manifests: () => [{ name: 't' }], contract: () => null, execute: () => 1 })),
    },
  },
  durable_effect_empty_step_id: makeDurable(({ durable }) => durable.runJson('', () => 1)),
  durable_effect_duplicate_step_id: makeDurable(async ({ durable }) => [
    await durable.runJson('a', () => 1),
    await durable.runJson('a', () => 1),
  ]),
  durable_step_unserializable: makeDurable(({ durable }) => durable.runJson('a', () => Symbol('a'))),
  // Another process begins the same call with another input: node/durable-tools.test.ts.
  effect_input_mismatch: makeFailing('effect_input_mismatch'),
  durable_effect_empty_event_key: makeDurable(({ durable }) => durable.event('')),
  durable_effect_event_timeout: makeDurable(({ durable }) => durable.waitFor('never', { timeoutMs: 5 })),
  durable_effect_event_cancelled: makeFailing('durable_effect_event_cancelled'),
  durable_effect_process_event_unavailable: makeDurable(({ events }) => events.emit('a')),
  durable_effect_empty_process_event_type: makeFailing('durable_effect_empty_process_event_type'),
  process_not_visible: makeFailing('process_not_visible'),
  process_already_terminal: makeFailing('process_already_terminal'),
  // In runs of a store: node/durable-links.test.ts.
  ...Object.fromEntries(
    (
      [
        'durable_effects_missing_call_id',
        'durable_effect_process_event_append_failed',
        'durable_effect_process_event_process_mismatch',
        'tool_completion_key_missing_call_id',
        'await_event_unsupported',
        'quota_exceeded',
      ] as const
    ).map((code) => [code, makeFailing(code)]),
  ),
  process_registry_unavailable: makeDurable(({ processes }) => processes.start({ pipeline: 'a' })),
  pending_tool_announcement_failed: makeDurable(
    ({ completionKey, pending: defer }) => (completionKey(), defer({ announcement: { type: 'a' } })),
    { mayDefer: true },
  ),
  intent_invalid: makeFailing('intent_invalid'),
  intent_limit: makeFailing('intent_limit'),
  await_event_unknown_or_revoked: makeFailing('await_event_unknown_or_revoked'),
  invalid_await_event_wait_identity: makeDurable(({ durable, completionKey }) => durable.waitFor(completionKey())),
  pending_tool_missing_completion_key: makeDurable((context) => context.pending(), { mayDefer: true }),
  tool_deferral_not_declared: makeDurable(({ completionKey, pending: defer }) => (completionKey(), defer())),
  tool_recursion_limit: { runtime: { tools: [makeTool((_, { tools }) => tools.call('t'))] } },
}

/** Those that reach the host, and no script. */
const OUTSIDE: readonly ToolErrorCode[] = [
  'replay_mismatch',
  'replay_exhausted',
  'duplicate_tool',
  'store_unavailable',
  'journal_lease_lost',
  'durable_effects_unavailable',
]

test('every code has a situation, here or below', () => {
  expect([...Object.keys(SITUATIONS), ...OUTSIDE].sort()).toEqual(Object.keys(TOOL_ERROR_CODES).sort())
})

test.each(Object.entries(SITUATIONS) as [ToolErrorCode, Situation][])(
  '%s',
  async (code, { source = CALL, runtime = {}, start = {} }) => {
    const lines = `import { tool_try } from "std/tools"\n${source}`.split('\n')
    const last = lines.pop()!
    const program = `${lines.join('\n')}
let outcome = ${last}
let error = unwrap_err(outcome)
return [error.name, error.code, error.category, error_category(error), error.retryable, type_of(error.message), error.has("tool"), error.has("call_id"), error.has("attempt"), error.severity]`
    const host = createRuntime({ clock: new VirtualClock(), enforceManifest: false, ...runtime })
    const { category, mayRepeat } = TOOL_ERROR_CODES[code]
    expect(await host.run(program, start)).toEqual([
      'ToolError',
      code,
      category,
      category,
      mayRepeat !== 'no',
      'string',
      true,
      true,
      true,
      'error',
    ])
  },
)

describe('codes that reach the host', () => {
  const source = 'import { t } from "host/tools"\nreturn t({})'

  test('duplicate_tool', () => {
    const make = (): unknown => createRegistry([makeTool(() => 1), makeTool(() => 2)])
    expect(make).toThrow(DefinitionError)
    expect(make).toThrow(expect.objectContaining({ code: 'duplicate_tool' }))
    expect(() => createRuntime({ tools: [makeTool(() => 1), makeTool(() => 2)] })).toThrow(
      expect.objectContaining({ code: 'duplicate_tool' }),
    )
    const registry = createRegistry([makeTool(() => 1)]).replace(makeTool(() => 2))
    expect(registry.size).toBe(1)
    expect(() => registry.replace(defineTool({ name: 'other', execute: () => 1 }))).toThrow(DefinitionError)
  })

  test('store_unavailable: what cannot be written down is not done', async () => {
    let calls = 0
    const journal: Journal = {
      append: (entry) => {
        if (entry.type === 'effect') throw new Error('disk full')
      },
    }
    const host = createRuntime({ tools: [makeTool(() => ++calls)] })
    const failure = await host.start(host.compile(source), { journal }).result.catch((cause: unknown) => cause)
    expect(isToolError(failure, 'store_unavailable')).toBe(true)
    expect((failure as Error).message).toBe('the journal cannot be written: disk full')
    expect(calls).toBe(0)
  })

  test('durable_effects_unavailable: no run is around the call', async () => {
    const registry = createRegistry([makeTool((_, { durable }) => durable.runJson('a', () => 1))])
    const failure = await registry.call('t', {}).catch((cause: unknown) => cause)
    expect(isToolError(failure, 'durable_effects_unavailable')).toBe(true)
  })

  test('journal_lease_lost: who was taken over goes no further', async () => {
    const store = memoryRunStore()
    const clock = new VirtualClock()
    const take = () => {
      store.claim('r', { owner: 'other', now: 1e6, leaseMs: 1 })
      return Promise.resolve(1)
    }
    const host = createRuntime({ tools: [makeTool(take)], clock, runs: { store } })
    const failure = await host.start(host.compile(source), { runId: 'r' }).result.catch((cause: unknown) => cause)
    expect(isToolError(failure, 'journal_lease_lost')).toBe(true)
    expect(failure).toMatchObject({ category: 'generic', retryable: false })
  })

  test('replay_mismatch and replay_exhausted', async () => {
    const journal = new MemoryJournal()
    const host = createRuntime({ tools: [makeTool(() => 1)] })
    await host.start(host.compile(source), { journal }).result
    const other = host.compile(source.replace('t({})', 't({changed: true})'))
    const diverged = host.replay(other, journal.entries)
    expect(diverged).toMatchObject({ kind: 'diverged', divergence: { code: 'replay_mismatch' } })
    const torn = journal.entries.slice(
      0,
      journal.entries.findIndex(({ type }) => type === 'effect'),
    )
    expect(host.replay(host.compile(source), torn)).toMatchObject({ kind: 'diverged', divergence: { code: 'replay_exhausted' } })
  })
})

test('one class, told apart by its code', async () => {
  const registry = createRegistry([
    makeTool(() => {
      throw errorFromResponse({ status: 429, headers: { 'retry-after': '3' } })
    }),
  ])
  const outcome = await registry.tryCall('t')
  if (outcome.ok) throw new Error('it must fail')
  const error = outcome.error as AnyToolError
  expect(error).toBeInstanceOf(ToolError)
  switch (error.code) {
    case 'rate_limit': {
      const narrowed: ToolError<'rate_limit'> = error
      expect([narrowed.retryAfterMs, narrowed.retryable, narrowed.category]).toEqual([3000, true, 'rate_limit'])
      break
    }
    default:
      throw new Error(`unexpected ${error.code}`)
  }
  expect(isToolError(error, 'rate_limit')).toBe(true)
  expect(isToolError(error, 'auth')).toBe(false)
  // As data and back, as it is in a journal.
  const data = JSON.parse(JSON.stringify(error)) as Parameters<typeof ToolError.of>[0]
  expect(ToolError.of(data)).toMatchObject({ code: 'rate_limit', message: error.message, retryAfterMs: 3000 })
})

test('a result that never comes is cancelled with its run', async () => {
  const host = createRuntime({ tools: [makeTool(() => pending('never'))] })
  const run = host.start(host.compile('import { t } from "host/tools"\nreturn t({})'), {
    onWaiting: () => setImmediate(() => run.cancel('enough')),
  })
  expect(await run.result).toMatchObject({ status: 'cancelled', reason: 'enough' })
})
