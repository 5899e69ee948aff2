// Durations, clocks and timers, and the family that joins them with the date builtins.
// A mocked clock lives in the machine and answers before any effect is issued.

import {
  CANCELLED_TEXT,
  HarnDict,
  HarnDuration,
  HarnFloat,
  builtin,
  builtinTaking,
  display,
  family,
  frame,
  isInt,
  typeName,
  wrapInt,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Effect, Result, Value } from '@bridle/vm/families'
import { dateBuiltins, makeDateNow, formatIsoNow } from './dates.js'

/** `wallMs` is null while the real clock is in use; `monotonicMs` counts from the call of mock_time. */
export const clockState = family('clock', (): { wallMs: number | null; monotonicMs: number } => ({
  wallMs: null,
  monotonicMs: 0,
}))

export const WALL_CLOCK: Effect = { kind: 'clock.now', args: {} }
export const MONOTONIC_CLOCK: Effect = { kind: 'clock.monotonic', args: {} }

/** What a clock effect answered, as a number of milliseconds. */
export function toClockMs(answer: Value): number {
  return answer instanceof HarnFloat ? answer.v : Number(answer)
}

/** What is done with a reading of the real clock, in milliseconds. */
const READINGS: Readonly<Record<string, (ctx: Context, ms: number, input: Value) => Result>> = {
  seconds: (_ctx, ms) => new HarnFloat(ms / 1000),
  millis: (_ctx, ms) => Math.floor(ms),
  date: (_ctx, ms) => makeDateNow(ms),
  iso: (_ctx, ms) => formatIsoNow(ms),
  timer_start: (_ctx, ms, name) => HarnDict.of({ name, start_ms: Math.floor(ms) }),
  timer_end: (ctx, ms, timer) => {
    const fields = timer as HarnDict
    const started = fields.get('start_ms')
    const elapsed = started !== undefined && isInt(started) ? Math.max(0, Math.floor(ms) - toClockMs(started)) : 0
    ctx.write(`[timer] ${fields.has('name') ? display(fields.get('name')!) : ''}: ${elapsed}ms\n`)
    return elapsed
  },
}

interface ReadState {
  [key: string]: unknown
  readonly effect: Effect
  readonly then: string
  readonly input: Value
  asked: boolean
}

const readFrame = frame<ReadState>({
  kind: 'time.read',
  step: (ctx, state) => {
    if (!state.asked) {
      state.asked = true
      return ctx.request(state.effect)
    }
    return READINGS[state.then]!(ctx, toClockMs(ctx.result), state.input)
  },
})

function read(ctx: Context, effect: Effect, then: string, input: Value = null): Result {
  return ctx.frame('time.read', { effect, then, input, asked: false } satisfies ReadState)
}

interface SleepState {
  [key: string]: unknown
  readonly dueMs: number
  parked: boolean
}

/** `sleep` looks whether its task was cancelled, when it begins and every 10 ms; `sleep_ms` (`time.pause`) does not. */
const sleepFrame = frame<SleepState>({
  kind: 'time.sleep',
  heedsCancel: true,
  step: (ctx, state) => (!state.parked && ctx.machine.task().cancelled ? ctx.throw(CANCELLED_TEXT) : pause(ctx, state)),
})

const pauseFrame = frame<SleepState>({ kind: 'time.pause', step: pause })

function pause(ctx: Context, state: SleepState): Result {
  if (state.parked) return null
  state.parked = true
  return ctx.park(null, state.dueMs)
}

function sleepFor(ctx: Context, kind: 'time.sleep' | 'time.pause', ms: number): Result {
  return ctx.frame(kind, { dueMs: ctx.now + Math.max(0, ms), parked: false } satisfies SleepState)
}

// ------------------------------------------------------------------------------------------------------------ durations

const A_DURATION = { fewer: '{f}: missing duration argument', not: '{f}: expected duration, got {got}' } as const

/** Nearest integer, halves away from zero. */
function roundAway(n: number): number {
  return Math.sign(n) * Math.round(Math.abs(n))
}

function makeDuration(name: string, unitMs: number): BuiltinDef {
  return builtinTaking(
    `${name}(n: number) -> duration`,
    { doc: `A duration of \`n\` times ${unitMs} milliseconds.`, borrows: true },
    { fewer: '{f}: missing value argument' },
    (ctx, n) => {
      const isFinite = n instanceof HarnFloat && Number.isFinite(n.v * unitMs)
      if (n instanceof HarnFloat && Number.isFinite(n.v) && !isFinite) return ctx.throw(`${name}: duration overflow`)
      const ms = isInt(n!) ? BigInt(n) * BigInt(unitMs) : isFinite ? BigInt(roundAway(n.v * unitMs)) : null
      if (ms === null) return ctx.throw(`${name}: expected number, got ${typeName(n!)}`)
      return ms === BigInt.asIntN(64, ms) ? new HarnDuration(wrapInt(ms)) : ctx.throw(`${name}: duration overflow`)
    },
  )
}

const UNITS: readonly (readonly [string, bigint])[] = [
  ['d', 86_400_000n],
  ['h', 3_600_000n],
  ['m', 60_000n],
  ['s', 1000n],
  ['ms', 1n],
]

/** Up to three units that are not zero, largest first. */
function formatHumanDuration(duration: HarnDuration): string {
  const total = BigInt(duration.ms)
  let rest = total < 0n ? -total : total
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    if (rest >= size) parts.push(`${rest / size}${unit}`)
    rest %= size
  }
  return parts.length === 0 ? '0s' : (total < 0n ? '-' : '') + parts.slice(0, 3).join(' ')
}

// --------------------------------------------------------------------------------------------------------------- family

