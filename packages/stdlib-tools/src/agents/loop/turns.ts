// The turns of an agent loop: asking the model, carrying out what it calls, telling it what was wrong,
// and deciding whether the work is done.

import { Fault, HarnDict, HarnList, display, here, isCallable, isTruthy, tryCallBack, utf8 } from '@bridle/vm/families'
import type { Script } from '@bridle/vm/families'
import { feedback, parseGuidance, persistence, stubListing, toolContract, violationText } from './contract.js'
import { dispatchCall, toolsByName } from './dispatch.js'
import type { LoopSearch } from './search.js'
import type { Dispatched, DispatchContext, ToolCall } from './dispatch.js'
import { traceTotals } from './trace.js'
import { awaitWork, saveDaemon, wakeEvent } from './daemon.js'
import type { Daemon } from './daemon.js'
import { addOnce, emit, loopState } from './loop-state.js'
import type { Loop } from './loop-state.js'
import { LEDGER, applyLedger, isActive, ledgerMessage, unresolved } from './ledger.js'
import { LOAD_SKILL, inScope, loadSkillCall, loadSkillEntry, loadSkillNative, scopeOf, skillBlock } from './skills.js'
import { compact, estimateTokens } from '../transcripts/compaction.js'
import { notifyHooks } from '../../tools/dispatch/hooks.js'
import {
  account,
  answerEvents,
  budgetProblem,
  callsOf,
  estimateInput,
  experimented,
  failAsRaised,
  isFailure,
  nativeAssistant,
  prepare,
  traceEvent,
  transport,
} from '../models/call.js'
import { CALL_DEFAULTS } from '../models/options.js'
import type { LlmRequest } from '../models/options.js'
import { isMocked } from '../models/mock.js'
import { llmState } from '../models/state.js'
import type { LlmResponse } from '../models/state.js'
import { parseErrorOf, readCallArguments } from '../../tools/definitions/model-arguments.js'
import { expectsData, judge, nudgeText } from '../models/structured.js'
import { parseTagged } from '../../library/formats/tagged-response.js'
import type { TaggedResponse } from '../../library/formats/tagged-response.js'
import { makeEvent } from '../transcripts/shape.js'

function* tell(loop: Loop, kind: string, text: string): Script<null> {
  loop.messages.push(feedback(kind, text))
  return yield* emit(loop, { type: 'feedback_injected', kind, content: text })
}

/** Messages that others put into the session's queue. */
export function* takeInjected(loop: Loop): Script<string | null> {
  const waiting = yield* here((ctx) => {
    const { injected } = ctx.state(loopState)
    const items = injected.get(loop.sessionId) ?? []
    injected.delete(loop.sessionId)
    return items
  })
  let prefill: string | null = null
  for (const { kind, content } of waiting) {
    if (kind === 'prefill_assistant') prefill = content
    else yield* tell(loop, kind, content)
  }
  return prefill
}

/** Whether the model has anything to call. */
const hasTools = (loop: Loop): boolean => loop.tools.length > 0 || loop.skills !== null

/** The tools that the model is told of in this turn. */
function shownTools(loop: Loop): readonly HarnDict[] {
  const { search, skills } = loop
  const tools = search === null ? inScope(skills, loop.tools) : inScope(skills, search.visible)
  // The contract of a narrowed loop names only what is in scope; a native request always has the tool.
  return skills === null || scopeOf(skills)?.has(LOAD_SKILL) === false ? tools : [loadSkillEntry(), ...tools]
}

function systemPrompt(loop: Loop): string | null {
  const { options } = loop
  const parts = [(loop.system ?? '').trim() + skillBlock(loop.skills)]
  if (hasTools(loop)) {
    const examples = loop.given.get('tool_examples') ?? null
    parts.push(toolContract(options.toolFormat, shownTools(loop), options.sentinel, examples === null ? '' : display(examples)))
  }
  if (loop.search?.search.stubListing === true) parts.push(stubListing(loop.search.name, loop.search.deferred))
  if (options.persistent) parts.push(persistence(options.toolFormat, hasTools(loop), options.sentinel))
  const text = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')
  return text === '' ? null : text
}

