// THE table of effect names: what a row `@effects(http, fs)` may list without declaring anything, and how the finer kinds that
// builtins say they ask for (`fs.read`, `clock.now`, the vm's table of effects) fold into these names. A name is a person's
// word for a power; a kind is what a host grants and a run is held to.

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

/** Areas of kinds (`fs` of `fs.read`) and marks of builtins, with the names they fold into; null: no effect to speak of. */
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

/** Families of builtins whose effect is said by their name, whatever they look up to do their work. */
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

/** Facts of the process (directories, proxies) that these look up on the way are not worth a name of their own. */
const HIDES_ENV: ReadonlySet<string> = new Set(['fs', 'http', 'external', 'process'])

/** Effect names of a builtin that asks for `tokens`; empty when it asks for nothing. */
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

/** The effect name that a kind of the machine folds into; null for one that is no effect to speak of. */
export function foldKind(kind: string): string | null {
  return kind.includes('.') ? foldToken(kind) : null
}

/** Effect names of a builtin that this host does not have, so that a manifest names what a fuller host would be asked. */
export function effectsByPrefix(name: string): readonly string[] {
  return BY_PREFIX.filter(([prefix]) => name.startsWith(prefix)).map(([, effect]) => effect)
}

// Facts about a unit are texts: an effect name behind this mark, or a kind of effect as it is.
const BY_NAME = 'name:'

export function encodeEffect(name: string): string {
  return `${BY_NAME}${name}`
}

/** The effect name that a fact is; null for a kind. */
export function decodeEffect(token: string): string | null {
  return token.startsWith(BY_NAME) ? token.slice(BY_NAME.length) : null
}

// What carrying out a tool entails, whatever a definition or a binding says about it: ceilings count it, rows of functions do not.
const BY_EXECUTOR = 'entailed:'

export function encodeEntailedEffect(name: string): string {
  return `${BY_EXECUTOR}${name}`
}

/** The effect name that a fact is for whoever sets a ceiling; null for a kind. */
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

/** As a row may spell it: lower case, a dotted name counts as its root, `pure` is nothing (null). */
export function normalEffect(written: string): string | null {
  const root = written.trim().toLowerCase().split('.')[0] ?? ''
  return root === '' || root === 'pure' ? null : root
}

/** What a declared side-effect level of a tool says about its effects; null for a level that is not known. */
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
