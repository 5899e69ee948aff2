// The machine's side of `bridle serve mcp`. `__mcp_serve` offers what the script registered and then takes one
// call after another from the host, each in its own task, until the host says that it is over; it runs as the epilogue
// of the script, so that handlers see everything the script set up. `__mcp_invoke` calls one exported function.
//
// Effects `mcp.serve` (answered by server-registered.ts):
//   {op: offer, tools, resources, templates, prompts}        → nil; again whenever a handler registered something
//   {op: next}                                               → {call, what, at, args} | {cancel} | nil, the end
//   {op: reply, call, ok: true, result} or {…, ok: false, message}   → nil
// `what` is tool, template, prompt or complete, `at` its place in the offer. What handlers ask of the client that they work
// for goes another way (serving.ts).

import {
  HarnBuiltin,
  HarnBytes,
  HarnClosure,
  HarnDict,
  HarnList,
  HarnStruct,
  builtin,
  display,
  family,
  frame,
  stringifyJson,
  toPlain,
  typeName,
  lookup,
} from '@bridle/vm'
import { makeHints } from './hints.js'
import type { BuiltinFamily, Context, Plain, PlainRecord, Result, Value } from '@bridle/vm'
import { mcpState } from './mcp.js'

interface ServeState {
  [key: string]: unknown
  stage: 'offer' | 'next' | 'asked'
  /** Tasks of calls that were not seen to end yet, by call. */
  readonly tasks: Map<number, number>
}

/** How many registrations the last offer had seen. */
const offered = family<{ version: number }>('mcp_serve', () => ({ version: 0 }))

const readField = (value: Value | undefined, key: string): Value => (value instanceof HarnDict ? (value.get(key) ?? null) : null)

function pickTextFields(from: HarnDict, names: Readonly<Record<string, string>>): { [key: string]: Plain } {
  const out: { [key: string]: Plain } = {}
  for (const [name, key] of Object.entries(names)) {
    const value = from.get(key) ?? null
    if (value !== null) out[name] = display(value)
  }
  return out
}

// ------------------------------------------------------------------------------------------------------------- the offer

const JSON_TYPES: Readonly<Record<string, string>> = lookup({
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  list: 'array',
  dict: 'object',
  nil: 'null',
})

/** Clients hold input schemas against JSON Schema, so the language's own names of types are translated. */
function toJsonType(type: string): string {
  return JSON_TYPES[type] ?? type
}

const OWN_KEYS: ReadonlySet<string> = new Set(['type', 'description', 'required'])

function makeInputSchema(parameters: Value): Plain {
  if (!(parameters instanceof HarnDict)) return { type: 'object', properties: {} }
  if (parameters.get('type') === 'object' && parameters.get('properties') instanceof HarnDict) return toPlain(parameters)
  const properties: { [key: string]: Plain } = Object.create(null) as { [key: string]: Plain }
  const required: string[] = []
  for (const name of parameters.keys()) {
    const spec = parameters.get(name)!
    if (spec instanceof HarnDict) {
      const type = spec.get('type')
      const description = spec.get('description') ?? null
      // Its other keys (`default`, `enum`, `items` …) are already JSON Schema.
      const rest = toPlain(spec) as { readonly [key: string]: Plain }
      properties[name] = {
        ...Object.fromEntries(Object.entries(rest).filter(([key]) => !OWN_KEYS.has(key))),
        ...(typeof type === 'string' ? { type: toJsonType(type) } : {}),
        ...(description === null ? {} : { description: display(description) }),
      }
      if (spec.get('required') === true) required.push(name)
    } else properties[name] = typeof spec === 'string' ? { type: toJsonType(spec) } : {}
  }
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
}

function readAnnotations(value: Value): Plain {
  return value instanceof HarnDict ? makeHints(Object.fromEntries(value.entries())) : null
}

function makeToolOffer(entry: HarnDict): { readonly [key: string]: Plain } {
  const returns = entry.get('outputSchema') ?? null
  const output = entry.get('output_schema') ?? (readField(returns, 'type') === 'object' ? returns : null)
  const task = entry.get('task') ?? null
  const annotations = readAnnotations(entry.get('annotations') ?? null)
  const title = entry.get('title') ?? null
  return {
    name: display(entry.get('name') ?? null),
    description: display(entry.get('description') ?? ''),
    inputSchema: makeInputSchema(entry.get('parameters') ?? null),
    ...(title === null ? {} : { title: display(title) }),
    ...(output instanceof HarnDict ? { outputSchema: toPlain(output) } : {}),
    ...(annotations === null ? {} : { annotations }),
    ...(task === null ? {} : { task: display(task) }),
  }
}

