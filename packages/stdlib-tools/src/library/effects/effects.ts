// THE table of effects: the closed list of kinds. What each may do to the world decides what a dry run performs, what a policy checks and
// what `bridle` shows a person. What it makes use of – addresses, files, programs, keys – is declared beside it (uses.ts) and judged by one
// gate, so no row is complete without it.

import type { Effect, EffectKind, PlainRecord } from '@bridle/vm/families'
import {
  asksModel,
  asksServer,
  callsHost,
  callsHostTool,
  callsTool,
  changesFiles,
  changesProcess,
  connectsServer,
  nothing,
  processFacts,
  queriesFiles,
  readsFile,
  readsTerminal,
  requests,
  runsProgram,
  streams,
  usesStore,
} from './uses.js'
import type { Use, UsesOf } from './uses.js'

export type SideEffect = 'none' | 'read_only' | 'workspace_write' | 'process_exec' | 'network'

interface EffectRow {
  readonly sideEffect: SideEffect
  /** Whether the host must have granted the power: not for what it has defined itself, nor for what belongs to the run. */
  readonly needsGrant: boolean
  readonly doc: string
  /** What the effect makes use of; each use is judged. */
  readonly uses: UsesOf
}

/** One row a kind; `area.operation`. Arguments are documented where the effect is issued and at its provider. */
export const EFFECTS = {
  'tool.call': {
    sideEffect: 'network',
    needsGrant: false,
    doc: 'one attempt of a tool call by an executor outside the machine (tool-records.ts)',
    uses: callsTool,
  },
  'host.call': {
    sideEffect: 'network',
    needsGrant: false,
    doc: 'a capability operation of the embedding program: {name, params} → {handled, value}',
    uses: callsHost,
  },
  'host.tool': {
    sideEffect: 'network',
    needsGrant: false,
    doc: 'tools of the embedding program: {op: list} or {op: call, name, args} → {attached, value}',
    uses: callsHostTool,
  },
  'mcp.connect': {
    sideEffect: 'process_exec',
    needsGrant: true,
    doc: 'starts or reaches an MCP server: {name, spec}',
    uses: connectsServer,
  },
  'mcp.request': {
    sideEffect: 'network',
    needsGrant: true,
    doc: 'one request to a connected MCP server: {server, method, params}',
    uses: asksServer,
  },
  'mcp.serve': {
    sideEffect: 'none',
    needsGrant: true,
    doc: 'the run as an MCP server: {op: offer, …}, {op: next} → a call or nil, {op: reply, id, …}',
    uses: nothing,
  },
  'mcp.client': {
    sideEffect: 'network',
    needsGrant: true,
    doc: 'a served script asks the MCP client it works for: {op: facts|request, task, method, params}',
    uses: nothing,
  },
  'clock.now': { sideEffect: 'read_only', needsGrant: false, doc: 'wall clock, milliseconds since 1970 as float', uses: nothing },
  'clock.monotonic': { sideEffect: 'read_only', needsGrant: false, doc: 'monotonic clock, milliseconds as float', uses: nothing },
  'clock.zone': { sideEffect: 'read_only', needsGrant: false, doc: 'local time zone facts: {}', uses: nothing },
  'random.bytes': { sideEffect: 'read_only', needsGrant: false, doc: '{count} random bytes', uses: nothing },
  'fs.read': { sideEffect: 'read_only', needsGrant: true, doc: 'file content: {path, encoding: utf8|bytes}', uses: readsFile },
  'fs.query': {
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'other reads of the file system: {op: exists|stat|list|glob|walk|realpath, path, …}',
    uses: queriesFiles,
  },
  'fs.write': {
    sideEffect: 'workspace_write',
    needsGrant: true,
    doc: 'changes to the file system: {op: write|append|mkdir|delete|copy|move|touch|temp, path, …}',
    uses: changesFiles,
  },
  'process.exec': {
    sideEffect: 'process_exec',
    needsGrant: true,
    doc: 'runs a program to its end: {program, args, cwd, env, stdin, timeoutMs}',
    uses: runsProgram,
  },
  'process.info': {
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'facts of this process: {op: env|env_all|cwd|platform|arch|hostname|pid|username|home|args|exe|skill}',
    uses: processFacts,
  },
  'process.set': {
    sideEffect: 'process_exec',
    needsGrant: true,
    doc: 'changes of this process: {op: setenv|chdir|exit, …}',
    uses: changesProcess,
  },
  'http.request': {
    sideEffect: 'network',
    needsGrant: true,
    doc: 'one HTTP exchange, no redirects followed: {method, url, headers, body, timeoutMs}',
    uses: requests,
  },
  'net.stream': {
    sideEffect: 'network',
    needsGrant: true,
    doc: 'operations on a streaming connection (SSE, WebSocket, server): {op, …}',
    uses: streams,
  },
  'terminal.read': {
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'one line or all of standard input: {op: line|all|password|tty}',
    uses: readsTerminal,
  },
  'terminal.write': { sideEffect: 'none', needsGrant: false, doc: 'text for standard error: {text}', uses: nothing },
  'store.op': {
    sideEffect: 'workspace_write',
    needsGrant: true,
    doc: 'key-value persistence: {op, namespace, key, value}',
    uses: usesStore,
  },
  'llm.call': {
    sideEffect: 'network',
    needsGrant: true,
    doc: 'one model request: {provider, model, messages, …}',
    uses: asksModel,
  },
  'approval.ask': { sideEffect: 'network', needsGrant: true, doc: 'a question to a person: {kind, payload}', uses: nothing },
  'trace.emit': {
    sideEffect: 'none',
    needsGrant: false,
    doc: 'a span or event for the trace sink: {name, attributes}',
    uses: nothing,
  },
  'compress.run': { sideEffect: 'none', needsGrant: false, doc: 'compression by a host library: {op, data, …}', uses: nothing },
  'data.parse': {
    sideEffect: 'none',
    needsGrant: false,
    doc: 'parsing or printing by a host library (YAML, TOML, CSV …): {format, op, text}',
    uses: nothing,
  },
} as const satisfies Record<EffectKind, EffectRow>

/** What an effect makes use of, by its row. */
export function usesOf({ kind, args }: Pick<Effect, 'kind' | 'args'>): readonly Use[] {
  return EFFECTS[kind].uses(args)
}

/** The effect with further arguments. They belong to its kind: that is for the caller to know. */
export function withArguments<E extends Effect>(effect: E, more: PlainRecord): E {
  return { ...effect, args: { ...effect.args, ...more } }
}

/** An effect of data: of a journal, of a caller without types. The provider of its kind looks at what it is given. */
export function effectOfData(kind: EffectKind, args: PlainRecord): Effect {
  return { kind, args } as Effect
}

/** Whether there is such a kind of effect. */
export function isEffectKind(name: string): name is EffectKind {
  return Object.hasOwn(EFFECTS, name)
}
