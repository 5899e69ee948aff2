// THE table of effect names: the names that a row `@effects(http, fs)` may list, and the mapping of the finer kinds that
// builtins declare (`fs.read`, `clock.now`, the vm's table of effects) to these names. A name is for people;
// a kind is the unit that a host grants and a run is limited to.

interface EffectNameRow {
  /** Whether a use must be covered by a grant once a file declares grants at all. */
  readonly needsGrant: boolean
  readonly doc: string
}

export const EFFECT_NAMES = {
  http: { needsGrant: true, doc: 'requests and connections over a network' },
  llm: { needsGrant: true, doc: 'requests to a language model' },
  fs: { needsGrant: true, doc: 'reads and writes files' },
  db: { needsGrant: true, doc: 'talks to a database' },
  database: { needsGrant: true, doc: 'another spelling of db' },
  email: { needsGrant: true, doc: 'sends mail' },
  mcp: { needsGrant: true, doc: 'starts or asks an MCP server' },
  env: { needsGrant: true, doc: 'reads facts of this process: environment, arguments, terminal input' },
  crypto: { needsGrant: true, doc: 'uses keys' },
  process: { needsGrant: true, doc: 'starts programs, or changes or ends this process' },
  external: { needsGrant: true, doc: 'calls a tool or operation of the host of which nothing more is known' },
  random: { needsGrant: false, doc: 'random numbers and ids' },
  time: { needsGrant: false, doc: 'reads a clock or waits' },
  emit: { needsGrant: false, doc: 'writes to standard error' },
  trace: { needsGrant: false, doc: 'spans and events of the trace' },
  state: { needsGrant: false, doc: 'shared state of the run' },
  approve: { needsGrant: false, doc: 'asks a person' },
  cache: { needsGrant: false, doc: 'a cache' },
  async: { needsGrant: false, doc: 'starts tasks or waits for them' },
} as const satisfies Record<string, EffectNameRow>

/** Areas of kinds (`fs` of `fs.read`) and marks of builtins, with the names they fold into; null: not reported as an effect. */
const FOLDED: Readonly<Record<string, string | null>> = {
  http: 'http',
  net: 'http',
  llm: 'llm',
  fs: 'fs',
  store: 'fs',
  mcp: 'mcp',
  host: 'external',
  clock: 'time',
  timer: 'time',
  random: 'random',
  approval: 'approve',
  trace: 'trace',
  compress: null,
  data: null,
  tool: null, // a tool call has the effects of its tool
  task: 'async',
  channel: 'async',
  mailbox: 'async',
  sync: 'async',
  supervisor: 'async',
  atomic: 'state',
  shared: 'state',
  context: 'state',
  circuit: 'state',
}

const FOLDED_KINDS: Readonly<Record<string, string | null>> = {
  'process.info': 'env',
  'process.exec': 'process',
  'process.set': 'process',
  'terminal.read': 'env',
  'terminal.write': 'emit',
}

/** Families of builtins whose name determines the effect, whatever they read internally. */
const BY_PREFIX: readonly (readonly [prefix: string, effect: string])[] = [
  ['http_', 'http'],
  ['sse_', 'http'],
  ['websocket_', 'http'],
  ['mcp_', 'mcp'],
  ['llm_', 'llm'],
  ['agent_loop', 'llm'],
  ['pg_', 'db'],
  ['connector_', 'http'],
]

/** Effects that hide `env`: the facts of the process (directories, proxies) that they read are not reported. */
const HIDES_ENV: ReadonlySet<string> = new Set(['fs', 'http', 'external', 'process'])

/** Effect names of a builtin with the given `tokens`; empty when it has none. */
export function listBuiltinEffects(name: string, tokens: readonly string[]): readonly string[] {
  if (tokens.length === 0) return []
  const family = BY_PREFIX.find(([prefix]) => name.startsWith(prefix))
  if (family !== undefined) return tokens.includes('fs.write') ? [family[1], 'fs'] : [family[1]]
  const found = new Set(tokens.flatMap((token) => foldToken(token) ?? []))
  if ([...found].some((effect) => HIDES_ENV.has(effect))) found.delete('env')
  return [...found]
}

function foldToken(token: string): string | null {
  if (Object.hasOwn(FOLDED_KINDS, token)) return FOLDED_KINDS[token] ?? null
  const dot = token.indexOf('.')
  const area = dot < 0 ? token : token.slice(0, dot)
  return Object.hasOwn(FOLDED, area) ? (FOLDED[area] ?? null) : 'external'
}

/** The effect name that a kind of the machine folds into; null for one that is not reported. */
export function foldKind(kind: string): string | null {
  return kind.includes('.') ? foldToken(kind) : null
}

/** Effect names of a builtin that this host lacks, so that a manifest names the effects on a complete host. */
export function effectsByPrefix(name: string): readonly string[] {
  return BY_PREFIX.filter(([prefix]) => name.startsWith(prefix)).map(([, effect]) => effect)
}

// Facts about a unit are strings: this prefix and an effect name, or a kind of effect.
const BY_NAME = 'name:'

export function encodeEffect(name: string): string {
  return `${BY_NAME}${name}`
}

/** The effect name of a fact; null for a kind. */
export function decodeEffect(token: string): string | null {
  return token.startsWith(BY_NAME) ? token.slice(BY_NAME.length) : null
}

// Effects of calling a tool, whatever its definition or binding declares. Ceilings count them, rows of functions do not.
const BY_EXECUTOR = 'entailed:'

export function encodeEntailedEffect(name: string): string {
  return `${BY_EXECUTOR}${name}`
}

/** The effect name of a fact for ceilings; null for a kind. */
export function decodeCeilingEffect(token: string): string | null {
  return token.startsWith(BY_EXECUTOR) ? token.slice(BY_EXECUTOR.length) : decodeEffect(token)
}

/** Whether a token is a kind of the vm's table, rather than a mark or a name. */
export function isKind(token: string): boolean {
  return !token.startsWith(BY_NAME) && token.includes('.')
}

export function needsGrant(effect: string): boolean {
  return Object.hasOwn(EFFECT_NAMES, effect) && EFFECT_NAMES[effect as keyof typeof EFFECT_NAMES].needsGrant
}

/** Normalises a name of a row: lower case, a dotted name counts as its root, `pure` is null. */
export function normalEffect(written: string): string | null {
  const root = written.trim().toLowerCase().split('.')[0] ?? ''
  return root === '' || root === 'pure' ? null : root
}

/** Effects of a declared side-effect level; null for an unknown level. */
export function listLevelEffects(level: string): readonly string[] | null {
  switch (level) {
    case 'none':
      return []
    case 'read_only':
    case 'workspace_write':
      return ['fs']
    case 'process_exec':
      return ['process']
    case 'network':
      return ['http']
    default:
      return null
  }
}