function* compactWhen(loop: Loop, mode: 'preflight' | 'auto', system: string | null): Script<null> {
  const policy = loop.options.compaction
  if (policy === null) return null
  const size = estimateTokens(loop.messages)
  const over = mode === 'preflight' ? size + utf8(system ?? '').length / 4 >= policy.threshold : size > policy.threshold
  if (!over) return null
  const compacted = yield* compact(loop.messages, policy.engine)
  if (compacted === null) return null
  loop.messages = [...compacted.messages]
  loop.summary = loop.summary === null ? compacted.summary : `${loop.summary}\n\n${compacted.summary}`
  const facts = {
    mode,
    strategy: policy.label,
    archived_messages: compacted.archived,
    estimated_tokens_before: compacted.before,
    estimated_tokens_after: compacted.after,
  }
  const metadata = HarnDict.of({
    ...facts,
    engine_strategy: policy.engine.strategy,
    keep_first: policy.engine.keepFirst,
    keep_last: policy.engine.keepLast,
  })
  const text = mode === 'preflight' ? 'Transcript compacted before agent LLM call' : 'Transcript compacted during agent loop'
  loop.events.push(yield* makeEvent('compaction', 'system', 'internal', text, metadata))
  yield* traceEvent({ type: 'context_compaction', archived_messages: compacted.archived, iteration: 0 })
  return yield* emit(loop, { type: 'transcript_compacted', ...facts })
}

/** Options of one model call in the loop. */
function callOptions(loop: Loop, prefill: string | null): HarnDict {
  const { options } = loop
  const call = loop.given.copy()
  for (const key of ['session_id', 'llm_retries', 'schema_retries', 'profile']) call.delete(key)
  const ledger = isActive(loop.ledger) ? [ledgerMessage(loop.ledger)] : []
  call.set('messages', new HarnList([...loop.messages, ...ledger]))
  // What the script leaves open the host may say; the profile's figure comes last.
  if ((loop.given.get('llm_retries') ?? null) !== null) call.set('llm_retries', options.llmRetries)
  call.set('llm_backoff_ms', options.llmBackoffMs)
  call.set('schema_retries', options.schemaRetries)
  call.set('tool_format', options.toolFormat)
  if (prefill !== null) call.set('prefill', prefill)
  if (loop.skills !== null) call.set('tools', new HarnList([...inScope(loop.skills, loop.tools)]))
  if (loop.search !== null) {
    const option = loop.given.get('tool_search')
    const base = option instanceof HarnDict ? option : HarnDict.of({ variant: loop.search.search.variant })
    call.set('tool_search', base.with('mode', 'client').with('always_loaded', new HarnList([...loop.search.loaded])))
  }
  // In text mode the contract tells of the tools; the request carries none.
  if (options.toolFormat !== 'native') call.delete('tools')
  return call
}

export interface Answer {
  readonly request: LlmRequest
  readonly response: LlmResponse
  readonly tagged: TaggedResponse
}

/** The model's answer to the conversation, or null when a budget forbids asking. */
export function* askModel(loop: Loop, iteration: number, prefill: string | null): Script<Answer | null> {
  const system = systemPrompt(loop)
  yield* compactWhen(loop, 'preflight', system)
  for (let attempts = 1; ; attempts++) {
    const defaults = { ...CALL_DEFAULTS, retries: loop.options.llmRetries }
    const asked = yield* prepare(null, system, callOptions(loop, prefill), defaults)
    if (asked instanceof Fault) throw asked
    const withSkills = loop.skills !== null && loop.options.toolFormat === 'native'
    const prepared = withSkills ? { ...asked, tools: [loadSkillNative(), ...asked.tools] } : asked
    const refused = yield* here((ctx) => {
      const state = ctx.state(llmState)
      return budgetProblem(prepared, state.cost, state.ceiling)
    })
    if (refused !== null) return null
    const { request: wanted, record } = yield* experimented(prepared, iteration)
    const request = yield* withinTokenBudget(loop, wanted)
    if (request === null) return null
    const answered = yield* transport(request)
    if (isFailure(answered)) return failAsRaised(answered)
    // A model that does not say what it used is taken to have used all that it might.
    if (request !== wanted && answered.inputTokens <= 0 && answered.outputTokens <= 0)
      loop.unreportedTokens += estimateInput(request) + request.maxTokens
    yield* account(answered, iteration)
    const response = prefill === null ? answered : { ...answered, text: prefill + answered.text }
    const names = shownTools(loop).map((tool) => display(tool.get('name') ?? ''))
    const used = hasTools(loop) || response.toolCalls.length > 0
    const tagged = parseTagged(response.text, names)
    loop.events.push(...(yield* answerEvents(response, record, { tool_calling_mode: loop.options.toolFormat })))
    const answer = { request, response, tagged: used ? tagged : { ...tagged, violations: [], errors: [], calls: [] } }
    if (!expectsData(request)) return answer
    const judged = judge(request, response, [])
    if (judged.errors.length === 0 || attempts > loop.options.schemaRetries) return answer
    const nudge = nudgeText(request, judged.errors)
    if (nudge !== null) yield* tell(loop, 'schema_retry', nudge)
    yield* traceEvent({
      type: 'schema_retry',
      attempt: attempts,
      errors: new HarnList([...judged.errors]),
      nudge_used: nudge !== null,
      correction_prompt: nudge ?? '',
    })
  }
}

