// One run of an agent loop: what it begins with, turn after turn, and the result.

import { innermostScope } from '../../library/task-scopes.js'
import { Fault, HarnDict, HarnList, display, failRuntime, here } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { takeInbox } from './inbox.js'
import { traceSummary, traceTotals } from './trace.js'
import { emit } from './loop-state.js'
import type { Loop } from './loop-state.js'
import { matchSkills, readLoopSkills } from './skills.js'
import { readDaemon, resume, resumedState, saveDaemon } from './daemon.js'
import { ledgerValue, readLedger } from './ledger.js'
import { takeInjected, askModel, spentTokens, callsIn, keepLedger, toolTurn, textTurn, correct, hookPayload } from './turns.js'
import type { Turn } from './turns.js'
import { loopSearch } from './search.js'
import type { ConnectedServer } from './servers.js'
import { readLoopOptions, requireExecutable } from './options.js'
import type { LoopOptions } from './options.js'
import { notifyHooks } from '../../tools/dispatch/hooks.js'
import { timeOrderedId } from '../../library/time/identity.js'
import { prepare, traceEvent } from '../models/call.js'
import type { LlmRequest } from '../models/options.js'
import { openSession, setCurrentSession, touch } from '../sessions/sessions.js'
import { visibleText } from '../../library/formats/tagged-response.js'
import { isRegistry } from '../../tools/definitions/registry.js'
import { validateSurface } from '../../tools/definitions/surface.js'
import { dictsOf, makeTranscript, storedMessage } from '../transcripts/shape.js'

function* store(loop: Loop): Script<null> {
  if (!loop.stored) return null
  const { messages, events, summary, sessionId } = loop
  return yield* here((ctx) => {
    const session = touch(ctx, sessionId) ?? openSession(ctx, sessionId)
    session.messages = messages.map(storedMessage)
    session.events = [...events]
    session.summary = summary
    session.state = loop.status === '' || loop.status === 'done' ? 'active' : 'paused'
    return null
  })
}

function* startLoop(prompt: Value, system: Value, given: HarnDict, servers: readonly ConnectedServer[]): Script<Loop> {
  const probe = yield* prepare(prompt, system, given)
  if (probe instanceof Fault) throw probe
  const options = readLoopOptions(given, 'agent_loop', probe.model)
  requireExecutable(options.tools, options.label)
  const registry = given.get('tools')
  if (options.tools.length > 0 && registry instanceof HarnDict && isRegistry(registry)) {
    checkSurface(registry, options, yield* here((ctx) => innermostScope(ctx, 'ceilings')))
  }
  const sessionId = options.sessionId ?? `agent_session_${yield* timeOrderedId()}`
  const stored = options.sessionId !== null
  const before = yield* here((ctx) => {
    setCurrentSession(ctx, sessionId)
    const session = stored ? openSession(ctx, sessionId) : null
    if (session === null) return null
    return { messages: [...session.messages], summary: session.summary, skills: [...session.activeSkills] }
  })
  const daemon = readDaemon(given)
  const messages = [...(before?.messages ?? [])]
  const summary = before?.summary ?? null
  if (summary !== null && messages[0]?.get('content') !== summary) {
    messages.unshift(HarnDict.of({ role: 'user', content: summary }))
  }
  messages.push(
    ...(given.get('messages') instanceof HarnList ? probe.messages : [HarnDict.of({ role: 'user', content: display(prompt) })]),
  )
  const loop: Loop = {
    options,
    given,
    system: system === null ? null : display(system),
    tools: options.tools,
    search: loopSearch(given.get('tool_search') ?? null, options.tools, nativeSearch(probe)),
    servers,
    ledger: readLedger(given),
    daemon,
    ledgerRejections: 0,
    skills: readLoopSkills(given, before?.skills ?? []),
    sessionId,
    stored,
    messages,
    events: [],
    summary,
    text: '',
    lastText: '',
    unreportedTokens: 0,
    status: '',
    called: [],
    successful: [],
    rejected: [],
    seen: new Map(),
    verified: false,
    actedOnce: false,
    textTurns: 0,
    fallbacks: 0,
    singleToolTurns: 0,
    deferred: [],
  }
  const snapshot = yield* resumedState(daemon)
  if (snapshot !== null) resume(loop, snapshot)
  return loop
}

/** Whether the service searches for deferred tools by itself. */
function nativeSearch(probe: LlmRequest): boolean {
  const first = probe.tools[0]
  return first !== undefined && first.get('function') === undefined && String(first.get('type') ?? '').startsWith('tool_search')
}

/** Under the policy that is in force, which is what the loop's own leaves of its caller's. */
function checkSurface(registry: HarnDict, options: LoopOptions, policy: Value): void {
  const surface = HarnDict.of({ tools: registry })
  if (policy instanceof HarnDict) surface.set('policy', policy)
  const report = validateSurface(surface, null)
  for (const diagnostic of dictsOf(report.get('diagnostics'))) {
    if (diagnostic.get('severity') !== 'error') continue
    const code = display(diagnostic.get('code') ?? '')
    failRuntime(`${options.label} tool surface validation failed: ${code}: ${display(diagnostic.get('message') ?? '')}`)
  }
}

