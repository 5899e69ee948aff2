// Sub-agents: what a task asks for, checked, and what its loop came to. sub-agents.harn is what they do.

import { findInnermostScope } from '../../library/task-scopes.js'
import {
  builtinTaking,
  HarnDict,
  HarnList,
  runAtOnce,
  chargeArguments,
  display,
  failRuntime,
  isInt,
  parseJson,
  stringifySorted,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Value } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { readLoopOptions } from '../loop/options.js'
import { loopState } from '../loop/loop-state.js'
import { findJson } from '../../library/formats/json-extract.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { PermissionsError, readPermissions } from '../../tools/policy/permissions.js'
import { CeilingError, intersectPolicies } from '../../tools/policy/ceiling.js'
import { findPolicyMisfit } from '../../tools/policy/shape.js'
import { checkSchema } from '../../library/schema/check.js'
import { SchemaError, canonicalizeSchema } from '../../library/schema/normal.js'
import { findCurrentSession, openSession, touch } from '../sessions/sessions.js'
import { boundRegistry, isRegistry, listEntries, readName, withTools } from '../../tools/definitions/registry.js'
import { listDicts } from '../transcripts/shape.js'

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

function readStringList(value: Value, label: string): readonly string[] | null {
  if (value === null) return null
  if (!(value instanceof HarnList) || !value.view().every((item) => typeof item === 'string')) {
    return failRuntime(`${label}: expected a list of strings`)
  }
  return value.view() as readonly string[]
}

/** The task of a sub-agent as sub-agents.harn holds it; raises what is wrong with it. */
function readTask(ctx: Context, task: Value, given: Value): HarnDict {
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
  const wantsData =
    schema instanceof HarnDict || all.get('response_format') === 'json' || STRUCTURED_KEYS.some((key) => all.has(key))
  return HarnDict.of({
    text: display(task),
    name: display(all.get('name') ?? 'sub-agent'),
    system: all.get('system') ?? null,
    options,
    session_id: session === null ? null : display(session),
    schema: schema instanceof HarnDict ? schema : null,
    wants_data: wantsData,
    token_budget: isInt(budget) ? budget : null,
  })
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
function readTranscriptMode(carry: Value): string {
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
function openChildSession(ctx: Context, id: string): void {
  const parentId = findCurrentSession(ctx)
  const parent = parentId === null ? undefined : touch(ctx, parentId)
  const isFresh = touch(ctx, id) === undefined
  const child = openSession(ctx, id)
  if (isFresh && parentId !== null) child.parentId = parentId
  if (parent === undefined || !isFresh) return
  child.messages = [...parent.messages]
  parent.childIds.push(id)
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

function makeResult(loop: HarnDict, session: string, task: HarnDict, transcript: HarnDict): HarnDict {
  const wantsData = task.get('wants_data') === true
  const schema = task.get('schema')
  const visible = display(loop.get('visible_text') ?? '')
  const found = wantsData ? findAnswerJson(visible, transcript) : undefined
  const plain = visible === '' ? findLastAssistantText(transcript) : visible
  const { data, error } = wantsData ? judgeValue(found, schema instanceof HarnDict ? schema : null) : { data: null, error: null }
  const problem = findDenial(transcript) ?? error
  const tokens = countTokens(transcript)
  const budget = task.get('token_budget') ?? null
  const assets = transcript.get('assets')
  const artifacts = assets instanceof HarnList ? assets : new HarnList([])
  return HarnDict.of({
    ok: problem === null,
    summary: found === undefined ? plain : stringifySorted(found),
    artifacts,
    evidence_added: artifacts.length,
    tokens_used: tokens,
    budget_exceeded: budget !== null && tokens >= Number(budget),
    data,
    error: problem,
    session_id: session,
    transcript,
  })
}

// --------------------------------------------------------------------------------------------------------------- builtins

const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__read_sub_agent(task: any, options: any) -> dict',
    'The task of a sub-agent, read and checked.',
    (ctx, task, options) => readTask(ctx, task!, options!),
  ),
  definePrimitive(
    '__transcript_mode(carry: dict) -> string',
    "What becomes of a worker's conversation between its runs; raises an error for another word.",
    (_ctx, carry) => readTranscriptMode(carry!),
  ),
  definePrimitive('__open_child_session(id: string) -> nil', 'Opens the session of a child.', (ctx, id) => {
    openChildSession(ctx, id as string)
    return null
  }),
  definePrimitive(
    '__session_conversation(id: string) -> dict?',
    '{messages, events} of a session; nil when there is none.',
    (ctx, id) => {
      const session = touch(ctx, id as string)
      if (session === undefined) return null
      return HarnDict.of({ messages: new HarnList([...session.messages]), events: new HarnList([...session.events]) })
    },
  ),
  definePrimitive(
    '__leave_child_event(session: string, event: dict) -> nil',
    'Leaves an event for the transcript of a loop.',
    (ctx, session, event) => {
      const { childEvents } = ctx.state(loopState)
      const given = event as HarnDict
      given.owned = false
      childEvents.set(session as string, [...(childEvents.get(session as string) ?? []), given])
      return null
    },
  ),
  definePrimitive(
    '__sub_agent_result(loop: any, session: string, task: dict, transcript: dict) -> dict',
    'What the result of a loop means as that of a task.',
    (ctx, loop, session, task, transcript) => {
      chargeArguments(ctx, [transcript!])
      const outcome = loop instanceof HarnDict ? loop : new HarnDict()
      return makeResult(outcome, session as string, task as HarnDict, transcript as HarnDict)
    },
  ),
]

export const subAgentsFamily: BuiltinFamily = {
  name: 'sub-agents',
  modules: findHarnModule,
  primitives,
  builtins: [
    builtinTaking(
      'sub_agent_run(task: string, options?: dict) -> dict',
      {
        doc: 'Lets an agent with a conversation of its own do a task: `{ok, summary, data, error, tokens_used, transcript, …}`.',
        effects: AGENT_EFFECTS,
      },
      { raise: 'runtime', fewer: `${LABEL}: task is required` },
      (ctx, task, options) =>
        ctx.library({ module: 'agents/workers/workers', function: 'sub_agent_run', output: 'drop' }, [task, options]),
    ),
  ],
}