/**
 * The request with no more to answer than `token_budget` leaves; null when that is nothing. Calls that a mock answers use up nothing that
 * could be put aside.
 */
function* withinTokenBudget(loop: Loop, request: LlmRequest): Script<LlmRequest | null> {
  const { tokenBudget } = loop.options
  if (tokenBudget === null) return request
  if (yield* here((ctx) => isMocked(ctx.state(llmState), request.provider))) return request
  const left = tokenBudget - (yield* spentTokens(loop)) - estimateInput(request)
  return left < 1 ? null : { ...request, maxTokens: Math.min(request.maxTokens, left) }
}

/** Of the loop's `token_budget`. */
export function* spentTokens(loop: Loop): Script<number> {
  const { inputTokens, outputTokens } = yield* traceTotals()
  return Math.max(0, inputTokens) + Math.max(0, outputTokens) + loop.unreportedTokens
}

function asCall(dict: HarnDict): ToolCall {
  return {
    id: display(dict.get('id') ?? ''),
    name: display(dict.get('name') ?? ''),
    arguments: readCallArguments(dict.get('arguments')),
  }
}

/** The calls of an answer; a text call in native mode is taken as the fallback policy says. */
export function* callsIn(loop: Loop, answer: Answer, iteration: number): Script<ToolCall[]> {
  const { response, tagged } = answer
  const calls = callsOf(response, tagged).map(asCall)
  const fallback = loop.options.toolFormat === 'native' && response.toolCalls.length === 0 && tagged.calls.length > 0
  if (!fallback) return calls
  loop.fallbacks += 1
  const { fallback: policy } = loop.options
  const accepted = policy === 'allow' || (policy === 'allow_once' && loop.fallbacks === 1)
  const facts = {
    accepted,
    policy,
    fallback_index: loop.fallbacks,
    tool_call_count: calls.length,
  }
  const told = HarnDict.of({ ...facts, tool_parse_error_count: tagged.errors.length })
  loop.events.push(yield* makeEvent('native_tool_fallback', 'assistant', 'internal', '', told))
  yield* traceEvent({ type: 'native_tool_fallback', iteration, ...facts })
  if (accepted) return calls
  yield* tell(
    loop,
    'native_tool_contract',
    'Tool calls written as text are not carried out here. Call tools through the native tool channel.',
  )
  return []
}

/** Answers the calls of the ledger; the others are left. */
export function keepLedger(loop: Loop, calls: readonly ToolCall[]): readonly ToolCall[] {
  for (const call of calls) {
    if (call.name !== LEDGER || parseErrorOf(call.arguments) !== null) continue
    const { text, status } = applyLedger(loop.ledger, call.arguments)
    loop.messages.push(HarnDict.of({ role: 'user', content: text }))
    if (status === 'rejected') addOnce(loop.rejected, LEDGER)
    if (status !== 'ok') continue
    loop.called.push(LEDGER)
    addOnce(loop.successful, LEDGER)
    loop.actedOnce = true
  }
  return calls.filter((call) => call.name !== LEDGER || parseErrorOf(call.arguments) !== null)
}