export function* runLoop(prompt: Value, system: Value, given: HarnDict, servers: readonly ConnectedServer[]): Script<HarnDict> {
  const startMs = yield* here((ctx) => ctx.now)
  const loop = yield* startLoop(prompt, system, given, servers)
  const { options } = loop
  let iterations = 0
  for (let iteration = 0; iteration < options.maxIterations && loop.status === ''; iteration++) {
    yield* matchSkills(loop, iteration)
    yield* notifyHooks('PreAgentTurn', hookPayload(loop, 'PreAgentTurn', HarnDict.of({ iteration })))
    yield* emit(loop, { type: 'turn_start', iteration })
    const prefill = yield* takeInjected(loop)
    yield* takeInbox(loop, 'turn')
    // Sub-agents of this turn branch off here.
    yield* store(loop)
    // A turn that a budget forbids was begun all the same.
    iterations = iteration + 1
    const answer = yield* askModel(loop, iteration, prefill)
    if (answer === null) {
      loop.status = 'budget_exhausted'
      break
    }
    loop.text += answer.response.text
    const { prose, doneMarker } = answer.tagged
    loop.lastText =
      withinPolicy(prose === '' ? answer.response.text : prose, options) +
      (doneMarker === null ? '' : `\n\n<done>${doneMarker}</done>`)
    yield* correct(loop, answer)
    const calls = keepLedger(loop, yield* callsIn(loop, answer, iteration))
    const turn: Turn = { answer, calls, iteration }
    const ends = calls.length > 0 ? yield* toolTurn(loop, turn) : yield* textTurn(loop, turn)
    yield* store(loop)
    if (options.tokenBudget !== null && (yield* spentTokens(loop)) >= options.tokenBudget) loop.status = 'budget_exhausted'
    if (!ends) continue
    // Whoever says something as the loop ends wants it to go on.
    if (loop.status === 'budget_exhausted' || !(yield* takeInbox(loop, 'end'))) break
    loop.status = ''
  }
  if (loop.status === '') {
    loop.status = 'budget_exhausted'
    yield* emit(loop, { type: 'budget_exhausted', max_iterations: options.maxIterations })
  }
  const needed = options.requireSuccessful
  if (loop.status === 'done' && needed.length > 0 && !needed.some((name) => loop.successful.includes(name))) {
    loop.status = 'failed'
  }
  const durationMs = Math.trunc((yield* here((ctx) => ctx.now)) - startMs)
  yield* traceEvent({
    type: 'loop_complete',
    status: loop.status,
    iterations,
    total_duration_ms: durationMs,
    tools_used: new HarnList([...loop.called]),
    successful_tools: new HarnList([...loop.successful]),
  })
  yield* saveDaemon(loop, loop.status, iterations)
  yield* store(loop)
  return yield* loopResult(loop, (loop.daemon?.before ?? 0) + iterations, durationMs)
}

/** Prose over the limit of the turn policy is cut, with a note that the model reads. */
function withinPolicy(prose: string, { turnPolicy }: LoopOptions): string {
  const most = turnPolicy?.maxProse ?? null
  if (most === null || [...prose].length <= most) return prose
  const kept = [...prose].slice(0, most).join('')
  return `${kept}\n\n<assistant prose truncated by turn policy; keep prose brief and act>`
}

function* loopResult(loop: Loop, iterations: number, durationMs: number): Script<HarnDict> {
  const totals = yield* traceTotals()
  const trace = yield* here((ctx) => traceSummary(ctx))
  const transcript = yield* makeTranscript({
    id: loop.sessionId,
    messages: loop.messages,
    events: loop.events,
    summary: loop.summary,
    state: loop.status === 'done' ? 'active' : 'paused',
  })
  const sanitised = visibleText(loop.lastText)
  return HarnDict.of({
    status: loop.status,
    daemon_state: loop.daemon === null ? 'done' : loop.status,
    daemon_snapshot_path: loop.daemon?.persistPath ?? loop.daemon?.resumePath ?? null,
    text: loop.text,
    visible_text: sanitised,
    llm: HarnDict.of({
      iterations,
      duration_ms: durationMs,
      input_tokens: totals.inputTokens,
      output_tokens: totals.outputTokens,
    }),
    tools: HarnDict.of({
      calls: new HarnList([...loop.called]),
      successful: new HarnList([...loop.successful]),
      rejected: new HarnList([...loop.rejected]),
      mode: loop.options.toolFormat,
    }),
    deferred_user_messages: new HarnList([...loop.deferred]),
    task_ledger: ledgerValue(loop.ledger),
    ledger_done_rejections: loop.ledgerRejections,
    trace,
    transcript,
  })
}
