// THE table of executors: who carries out a call of a tool. The checker, the manifest, the dispatch, the gate and the agent loops read
// it. Adding an executor takes a row here, a module in stdlib-tools (tools/executors), and a line in the table there.

interface ExecutorRow {
  /** How the machine carries out a call: it calls the handler or a builtin, makes a record, requests the effect `tool.call`, or refuses. */
  readonly runs: 'handler' | 'builtin' | 'record' | 'outside' | 'refused'
  /** The identity by which a call is judged and listed in the manifest; null if nothing outside is reached. */
  readonly identity: 'script' | 'builtin' | 'host' | 'mcp' | 'native' | null
  /** Effects of every call, whatever its entry declares. */
  readonly effects: readonly string[]
  /** Effects of an entry that declares none; null if they are unknown. */
  readonly implies: readonly string[] | null
  /** Where `executor:` may name it. */
  readonly named: 'in definitions' | 'in loops' | 'never'
  readonly alias?: string
  /** A key that implies this executor in an entry without `executor`. */
  readonly mark?: string
  /** How it carries out synthesized tools (`tool_synthesize`); absent if it does not support them. */
  readonly synthesis?: Synthesis
  /** Keys of an entry with the target of a call, and the source of missing ones; they are fields of `tool.call`. */
  readonly target: { readonly [key: string]: string | null }
  /** Requirements of `tool_define` for the keys of an entry, in order, with their messages. */
  readonly demands: readonly ExecutorDemand[]
}

/** A property of a synthesized tool: the key of its config, and the parts of the record that form its id. */
interface SynthesisField {
  readonly key: string
  readonly recordedAs: string
}

interface Synthesis {
  /** The builtin that a call uses; null if a call only makes a record. */
  readonly through: 'host_tool_call' | 'mcp_call' | null
  /** The name of the tool at the target. */
  readonly tool?: SynthesisField
  readonly server?: SynthesisField
  /** The key of the handle for the call. */
  readonly client?: string
}

export interface ExecutorDemand {
  readonly key: string
  /** `name`: a non-empty string. */
  readonly is: 'present' | 'absent' | 'name'
  readonly otherwise: string
  /** An example value for messages about naming the executor. */
  readonly example?: string
}

export const EXECUTORS = {
  harn: {
    runs: 'handler',
    identity: 'script',
    effects: [],
    implies: null,
    named: 'in definitions',
    alias: 'harn_builtin',
    target: {},
    demands: [
      { key: 'handler', is: 'present', otherwise: 'has no `handler`. Attach the handler fn or change the executor.' },
      {
        key: 'host_capability',
        is: 'absent',
        otherwise:
          'also sets `host_capability`. Drop one — the harn executor runs the handler in-VM and never reaches the host bridge.',
      },
      {
        key: 'mcp_server',
        is: 'absent',
        otherwise: 'also sets `mcp_server`. Drop one — MCP-served tools must declare executor: "mcp_server".',
      },
    ],
  },
  builtin: {
    runs: 'builtin',
    identity: 'builtin',
    effects: ['external'],
    implies: null,
    named: 'never',
    target: {},
    demands: [],
  },
  dry_run: {
    runs: 'record',
    identity: null,
    effects: ['external'],
    implies: null,
    named: 'in loops',
    synthesis: { through: null },
    target: {},
    demands: [],
  },
  host_bridge: {
    runs: 'outside',
    identity: 'host',
    effects: ['external'],
    implies: null,
    named: 'in definitions',
    synthesis: { through: 'host_tool_call', tool: { key: 'host_tool', recordedAs: 'host_tool' } },
    target: { host_capability: null },
    demands: [
      {
        key: 'handler',
        is: 'absent',
        otherwise: 'also has a `handler`. Drop the handler — host-bridge tools are dispatched by the host shell, not the VM.',
      },
      {
        key: 'host_capability',
        is: 'name',
        otherwise:
          'is missing `host_capability`. Set it to the canonical bridge identifier (e.g. "interaction.ask") ' +
          'so `harn check` can validate ' +
          'the binding against the host capability manifest.',
        example: 'cap.op',
      },
    ],
  },
  mcp_server: {
    runs: 'outside',
    identity: 'mcp',
    effects: ['mcp'],
    implies: ['mcp'],
    named: 'in definitions',
    mark: '_mcp_server',
    synthesis: {
      through: 'mcp_call',
      tool: { key: 'mcp_tool', recordedAs: 'tool_name' },
      server: { key: 'mcp_server', recordedAs: 'server_name' },
      client: 'mcp_client',
    },
    target: { mcp_server: '_mcp_server', mcp_tool: 'name' },
    demands: [
      {
        key: 'handler',
        is: 'absent',
        otherwise: 'also has a `handler`. Drop the handler — MCP-served tools route through the MCP transport.',
      },
      {
        key: 'mcp_server',
        is: 'name',
        otherwise: 'is missing `mcp_server` (the configured server name).',
        example: 'server-name',
      },
    ],
  },
  provider_native: {
    runs: 'refused',
    identity: 'native',
    effects: [],
    implies: null,
    named: 'in definitions',
    target: {},
    demands: [
      {
        key: 'handler',
        is: 'absent',
        otherwise:
          'also has a `handler`. Provider-side tools are executed by the model server; the runtime never dispatches them locally.',
      },
    ],
  },
} as const satisfies { readonly [name: string]: ExecutorRow }

