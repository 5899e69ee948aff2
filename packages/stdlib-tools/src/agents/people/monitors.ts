// Monitors, behind std/monitors: a source is polled until a condition on what it gives holds or the time
// runs out. Outcomes are kept by wait id, so that a wait that was over once is not waited for again.

import {
  HarnDict,
  builtin,
  callBack,
  display,
  failRuntime,
  family,
  here,
  isCallable,
  isTruthy,
  millisOf,
  parkUntil,
  scripts,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { timeOrderedId, wallMs } from '../../library/time/identity.js'
import { isoNow } from '../../library/time/dates.js'

const NAME = 'monitor_wait_for_native'
const DEFAULT_INTERVAL_MS = 10_000

const outcomeState = family<{ readonly outcomes: Map<string, HarnDict> }>('monitors', () => ({ outcomes: new Map() }))

interface Plan {
  readonly label: Value
  readonly poll: Value
  readonly condition: Value
  readonly timeoutMs: number
  readonly intervalMs: number
}

function readPlan(options: HarnDict): Plan {
  const source = options.get('source') ?? null
  if (source === null) return failRuntime(`${NAME}: source is required`)
  if (!isCallable(source) && !(source instanceof HarnDict))
    return failRuntime(`${NAME}: source must be a closure or dict, got ${typeName(source)}`)
  const poll = source instanceof HarnDict ? (source.get('poll') ?? null) : source
  if (!isCallable(poll)) return failRuntime(`${NAME} source: poll must be a closure`)
  const timeoutMs = millisOf(options.get('timeout'))
  if (timeoutMs === null) return failRuntime(`${NAME}: timeout is required`)
  const intervalMs = millisOf(options.get('poll_interval')) ?? DEFAULT_INTERVAL_MS
  if (intervalMs <= 0) return failRuntime(`${NAME}: poll_interval must be greater than zero`)
  const condition = options.get('condition') ?? null
  if (condition === null) return failRuntime(`${NAME}: condition must be a closure`)
  if (!isCallable(condition)) return failRuntime(`${NAME}: condition must be a closure, got ${typeName(condition)}`)
  return { label: source instanceof HarnDict ? (source.get('label') ?? null) : null, poll, condition, timeoutMs, intervalMs }
}

function* watch(plan: Plan, waitId: string): Script<HarnDict> {
  const startedAt = isoNow(yield* wallMs())
  const deadline = (yield* here((ctx) => ctx.now)) + plan.timeoutMs
  const traceId = `trace_${yield* timeOrderedId()}`
  for (let polls = 1; ; polls++) {
    const asked = HarnDict.of({ wait_id: waitId, poll_count: polls - 1, last_push_event: null })
    const state = yield* callBack(plan.poll, asked)
    const answer = yield* callBack(plan.condition, state)
    const now = yield* here((ctx) => ctx.now)
    const matched = isTruthy(answer)
    if (matched || now >= deadline) {
      return HarnDict.of({
        wait_id: waitId,
        status: matched ? 'matched' : 'timed_out',
        source_label: plan.label,
        started_at: startedAt,
        resolved_at: isoNow(yield* wallMs()),
        state,
        condition_value: answer,
        poll_count: polls,
        push_wake_count: 0,
        trace_id: traceId,
        replay_of_event_id: null,
        reason: matched ? null : 'deadline elapsed',
      })
    }
    yield* parkUntil(null, Math.min(deadline, now + plan.intervalMs))
  }
}

const machine = scripts('monitors.script', {
  *wait(given) {
    if (!(given instanceof HarnDict)) return failRuntime(`${NAME}: expected dict options, got ${typeName(given ?? null)}`)
    const plan = readPlan(given)
    const named = given.get('wait_id') ?? null
    const waitId = named === null ? `monitor_wait_${yield* timeOrderedId()}` : display(named)
    const known = yield* here((ctx) => ctx.state(outcomeState).outcomes.get(waitId) ?? null)
    if (known !== null) return known
    const outcome = yield* watch(plan, waitId)
    return yield* here((ctx) => {
      ctx.state(outcomeState).outcomes.set(waitId, outcome)
      return outcome
    })
  },
})

export const monitorsFamily: BuiltinFamily = {
  name: 'monitors',
  frames: [machine.frame],
  builtins: [
    builtin(
      'monitor_wait_for_native(options: dict) -> dict',
      {
        doc: 'Polls a source until a condition holds or the time runs out.',
        effects: ['callback', 'clock.now', 'random.bytes'],
      },
      (ctx, options) => machine.start(ctx, 'wait', options ?? null),
    ),
  ],
}