function listTools(registry: Value): readonly HarnDict[] {
  const tools = readField(registry, 'tools')
  return tools instanceof HarnList ? tools.view().filter((entry): entry is HarnDict => entry instanceof HarnDict) : []
}

function offer(ctx: Context): Result {
  const { registry, resources, templates, prompts, version } = ctx.state(mcpState).served
  const tools = listTools(registry)
  const without = tools.find((entry) => !(entry.get('handler') instanceof HarnClosure))
  if (without !== undefined)
    return ctx.runtime(`mcp_tools: tool '${display(without.get('name') ?? null)}' has no handler closure`)
  ctx.state(offered).version = version
  const named = { name: 'name', title: 'title', description: 'description' }
  return ctx.request({
    kind: 'mcp.serve',
    args: {
      op: 'offer',
      tools: tools.map(makeToolOffer),
      resources: resources.map((each) => ({
        ...pickTextFields(each as HarnDict, { uri: 'uri', ...named, mimeType: 'mime_type' }),
        ...makeResourceContent((each as HarnDict).get('text') ?? (each as HarnDict).get('blob') ?? null),
        ...((each as HarnDict).get('subscribe') === true ? { subscribe: true } : {}),
      })),
      templates: templates.map((each) => ({
        ...pickTextFields(each as HarnDict, { uriTemplate: 'uri_template', ...named, mimeType: 'mime_type' }),
        ...listCompletions((each as HarnDict).get('complete') ?? null),
      })),
      prompts: prompts.map((each) => makePromptOffer(each as HarnDict)),
    },
  })
}

function makePromptOffer(prompt: HarnDict): PlainRecord {
  const given = prompt.get('arguments')
  const list = given instanceof HarnList ? given.view().filter((each): each is HarnDict => each instanceof HarnDict) : []
  const args = list.map((each) => ({
    ...pickTextFields(each, { name: 'name', description: 'description' }),
    required: each.get('required') === true,
  }))
  return {
    ...pickTextFields(prompt, { name: 'name', title: 'title', description: 'description' }),
    ...(args.length === 0 ? {} : { arguments: args }),
    ...listCompletions(readCompleters(prompt)),
  }
}

/** Bytes are a binary content, which the protocol carries as base64; a text that stands under `blob` is base64 already. */
function makeResourceContent(value: Value): { readonly [key: string]: Plain } {
  return value instanceof HarnBytes ? { blob: Buffer.from(value.data).toString('base64') } : { text: display(value) }
}

/** By name of the argument: what completes it, a list of texts or a closure. */
function readCompleters(entry: HarnDict): HarnDict {
  const given = entry.get('arguments')
  const out = new HarnDict()
  if (!(given instanceof HarnList)) return entry.get('complete') instanceof HarnDict ? (entry.get('complete') as HarnDict) : out
  for (const each of given.view()) {
    const complete = readField(each, 'complete')
    if (complete !== null) out.set(display(readField(each, 'name')), complete)
  }
  return out
}

function listCompletions(completers: Value): { readonly [key: string]: Plain } {
  if (!(completers instanceof HarnDict)) return {}
  const complete: { [key: string]: Plain } = Object.create(null) as { [key: string]: Plain }
  for (const name of completers.keys()) {
    const given = completers.get(name)!
    if (given instanceof HarnList) complete[name] = given.view().map((each) => display(each))
    else if (given instanceof HarnClosure) complete[name] = true
  }
  return Object.keys(complete).length === 0 ? {} : { complete }
}

function hasChanged(ctx: Context): boolean {
  return ctx.state(mcpState).served.version !== ctx.state(offered).version
}

// -------------------------------------------------------------------------------------------------------------- the loop

const serveFrame = frame<ServeState>({
  kind: 'mcp.serve',
  step(ctx, state) {
    switch (state.stage) {
      case 'offer':
        state.stage = 'next'
        return offer(ctx)
      case 'next':
        state.stage = 'asked'
        return ctx.request({ kind: 'mcp.serve', args: { op: 'next' } })
      case 'asked': {
        const asked = ctx.result
        sweep(ctx, state)
        if (asked === null) return null
        const cancelled = readField(asked, 'cancel')
        if (cancelled !== null) cancelCall(ctx, state, Number(cancelled))
        else startCall(ctx, state, asked as HarnDict)
        state.stage = 'asked'
        return ctx.request({ kind: 'mcp.serve', args: { op: 'next' } })
      }
    }
  },
  onLeave: (ctx, state) => {
    for (const task of state.tasks.values()) ctx.machine.abortTask(task)
  },
})

/** Forgets tasks that ended; a server runs long. */
function sweep(ctx: Context, state: ServeState): void {
  for (const [call, task] of state.tasks) {
    if (ctx.machine.taskOutcome(task).kind === 'running') continue
    ctx.machine.forgetTask(task)
    state.tasks.delete(call)
  }
}

