// Sub-agents: a task for an agent loop of its own, with a part of the tools, whose conversation does not
// enter the caller's. What comes back is a summary, data if a schema asks for it, and what the child used.

import { findInnermostScope } from '../../library/task-scopes.js'
import {
  Fault,
  HarnDict,
  HarnList,
  runAtOnce,
  builtin,
  callBack,
  readCategory,
  display,
  failRuntime,
  runHere,
  isInt,
  isTruthy,
  parseJson,
  makeScripts,
  stringifySorted,
  tryCallBack,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Script, Value } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { readLoopOptions } from '../loop/options.js'
import { loopState } from '../loop/loop-state.js'
import { findJson } from '../../library/formats/json-extract.js'
import { makeTimeOrderedId } from '../../library/time/identity.js'
import { prepare } from '../models/call.js'
import { PermissionsError, readPermissions } from '../../tools/policy/permissions.js'
import { CeilingError, intersectPolicies } from '../../tools/policy/ceiling.js'
import { findPolicyMisfit } from '../../tools/policy/shape.js'
import { checkSchema } from '../../library/schema/check.js'
import { SchemaError, canonicalizeSchema } from '../../library/schema/normal.js'
import { findCurrentSession, openSession, touch } from '../sessions/sessions.js'
import { boundRegistry, listEntries, isRegistry, readName, withTools } from '../../tools/definitions/registry.js'
import { listDicts, makeEvent, makeTranscript } from '../transcripts/shape.js'

const LABEL = 'sub_agent_run'

/** Options of the sub-agent itself; all others are the loop's. */
const OWN_KEYS = [
  'background',
  'carry',
  'returns',
  'allowed_tools',
  'name',
  'execution',
  'system',
  'session_id',
  'permissions_label',
]

const STRUCTURED_KEYS = ['output_format', 'json_schema', 'output_schema', 'schema']

export interface Task {
  readonly text: string
  readonly name: string
  readonly system: Value
  readonly options: HarnDict
  readonly sessionId: string | null
  readonly schema: HarnDict | null
  readonly wantsData: boolean
  readonly tokenBudget: number | null
}

function readStringList(value: Value, label: string): readonly string[] | null {
  if (value === null) return null
  if (!(value instanceof HarnList) || !value.view().every((item) => typeof item === 'string')) {
    return failRuntime(`${label}: expected a list of strings`)
  }
  return value.view() as readonly string[]
}

export function readTask(ctx: Context, task: Value, given: Value): Task {
  if (task === null || display(task).trim() === '') return failRuntime(`${LABEL}: task is required`)
  if (given !== null && !(given instanceof HarnDict)) return failRuntime(`${LABEL}: options must be a dict`)
  const all = given ?? new HarnDict()
  const allowed = readStringList(all.get('allowed_tools') ?? null, `${LABEL}.allowed_tools`)
  const options = all.copy()
  for (const key of OWN_KEYS) options.delete(key)
  const tools = all.get('tools') ?? ctx.state(boundRegistry).registry
  if (tools !== null && !(tools instanceof HarnDict && isRegistry(tools)) && !(tools instanceof HarnList)) {
    return failRuntime(`${LABEL}: tools must be a tool registry`)
  }
  const misfit = findPolicyMisfit(options.get('policy') ?? null)
  if (misfit !== null) return failRuntime(`${LABEL}: policy parse error: ${misfit}`)
  if (tools !== null) options.set('tools', allowed === null ? tools : keepNamed(tools, allowed))
  if (allowed !== null) options.set('policy', withAllowed(options.get('policy') ?? null, allowed))
  requireWithinCeiling(ctx, options.get('policy') ?? null)
  if (!options.has('tool_format')) options.set('tool_format', '')
  if (!options.has('compaction')) options.set('compaction', false)
  // What is wrong with the loop's options is the caller's error, not the child's.
  readLoopOptions(options, LABEL, '')
  const permissions = options.get('permissions') ?? null
  if (permissions !== null) requirePermissions(permissions)
  readTranscriptMode(all.get('carry') ?? null)
  const returns = all.get('returns')
  const schema = returns instanceof HarnDict ? (returns.get('schema') ?? null) : null
  const budget = all.get('token_budget') ?? null
  const session = all.get('session_id') ?? null
  return {
    text: display(task),
    name: display(all.get('name') ?? 'sub-agent'),
    system: all.get('system') ?? null,
    options,
    sessionId: session === null ? null : display(session),
    schema: schema instanceof HarnDict ? schema : null,
    wantsData: schema instanceof HarnDict || all.get('response_format') === 'json' || STRUCTURED_KEYS.some((key) => all.has(key)),
    tokenBudget: isInt(budget) ? Number(budget) : null,
  }
}

