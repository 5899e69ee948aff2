// `bridle serve a2a FILE`: a script as an agent of the A2A protocol. Its skills are its public functions, or its pipelines; the output of a
// pipeline is its answer.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { fromPlain } from '@bridle/vm'
import { SourceFile, parse } from '@bridle/parser'
import type { FnDecl, PipelineDecl } from '@bridle/parser'
import type { Module, Runtime } from '@bridle/stdlib-tools'
import { makeServingAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { CommandError, EXIT_FAILURE, readReason } from '../errors.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'
import { makeCommandRuntime } from '../host.js'
import { readScript } from '../load.js'
import { complain } from '../printable.js'
import { Stop } from '../stop.js'
import { VERSION } from '../version.js'

export interface A2aFlags extends AuthorityFlags, SizeFlags {
  readonly port?: number
  readonly host?: string
}

type Json = { readonly [name: string]: unknown }

interface Part {
  readonly type: 'text'
  readonly text: string
}

interface TaskMessage {
  readonly id: string
  readonly role: 'user' | 'agent'
  readonly parts: readonly Part[]
}

interface Task {
  readonly id: string
  readonly contextId: string
  status: { readonly state: string; readonly timestamp: string; readonly message?: TaskMessage }
  readonly history: TaskMessage[]
  readonly artifacts: { readonly artifactId: string; readonly parts: readonly Part[] }[]
  readonly metadata?: Json
}

interface Callable {
  readonly name: string
  readonly doc: string
  readonly call: (text: string, signal: AbortSignal) => Promise<string>
}

const CARDS = new Set(['/.well-known/agent-card.json', '/.well-known/a2a-agent', '/.well-known/agent.json', '/agent/card'])
const FIRST_NAMES = ['execute', 'default', 'main', 'handle', 'run']
const PROTOCOL = '0.3.0'
const MOST_TASKS = 10_000
const MOST_BODY_BYTES = 10 << 20
const TASK_NOT_FOUND = -32_001
const NOT_CANCELABLE = -32_002
const UNSUPPORTED = -32_003
const BAD_VERSION = -32_009
const ENDED = new Set(['completed', 'failed', 'canceled'])

class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export async function serveA2aCommand(file: string, options: A2aFlags): Promise<number> {
  const script = await readScript(file, undefined)
  const stop = new Stop(null)
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }))
  try {
    const callables = await findCallables(script.key, script.text, options)
    if (callables.length === 0) {
      complain(`error: ${file} has no public function and no pipeline\n`)
      return EXIT_FAILURE
    }
    const agent = new Agent(basename(file).replace(/\.harn$/, ''), callables)
    const server = createServer((request, response) => void agent.answer(request, response))
    const { port = 8080, host = '0.0.0.0' } = options
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(new CommandError(`cannot listen on ${host}:${port}: ${readReason(cause)}`)))
      server.listen(port, host, resolve)
    })
    const { port: bound } = server.address() as AddressInfo
    complain(`Harn A2A server listening on http://localhost:${bound}\n`)
    complain(`[harn] A2A workflow server ready on http://localhost:${bound}\n`)
    complain(`[harn] Agent card: http://localhost:${bound}/.well-known/agent-card.json\n`)
    await stopped
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    return 0
  } finally {
    stop.end()
  }
}

async function findCallables(key: string, text: string, options: A2aFlags): Promise<readonly Callable[]> {
  const { program } = parse(new SourceFile(key, text))
  if (program === null) throw new CommandError(`${key} does not parse; \`bridle check\` of it says why`)
  const functions = program.items.filter((item): item is FnDecl => item.kind === 'FnDecl' && item.isPublic)
  const pipelines = program.items.filter((item): item is PipelineDecl => item.kind === 'PipelineDecl')
  const parameters =
    functions.length > 0 ? [] : [...new Set(pipelines.flatMap(({ params }) => params.map(({ text: name }) => name)))]
  const runtime = makeCommandRuntime({
    script: key,
    terminal: false,
    standIns: 'none',
    args: [],
    globals: parameters,
    authority: await withLock(makeServingAuthority(options), options, key, 'many'),
    ...readSizes(options),
  })
  try {
    return functions.length > 0
      ? functions.map((fn) => makeFunction(runtime, key, fn))
      : pipelines.map((pipeline) => makePipeline(runtime, key, text, pipeline))
  } catch (cause) {
    throw new CommandError(cause instanceof Error ? cause.message : String(cause))
  }
}

