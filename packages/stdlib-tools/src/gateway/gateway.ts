// A gateway: one MCP server in front of many. A client sees four tools, regardless of the servers behind: search_tools, describe_tools,
// run_script and resume_script; and the prompts and resources of those servers under the servers' names.
//
// A session is one client's: its own connections, its own attempts and results. What all share is the store of runs that wait for a person, what
// is accepted of tools, and for clients of one name their budget.

import type { Plain } from '@bridle/vm'
import { scriptTool } from '../ai/script-tool.js'
import type { ScriptTool } from '../ai/script-tool.js'
import { primer } from '../ai/primer.js'
import type { ScriptInput, ScriptOutcome } from '../ai/script-runner.js'
import { memoryPendingStore } from '../ai/pending-runs.js'
import { renderPlain } from '../ai/shown.js'
import { createRuntime } from '../host/runtime.js'
import { SecretKeeper } from '../host/secrets.js'
import type { Answer } from '../tools/policy/answers.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool, ToolClient, ToolContext } from '../tools/host-tools/define.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { answerFromForm, makeForm } from '../mcp/elicitation.js'
import { toMcpServer } from '../mcp/host-backend.js'
import type { HostBackend } from '../mcp/host-backend.js'
import { INVALID_PARAMS, RpcError, isObject, toJson } from '../mcp/server-protocol.js'
import type { JsonObject, ListName, McpBackend, RequestScope } from '../mcp/server-protocol.js'
import { ClientLedger } from './budget.js'
import type { GatewayConfig } from './config.js'
import { Decisions } from './decisions.js'
import { ToolLock } from './lock.js'
import type { GatewayOptions, ToolChange } from './options.js'
import { ClientQuestions } from './questions.js'
import { renderCalls } from './script-lines.js'
import { ServersBehind } from './servers.js'
import type { HandedOn, Offer } from './servers.js'

/** Fuel of one script; a script that waits for servers needs little. */
const FUEL = 50_000_000
const ANSWER: NonNullable<Parameters<typeof defineTool>[0]['output']> = { type: 'object' }
const NEVER = new AbortController().signal
const MOST_CHANGES_ASKED = 5

export class Gateway {
  readonly decisions: Decisions
  readonly lock: ToolLock | null
  readonly keeper: SecretKeeper
  readonly config: GatewayConfig
  readonly options: GatewayOptions
  private readonly ledgers = new Map<string | null, ClientLedger>()
  private readonly sessions = new Set<GatewaySession>()

  constructor(config: GatewayConfig, options: GatewayOptions = {}) {
    this.config = config
    this.options = options
    this.decisions = new Decisions(options.store ?? memoryPendingStore())
    this.lock = options.accepted === undefined ? null : new ToolLock(options.accepted)
    this.keeper = new SecretKeeper(config.secrets)
  }

  /** What one client is served; closing it ends its connections. */
  readonly open = ({ client = null }: { readonly client?: string | null } = {}): GatewaySession => {
    const ledger = this.ledgers.get(client) ?? new ClientLedger(this.config.budgets, this.options.now ?? Date.now)
    this.ledgers.set(client, ledger)
    const session = new GatewaySession(this, ledger, () => this.sessions.delete(session))
    this.sessions.add(session)
    return session
  }

  /** Tools of any session that a person has to look at. */
  listChanges(): readonly ToolChange[] {
    const all = [...this.sessions].flatMap((session) => session.changes)
    return [...new Map(all.map((change) => [change.key, change])).values()]
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.sessions].map((session) => session.close()))
  }
}

export class GatewaySession implements McpBackend {
  readonly kind = 'host'
  /** Tools that are not offered before a person has accepted them. */
  changes: readonly ToolChange[] = []
  private readonly gateway: Gateway
  private readonly ledger: ClientLedger
  private readonly onClose: () => void
  private readonly behind: ServersBehind
  private readonly questions: ClientQuestions
  private readonly backend: HostBackend
  private readonly listeners = new Set<(name: ListName) => void>()
  private readonly asked = new Set<string>()
  private made: { readonly tool: ScriptTool; readonly of: readonly Tool[] } | null = null

  constructor(gateway: Gateway, ledger: ClientLedger, onClose: () => void) {
    this.gateway = gateway
    this.ledger = ledger
    this.onClose = onClose
    this.questions = new ClientQuestions((data) => this.hide(data))
    const onChange = (name: 'tools' | HandedOn): void => {
      // The four tools do not depend on the tools of the servers.
      if (name !== 'tools') for (const listener of this.listeners) listener(name)
    }
    this.behind = new ServersBehind(gateway.config, gateway.lock, gateway.options, onChange, this.questions)
    this.backend = toMcpServer(this.makeTools())
  }

  async close(): Promise<void> {
    this.onClose()
    await this.behind.close()
  }

  // ---- the protocol