/** A child that asks for more than the calling loop may have is refused before it begins. */
function requireWithinCeiling(ctx: Context, policy: Value): void {
  const ceiling = findInnermostScope(ctx, 'ceilings')
  if (!(ceiling instanceof HarnDict) || !(policy instanceof HarnDict)) return
  try {
    intersectPolicies(ceiling, policy)
  } catch (error) {
    if (error instanceof CeilingError) return failRuntime(`spawn_agent: ${error.message}`)
    throw error
  }
}

const TRANSCRIPT_MODES = ['inherit', 'fork', 'reset', 'compact']

/** What becomes of a worker's conversation between its runs; raises an error for another word. */
export function readTranscriptMode(carry: Value): string {
  const mode = display((carry instanceof HarnDict ? carry.get('transcript_mode') : null) ?? 'inherit')
  if (TRANSCRIPT_MODES.includes(mode)) return mode
  return failRuntime(`spawn_agent: carry.transcript_mode must be one of ${TRANSCRIPT_MODES.join(', ')}; got \`${mode}\``)
}

function requirePermissions(value: Value): void {
  try {
    readPermissions(value, LABEL)
  } catch (error) {
    if (error instanceof PermissionsError) return failRuntime(error.message)
    throw error
  }
}

function keepNamed(tools: Value, allowed: readonly string[]): Value {
  const keepAllowed = (entries: readonly Value[]): Value[] => entries.filter((entry) => allowed.includes(readName(entry)))
  return tools instanceof HarnDict
    ? withTools(tools, keepAllowed(listEntries(tools)))
    : new HarnList(keepAllowed((tools as HarnList).view()))
}

/** The policy with its tools narrowed to the allowed ones. */
function withAllowed(policy: Value, allowed: readonly string[]): HarnDict {
  const base = policy instanceof HarnDict ? policy : new HarnDict()
  const before = base.get('tools')
  const names =
    before instanceof HarnList && before.length > 0 ? allowed.filter((name) => before.view().includes(name)) : [...allowed]
  return base.with('tools', new HarnList(names))
}

// ------------------------------------------------------------------------------------------------------------------- run

/** The child's session: a branch of the caller's when a loop is running. */
function* openChildSession(task: Task): Script<string> {
  const id = task.sessionId ?? `sub_agent_session_${yield* makeTimeOrderedId()}`
  return yield* runHere((ctx) => {
    const parentId = findCurrentSession(ctx)
    const parent = parentId === null ? undefined : touch(ctx, parentId)
    const fresh = touch(ctx, id) === undefined
    const child = openSession(ctx, id)
    if (fresh && parentId !== null) child.parentId = parentId
    if (parent !== undefined && fresh) {
      child.messages = [...parent.messages]
      parent.childIds.push(id)
    }
    return id
  })
}

/** Leaves an event for the transcript of the calling loop. */
function* tellParent(parent: string | null, kind: string, text: string, metadata: HarnDict): Script<null> {
  if (parent === null) return null
  const event = yield* makeEvent(kind, 'system', 'internal', text, metadata)
  return yield* runHere((ctx) => {
    const { childEvents } = ctx.state(loopState)
    childEvents.set(parent, [...(childEvents.get(parent) ?? []), event])
    return null
  })
}