function readParameterName(param: { readonly name: { readonly text: string } }): string {
  return param.name.text
}

function makeFunction(runtime: Runtime, key: string, fn: FnDecl): Callable {
  const name = fn.name.text
  const names = fn.params.map(readParameterName)
  const wanted = ['task', 'message', 'input'].find((each) => names.includes(each))
  const at = wanted === undefined ? 0 : names.indexOf(wanted)
  const args = names.length === 0 ? '' : [...names.slice(0, at).map(() => 'nil'), 'runtime_pipeline_input()'].join(', ')
  const module = runtime.compile(
    `import { ${name} } from ${JSON.stringify(key)}\nimport { runtime_pipeline_input } from "std/runtime"\nreturn ${name}(${args})\n`,
    { file: `${key}.a2a.harn` },
  )
  return {
    name,
    doc: fn.doc ?? '',
    async call(text, signal) {
      const value = await perform(runtime, module, { input: text, signal })
      return typeof value.value === 'string' ? value.value : JSON.stringify(value.value)
    },
  }
}

function makePipeline(runtime: Runtime, key: string, source: string, pipeline: PipelineDecl): Callable {
  const name = pipeline.name.text
  const module = runtime.compile(source, { file: key, pipeline: name })
  const names = pipeline.params.map((param) => param.text)
  return {
    name,
    doc: '',
    async call(text, signal) {
      const globals = Object.fromEntries(names.map((each) => [each, fromPlain(text)]))
      return (await perform(runtime, module, { input: text, signal, globals })).output
    },
  }
}

async function perform(
  runtime: Runtime,
  module: Module,
  options: {
    readonly input: string
    readonly signal: AbortSignal
    readonly globals?: { readonly [name: string]: never } | object
  },
): Promise<{ readonly value: unknown; readonly output: string }> {
  const result = await runtime.start(module, { ...options, integers: 'number' } as Parameters<Runtime['start']>[1]).result
  switch (result.status) {
    case 'done':
      return { value: result.value, output: result.output }
    case 'exit':
      return { value: result.code, output: result.output }
    case 'failed':
      throw new Error(result.error.message)
    case 'limit':
      throw new Error(result.message)
    case 'cancelled':
      throw new Error(result.reason)
  }
}

class Agent {
  private readonly name: string
  private readonly callables: readonly Callable[]
  private readonly tasks = new Map<string, Task>()
  private readonly running = new Map<string, { readonly abort: AbortController; readonly done: Promise<void> }>()
  private readonly pushes = new Map<string, Json[]>()

