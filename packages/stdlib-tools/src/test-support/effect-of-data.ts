// For tests that make effects of rows of data, and say only what they are about.

import type { EffectKind, EffectOf, PlainRecord } from '@bridle/vm/families'
import { effectProblem } from '../library/effects/index.js'

const REQUEST: PlainRecord = {
  method: 'GET',
  url: '',
  headers: {},
  body: null,
  saveTo: null,
  timeoutMs: null,
  connectTimeoutMs: null,
  readTimeoutMs: null,
  proxy: null,
  tls: null,
  decompress: true,
}

/** Default arguments of an effect for tests: by kind, and by operation. */
const USUAL: { readonly [kind: string]: PlainRecord } = {
  'tool.call': {
    executor: 'host_bridge',
    tool: '',
    identity: '',
    host_capability: null,
    mcp_server: null,
    mcp_tool: null,
    args: {},
    call_id: 'call_1',
    attempt: 1,
    max_attempts: 1,
    idempotency_key: 'call_1',
    arg_hash: '',
    timeout_ms: null,
  },
  'host.call': { capability: '', operation: '', params: {} },
  'mcp.connect open': { client: 1, name: '' },
  'mcp.connect close': { name: '' },
  'mcp.request': { client: 1, name: '', spec: {}, method: '', params: {} },
  'fs.read': { encoding: 'utf8' },
  'process.exec': { program: null, args: [], shell: null, cwd: null, env: null, stdin: null, timeoutMs: null },
  'http.request': REQUEST,
  'net.stream http_open': { ...REQUEST, id: 's' },
  'net.stream ws_connect': { headers: {}, timeoutMs: 1000, maxBytes: 1000 },
  'net.stream http_read': { maxBytes: 1000 },
}

/** Throws for what is no effect of the kind. */
export function effectOfData<Kind extends EffectKind>(kind: Kind, given: PlainRecord): EffectOf<Kind> {
  const args = { ...USUAL[kind], ...USUAL[`${kind} ${String(given['op'])}`], ...given }
  const problem = effectProblem({ kind, args })
  if (problem !== null) throw new Error(problem)
  return { kind, args } as unknown as EffectOf<Kind>
}