function cancelCall(ctx: Context, state: ServeState, call: number): void {
  const task = state.tasks.get(call)
  if (task !== undefined) ctx.machine.abortTask(task)
}

function startCall(ctx: Context, state: ServeState, asked: HarnDict): void {
  const call = Number(asked.get('call'))
  const what = display(asked.get('what') ?? null)
  const { registry, templates, prompts } = ctx.state(mcpState).served
  const args = asked.get('args') ?? null
  const kind = what === 'complete' ? display(readField(args, 'kind')) : what
  const list: readonly Value[] = kind === 'tool' ? listTools(registry) : kind === 'template' ? templates : prompts
  const entry = list[Number(asked.get('at'))] ?? null
  const task = ctx.machine.spawn(
    new HarnBuiltin('__mcp_serve_call'),
    [call, what, entry, args instanceof HarnDict ? args : new HarnDict()],
    {
      name: 'mcp',
      taskId: `${ctx.machine.task().taskId}:mcp:${call}`,
    },
  )
  state.tasks.set(call, task)
}

// -------------------------------------------------------------------------------------------------------------- one call

/** What came of a call of a client. */
type Outcome = { readonly ok: true; readonly result: Plain } | { readonly ok: false; readonly message: string }

interface CallState {
  [key: string]: unknown
  stage: 'start' | 'called' | 'replied' | 'offered'
  readonly call: number
  readonly what: string
  readonly entry: Value
  readonly args: Value
}

const callFrame = frame<CallState>({
  kind: 'mcp.serve_call',
  step(ctx, state) {
    switch (state.stage) {
      case 'start':
        state.stage = 'called'
        if (state.what !== 'complete') return ctx.call(readField(state.entry as HarnDict, 'handler'), [state.args])
        return ctx.call(readField(readCompleters(state.entry as HarnDict), display(readField(state.args, 'argument'))), [
          readField(state.args, 'value'),
          readField(state.args, 'context'),
        ])
      case 'called':
        if (state.what === 'complete' && !(ctx.result instanceof HarnList)) {
          const message = `completing '${display(readField(state.args, 'argument'))}' gave ${typeName(ctx.result)}, expected a list`
          return reply(ctx, state, { ok: false, message })
        }
        return reply(ctx, state, { ok: true, result: makeResult(state, ctx.result) })
      case 'replied':
        if (!hasChanged(ctx)) return null
        state.stage = 'offered'
        return offer(ctx)
      case 'offered':
        return null
    }
  },
  onFault: (ctx, state, fault) =>
    state.stage === 'called' ? reply(ctx, state, { ok: false, message: fault.text }) : ctx.fail(fault),
})

function reply(ctx: Context, state: CallState, outcome: Outcome): Result {
  state.stage = 'replied'
  return ctx.request({ kind: 'mcp.serve', args: { op: 'reply', call: state.call, ...outcome } })
}

function makeResult(state: CallState, value: Value): Plain {
  switch (state.what) {
    case 'tool':
      return makeToolResult(value, readField(state.entry as HarnDict, 'output_schema') !== null)
    case 'template':
      return readResult(value)
    case 'complete':
      return { values: value instanceof HarnList ? value.view().map((each) => display(each)) : [] }
    default:
      return { messages: makeMessages(value) }
  }
}

/** A template gives a text, bytes, or `{blob: bytes, mime_type}`; anything else is shown. */
function readResult(value: Value): Plain {
  const blob = readField(value, 'blob')
  if (!(blob instanceof HarnBytes)) return makeResourceContent(value)
  return { ...makeResourceContent(blob), ...pickTextFields(value as HarnDict, { mimeType: 'mime_type' }) }
}

const makeTextContent = (text: string): { readonly [key: string]: Plain } => ({ type: 'text', text })

function makeContent(item: Value): Plain {
  if (!(item instanceof HarnDict)) return makeTextContent(display(item))
  switch (item.get('type')) {
    case 'resource': {
      const resource = item.get('resource') ?? null
      return { type: 'resource', ...(resource === null ? {} : { resource: toPlain(resource) }) }
    }
    case 'resource_link':
      return {
        type: 'resource_link',
        ...pickTextFields(item, { uri: 'uri', name: 'name', description: 'description', mimeType: 'mimeType' }),
      }
    case 'image':
    case 'audio':
      // The reference shows these as text; a client can do nothing with that.
      if (typeof item.get('data') === 'string' && typeof item.get('mimeType') === 'string')
        return { type: item.get('type') as string, ...pickTextFields(item, { data: 'data', mimeType: 'mimeType' }) }
      return makeTextContent(display(item))
    default:
      return makeTextContent(display(item.get('text') ?? (item.has('text') ? null : item)))
  }
}

