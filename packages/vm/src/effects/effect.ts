// Effects: what a machine asks of the world. An effect is a plain, serialisable record; a provider outside the machine
// carries it out and its outcome comes back as plain data. The table is the closed list of kinds: what each may do to the
// world decides what a dry run performs, what a policy checks and what `bridle` shows a person.

import type { HarnFloat } from '../values/scalars.js'

/** Data at the edge of the machine: JSON plus exact ints, bytes and marked floats. Objects have no prototype or a plain one. */
export type Plain =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint8Array
  | HarnFloat
  | readonly Plain[]
  | { readonly [key: string]: Plain }

export type SideEffect = 'none' | 'read_only' | 'workspace_write' | 'process_exec' | 'network'

interface EffectRow {
  readonly sideEffect: SideEffect
  readonly doc: string
}

/** One row a kind; `area.operation`. Arguments are documented where the effect is issued and at its provider. */
export const EFFECTS = {
  'tool.call': {
    sideEffect: 'network',
    doc: 'one attempt of a tool call by an executor outside the machine (effects/tool-records.ts)',
  },
  'host.call': {
    sideEffect: 'network',
    doc: 'a capability operation of the embedding program: {name, params} → {handled, value}',
  },
  'host.tool': {
    sideEffect: 'network',
    doc: 'tools of the embedding program: {op: list} or {op: call, name, args} → {attached, value}',
  },
  'mcp.connect': { sideEffect: 'process_exec', doc: 'starts or reaches an MCP server: {name, spec}' },
  'mcp.request': { sideEffect: 'network', doc: 'one request to a connected MCP server: {server, method, params}' },
  'mcp.serve': {
    sideEffect: 'none',
    doc: 'the run as an MCP server: {op: offer, …}, {op: next} → a call or nil, {op: reply, id, …}',
  },
  'mcp.client': {
    sideEffect: 'network',
    doc: 'a served script asks the MCP client it works for: {op: facts|request, task, method, params}',
  },
  'clock.now': { sideEffect: 'read_only', doc: 'wall clock, milliseconds since 1970 as float' },
  'clock.monotonic': { sideEffect: 'read_only', doc: 'monotonic clock, milliseconds as float' },
  'clock.zone': { sideEffect: 'read_only', doc: 'local time zone facts: {}' },
  'random.bytes': { sideEffect: 'read_only', doc: '{count} random bytes' },
  'fs.read': { sideEffect: 'read_only', doc: 'file content: {path, encoding: utf8|bytes}' },
  'fs.query': {
    sideEffect: 'read_only',
    doc: 'other reads of the file system: {op: exists|stat|list|glob|walk|realpath, path, …}',
  },
  'fs.write': {
    sideEffect: 'workspace_write',
    doc: 'changes to the file system: {op: write|append|mkdir|delete|copy|move|touch|temp, path, …}',
  },
  'process.exec': { sideEffect: 'process_exec', doc: 'runs a program to its end: {program, args, cwd, env, stdin, timeoutMs}' },
  'process.info': {
    sideEffect: 'read_only',
    doc: 'facts of this process: {op: env|env_all|cwd|platform|arch|hostname|pid|username|home|args|exe|skill}',
  },
  'process.set': { sideEffect: 'process_exec', doc: 'changes of this process: {op: setenv|chdir|exit, …}' },
  'http.request': {
    sideEffect: 'network',
    doc: 'one HTTP exchange, no redirects followed: {method, url, headers, body, timeoutMs}',
  },
  'net.stream': { sideEffect: 'network', doc: 'operations on a streaming connection (SSE, WebSocket, server): {op, …}' },
  'terminal.read': { sideEffect: 'read_only', doc: 'one line or all of standard input: {op: line|all|password|tty}' },
  'terminal.write': { sideEffect: 'none', doc: 'text for standard error: {text}' },
  'store.op': { sideEffect: 'workspace_write', doc: 'key-value persistence: {op, namespace, key, value}' },
  'llm.call': { sideEffect: 'network', doc: 'one model request: {provider, model, messages, …}' },
  'approval.ask': { sideEffect: 'network', doc: 'a question to a person: {kind, payload}' },
  'trace.emit': { sideEffect: 'none', doc: 'a span or event for the trace sink: {name, attributes}' },
  'compress.run': { sideEffect: 'none', doc: 'compression by a host library: {op, data, …}' },
  'data.parse': { sideEffect: 'none', doc: 'parsing or printing by a host library (YAML, TOML, CSV …): {format, op, text}' },
} as const satisfies Record<string, EffectRow>

export type EffectKind = keyof typeof EFFECTS

export interface Effect {
  readonly kind: EffectKind
  readonly args: { readonly [key: string]: Plain }
  /** A variable that a builtin looks up for its own work, and whose value the script does not see. Not kept with a pending effect. */
  readonly own?: true
}

/** How a failed effect reaches the script; `value` is what is thrown for kind `thrown`. */
export interface EffectError {
  readonly kind: 'thrown' | 'runtime' | 'type' | 'categorized'
  readonly message: string
  readonly category?: string
  /** Of tool errors (builtins/tool-errors.ts), where the category says too little; for kind `categorized`. */
  readonly code?: string
  readonly value?: Plain
}

export type EffectOutcome = { readonly ok: true; readonly value: Plain } | { readonly ok: false; readonly error: EffectError }

/** An effect that left the machine and was not answered yet. Ids count from 1 within a run. */
export interface PendingEffect {
  readonly id: number
  readonly task: number
  readonly effect: Effect
}