export interface Turn {
  readonly answer: Answer
  readonly calls: readonly ToolCall[]
  readonly iteration: number
}

/** Whether the answer asks for the end of the work. */
function wantsEnd(loop: Loop, { answer }: Turn): boolean {
  const { options } = loop
  const { response, tagged } = answer
  const isEquipped = hasTools(loop)
  if (isEquipped && tagged.doneMarker === options.sentinel) return true
  if (options.toolFormat === 'native' && response.text.includes(options.sentinel)) return true
  const prose = tagged.prose === '' ? response.text : tagged.prose
  if (!isEquipped && prose.includes(options.sentinel)) return true
  return options.turnPolicy?.allowSentinel !== false && tagged.hasUserResponse
}

function phaseEnds(loop: Loop, text: string): boolean {
  const wanted = loop.options.breakUnlessPhase
  if (wanted === null) return false
  const phases = [...text.matchAll(/^[^\S\n\r\u2028\u2029]*next_phase:\s*(\S+)/gm)]
  const last = phases.at(-1)?.[1]
  return last !== undefined && last !== wanted
}

/** The end of a persistent loop, when nothing speaks against it; otherwise the model is told what does. */
function* mayEnd(loop: Loop, turn: Turn): Script<boolean> {
  if (!loop.options.persistent) return false
  if (phaseEnds(loop, turn.answer.response.text)) return true
  if (!wantsEnd(loop, turn)) return false
  if (hasTools(loop) && !loop.actedOnce) {
    yield* tell(
      loop,
      'sentinel_without_action',
      'You asked to finish before any tool was called. Do the work with the tools, then finish.',
    )
    return false
  }
  if (loop.options.exitWhenVerified && !loop.verified) {
    yield* tell(loop, 'verification_gate', 'Run a verifying command that succeeds before you finish.')
    return false
  }
  const left = unresolved(loop.ledger)
  if (left.length > 0) {
    loop.ledgerRejections += 1
    yield* tell(
      loop,
      'ledger_not_satisfied',
      `Not finished: ${left.length} deliverable(s) of the ledger are open or blocked.\n${left.join('\n')}\n` +
        'Do them with the tools and mark them as done, or mark them as dropped with a note that says why.',
    )
    return false
  }
  return true
}

function assistantOf(loop: Loop, { answer, calls }: Turn): HarnDict {
  const { response, tagged } = answer
  if (loop.options.toolFormat === 'native' || response.toolCalls.length > 0) {
    if (calls.length === 0) {
      return HarnDict.of({ role: 'assistant', content: tagged.canonical === '' ? response.text : tagged.canonical })
    }
    const written = calls.map((call) => HarnDict.of({ id: call.id, name: call.name, arguments: call.arguments }))
    return nativeAssistant(response.text, written, null)
  }
  if (tagged.errors.length > 0 && calls.length > 0) {
    const names = calls.map((call) => call.name).join(', ')
    return HarnDict.of({
      role: 'assistant',
      content:
        `<assistant turn partially elided: ${calls.length} tool call(s) executed successfully (${names}), ` +
        `${tagged.errors.length} malformed tool call(s) rejected. See tool results and parse errors that follow.>`,
    })
  }
  return HarnDict.of({ role: 'assistant', content: tagged.canonical === '' ? response.text.trim() : tagged.canonical })
}

const VERIFIED = /exit_code=0|Command succeeded|success=true/