  /** Nothing is listed for the handshake: servers are connected during a request, when it is known what its client answers. */
  features(): { readonly lists: readonly ListName[]; readonly skills: boolean } {
    return { lists: ['prompts', 'resources'], skills: false }
  }

  onListChanged(listener: (name: ListName) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  async list(name: ListName, scope?: RequestScope): Promise<readonly JsonObject[]> {
    if (name === 'tools') return this.backend.list(name)
    const list = (): Promise<readonly Offer[]> => this.behind.list(name, scope?.signal ?? NEVER)
    const offers = await (scope === undefined ? list() : this.questions.during(scope, list))
    // A prompt is called by its name, which two servers may have; a resource by its address.
    return offers.map(({ server, item }) => this.hide({ ...item, name: `${server}.${String(item['name'] ?? '')}` }))
  }

  callTool(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    return this.questions.during(scope, () => this.backend.callTool(name, params, scope))
  }

  async readResource(uri: string, scope: RequestScope): Promise<JsonObject> {
    return this.hide(await this.questions.during(scope, () => this.behind.readResource(uri, scope.signal)))
  }

  async getPrompt(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    const dot = name.indexOf('.')
    if (dot < 0) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${name}; its name begins with that of its server`)
    const args = isObject(params['arguments']) ? params['arguments'] : {}
    const get = (): Promise<JsonObject> =>
      this.behind.getPrompt(name.slice(0, dot), name.slice(dot + 1), args as Plain, scope.signal)
    return this.hide(await this.questions.during(scope, get))
  }

  private hide(data: JsonObject): JsonObject {
    const outcome = this.gateway.keeper.hide({ ok: true, value: data as Plain })
    return outcome.ok ? (toJson(outcome.value) as JsonObject) : data
  }

  // ---- the tools

  private makeTools(): readonly Tool[] {
    const about = scriptTool(createRuntime(), { primer: 'system' })
    const names = this.behind.names.join(', ')
    return [
      defineTool({
        name: 'search_tools',
        description: `Finds tools that scripts can call, by words; the tools of ${names}. Without words: names of all.`,
        sideEffect: 'read_only',
        input: { type: 'object', properties: { query: { type: 'string' } } },
        execute: async (args, { client, signal }) =>
          (await this.prepare(client, signal)).searchTools(String((args as { query?: unknown }).query ?? '')),
      }),
      defineTool({
        name: 'describe_tools',
        description: 'Types and documentation of tools, by their names as search_tools gives them.',
        sideEffect: 'read_only',
        input: { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } }, required: ['names'] },
        execute: async (args, { client, signal }) =>
          (await this.prepare(client, signal)).describeTools((args as { names: readonly string[] }).names),
      }),
      defineTool({
        name: 'run_script',
        description: `${about.description}\n\nScripts call the tools of all servers: search_tools finds them, describe_tools gives their types.\n\n${primer()}`,
        effects: ['mcp'],
        input: about.inputSchema,
        output: ANSWER,
        execute: (args, context) => this.run(args as ScriptInput, context),
      }),
      defineTool({
        name: 'resume_script',
        description:
          'Goes on with a run that waits (status pending) when a person has answered; otherwise asks the person again, where the client can.',
        effects: ['mcp'],
        input: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
        output: ANSWER,
        execute: (args, context) => this.run({ resume: (args as { token: string }).token }, context),
      }),
    ]
  }

  /** Connects unconnected servers. Asks a person about changed tools, once per session and tool. */
  private async prepare(client: ToolClient | null, signal: AbortSignal): Promise<ScriptTool> {
    let listed = await this.behind.listTools(signal)
    const { lock, options } = this.gateway
    const open = listed.open.filter(({ key }) => !this.asked.has(key)).slice(0, MOST_CHANGES_ASKED)
    if (lock !== null && open.length > 0 && hasForms(client)) {
      for (const change of open) {
        this.asked.add(change.key)
        const answer = await client.elicit(renderChange(change), ACCEPT_FORM)
        if (answer.action === 'accept' && answer.content['accepted'] === true) lock.accept([change])
      }
      listed = await this.behind.listTools(signal)
    }
    this.changes = listed.open
    for (const failure of listed.failures) options.onWarning?.(failure)
    for (const { key, server, problem } of open)
      if (listed.open.some((each) => each.key === key))
        options.onWarning?.(`tool ${key} of server ${server} is not offered: it ${problem}; a person has to accept it`)
    if (listed.tools.length === 0 && listed.failures.length > 0)
      throw new ToolError('provider_unavailable', `no server can be reached: ${listed.failures.join('; ')}`)
    if (this.made !== null && isSameList(this.made.of, listed.tools)) return this.made.tool
    const { approve, grants, defaultDeny } = this.gateway.config
    const runtime = createRuntime({
      tools: listed.tools.map((tool) => this.guard(tool)),
      limits: { fuel: FUEL },
      toolGrants: grants,
      ...(defaultDeny ? { defaultDeny: true } : {}),
      ...(approve === null ? {} : { approve }),
      ...(options.tracing === undefined ? {} : { tracing: options.tracing }),
    })
    const tool = scriptTool(runtime, { store: this.gateway.decisions.store, budget: 0, primer: 'system', isShared: true })
    this.made = { tool, of: listed.tools }
    return tool
  }

  /** Counts calls, and takes secrets out of what comes back. */
  private guard(tool: Tool): Tool {
    const { keeper } = this.gateway
    return {
      ...tool,
      execute: async (args, context) => {
        this.ledger.takeCall(tool.name)
        try {
          const outcome = keeper.hide({ ok: true, value: plainFromHost(await tool.execute(args, context)) })
          return outcome.ok ? outcome.value : null
        } catch (cause) {
          if (!(cause instanceof ToolError)) throw cause
          const hidden = keeper.hide({ ok: false, error: { kind: 'thrown', message: cause.message } as never })
          const { code, retryAfterMs } = cause
          throw new ToolError(code, hidden.ok ? '' : hidden.error.message, retryAfterMs === null ? {} : { retryAfterMs })
        }
      },
    }
  }

  private async run(input: ScriptInput, { client, signal }: ToolContext): Promise<unknown> {
    const tool = await this.prepare(client, signal)
    const end = input.resume === undefined ? this.ledger.beginRun() : () => {}
    try {
      let outcome = await tool.run(input, { signal })
      while (outcome.status === 'pending') {
        const answers =
          (await this.gateway.decisions.take(outcome.token)) ??
          (hasForms(client) ? await this.askByForms(outcome.token, client) : null)
        if (answers === null) break
        outcome = await tool.resume(outcome.token, { answers }, { signal })
      }
      return JSON.parse(renderPlain(this.withPage(outcome))) as unknown
    } finally {
      end()
    }
  }

  private withPage(outcome: ScriptOutcome): ScriptOutcome {
    const page = outcome.status === 'pending' ? (this.gateway.options.page?.() ?? null) : null
    if (outcome.status !== 'pending' || page === null) return outcome
    return { ...outcome, next: `${outcome.next}. The person can answer at ${page}, and resume_script then goes on` }
  }

  /** Refusing is an answer, closing the form is none. */
  private async askByForms(token: string, client: ToolClient): Promise<{ [id: string]: Answer } | null> {
    const answers: { [id: string]: Answer } = {}
    const waiting = await this.gateway.decisions.find(token)
    for (const request of waiting?.requests ?? []) {
      const form = makeForm(request)
      if (form === null) continue
      const { call } = request
      const lines = call === undefined ? null : renderCalls(waiting!.source, call.tool)
      const { message, requestedSchema } = form as { readonly message: string; readonly requestedSchema: JsonObject }
      let result = await client.elicit(
        call === undefined ? message : `${call.tool} (${call.identity})\n${JSON.stringify(toJson(call.args as Plain), null, 2)}`,
        lines === null ? requestedSchema : withScriptField(requestedSchema),
      )
      if (lines !== null && result.action === 'accept' && result.content['show_script'] === true)
        result = await client.elicit(`${message}\n\n${lines}`, requestedSchema)
      const answer = answerFromForm(request, toJson(plainFromHost(result)) as JsonObject)
      if (answer !== null) answers[request.id] = answer as Answer
    }
    return Object.keys(answers).length === 0 ? null : answers
  }
}

const ACCEPT_FORM: JsonObject = {
  type: 'object',
  properties: { accepted: { type: 'boolean', title: 'Offer the tool to scripts as it is now' } },
  required: ['accepted'],
}

function withScriptField(schema: JsonObject): JsonObject {
  const { properties } = schema
  const field = { show_script: { type: 'boolean', title: 'Show me the script first', default: false } }
  return { ...schema, properties: { ...(isObject(properties) ? properties : {}), ...field } }
}

/** What a person is shown of a tool that changed. */
export function renderChange({ key, problem, listed }: ToolChange): string {
  const { description, inputSchema = null, outputSchema, annotations } = listed
  const more = [
    ['result', outputSchema],
    ['hints', annotations],
  ].flatMap(([name, value]) => (value === undefined || value === null ? [] : [`\nIts ${String(name)}: ${JSON.stringify(value)}`]))
  return `The tool ${key} ${problem}.\nIt says: ${String(description ?? '')}\nIts parameters: ${JSON.stringify(inputSchema)}${more.join('')}`
}

const hasForms = (client: ToolClient | null): client is ToolClient => client?.capabilities['elicitation'] !== undefined

const isSameList = (a: readonly Tool[], b: readonly Tool[]): boolean =>
  a.length === b.length && a.every((tool, at) => tool === b[at])
