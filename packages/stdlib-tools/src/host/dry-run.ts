// A dry run: the script runs, and effects that would change the world are recorded instead of performed. Reading is done for
// real (by the level of each effect's row, refined by providers that know better: a tool that is declared read-only, an MCP
// tool that its server marks so). What was not done is answered with a dry-run record where scripts see results, and
// with the plain success of the operation where a builtin stands between.
//
// Connecting to an MCP server is done, since nothing about its tools can be known without; it is on the list, marked as such.

import { findIdentity } from '@bridle/compiler/grants'
import type { Effect, EffectKind, EffectOutcome, Plain } from '@bridle/vm'
import { makeDryRunResult } from '../tools/executors/dry-run.js'
import { answered, categorizedError } from '../tools/executors/provider.js'
import type { EffectCall, PerformEffect } from '../tools/executors/provider.js'
import { EFFECTS } from '../library/effects/index.js'

export interface DryRunEntry {
  /** Number of the effect within the run. */
  readonly id: number
  readonly kind: EffectKind
  readonly sideEffect: string
  /** What would have happened, in one line. */
  readonly summary: string
  readonly args: { readonly [key: string]: Plain }
  /** True for the few things that even a dry run has to do. */
  readonly performed: boolean
}

/** Refines the table: true and false decide, null leaves it to the effect's row. */
export type ReadOnlyTest = (effect: Effect, call: EffectCall) => boolean | null | Promise<boolean | null>

export function withDryRun(
  perform: PerformEffect,
  isReadOnly: ReadOnlyTest,
  record: (entry: DryRunEntry) => void,
): PerformEffect {
  const decide = (effect: Effect, call: EffectCall, verdict: boolean | null): EffectOutcome | Promise<EffectOutcome> => {
    if (verdict ?? readsOnly(effect)) {
      if (effect.kind === 'mcp.connect' && effect.args.op === 'open') record(makeEntry(effect, call, true))
      return perform(effect, call)
    }
    record(makeEntry(effect, call, false))
    return pretendOutcome(effect, call)
  }
  return (effect, call) => {
    const verdict = isReadOnly(effect, call)
    return verdict instanceof Promise ? verdict.then((known) => decide(effect, call, known)) : decide(effect, call, verdict)
  }
}

function readsOnly(effect: Effect): boolean {
  const { kind, args } = effect
  switch (kind) {
    // Changes of the run's own folder and environment, and its own end.
    case 'process.set':
      return true
    case 'store.op':
      return args.op === 'get' || args.op === 'list'
    case 'host.tool':
      return args.op === 'list'
    default: {
      const { sideEffect } = EFFECTS[kind]
      return sideEffect === 'none' || sideEffect === 'read_only'
    }
  }
}

function makeEntry(effect: Effect, call: EffectCall, performed: boolean): DryRunEntry {
  return {
    id: call.id,
    kind: effect.kind,
    sideEffect: EFFECTS[effect.kind].sideEffect,
    summary: summarizeEffect(effect),
    args: effect.args,
    performed,
  }
}

/** The answer that lets the script continue as if it had worked. */
function pretendOutcome(effect: Effect, call: EffectCall): EffectOutcome {
  const { kind, args } = effect
  const { sideEffect } = EFFECTS[kind]
  const makeStandIn = (name: string, given: Plain): Plain =>
    makeDryRunResult({ id: formatText(args.call_id) || `effect_${call.id}`, name, args: given, sideEffect })
  switch (kind) {
    case 'tool.call':
      return answered(makeStandIn(formatText(args.tool), args.args ?? null))
    case 'host.call':
      return answered({ handled: true, value: makeStandIn(formatText(args.name), args.params ?? null) })
    case 'host.tool':
      return answered({ attached: true, value: makeStandIn(formatText(args.name), args.args ?? null) })
    case 'mcp.request': {
      const params = (args.params ?? {}) as { readonly [key: string]: Plain }
      return answered(makeStandIn(formatText(params['name']) || formatText(args.method), params['arguments'] ?? params))
    }
    case 'fs.write': {
      const path = args.path ?? ''
      if (args.op === 'delete') return answered({ path, isDir: false })
      return answered(args.to === undefined ? { path } : { path, to: args.to })
    }
    case 'process.exec':
      return answered({ stdout: '', stderr: '', status: 0, timedOut: false, pid: 0 })
    case 'http.request':
      return answered({ status: 200, headers: { 'x-bridle-dry-run': '1' }, body: new Uint8Array(0), bytesWritten: 0 })
    case 'net.stream':
      return answered(args.op === 'http_open' ? { status: 200, headers: { 'x-bridle-dry-run': '1' } } : null)
    case 'store.op':
      return answered(null)
    default:
      return categorizedError('tool_rejected', `${kind} is not carried out in a dry run`)
  }
}

function summarizeEffect(effect: Effect): string {
  const { kind, args } = effect
  switch (kind) {
    case 'tool.call': {
      const via = findIdentity(args.executor) === 'mcp' ? ` of MCP server ${formatText(args.mcp_server)}` : ''
      return `call tool ${formatText(args.tool)}${via}`
    }
    case 'host.call':
      return `call host operation ${formatText(args.name)}`
    case 'host.tool':
      return `call host tool ${formatText(args.name)}`
    case 'mcp.connect':
      return `connect to MCP server ${formatText(args.name)}`
    case 'mcp.request':
      return `call ${formatText((args.params as { readonly name?: Plain } | undefined)?.name ?? args.method)} of MCP server ${formatText(args.name)}`
    case 'fs.write': {
      const { op } = args
      const size = args.data instanceof Uint8Array ? args.data.length : formatText(args.data).length
      if (op === 'write' || op === 'append')
        return `${op === 'write' ? 'write' : 'append to'} file ${formatText(args.path)} (${size} ${args.data instanceof Uint8Array ? 'bytes' : 'characters'})`
      if (op === 'mkdir') return `make folder ${formatText(args.path)}`
      return `${formatText(op)} ${formatText(args.path)}${args.to === undefined ? '' : ` to ${formatText(args.to)}`}`
    }
    case 'process.exec': {
      if (typeof args.shell === 'string') return `run in a shell: ${args.shell}`
      return `run ${[formatText(args.program), ...(Array.isArray(args.args) ? args.args.map(formatText) : [])].join(' ')}`
    }
    case 'http.request':
      return `${formatText(args.method)} ${formatText(args.url)}`
    case 'net.stream':
      return `open ${formatText(args.url ?? args.id)}`
    case 'store.op':
      return `${formatText(args.op)} record ${formatText(args.namespace)}/${formatText(args.key)}`
    default:
      return kind
  }
}

function formatText(value: Plain | undefined): string {
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