function makeToolResult(value: Value, structured: boolean): Plain {
  const items = value instanceof HarnList && value.length > 0 ? value.view() : null
  const content = items === null ? [makeTextContent(display(value))] : items.map(makeContent)
  return { content, isError: false, ...makeStructuredContent(value, structured) }
}

/** Only objects can be structured content; of a tool that says what its results are, a text may be the JSON of one. */
function makeStructuredContent(value: Value, declared: boolean): { readonly [key: string]: Plain } {
  if (value instanceof HarnDict || value instanceof HarnStruct) return { structuredContent: toPlain(value) }
  if (!declared) return {}
  try {
    const parsed = JSON.parse(display(value)) as Plain
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { structuredContent: parsed } : {}
  } catch {
    return {}
  }
}

function makePromptPart(content: Value): Plain {
  if (!(content instanceof HarnDict)) return makeTextContent(display(content))
  const type = content.get('type')
  if (type === 'image' || type === 'audio') {
    const given = pickTextFields(content, { data: 'data', mimeType: 'mimeType' })
    return { type, data: '', mimeType: 'application/octet-stream', ...given }
  }
  if (type === 'resource') return { type, resource: toPlain(content.get('resource') ?? null) }
  return makeTextContent(display(content.get('text') ?? (content.has('text') ? null : content)))
}

function makeMessages(value: Value): Plain {
  if (!(value instanceof HarnList)) return [{ role: 'user', content: makeTextContent(display(value)) }]
  return value.view().flatMap((item) => {
    if (!(item instanceof HarnDict)) return [{ role: 'user', content: makeTextContent(display(item)) }]
    const role = display(item.get('role') ?? 'user')
    const content = item.get('content') ?? (item.has('content') ? null : '')
    const parts = content instanceof HarnList ? content.view() : [content]
    return parts.map((part) => ({ role, content: makePromptPart(part) }))
  })
}

// ------------------------------------------------------------------------------------------------- one exported function

interface InvokeState {
  [key: string]: unknown
  called: boolean
  readonly callee: Value
  readonly args: readonly Value[]
}

const invokeFrame = frame<InvokeState>({
  kind: 'mcp.invoke',
  // A function of another module is a run of its own already, which is where faults gain their line.
  runBoundary: false,
  step(ctx, state) {
    if (!state.called) {
      state.called = true
      return ctx.call(state.callee, state.args)
    }
    const value = ctx.result
    const isObject = value instanceof HarnDict || value instanceof HarnStruct
    return HarnDict.of({
      text: typeof value === 'string' ? value : stringifyJson(value, { indent: 2, interchange: true, displays: true }),
      structured: isObject ? value : null,
    })
  },
})

export const mcpServeFamily: BuiltinFamily = {
  name: 'mcp-serve',
  frames: [serveFrame, callFrame, invokeFrame],
  builtins: [
    builtin(
      '__mcp_serve() -> nil',
      { doc: 'Serves what the script registered until the host ends it.', effects: ['mcp.serve', 'callback'] },
      (ctx) => ctx.frame('mcp.serve', { stage: 'offer', tasks: new Map() } satisfies ServeState),
    ),
    builtin(
      '__mcp_serve_call(call: int, what: string, entry: dict, args: dict) -> nil',
      { doc: 'Carries out one call of a client.', effects: ['mcp.serve', 'callback'] },
      (ctx, call, what, entry, args) =>
        ctx.frame('mcp.serve_call', {
          stage: 'start',
          call: Number(call),
          what: display(what ?? null),
          entry: entry ?? null,
          args: args ?? null,
        } satisfies CallState),
    ),
    builtin(
      '__mcp_client(op: string, method: string, params: dict) -> any',
      { doc: 'Asks the client that a served script works for.', effects: ['mcp.client'] },
      (ctx, op, method, params) =>
        ctx.perform({
          kind: 'mcp.client',
          args: {
            op: display(op ?? null) === 'facts' ? 'facts' : 'request',
            task: ctx.machine.task().taskId,
            method: display(method ?? null),
            params: toPlain(params ?? null),
          },
        }),
    ),
    builtin(
      '__mcp_invoke(callee: closure, args: list) -> dict',
      { doc: 'Calls a function with a list of arguments and gives its value as a client gets it.', effects: ['callback'] },
      (ctx, callee, args) =>
        ctx.frame('mcp.invoke', {
          called: false,
          callee: callee ?? null,
          args: args instanceof HarnList ? [...args.view()] : [],
        } satisfies InvokeState),
    ),
  ],
}