/** Carries out the calls of a turn. Answers whether the loop ends. */
export function* toolTurn(loop: Loop, turn: Turn): Script<boolean> {
  const { options } = loop
  loop.textTurns = 0
  loop.messages.push(assistantOf(loop, turn))
  const context: DispatchContext = {
    options,
    tools: toolsByName(inScope(loop.skills, loop.tools)),
    sessionId: loop.sessionId,
    iteration: turn.iteration,
    servers: loop.servers,
    seen: loop.seen,
    emit: (fields) => emit(loop, fields),
  }
  const native = options.toolFormat === 'native' || turn.answer.response.toolCalls.length > 0
  const results: Dispatched[] = []
  const texts: string[] = []
  for (const call of turn.calls) {
    const done =
      loop.search !== null && call.name === loop.search.name
        ? yield* searchCall(loop, loop.search, call)
        : call.name === LOAD_SKILL
          ? yield* loadSkillCall(loop, call)
          : yield* dispatchCall(call, context)
    results.push(done)
    loop.events.push(...(yield* takeChildEvents(loop)))
    loop.events.push(...done.events)
    if (done.attempted) {
      loop.called.push(call.name)
      loop.actedOnce = true
    }
    if (done.status === 'ok') addOnce(loop.successful, call.name)
    if (done.status === 'rejected' && !done.skipped) addOnce(loop.rejected, call.name)
    if (call.name === 'run' && VERIFIED.test(done.text)) loop.verified = true
    if (native) loop.messages.push(HarnDict.of({ role: 'tool', tool_call_id: call.id, content: done.text }))
    else texts.push(`[result of ${call.name}]\n${done.text}\n[end of ${call.name} result]\n\n`)
  }
  if (texts.length > 0) yield* tell(loop, 'tool_results', texts.join(''))
  return yield* afterTools(loop, turn, results)
}

/** What sub-agents of the last call left for this transcript. */
function* takeChildEvents(loop: Loop): Script<HarnDict[]> {
  return yield* here((ctx) => {
    const { childEvents } = ctx.state(loopState)
    const events = childEvents.get(loop.sessionId) ?? []
    childEvents.delete(loop.sessionId)
    return events
  })
}

/** A call of the search tool, which the runtime answers. */
function* searchCall(loop: Loop, search: LoopSearch, call: ToolCall): Script<Dispatched> {
  const { strategy, variant } = search.search
  const query = HarnDict.of({
    id: call.id,
    name: `tool_search_tool_${variant}`,
    query: call.arguments,
    strategy,
    mode: 'client',
  })
  const asked = yield* makeEvent('tool_search_query', 'assistant', 'internal', '', query)
  yield* emit(loop, { type: 'tool_search_query', query: call.arguments, strategy, mode: 'client' })
  const found = search.find(display(call.arguments.get('query') ?? ''))
  const result = HarnDict.of({
    tool_use_id: call.id,
    tool_references: new HarnList(found.names.map((name) => HarnDict.of({ tool_name: name }))),
    strategy,
    mode: 'client',
    promoted: new HarnList([...found.added]),
  })
  const told = yield* makeEvent('tool_search_result', 'tool', 'internal', '', result)
  yield* emit(loop, { type: 'tool_search_result', tool_references: result.get('tool_references')!, strategy, mode: 'client' })
  return { name: call.name, status: 'ok', text: found.text, attempted: true, skipped: false, events: [asked, told] }
}

function* afterTools(loop: Loop, turn: Turn, results: readonly Dispatched[]): Script<boolean> {
  const { options } = loop
  const info = turnInfo(loop, turn, results)
  yield* notifyHooks('PostAgentTurn', hookPayload(loop, 'PostAgentTurn', info))
  yield* emit(loop, { type: 'turn_end', iteration: turn.iteration, turn_info: info })
  let stop = results.some((each) => each.status === 'ok' && options.stopAfter.includes(each.name))
  if (!stop && isCallable(options.postTurn)) stop = yield* postTurn(loop, info)
  if (stop) {
    loop.status = 'done'
    return true
  }
  yield* compactWhen(loop, 'auto', null)
  yield* tellErrors(loop, turn)
  if (yield* mayEnd(loop, turn)) {
    loop.status = 'done'
    return true
  }
  return false
}

/** What could not be read as a call, in full. */
function* tellErrors(loop: Loop, { answer }: Turn): Script<boolean> {
  const { errors } = answer.tagged
  if (errors.length > 0) yield* tell(loop, 'parse_error', errors.join('\n\n'))
  return errors.length > 0
}

export function hookPayload(loop: Loop, event: string, turn: HarnDict): HarnDict {
  return HarnDict.of({ event, session: HarnDict.of({ id: loop.sessionId }), turn })
}

