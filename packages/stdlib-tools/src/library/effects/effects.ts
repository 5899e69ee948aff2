// THE table of effects: the closed list of kinds. What each may do to the world decides what a dry run performs, what a policy checks and
// what `bridle` shows a person. What it makes use of – addresses, files, programs, keys – is declared beside it (uses.ts) and judged by one
// gate, so no row is complete without it.

import type { Effect, EffectKind, PlainRecord } from '@bridle/vm/families'
import { TARGET_KEYS } from '@bridle/compiler/grants'
import type { TargetKey } from '@bridle/compiler/grants'
import {
  args,
  byOp,
  bytes,
  content,
  data,
  dictOf,
  either,
  flag,
  listOf,
  nullable,
  number,
  oneOf,
  optional,
  record,
  recordOf,
  text,
} from './shapes.js'
import type { ArgsShape, Shape, TypeOfArgs } from './shapes.js'
import {
  asksModel,
  asksServer,
  useHost,
  useHostTool,
  useTool,
  changesFiles,
  changesProcess,
  connectsServer,
  useNothing,
  useProcessFacts,
  useFileQueries,
  readsFile,
  readsTerminal,
  useRequests,
  runsProgram,
  useStreams,
  usesStore,
} from './uses.js'
import type { Use, UsesOf } from './uses.js'

/** Least first, as policies rank them. */
export const SIDE_EFFECTS = ['none', 'read_only', 'workspace_write', 'process_exec', 'network'] as const
export type SideEffect = (typeof SIDE_EFFECTS)[number]

interface EffectRow {
  /** What it carries. */
  readonly args: ArgsShape<unknown>
  readonly sideEffect: SideEffect
  /** Whether the host must have granted the power: not for what it has defined itself, nor for what belongs to the run. */
  readonly needsGrant: boolean
  readonly doc: string
  /** What the effect makes use of; each use is judged. */
  readonly uses: UsesOf
}

/**
 * Where a call of a tool goes, by the table of executors: `host_capability`, a bridge identifier such as `interaction.ask`, null for a tool
 * that the embedding program knows by its name; or `mcp_server`, the name of a configured server, with `mcp_tool`, the name that it knows
 * the tool by; null for the others.
 */
const TARGET = Object.fromEntries(TARGET_KEYS.map((key) => [key, nullable(text)])) as {
  readonly [Key in TargetKey]: Shape<string | null>
}

/** A client of an MCP server, by its number and the name of the server. */
const CLIENT = { client: number, name: text }

/** What a served script asks the client of: `task` says on whose behalf. */
const ASKED_CLIENT = { task: text, method: text, params: data }

const STREAM: Shape<{ readonly op: 'open' | 'close' } | { readonly op: 'next'; readonly index: number; readonly most: number }> =
  either(dictOf({ op: oneOf('open', 'close') }), dictOf({ op: oneOf('next'), index: number, most: number }))

const PROXY = dictOf({ url: text, noProxy: nullable(text), user: nullable(text), password: nullable(text) })

/** Paths, and digests in base64 or hex. */
const TLS = dictOf({
  caBundlePath: nullable(text),
  clientCertPath: nullable(text),
  clientKeyPath: nullable(text),
  clientIdentityPath: nullable(text),
  pinnedSha256: listOf(text),
})

/** Headers that the host fills in, by name: its own secret, and what stands in front of it. */
const SECRETS = recordOf(
  dictOf({
    secret: text,
    prefix: text,
    /** The user that it is the password of (RFC 7617); the value is not sent as it is then. */
    user: optional(text),
  }),
)

const REQUEST = {
  method: text,
  url: text,
  headers: recordOf(text),
  body: nullable(content),
  /** The body goes to that file (relative to the execution root). */
  saveTo: nullable(text),
  /** Total, connection and idle limits; null means the provider's default (30 s total). */
  timeoutMs: nullable(number),
  connectTimeoutMs: nullable(number),
  readTimeoutMs: nullable(number),
  proxy: nullable(PROXY),
  tls: nullable(TLS),
  /** Whether gzip, deflate and brotli bodies are unpacked. */
  decompress: flag,
  secrets: optional(SECRETS),
}

const COMPRESSION = { data: bytes, level: number }