export const timeFamily: BuiltinFamily = {
  name: 'time',
  frames: [readFrame, sleepFrame, pauseFrame],
  primitives: [
    builtin('__iso_time(ms: int) -> string', { doc: 'A time since 1970 as `2026-04-25T10:00:00.123Z`.' }, (_ctx, ms) =>
      formatIsoNow(Number(ms)),
    ),
  ],
  builtins: [
    ...dateBuiltins,
    builtin('date_now() -> dict', { doc: 'The current date and time in UTC as a dict.', effects: ['clock.now'] }, (ctx) =>
      read(ctx, WALL_CLOCK, 'date'),
    ),
    builtin(
      'date_now_iso() -> string',
      { doc: 'The current time as `2026-04-25T10:00:00.123Z`.', effects: ['clock.now'] },
      (ctx) => read(ctx, WALL_CLOCK, 'iso'),
    ),
    builtin('date_iso() -> string', { doc: 'The current time as `2026-04-25T10:00:00.123Z`.', effects: ['clock.now'] }, (ctx) =>
      read(ctx, WALL_CLOCK, 'iso'),
    ),

    makeDuration('duration_ms', 1),
    makeDuration('duration_seconds', 1000),
    makeDuration('duration_minutes', 60_000),
    makeDuration('duration_hours', 3_600_000),
    makeDuration('duration_days', 86_400_000),
    builtinTaking(
      'duration_to_seconds(duration: duration) -> int',
      { doc: 'Whole seconds of a duration, truncated.', borrows: true },
      A_DURATION,
      (_ctx, duration) => wrapInt(BigInt(duration.ms) / 1000n),
    ),
    builtinTaking(
      'duration_to_human(duration: duration) -> string',
      { doc: 'A duration as up to three units: `3h 14m`.', borrows: true },
      A_DURATION,
      (_ctx, duration) => formatHumanDuration(duration),
    ),

    builtin('timestamp() -> float', { doc: 'Seconds since 1970.', effects: ['clock.now'] }, (ctx) => {
      const { wallMs } = ctx.state(clockState)
      return wallMs === null ? read(ctx, WALL_CLOCK, 'seconds') : new HarnFloat(wallMs / 1000)
    }),
    builtin(
      'now_ms() -> int',
      { doc: 'Milliseconds since 1970.', effects: ['clock.now'] },
      (ctx) => ctx.state(clockState).wallMs ?? read(ctx, WALL_CLOCK, 'millis'),
    ),
    ...['monotonic_ms', 'elapsed'].map((name) =>
      builtin(
        `${name}() -> int`,
        { doc: 'Milliseconds since the run began, never falling.', effects: ['clock.monotonic'] },
        (ctx) => {
          const clock = ctx.state(clockState)
          return clock.wallMs === null ? read(ctx, MONOTONIC_CLOCK, 'millis') : clock.monotonicMs
        },
      ),
    ),
    builtinTaking(
      'mock_time(ms: int) -> nil',
      { doc: 'Stops the clock at a time; advance_time and sleep_ms move it.', effects: [] },
      { not: { ms: '{f}(ms): expected an integer millisecond timestamp' } },
      (ctx, ms) => {
        const clock = ctx.state(clockState)
        clock.wallMs = Number(ms)
        clock.monotonicMs = 0
        return null
      },
    ),
    builtin('advance_time(ms: int) -> int', { doc: 'Moves the mocked clock and gives its new time.', effects: [] }, (ctx, ms) => {
      const clock = ctx.state(clockState)
      if (clock.wallMs === null) return ctx.throw('advance_time: no mock active. Call mock_time(ms) first.')
      const amount = isInt(ms!) ? Number(ms) : 0
      clock.wallMs += amount
      clock.monotonicMs += amount
      return clock.wallMs
    }),
    builtin('unmock_time() -> nil', { doc: 'Goes back to the real clock.', effects: [] }, (ctx) => {
      const clock = ctx.state(clockState)
      clock.wallMs = null
      clock.monotonicMs = 0
      return null
    }),
    builtin(
      'sleep_ms(ms: int) -> nil',
      { doc: 'Waits; under a mocked clock moves it instead.', effects: ['callback'] },
      (ctx, ms) => {
        const amount = isInt(ms!)
          ? Number(ms)
          : ms instanceof HarnDuration
            ? Number(ms.ms)
            : ms instanceof HarnFloat
              ? Math.trunc(ms.v)
              : 0
        const clock = ctx.state(clockState)
        if (clock.wallMs === null) return amount > 0 ? sleepFor(ctx, 'time.pause', amount) : null
        clock.wallMs += Math.max(0, amount)
        clock.monotonicMs += Math.max(0, amount)
        return null
      },
    ),
    builtin(
      'sleep(duration: duration | int) -> nil',
      { doc: 'Waits for a duration or a number of milliseconds of real time.', effects: ['callback'] },
      (ctx, duration) => {
        if (duration instanceof HarnDuration) return sleepFor(ctx, 'time.sleep', Number(duration.ms))
        return isInt(duration!) ? sleepFor(ctx, 'time.sleep', Number(duration)) : null
      },
    ),
    builtinTaking(
      'timer_start(name?: string = "default") -> dict',
      { doc: 'Starts a named timer.', effects: ['clock.now'] },
      { text: { name: null } },
      (ctx, name) => read(ctx, WALL_CLOCK, 'timer_start', name),
    ),
    builtinTaking(
      'timer_end(timer: dict) -> int',
      { doc: 'Prints and gives the milliseconds since timer_start.', effects: ['clock.now'] },
      { not: { timer: '{f}: argument must be a timer {type} from timer_start' } },
      (ctx, timer) => read(ctx, WALL_CLOCK, 'timer_end', timer),
    ),
  ],
}