function turnInfo(loop: Loop, turn: Turn, results: readonly Dispatched[]): HarnDict {
  const names = turn.calls.map((call) => call.name)
  loop.singleToolTurns = names.length === 1 ? loop.singleToolTurns + 1 : 0
  const reported = results.filter((each) => each.attempted && !each.skipped)
  const rows = reported.map((each) =>
    HarnDict.of({ tool_name: each.name, status: each.status, rejected: each.status === 'rejected' }),
  )
  return HarnDict.of({
    tool_names: new HarnList(names),
    tool_results: new HarnList(rows),
    successful_tool_names: new HarnList(results.filter((each) => each.status === 'ok').map((each) => each.name)),
    tool_count: names.length,
    iteration: turn.iteration,
    failed: results.some((each) => each.status !== 'ok'),
    consecutive_single_tool_turns: loop.singleToolTurns,
    session_tools_used: new HarnList([...loop.called]),
    session_successful_tools: new HarnList([...loop.successful]),
  })
}

/** The script's own word after a turn. */
function* postTurn(loop: Loop, info: HarnDict): Script<boolean> {
  const answer = yield* tryCallBack(loop.options.postTurn, info)
  if (answer instanceof Fault) throw answer
  if (typeof answer === 'boolean') return answer
  if (typeof answer === 'string') {
    if (answer !== '') yield* tell(loop, 'post_turn_callback', answer)
    return false
  }
  if (!(answer instanceof HarnDict)) return false
  const message = answer.get('message') ?? null
  if (message !== null && display(message) !== '') yield* tell(loop, 'post_turn_callback', display(message))
  return isTruthy(answer.get('stop') ?? false)
}

/** Tells the model what was wrong with the form of its answer, before the answer is kept. */
export function* correct(loop: Loop, { tagged }: Answer): Script<null> {
  if (!hasTools(loop)) return null
  if (tagged.errors.length > 0) yield* tell(loop, 'parse_guidance', parseGuidance(tagged.errors))
  if (tagged.violations.length > 0 && loop.options.toolFormat !== 'native') {
    yield* tell(loop, 'protocol_violation', violationText(tagged.violations, loop.options.sentinel))
  }
  return null
}

/** A turn without calls. Answers whether the loop ends. */
export function* textTurn(loop: Loop, turn: Turn): Script<boolean> {
  const { options } = loop
  if (yield* mayEnd(loop, turn)) {
    loop.messages.push(assistantOf(loop, turn))
    loop.status = 'done'
    return true
  }
  if (yield* tellErrors(loop, turn)) return false
  if (options.turnPolicy?.requireAction === true && options.toolFormat === 'native' && loop.called.length === 0) {
    loop.textTurns += 1
    if (loop.textTurns > options.maxNudges) return yield* stuck(loop, turn)
    yield* tell(loop, 'action_required', 'Call one of the tools before you answer.')
    return false
  }
  loop.messages.push(assistantOf(loop, turn))
  if (loop.daemon !== null) return yield* idle(loop, loop.daemon, turn)
  if (!options.persistent) {
    loop.status = 'done'
    return true
  }
  loop.textTurns += 1
  if (loop.textTurns > options.maxNudges) return yield* stuck(loop, turn)
  const usual = hasTools(loop) ? 'Continue — use a tool call to make progress.' : 'Continue — make progress in your reply.'
  yield* tell(loop, 'nudge', options.nudge ?? usual)
  return false
}

/** A daemon has nothing to do. Answers whether it ends, for want of anything that could wake it. */
function* idle(loop: Loop, daemon: Daemon, turn: Turn): Script<boolean> {
  if (daemon.consolidates) yield* compactWhen(loop, 'auto', null)
  yield* saveDaemon(loop, 'idle', turn.iteration + 1)
  const wake = yield* awaitWork(loop, daemon)
  if (wake === null) return true
  yield* wakeEvent(loop, wake)
  yield* tell(loop, wake.reason, wake.text)
  return false
}

function* stuck(loop: Loop, turn: Turn): Script<boolean> {
  loop.status = 'stuck'
  yield* emit(loop, {
    type: 'loop_stuck',
    max_nudges: loop.options.maxNudges,
    last_iteration: turn.iteration,
    tail_excerpt: turn.answer.response.text.slice(-200),
  })
  return true
}