/** One row a kind; `area.operation`. */
export const EFFECTS = {
  'tool.call': {
    args: args(() => ({
      /** A name of the table of executors (tools/executors); the provider refuses another. */
      executor: text,
      tool: text,
      /** Key of what the call comes down to, as it was judged (tools/dispatch/identity.ts). */
      identity: text,
      ...TARGET,
      args: data,
      /** This and `idempotency_key` stay the same over attempts. */
      call_id: text,
      /** Counts from 1. */
      attempt: number,
      /** The first attempt and every retry that its policy allows. */
      max_attempts: number,
      idempotency_key: text,
      /** SHA-256 of the sorted JSON of `args`, hex; empty in a run whose effects are neither recorded nor observed. */
      arg_hash: text,
      timeout_ms: nullable(number),
      /** Grants that the call passed, outermost first; for executors that continue to other addresses or paths. Absent without any. */
      grants: optional(data),
      /** Names of arguments that are redacted in records. */
      secrets: optional(listOf(text)),
      /** The request of a streaming call (tools/dispatch/streams.ts). */
      stream: optional(STREAM),
      /** Of the trace that the call belongs to (host/trace/propagate.ts). */
      meta: optional(record),
    })),
    sideEffect: 'network',
    needsGrant: false,
    doc: 'one attempt of a tool call by an executor outside the machine (tool-records.ts)',
    uses: useTool,
  },
  'host.call': {
    args: args(() => ({ name: text, capability: text, operation: text, params: data, identity: optional(text) })),
    sideEffect: 'network',
    needsGrant: false,
    doc: 'a capability operation of the embedding program: {name, params} → {handled, value}',
    uses: useHost,
  },
  'host.tool': {
    args: byOp({ list: {}, call: { name: text, args: data } }, { identity: optional(text) }),
    sideEffect: 'network',
    needsGrant: false,
    doc: 'tools of the embedding program: {op: list} or {op: call, name, args} → {attached, value}',
    uses: useHostTool,
  },
  'mcp.connect': {
    args: byOp({
      open: { ...CLIENT, spec: record },
      close: CLIENT,
      release: CLIENT,
      /** What the server said to have changed since it was last asked. */
      updates: CLIENT,
      /** Of all declared servers. */
      status: {},
    }),
    sideEffect: 'process_exec',
    needsGrant: true,
    doc: 'starts or reaches an MCP server: {name, spec}',
    uses: connectsServer,
  },
  'mcp.request': {
    args: args(() => ({ ...CLIENT, spec: record, method: text, params: record, identity: optional(text) })),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'one request to a connected MCP server: {server, method, params}',
    uses: asksServer,
  },
  'mcp.serve': {
    args: byOp({
      offer: { tools: listOf(record), resources: listOf(record), templates: listOf(record), prompts: listOf(record) },
      next: {},
      reply: { call: number, ok: flag, result: optional(data), message: optional(text) },
    }),
    sideEffect: 'none',
    needsGrant: true,
    doc: 'the run as an MCP server: {op: offer, …}, {op: next} → a call or nil, {op: reply, id, …}',
    uses: useNothing,
  },
  'mcp.client': {
    args: byOp({ facts: ASKED_CLIENT, request: ASKED_CLIENT }),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'a served script asks the MCP client it works for: {op: facts|request, task, method, params}',
    uses: useNothing,
  },
  'clock.now': {
    args: args(() => ({})),
    sideEffect: 'read_only',
    needsGrant: false,
    doc: 'wall clock, milliseconds since 1970 as float',
    uses: useNothing,
  },
  'clock.monotonic': {
    args: args(() => ({})),
    sideEffect: 'read_only',
    needsGrant: false,
    doc: 'monotonic clock, milliseconds as float',
    uses: useNothing,
  },
  'clock.zone': {
    args: args(() => ({})),
    sideEffect: 'read_only',
    needsGrant: false,
    doc: 'local time zone facts: {}',
    uses: useNothing,
  },
  'random.bytes': {
    args: args(() => ({ count: number })),
    sideEffect: 'read_only',
    needsGrant: false,
    doc: '{count} random bytes',
    uses: useNothing,
  },
  'fs.read': {
    args: args(() => ({ path: text, encoding: oneOf('utf8', 'bytes') })),
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'file content: {path, encoding: utf8|bytes}',
    uses: readsFile,
  },
  'fs.query': {
    args: byOp({
      exists: { path: text },
      /** With `ownLink` facts of a symbolic link itself, which is neither a file nor a directory. */
      stat: { path: text, ownLink: optional(flag) },
      list: { path: text },
      /**
       * The root (depth 0) and everything below it. `maxDepth: null` is no limit. With `followSymlinks` a cycle is entered once.
       */
      walk: { path: text, maxDepth: nullable(number), followSymlinks: flag },
      /** The absolute form of `path` by text alone; `.` and `..` resolved. */
      resolve: { path: text },
      /** The nearest directory from `path` upwards that holds an entry `name`. */
      find_up: { path: text, name: text },
    }),
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'other reads of the file system: {op: exists|stat|list|glob|walk|realpath, path, …}',
    uses: useFileQueries,
  },
  'fs.write': {
    args: byOp({
      /**
       * Replaces or creates; the parent must exist. With `whole` readers never see partial content, even if the writer dies.
       * With `expected`, the SHA-256 of the content that the caller read (lower-case hex, null when there was no file), nothing is
       * written over another content: that is `Refused` with the code `ECHANGED`. A provider that does not know it overwrites.
       */
      write: { path: text, data: content, whole: optional(flag), expected: optional(nullable(text)) },
      /** With `ownLine` a line break comes first when the file ends within a line. */
      append: { path: text, data: content, ownLine: optional(flag) },
      /** With parents; an existing directory is fine. */
      mkdir: { path: text },
      /** A directory goes with its content. */
      delete: { path: text },
      /** Copies one file. */
      copy: { path: text, to: text },
      /** Renames, and across devices copies and deletes. */
      move: { path: text, to: text },
    }),
    sideEffect: 'workspace_write',
    needsGrant: true,
    doc: 'changes to the file system: {op: write|append|mkdir|delete|copy|move|touch|temp, path, …}',
    uses: changesFiles,
  },
  'process.exec': {
    args: args(() => ({
      program: nullable(text),
      args: listOf(text),
      /**
       * When it is set, program and args are unused, and the text goes to the default shell as `<shell> -c text`. The default shell is
       * the first that exists of HARN_DEFAULT_SHELL, SHELL, the login shell, those of /etc/shells, /bin/zsh, /bin/bash, /bin/sh.
       */
      shell: nullable(text),
      /** Null is the execution root; a relative one is under it. */
      cwd: nullable(text),
      /** Null inherits, else these are added. */
      env: nullable(recordOf(text)),
      /** True: the program gets `env` only, nothing is inherited. */
      clearEnv: optional(flag),
      /** Null is closed. */
      stdin: nullable(content),
      /** Null is no limit; a program that runs out of time is killed with its children. */
      timeoutMs: nullable(number),
      /** A grant said which program may be started: it is looked for where the host's own PATH says. */
      judged: optional(flag),
    })),
    sideEffect: 'process_exec',
    needsGrant: true,
    doc: 'runs a program to its end: {program, args, cwd, env, stdin, timeoutMs}',
    uses: runsProgram,
  },
  'process.info': {
    args: byOp({
      env: { name: text },
      /** Whether a variable is set and not empty; secrets of the host count. */
      env_set: { name: text },
      /** All variables but those whose names look like secrets. */
      env_all: {},
      /** The execution root. */
      cwd: {},
      platform: {},
      arch: {},
      hostname: {},
      username: {},
      home: {},
      /** System temporary directory. */
      temp: {},
      exe: {},
      pid: {},
      /** Shells by absolute path, and the one that commands run in. */
      shells: {},
      /** The whole of a skill that the host keeps, by id or name. */
      skill: { name: text },
      /** Arguments of the script. */
      args: {},
    }),
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'facts of this process: {op: env|env_all|cwd|platform|arch|hostname|pid|username|home|args|exe|skill}',
    uses: useProcessFacts,
  },
  'process.set': {
    args: byOp({
      /** Never answered: the run ends with that status (0…255). */
      exit: { code: number },
      setenv: { name: text, value: nullable(text) },
      chdir: { path: text },
    }),
    sideEffect: 'process_exec',
    needsGrant: true,
    doc: 'changes of this process: {op: setenv|chdir|exit, …}',
    uses: changesProcess,
  },
  'http.request': {
    args: args(() => REQUEST),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'one HTTP exchange, no redirects followed: {method, url, headers, body, timeoutMs}',
    uses: useRequests,
  },
  'net.stream': {
    args: byOp({
      /** Response bodies that are read in pieces. `id` is chosen by the builtin. */
      http_open: { ...REQUEST, id: text },
      /** At most `maxBytes`; nil at the end. After `timeoutMs` a dict says so. */
      http_read: { id: text, maxBytes: number, timeoutMs: optional(number) },
      http_close: { id: text },
      ws_connect: { url: text, headers: recordOf(text), timeoutMs: number, maxBytes: number, secrets: optional(SECRETS) },
      ws_send: { key: nullable(text), type: text, data: content, code: data, reason: data },
      ws_receive: { key: text, after: number, timeoutMs: number },
      ws_close: { key: text },
      ws_listen: { host: text, port: number },
      ws_route: { key: text, path: text, bearer: nullable(text), maxBytes: number, idleMs: number },
      ws_accept: { key: text, timeoutMs: number },
      ws_unlisten: { key: text },
    }),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'operations on a streaming connection (SSE, WebSocket, server): {op, …}',
    uses: useStreams,
  },
  'terminal.read': {
    args: byOp({
      /** The next line of standard input without its line end, nil at the end. */
      line: {},
      all: {},
      /** Like `line`, without echo. */
      password: {},
      tty: { stream: oneOf('stdin', 'stdout', 'stderr') },
    }),
    sideEffect: 'read_only',
    needsGrant: true,
    doc: 'one line or all of standard input: {op: line|all|password|tty}',
    uses: readsTerminal,
  },
  'terminal.write': {
    args: args(() => ({ text })),
    sideEffect: 'none',
    needsGrant: false,
    doc: 'text for standard error: {text}',
    uses: useNothing,
  },
  'store.op': {
    args: byOp({
      get: { namespace: text, key: text },
      set: { namespace: text, key: text, value: data },
      delete: { namespace: text, key: text },
      list: { namespace: text },
      clear: { namespace: text },
    }),
    sideEffect: 'workspace_write',
    needsGrant: true,
    doc: 'key-value persistence: {op, namespace, key, value}',
    uses: usesStore,
  },
  'llm.call': {
    args: args(() => ({
      /** None asks for an answer to `messages`. */
      op: optional(oneOf('embed', 'healthcheck', 'next', 'close')),
      provider: text,
      model: optional(nullable(text)),
      /** Neither the script nor the environment named it: a host with a model of its own may take that. */
      unnamed: optional(flag),
      // How the provider is reached, by the table of providers …
      base_url: optional(nullable(text)),
      base_url_env: optional(nullable(text)),
      base_url_envs: optional(listOf(text)),
      chat_endpoint: optional(nullable(text)),
      auth_style: optional(text),
      auth_header: optional(nullable(text)),
      auth_envs: optional(listOf(text)),
      extra_headers: optional(recordOf(text)),
      // … and by the script that registered it.
      config: optional(nullable(record)),
      /** Addresses that a key of the script's choice belongs to, by the name of its variable. */
      key_origins: optional(recordOf(listOf(text))),
      known_providers: optional(listOf(text)),
      // What is asked.
      system: optional(nullable(text)),
      messages: optional(listOf(data)),
      tools: optional(listOf(data)),
      tool_choice: optional(data),
      max_tokens: optional(nullable(number)),
      temperature: optional(data),
      settings: optional(record),
      thinking: optional(data),
      /** Facts about the model: ModelFacts of agents/models/services.ts. */
      model_facts: optional(record),
      cache: optional(flag),
      output: optional(record),
      /** The text that becomes a vector, for `embed`. */
      input: optional(text),
      /** Whether a model is loaded too, for `healthcheck`. */
      warm: optional(flag),
      /** The answer is to come in pieces under this name; `next` asks for more of them, `close` for no more. */
      stream: optional(text),
      /** How many were delivered, for `next`. */
      index: optional(number),
      /** How many are wanted at most. */
      most: optional(number),
    })),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'one model request: {provider, model, messages, …}',
    uses: asksModel,
  },
  'approval.ask': {
    args: args(() => ({ kind: text, payload: data, secrets: optional(listOf(text)) })),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'a question to a person: {kind, payload}',
    uses: useNothing,
  },
  'event_log.op': {
    args: byOp({
      /**
       * The id within the topic; nil if the last id of the topic differs from `expected`, and if the id is not requested. An effect
       * that is repeated appends nothing.
       */
      append: {
        topic: text,
        kind: text,
        payload: data,
        headers: recordOf(text),
        at_ms: number,
        wants_id: flag,
        expected: nullable(number),
      },
      /** Events behind the id `after`, of one kind and of one event id in their headers where these are said; the `last` of them. */
      read: { topic: text, after: number, last: nullable(number), kind: nullable(text), event_id: nullable(text) },
      /** State that dispatches share: {value, version}. */
      get: { table: text, key: text },
      /** True if it was stored; false if the version changed meanwhile. */
      put: { table: text, key: text, value: data, version: number },
      /** Waits for a place of flow control, and gives it back (docs/language/triggers.md). */
      enter: { gate: text, rule: text, limits: record, dispatch: text, rank: number, event: data },
      leave: { gate: text, rule: text, dispatch: text },
    }),
    sideEffect: 'none',
    needsGrant: false,
    doc: 'the event log of a host that keeps one, and what dispatches share: {op: append|read|get|put|enter|leave, …}',
    uses: useNothing,
  },
  'durable.op': {
    args: byOp({
      key: { name: text },
      await_event: { event: text, timeout_ms: nullable(number) },
      await_signal: { name: text, ordinal: number, timeout_ms: nullable(number) },
      await_run: { run: text, timeout_ms: nullable(number) },
      publish: { name: text, value: data },
      emit: { type: text, payload: data },
      again: { input: data, taken: recordOf(number) },
      await_cancel: {},
      hold_cancel: {},
    }),
    sideEffect: 'none',
    needsGrant: false,
    doc: 'what a durable run asks of whoever keeps it: {op: key|await_event|await_signal|await_run|publish|emit|again|…}',
    uses: useNothing,
  },
  'runs.op': {
    args: byOp({
      start: { run: text, pipeline: text, input: data, on_parent_end: oneOf('cancel', 'abandon') },
      signal: { run: text, name: text, value: data },
      cancel: { run: text, reason: text },
      query: { run: text, name: text },
      look: { run: text },
    }),
    sideEffect: 'network',
    needsGrant: true,
    doc: 'other runs of the same store: {op: start|signal|cancel|query, run, …}',
    uses: useNothing,
  },
  'trace.emit': {
    args: args(() => ({ name: text, attributes: record })),
    sideEffect: 'none',
    needsGrant: false,
    doc: 'a span or event for the trace sink: {name, attributes}',
    uses: useNothing,
  },
  'compress.run': {
    args: byOp({ brotli_encode: COMPRESSION, brotli_decode: COMPRESSION }),
    sideEffect: 'none',
    needsGrant: false,
    doc: 'compression by a host library: {op, data, …}',
    uses: useNothing,
  },
  'data.parse': {
    args: args(() => ({ format: text, op: text, text })),
    sideEffect: 'none',
    needsGrant: false,
    doc: 'parsing or printing by a host library (YAML, TOML, CSV …): {format, op, text}',
    uses: useNothing,
  },
} as const satisfies { readonly [kind: string]: EffectRow }