export function* runTask(task: Task): Script<HarnDict> {
  // Options that no call could be made with are the caller's error too.
  const probe = yield* prepare(task.text, task.system, task.options)
  if (probe instanceof Fault) throw probe
  const parent = yield* runHere((ctx) => findCurrentSession(ctx))
  const session = yield* openChildSession(task)
  const place = { name: task.name, child_session_id: session }
  yield* tellParent(parent, 'sub_agent_start', task.text, HarnDict.of({ ...place, task: task.text }))
  const loop = yield* runHere((ctx) => ctx.builtinValue('__agent_loop'))
  const outcome = yield* tryCallBack(loop, task.text, task.system, task.options.with('session_id', session))
  const result =
    outcome instanceof Fault ? yield* makeFailedResult(outcome, session, task) : yield* makeFinishedResult(outcome, session, task)
  yield* tellParent(
    parent,
    'sub_agent_result',
    display(result.get('summary')!),
    HarnDict.of({
      ...place,
      ok: result.get('ok')!,
      summary: result.get('summary')!,
      evidence_added: result.get('evidence_added')!,
      budget_exceeded: result.get('budget_exceeded')!,
      error: result.get('error')!,
    }),
  )
  return result
}

function makeResult(fields: Readonly<Record<string, Value>>): HarnDict {
  return HarnDict.of({
    ok: false,
    summary: '',
    artifacts: new HarnList([]),
    evidence_added: 0,
    tokens_used: 0,
    budget_exceeded: false,
    data: null,
    error: null,
    ...fields,
  })
}

function* makeFailedResult(fault: Fault, session: string, task: Task): Script<HarnDict> {
  const error = makeError(fault)
  const transcript = yield* readSessionTranscript(session, task)
  return makeResult({ error, session_id: session, transcript })
}

function makeError(fault: Fault): HarnDict {
  if (fault.kind === 'thrown' && fault.value instanceof HarnDict) {
    const message = fault.value.get('message') ?? null
    return HarnDict.of({
      category: readCategory(fault.value),
      message: message === null ? fault.message : display(message),
    })
  }
  if (fault.kind === 'thrown') return HarnDict.of({ category: 'runtime', message: fault.message })
  if (fault.kind === 'categorized') return HarnDict.of({ category: fault.category, message: fault.message })
  return HarnDict.of({ category: 'generic', message: fault.text })
}

function* readSessionTranscript(id: string, task: Task): Script<HarnDict> {
  const found = yield* runHere((ctx) => {
    const session = touch(ctx, id)
    return session === undefined
      ? null
      : { messages: [...session.messages], events: [...session.events], parentId: session.parentId }
  })
  const asked = HarnDict.of({ role: 'user', content: task.text })
  const messages = found === null || found.messages.length === 0 ? [asked] : found.messages
  return yield* makeTranscript({ id, messages, events: found?.events ?? [], state: 'active' })
}

function countTokens(transcript: HarnDict): number {
  return listDicts(transcript.get('events')).reduce((sum, event) => {
    const metadata = event.get('metadata')
    if (!(metadata instanceof HarnDict)) return sum
    const count = (key: string): number => (isInt(metadata.get(key) ?? null) ? Number(metadata.get(key)) : 0)
    return sum + count('input_tokens') + count('output_tokens')
  }, 0)
}

/** What a policy denied on the way, or null. */
function findDenial(transcript: HarnDict): HarnDict | null {
  for (const event of listDicts(transcript.get('events')).reverse()) {
    const metadata = event.get('metadata')
    if (event.get('kind') !== 'tool_execution' || !(metadata instanceof HarnDict) || metadata.get('rejected') !== true) continue
    const payload = parseJson(display(event.get('text') ?? ''))
    if (!payload.ok || !(payload.value instanceof HarnDict) || payload.value.get('error') !== 'permission_denied') continue
    return HarnDict.of({
      category: 'permission_denied',
      message: payload.value.get('reason') ?? '',
      tool: metadata.get('tool_name') ?? '',
    })
  }
  return null
}