export type ExecutorName = keyof typeof EXECUTORS
/** Executors that a provider implements. */
export type OutsideExecutor = {
  [Name in ExecutorName]: (typeof EXECUTORS)[Name]['runs'] extends 'outside' ? Name : never
}[ExecutorName]
type KeysOf<T> = T extends unknown ? keyof T : never
/** Keys of entries with the target of a call. */
export type TargetKey = KeysOf<(typeof EXECUTORS)[OutsideExecutor]['target']>
export type CallTarget = { readonly [Key in TargetKey]: string | null }

const rows: { readonly [name: string]: ExecutorRow } = EXECUTORS
const NAMES = Object.keys(rows) as readonly ExecutorName[]
const ALIASES = new Map(NAMES.flatMap((name) => (rows[name]!.alias === undefined ? [] : [[rows[name]!.alias, name] as const])))

const TARGETS = NAMES.flatMap((name) => Object.entries(rows[name]!.target).map(([key, otherwise]) => ({ name, key, otherwise })))

export const TARGET_KEYS = TARGETS.map(({ key }) => key as TargetKey)

/** The executor of that name or alias; null when there is none. */
export function executorNamed(name: string): ExecutorName | null {
  return Object.hasOwn(rows, name) ? (name as ExecutorName) : (ALIASES.get(name) ?? null)
}

/** Its row, with one type for all executors. */
export function factsOfExecutor(name: ExecutorName): ExecutorRow {
  return rows[name]!
}

/** The row of the executor of that name or alias; null when there is none. */
export function findExecutorFacts(name: string | null): ExecutorRow | null {
  const executor = name === null ? null : executorNamed(name)
  return executor === null ? null : rows[executor]!
}

type ExecutorJudgedAs<Identity> = {
  [Name in ExecutorName]: (typeof EXECUTORS)[Name]['identity'] extends Identity ? Name : never
}[ExecutorName]

/** The executor whose calls have that identity; for null, the one that reaches nothing outside. */
export function executorOf<Identity extends ExecutorRow['identity']>(identity: Identity): ExecutorJudgedAs<Identity> {
  return NAMES.find((name) => rows[name]!.identity === identity) as ExecutorJudgedAs<Identity>
}

/** The identity of a call by the executor of that name or alias; null if nothing outside is reached. */
export function findIdentity(name: string | null): ExecutorRow['identity'] {
  return findExecutorFacts(name)?.identity ?? null
}

/** How the executor of that name carries out a synthesized tool; null if it does not support them. */
export function findSynthesis(name: string): Synthesis | null {
  return (Object.hasOwn(rows, name) ? rows[name]!.synthesis : undefined) ?? null
}

export function isOutside(name: string | null): name is OutsideExecutor {
  return name !== null && Object.hasOwn(rows, name) && rows[name]!.runs === 'outside'
}

/** The executor implied by an entry that names none. */
export function impliedExecutor(has: (key: string) => boolean): ExecutorName {
  if (has('handler')) return 'harn'
  return NAMES.find((name) => rows[name]!.mark !== undefined && has(rows[name]!.mark)) ?? 'host_bridge'
}

/** Whether an entry that names no executor is marked as carried out by an outside party. */
export function isMarkedOutside(has: (key: string) => boolean): boolean {
  return NAMES.some((name) => rows[name]!.mark !== undefined && has(rows[name]!.mark))
}

/** The executor implied by an entry that has only a target, under its mark or the key that the mark represents. */
export function executorOfPlace(has: (key: string) => boolean): ExecutorName | null {
  const place = TARGETS.find(({ name, key, otherwise }) => {
    return otherwise !== null && otherwise === rows[name]!.mark && (has(key) || has(otherwise))
  })
  return place?.name ?? null
}

/** The target of a call by this executor, from the keys of its entry; keys of other executors are null. */
export function targetOf(executor: string, read: (key: string) => string | null): CallTarget {
  const target: Record<string, string | null> = {}
  for (const { name, key, otherwise } of TARGETS)
    target[key] = name === executor ? (read(key) ?? (otherwise === null ? null : read(otherwise))) : null
  return target as CallTarget
}

/** Executors that carry out synthesized tools. */
export const SYNTHESIZING_EXECUTORS: readonly ExecutorName[] = NAMES.filter((name) => rows[name]!.synthesis !== undefined)

/** Executors that a definition may name; an agent loop accepts some more. */
export const DEFINABLE_EXECUTORS: readonly ExecutorName[] = NAMES.filter((name) => rows[name]!.named === 'in definitions')

export function isTakenByLoops(name: string): boolean {
  const executor = executorNamed(name)
  return executor !== null && rows[executor]!.named !== 'never'
}

/** `"a", "b", or "c"` with `or`, `"a", "b", "c"` without. */
export function quoteExecutors(or = '', names = DEFINABLE_EXECUTORS): string {
  const quoted = names.map((name) => `"${name}"`)
  if (or === '' || quoted.length === 1) return quoted.join(', ')
  return `${quoted.slice(0, -1).join(', ')}${quoted.length > 2 ? ',' : ''} ${or} ${quoted.at(-1)!}`
}

/** How to name an executor in place of a handler, with its required key: one string each. */
export function listAlternatives(withExample: boolean): readonly string[] {
  return DEFINABLE_EXECUTORS.filter((name) => rows[name]!.runs !== 'handler').map((name) => {
    const demand = rows[name]!.demands.find(({ is }) => is === 'name')
    if (demand === undefined) return `executor: "${name}"`
    return `executor: "${name}" + ${demand.key}${withExample ? `: "${demand.example ?? 'name'}"` : ''}`
  })
}