/** What each kind carries, by its row. */
type ArgsByKind = {
  readonly [Kind in Exclude<keyof typeof EFFECTS, 'random.bytes'>]: TypeOfArgs<(typeof EFFECTS)[Kind]['args']>
}

declare module '@bridle/vm/families' {
  // The union `Effect` of the machine is made of these; it knows `random.bytes` itself.
  interface EffectArgs extends ArgsByKind {}
}

/** What an effect makes use of, by its row. */
export function listUses({ kind, args }: Pick<Effect, 'kind' | 'args'>): readonly Use[] {
  return EFFECTS[kind].uses(args)
}

/** The effect with further arguments. They belong to its kind: that is for the caller to know. */
export function withArguments<E extends Effect>(effect: E, more: PlainRecord): E {
  return { ...effect, args: { ...effect.args, ...more } }
}

/**
 * What is wrong with an effect that comes as data, null when it is one. Internal modules in Harn ask without types, and a snapshot may be
 * of another version; what TypeScript asks was checked by its types. Judges and providers rely on this.
 */
export function effectProblem({ kind, args }: { readonly kind: string; readonly args: PlainRecord }): string | null {
  if (!isEffectKind(kind)) return `unknown kind of effect ${JSON.stringify(kind)}`
  const problem = EFFECTS[kind].args.problem(args)
  return problem === null ? null : `${kind}: ${problem}`
}

/** Whether there is such a kind of effect. */
export function isEffectKind(name: string): name is EffectKind {
  return Object.hasOwn(EFFECTS, name)
}
