// What an attempt gave (dispatch.ts): decoded, checked against the schema of the tool, kept, shown to hooks.

import { DRIFT_WATCH, RESULT_CACHE } from '../host-slots.js'
import {
  Control,
  HarnDict,
  HarnFloat,
  HarnList,
  Keyed,
  runAtOnce,
  definePieces,
  makeStepWork,
  isInt,
  stringifySorted,
  toPlain,
} from '@bridle/vm/families'
import type { Context, Cost, Result, Steps, Value } from '@bridle/vm/families'
import { reportToCircuit } from './circuit.js'
import { findExecutorFacts, isOutside } from '@bridle/compiler/grants'
import { makeStandardAnswer } from '../definitions/standard-tools.js'
import { keepResult, chooseRule } from './cache.js'
import { getEntryFacts } from '../definitions/entry.js'
import { checkDrift } from './drift.js'
import { openStream } from './streams.js'
import { startPostHooks } from '../policy/gate.js'
import { makePin } from './gate.js'
import { maySeeResults } from './hooks.js'
import { getOrNil, readText } from '../definitions/registry.js'
import { hasMembers, stepThroughSchema, validateSchema } from '../definitions/validate.js'
import type { SchemaFailure } from '../definitions/validate.js'
import type { DispatchState } from './call-state.js'
import { finish, refuseWith, readExecutor, isOfScript, toCalled } from './call-state.js'
import { makeOutsideCall, endAttempt, hashArguments } from './attempt.js'

/** Numbers from outside lose the difference of 1 and 1.0; the schema gives it back. */
function* decodeResult(value: Value, schema: Value | undefined, depth = 0): Generator<Cost, Value, void> {
  if (!(schema instanceof HarnDict) || depth > 100) return value
  const items = schema.get('items')
  if (value instanceof HarnList && items instanceof HarnDict) {
    const decoded: Value[] = []
    for (const item of value.view()) {
      if (decoded.length % DECODED_AT_ONCE === 0) yield { units: DECODED_AT_ONCE, heap: DECODED_AT_ONCE * UNITS_A_SLOT }
      decoded.push(hasMembers(item) ? yield* decodeResult(item, items, depth + 1) : decodeNumber(item, items))
    }
    return new HarnList(decoded)
  }
  const properties = schema.get('properties')
  if (!(value instanceof HarnDict) || !(properties instanceof HarnDict)) return decodeNumber(value, schema)
  const decoded = value.copy()
  yield { units: properties.size, heap: UNITS_A_SLOT * (1 + decoded.size) }
  for (const [key, inner] of properties.entries()) {
    const member = decoded.get(key)
    if (member === undefined) continue
    decoded.set(key, hasMembers(member) ? yield* decodeResult(member, inner, depth + 1) : decodeNumber(member, inner))
  }
  return decoded
}

/** Items between two steps, and heap units of one. */
const DECODED_AT_ONCE = 256
const UNITS_A_SLOT = 16

function decodeNumber(value: Value, schema: Value): Value {
  if (!(schema instanceof HarnDict)) return value
  const type = schema.get('type')
  if (type === 'number' && isInt(value)) return new HarnFloat(Number(value))
  if (type === 'integer' && value instanceof HarnFloat && Number.isSafeInteger(value.v)) return value.v
  return value
}

/** A result that was checked, for the frame of its call. */
function* stepThroughResult(raw: Value, schema: Value, isDecoded: boolean): Steps {
  const value = isDecoded ? yield* decodeResult(raw, schema) : raw
  const failure = yield* stepThroughSchema(value, schema)
  return () => HarnDict.of({ value, failure: failure === null ? null : HarnDict.of({ ...failure }) })
}

export const checkingResult = definePieces('tool.check_result', ([raw, schema, isDecoded]) =>
  makeStepWork(stepThroughResult(raw!, schema!, isDecoded as boolean)),
)

/** Results that are checked within the step that takes them in. */
const SMALL_RESULT = 1_000

/** Whether a value has no more than `most` members, those of its members counted too. */
function isSmall(value: Value, most: number): boolean {
  const pending = [value]
  let left = most
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const members = next instanceof HarnList ? next.view() : next instanceof Keyed ? next.values() : []
    left -= members.length
    if (left < 0) return false
    for (const member of members) if (hasMembers(member)) pending.push(member)
  }
  return true
}