  constructor(name: string, callables: readonly Callable[]) {
    this.name = name
    this.callables = callables
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/'] = (request.url ?? '/').split('?', 1)
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'a2a-version': PROTOCOL })
      response.end(JSON.stringify(body))
    }
    if (request.method === 'GET' && CARDS.has(path)) return send(200, this.describe(request))
    if (request.method !== 'POST') return send(path === '/' || CARDS.has(path) ? 405 : 404, { error: 'not found' })
    let given: Json
    try {
      given = JSON.parse(await readBody(request)) as Json
    } catch {
      return send(path === '/' ? 200 : 400, makeFailure(null, -32_700, 'parse error'))
    }
    const isRpc = path === '/'
    const id = isRpc ? (given['id'] ?? null) : null
    const method = isRpc ? String(given['method'] ?? '') : path.slice(1)
    const params = (isRpc ? (given['params'] ?? {}) : given) as Json
    const version = request.headers['a2a-version']
    try {
      if (typeof version === 'string' && !version.startsWith('0.3') && !version.startsWith('1.'))
        throw new RpcError(BAD_VERSION, `A2A version ${version} is not supported; this agent speaks ${PROTOCOL}`)
      if (STREAMED.has(method)) return await this.stream(method, params, id, response)
      const result = await this.call(method, params, request)
      send(200, isRpc ? { jsonrpc: '2.0', id, result } : result)
    } catch (cause) {
      const code = cause instanceof RpcError ? cause.code : -32_603
      const message = cause instanceof Error ? cause.message : String(cause)
      if (isRpc) send(200, makeFailure(id, code, message))
      else send(code === TASK_NOT_FOUND ? 404 : 400, { error: { code, message } })
    }
  }

  private describe(request: IncomingMessage): Json {
    const host = request.headers.host ?? 'localhost'
    const url = `http://${host}`
    return {
      id: this.name,
      name: this.name,
      description: `Harn script ${this.name} as an agent`,
      url,
      version: VERSION,
      protocolVersion: PROTOCOL,
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false, extendedAgentCard: true },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      supportedInterfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: PROTOCOL, url: `${url}/` }],
      interfaces: [{ protocol: 'jsonrpc', url: '/' }],
      skills: this.callables.map(({ name, doc }) => ({
        id: name,
        name,
        description: doc === '' ? `Runs ${name}` : doc,
        tags: ['harn'],
      })),
    }
  }

  private async call(method: string, params: Json, request: IncomingMessage): Promise<unknown> {
    switch (method) {
      case 'message/send':
      case 'a2a.SendMessage': {
        const { returnImmediately, blocking } = (params['configuration'] ?? {}) as Json
        const task = this.begin(params)
        if (returnImmediately !== true && blocking !== false) await this.running.get(task.id)?.done
        return task
      }
      case 'tasks/send':
        return this.begin(params)
      case 'tasks/send_and_wait': {
        const task = this.begin(params)
        await this.running.get(task.id)?.done
        return task
      }
      case 'tasks/get':
      case 'a2a.GetTask':
        return this.find(params)
      case 'tasks/list':
      case 'a2a.ListTasks':
        return { tasks: [...this.tasks.values()] }
      case 'tasks/cancel':
      case 'a2a.CancelTask':
        return this.cancel(this.find(params))
      case 'tasks/pushNotificationConfig/set': {
        const task = this.find(params)
        const config = (params['pushNotificationConfig'] ?? {}) as Json
        const kept = { id: String(config['id'] ?? randomUUID()), ...config }
        this.pushes.set(task.id, [...(this.pushes.get(task.id) ?? []), kept])
        return { taskId: task.id, pushNotificationConfig: kept }
      }
      case 'tasks/pushNotificationConfig/get':
      case 'tasks/pushNotificationConfig/list':
        return { taskId: this.find(params).id, configs: this.pushes.get(this.find(params).id) ?? [] }
      case 'tasks/pushNotificationConfig/delete':
        this.pushes.delete(this.find(params).id)
        return null
      case 'agent/getAuthenticatedExtendedCard':
        return this.describe(request)
      default:
        throw new RpcError(
          method.includes('/') || method.startsWith('a2a.') ? UNSUPPORTED : -32_601,
          `unsupported operation '${method}'`,
        )
    }
  }

  private async stream(method: string, params: Json, id: unknown, response: ServerResponse): Promise<void> {
    const task = method === 'tasks/resubscribe' ? this.find(params) : this.begin(params)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'a2a-version': PROTOCOL })
    const send = (result: object): void => {
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    }
    send(structuredClone(task))
    await this.running.get(task.id)?.done
    for (const artifact of task.artifacts) send({ kind: 'artifact-update', taskId: task.id, contextId: task.contextId, artifact })
    send({ kind: 'status-update', taskId: task.id, contextId: task.contextId, status: task.status, final: true })
    response.end()
  }

  private find(params: Json): Task {
    const id = String(params['id'] ?? params['taskId'] ?? params['task_id'] ?? '')
    const task = this.tasks.get(id)
    if (task === undefined) throw new RpcError(TASK_NOT_FOUND, `task not found: ${id}`)
    return task
  }

  private cancel(task: Task): Task {
    const running = this.running.get(task.id)
    if (running === undefined || ENDED.has(task.status.state))
      throw new RpcError(NOT_CANCELABLE, `task ${task.id} is not cancelable`)
    task.status = { state: 'canceled', timestamp: new Date().toISOString() }
    running.abort.abort(new Error('canceled'))
    return task
  }

  private begin(params: Json): Task {
    const message = (params['message'] ?? params) as Json
    const parts = Array.isArray(message['parts']) ? (message['parts'] as readonly Json[]) : []
    const text = parts.map((part) => (part['text'] === undefined ? '' : String(part['text']))).join('')
    const callable = this.choose(params, message)
    const task: Task = {
      id: typeof params['id'] === 'string' ? params['id'] : randomUUID(),
      contextId: String(params['contextId'] ?? message['contextId'] ?? randomUUID()),
      status: { state: 'working', timestamp: new Date().toISOString() },
      history: [{ id: String(message['messageId'] ?? randomUUID()), role: 'user', parts: [{ type: 'text', text }] }],
      artifacts: [],
    }
    if (this.tasks.size >= MOST_TASKS) this.forgetOldest()
    this.tasks.set(task.id, task)
    const config = (params['configuration'] as Json | undefined)?.['pushNotificationConfig'] as Json | undefined
    if (config !== undefined && config !== null) this.pushes.set(task.id, [config])
    const abort = new AbortController()
    const done = this.run(task, callable, text, abort.signal).finally(() => this.running.delete(task.id))
    this.running.set(task.id, { abort, done })
    return task
  }

  private async run(task: Task, callable: Callable, text: string, signal: AbortSignal): Promise<void> {
    const end = (state: string, answer: string): void => {
      if (task.status.state === 'canceled') return
      const message: TaskMessage = { id: randomUUID(), role: 'agent', parts: [{ type: 'text', text: answer }] }
      task.history.push(message)
      if (state === 'completed') task.artifacts.push({ artifactId: randomUUID(), parts: message.parts })
      task.status = { state, timestamp: new Date().toISOString(), message }
    }
    try {
      end('completed', await callable.call(text, signal))
    } catch (cause) {
      end('failed', cause instanceof Error ? cause.message : String(cause))
    }
    for (const config of this.pushes.get(task.id) ?? []) void push(config, task)
  }

  private choose(params: Json, message: Json): Callable {
    const read = (place: unknown, ...names: readonly string[]): readonly string[] =>
      names.flatMap((name) => {
        const value = typeof place === 'object' && place !== null ? (place as Json)[name] : undefined
        return typeof value === 'string' && value !== '' ? [value] : []
      })
    const metadata = message['metadata']
    const named = [
      ...read(params, 'function', 'skillId'),
      ...read(metadata, 'function', 'skillId'),
      ...[...read(metadata, 'target_agent'), ...read(params['metadata'], 'target_agent')].map((name) => name.split('/').at(-1)!),
    ]
    for (const name of [...named, ...FIRST_NAMES]) {
      const found = this.callables.find((callable) => callable.name === name)
      if (found !== undefined) return found
    }
    const [only] = this.callables
    if (this.callables.length === 1 && only !== undefined) return only
    throw new RpcError(-32_602, `name a function: ${this.callables.map(({ name }) => name).join(', ')}`)
  }

  private forgetOldest(): void {
    for (const [id, task] of this.tasks)
      if (ENDED.has(task.status.state)) {
        this.tasks.delete(id)
        this.pushes.delete(id)
        return
      }
  }
}

const STREAMED = new Set(['message/stream', 'tasks/sendSubscribe', 'tasks/resubscribe', 'a2a.SendStreamingMessage'])
const PUSH_MS = 10_000

/** Pushes the end of a task to its subscribers; ignores subscribers that cannot be reached. */
async function push(config: Json, task: Task): Promise<void> {
  const { url, token } = config
  if (typeof url !== 'string') return
  await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(typeof token === 'string' ? { authorization: `Bearer ${token}`, 'x-a2a-notification-token': token } : {}),
    },
    body: JSON.stringify({ taskId: task.id, contextId: task.contextId, status: task.status, artifacts: task.artifacts }),
    signal: AbortSignal.timeout(PUSH_MS),
  }).catch(() => null)
}

function makeFailure(id: unknown, code: number, message: string): object {
  return { jsonrpc: '2.0', id: id ?? null, error: { code, message } }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) throw new Error('request body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