/** JSON of the final text, else of the newest message that has any. */
function findAnswerJson(visible: string, transcript: HarnDict): Value | undefined {
  const texts = listDicts(transcript.get('messages'))
    .filter((message) => message.get('role') === 'assistant')
    .map((message) => message.get('content'))
    .filter((content): content is string => typeof content === 'string')
  for (const text of [visible, ...texts.reverse()]) {
    const parsed = parseJson(findJson(text))
    if (parsed.ok) return parsed.value
  }
  return undefined
}

function findLastAssistantText(transcript: HarnDict): string {
  const message = listDicts(transcript.get('messages')).findLast((each) => each.get('role') === 'assistant')
  return display(message?.get('content') ?? '')
}

function makeSchemaError(text: string): HarnDict {
  return HarnDict.of({ category: 'schema_validation', message: `Error [schema_validation]: ${LABEL}: ${text}` })
}

/** The data that the schema asks for, or what is wrong with it. */
function judgeValue(
  value: Value | undefined,
  schema: HarnDict | null,
): { readonly data: Value; readonly error: HarnDict | null } {
  if (schema === null) return { data: value ?? null, error: null }
  if (value === undefined) return { data: null, error: makeSchemaError('child transcript did not contain valid JSON') }
  try {
    const checked = checkSchema(value, runAtOnce(canonicalizeSchema(schema)), true)
    if (checked.errors.length === 0) return { data: checked.value, error: null }
    return { data: null, error: makeSchemaError(`return schema validation failed: ${checked.errors.join('; ')}`) }
  } catch (error) {
    if (error instanceof SchemaError) return { data: null, error: makeSchemaError(error.message) }
    throw error
  }
}

function* makeFinishedResult(outcome: Value, session: string, task: Task): Script<HarnDict> {
  const loop = outcome instanceof HarnDict ? outcome : new HarnDict()
  const given = loop.get('transcript')
  const transcript = given instanceof HarnDict ? given : yield* readSessionTranscript(session, task)
  const visible = display(loop.get('visible_text') ?? '')
  const found = task.wantsData ? findAnswerJson(visible, transcript) : undefined
  const plain = visible === '' ? findLastAssistantText(transcript) : visible
  const { data, error } = task.wantsData ? judgeValue(found, task.schema) : { data: null, error: null }
  const denied = findDenial(transcript)
  const problem = denied ?? error
  const tokens = countTokens(transcript)
  const assets = transcript.get('assets')
  const artifacts = assets instanceof HarnList ? assets : new HarnList([])
  return makeResult({
    ok: problem === null,
    summary: found === undefined ? plain : stringifySorted(found),
    artifacts,
    evidence_added: artifacts.length,
    tokens_used: tokens,
    budget_exceeded: task.tokenBudget !== null && tokens >= task.tokenBudget,
    data,
    error: problem,
    session_id: session,
    transcript,
  })
}

// ---------------------------------------------------------------------------------------------------------------- builtin

const machine = makeScripts('sub_agents.script', {
  *run(task, options) {
    const read = yield* runHere((ctx) => readTask(ctx, task!, options!))
    if (options instanceof HarnDict && isTruthy(options.get('background') ?? false)) {
      const start = yield* runHere((ctx) => ctx.builtinValue('__worker_start'))
      return yield* callBack(start, task!, options)
    }
    return yield* runTask(read)
  },
})

export const subAgentsFamily: BuiltinFamily = {
  name: 'sub-agents',
  frames: [machine.frame],
  builtins: [
    builtin(
      'sub_agent_run(task: string, options?: dict) -> dict',
      {
        doc: 'Lets an agent with a conversation of its own do a task: `{ok, summary, data, error, tokens_used, transcript, …}`.',
        effects: AGENT_EFFECTS,
      },
      (ctx, task, options): Result => {
        if (ctx.argc === 0) return ctx.runtime(`${LABEL}: task is required`)
        return machine.start(ctx, 'run', task!, options!)
      },
    ),
  ],
}