function readOutputMode(entry: HarnDict): string {
  return readText(entry, 'output_mode') ?? 'fail'
}

export function runAfterHooks(ctx: Context, state: DispatchState, value: Value): Result {
  if (!maySeeResults(ctx, toCalled(state))) return finish(ctx, state, value)
  state.stage = 'after'
  state.value = value
  return startPostHooks(ctx, toCalled(state), state.args, formatResult(value))
}

export function accept(ctx: Context, state: DispatchState, given: Value): Result {
  const entry = state.entry!
  let raw = given
  if (state.stream === true) {
    const executor = readExecutor(entry)
    const opened = openStream(ctx, state.callId, given, () =>
      isOutside(executor)
        ? makeOutsideCall(ctx, state, entry, executor, { args: toPlain(state.args), argHash: hashArguments(ctx, state) })
        : null,
    )
    if (opened.kind === 'chunks') {
      endAttempt(ctx, state)
      return finish(ctx, state, opened.handle)
    }
    raw = opened.value
  }
  const schema = getEntryFacts(entry).output
  endAttempt(ctx, state)
  reportToCircuit(ctx, `tool:${state.name}`, getEntryFacts(entry).breaker, true)
  const runs = findExecutorFacts(readExecutor(entry))?.runs
  const answer = runs === 'builtin' ? makeStandardAnswer(state.name, raw, state.args as HarnDict) : raw
  if (schema === null) return takeResult(ctx, state, answer, null)
  const isDecoded = runs !== 'builtin' && runs !== 'handler'
  if (!isSmall(answer, SMALL_RESULT)) {
    state.stage = 'checking'
    const checked = checkingResult.run(ctx, answer, schema, isDecoded)
    return checked instanceof Control ? checked : takeChecked(ctx, state, checked as HarnDict)
  }
  const value = !isDecoded ? answer : hasMembers(answer) ? runAtOnce(decodeResult(answer, schema)) : decodeNumber(answer, schema)
  return takeResult(ctx, state, value, validateSchema(value, schema))
}

export function takeChecked(ctx: Context, state: DispatchState, checked: HarnDict): Result {
  const failure = checked.get('failure')
  const found =
    failure instanceof HarnDict
      ? (Object.fromEntries(failure.entries()) as { readonly [part in keyof SchemaFailure]: string })
      : null
  return takeResult(ctx, state, checked.get('value')!, found)
}

/** Continues with a result of which is known whether it is as the schema of its tool says. */
function takeResult(ctx: Context, state: DispatchState, value: Value, failure: SchemaFailure | null): Result {
  const entry = state.entry!
  const schema = getEntryFacts(entry).output
  const { drift: reaction } = getEntryFacts(entry)
  if (reaction !== null || ctx.machine.hostData(DRIFT_WATCH) !== null) {
    const key = (): string => makePin({ identity: state.identity!, entry, isOfScript: isOfScript(state) })
    const drift = checkDrift(ctx, { tool: state.identity!.id, reaction, key, schema }, value)
    const message = `Tool '${state.name}' gave another shape than expected: ${drift?.line ?? ''}`
    if (drift !== null) return refuseWith(ctx, state, 'schema_drift', message, drift.report)
  }
  if (failure === null && state.cacheKey !== undefined)
    keepResult(
      ctx,
      state.cacheKey,
      { value, handler: getOrNil(entry, 'handler') },
      chooseRule(ctx.machine.hostData(RESULT_CACHE), getEntryFacts(entry).cache) ?? { ttlMs: 0 },
    )
  if (failure === null || readOutputMode(entry) === 'warn')
    return runAfterHooks(ctx, state, state.stream === true ? HarnDict.of({ kind: 'whole', id: state.callId, value }) : value)
  const { path, expected, actual, reason } = failure
  const message = `Tool '${state.name}' returned an invalid result at ${path}: ${reason}`
  return refuseWith(ctx, state, 'output_validation_failed', message, HarnDict.of({ path, expected, actual, reason }))
}

/** What hooks look at and may replace: texts as they are, data as JSON. */
export function formatResult(value: Value): string {
  return typeof value === 'string' ? value : stringifySorted(value, 2)
}
