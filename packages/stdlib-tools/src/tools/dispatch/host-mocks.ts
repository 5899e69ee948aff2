// Mocks of host capabilities: registered by scripts under test, consulted before the embedding program, and
// recorded when they answer. Newest first; scopes save and restore both mocks and records.

import { builtinTaking, HarnDict, HarnList, builtin, display, equals, family } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { HOST_CAPABILITIES } from '../host-slots.js'

interface HostMock {
  readonly capability: string
  readonly operation: string
  readonly result: Value
  /** What the call's params must contain; null matches every call. */
  readonly params: HarnDict | null
  readonly error: string | null
}

interface HostMockState {
  mocks: HostMock[]
  calls: Value[]
  scopes: { mocks: HostMock[]; calls: Value[] }[]
}

const hostMocks = family<HostMockState>('host_mocks', () => ({ mocks: [], calls: [], scopes: [] }))

/** The mock that answers this call, after recording it; undefined when none does. Its error is to be thrown as a string. */
export function matchHostMock(
  ctx: Context,
  capability: string,
  operation: string,
  params: HarnDict,
): { result: Value; error: string | null } | undefined {
  const state = ctx.state(hostMocks)
  for (let at = state.mocks.length - 1; at >= 0; at--) {
    const mock = state.mocks[at]!
    if (mock.capability !== capability || mock.operation !== operation || !covers(params, mock.params)) continue
    state.calls.push(HarnDict.of({ capability, operation, params }))
    return mock
  }
  return undefined
}

function covers(params: HarnDict, wanted: HarnDict | null): boolean {
  if (wanted === null) return true
  for (const [key, value] of wanted.entries()) {
    const given = params.get(key)
    if (given === undefined || !equals(given, value)) return false
  }
  return true
}

/** An argument that was left out is empty; nil is the text `nil`. */
function readGiven(ctx: Context, at: number, value: Value): string {
  return at < ctx.argc ? display(value) : ''
}

function addHostMock(ctx: Context, capability: string, operation: string, third: Value, params: Value): Result {
  const isConfig = third instanceof HarnDict && (third.has('result') || third.has('params') || third.has('error'))
  const matcher = isConfig ? (third.get('params') ?? null) : params
  // An error of nil is the text `nil`, as in the reference.
  const error = isConfig && third.has('error') ? display(third.get('error')!) : ''
  ctx.state(hostMocks).mocks.push({
    capability,
    operation,
    result: isConfig ? (third.get('result') ?? null) : third,
    params: matcher instanceof HarnDict ? matcher : null,
    error: error === '' ? null : error,
  })
  return null
}

/** Built-in capabilities: what host_call can do without an embedding program. Scripts print these texts, which are the reference's. */
const CAPABILITIES: Readonly<
  Record<string, { readonly description: string; readonly operations: Readonly<Record<string, string>> }>
> = {
  process: {
    description: 'Process execution.',
    operations: {
      exec: 'Execute a process in argv or explicit shell mode.',
      list_shells: 'List shells discovered by the host/session.',
      get_default_shell: 'Return the selected default shell for this host/session.',
      set_default_shell: 'Select the default shell for this host/session.',
      shell_invocation: 'Resolve a shell id/object plus login/interactive flags into argv.',
    },
  },
  template: { description: 'Template rendering.', operations: { render: 'Render a template file.' } },
  interaction: { description: 'User interaction.', operations: { ask: 'Ask the user a question.' } },
}

const MOCKED_CAPABILITY = 'Mocked host capability registered at runtime for tests.'
const MOCKED_OPERATION = 'Mocked host operation registered at runtime for tests.'

/** Capability → its description and operations, built-in ones first, in the order they are known. */
function makeCapabilityTable(ctx: Context): Map<string, { description: string; operations: Map<string, string> }> {
  const table = new Map<string, { description: string; operations: Map<string, string> }>()
  for (const [name, { description, operations }] of Object.entries(CAPABILITIES)) {
    table.set(name, { description, operations: new Map(Object.entries(operations)) })
  }
  for (const [name, { description, operations }] of Object.entries(ctx.machine.hostData(HOST_CAPABILITIES))) {
    const known = table.get(name)
    const all = new Map([...(known?.operations ?? []), ...Object.entries(operations)])
    table.set(name, { description: known?.description ?? description, operations: all })
  }
  for (const { capability, operation } of ctx.state(hostMocks).mocks) {
    const row = table.get(capability) ?? { description: MOCKED_CAPABILITY, operations: new Map<string, string>() }
    if (!row.operations.has(operation)) row.operations.set(operation, MOCKED_OPERATION)
    table.set(capability, row)
  }
  return table
}

function listHostCapabilities(ctx: Context): Result {
  const result = new HarnDict()
  for (const [name, { description, operations }] of makeCapabilityTable(ctx)) {
    const described = new HarnDict()
    for (const [operation, text] of operations) described.set(operation, HarnDict.of({ description: text }))
    result.set(name, HarnDict.of({ description, ops: new HarnList([...operations.keys()]), operations: described }))
  }
  return result
}

function hasHostCapability(ctx: Context, capability: Value, operation: Value): Result {
  const row = makeCapabilityTable(ctx).get(readGiven(ctx, 0, capability))
  return row !== undefined && (ctx.argc < 2 || row.operations.has(display(operation)))
}

const makeOptions = (doc: string) => ({ doc, effects: [] as readonly string[] })

export const hostMocksFamily: BuiltinFamily = {
  name: 'host-mocks',
  builtins: [
    builtinTaking(
      'host_mock(capability: string, op: string, response_or_config: any, params?: dict) -> nil',
      makeOptions('Answers matching host_call calls from now on.'),
      { text: { capability: '{f}: capability and operation are required', op: '{f}: capability and operation are required' } },
      addHostMock,
    ),
    builtin(
      'host_mock_calls() -> list',
      makeOptions('The calls that mocks answered, in order.'),
      (ctx) => new HarnList([...ctx.state(hostMocks).calls]),
    ),
    builtin('host_mock_clear() -> nil', makeOptions('Drops mocks, recorded calls and scopes.'), (ctx) => {
      Object.assign(ctx.state(hostMocks), { mocks: [], calls: [], scopes: [] })
      return null
    }),
    builtin('host_mock_push_scope() -> nil', makeOptions('Sets mocks and recorded calls aside and starts with none.'), (ctx) => {
      const state = ctx.state(hostMocks)
      state.scopes.push({ mocks: state.mocks, calls: state.calls })
      Object.assign(state, { mocks: [], calls: [] })
      return null
    }),
    builtin('host_mock_pop_scope() -> nil', makeOptions('Brings back what the last push set aside.'), (ctx) => {
      const state = ctx.state(hostMocks)
      const saved = state.scopes.pop()
      if (saved === undefined) return ctx.throw('host_mock_pop_scope: no scope to pop')
      Object.assign(state, saved)
      return null
    }),
    builtin('host_capabilities() -> dict', makeOptions('Capabilities of the host with their operations.'), listHostCapabilities),
    builtin(
      'host_has(capability: string, op?: string) -> bool',
      makeOptions('Whether the host has a capability or operation.'),
      hasHostCapability,
    ),
  ],
}
