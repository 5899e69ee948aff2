// Effects that the store of a run answers: `durable.op` for the run itself, `runs.op` for other runs (std/durable uses them).
//
// Answers have one form, `{value}` or `{code, message}`, so that a script sees the code of what went wrong. What changes something is answered
// at once: it becomes part of the record of the run, and happens with the commit that keeps the record.

import type { EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import { EVENT_TOKEN, RUN_TOKEN, SIGNAL_TOKEN, readUnverified } from '../../tools/executors/completion-keys.js'
import { answered } from '../../tools/executors/provider.js'
import type { EffectCall, Provider, TokenLimit } from '../../tools/executors/provider.js'
import type { ToolOutcome } from '../../tools/executors/outcome.js'
import { isToolError } from '../../tools/host-tools/errors.js'
import { listenForAbort } from '../../library/abort.js'

type Asked = EffectOf<'durable.op'>['args']

/** `signal`: for runs that are in no store. */
export function durableProvider(parts: {
  readonly signal: (runId: string, name: string, value: Plain) => void
}): Provider<'durable.op' | 'runs.op'> {
  return {
    kinds: ['durable.op', 'runs.op'],
    isReadOnly: (effect) => effect.kind === 'durable.op' || effect.args.op === 'query' || effect.args.op === 'look',
    perform(effect, call) {
      if (effect.kind === 'durable.op') return performOwn(effect.args, call)
      const { args } = effect
      const { link } = call
      if (args.op === 'signal' && link === undefined) {
        parts.signal(args.run, args.name, args.value)
        return done(null)
      }
      if (args.op === 'look' && link === undefined) return done(null)
      if (link === undefined) return refuse(`${args.op} of runs`)
      try {
        switch (args.op) {
          case 'signal':
            link.signal(args.run, args.name, args.value)
            return done(null)
          case 'start':
            link.start(args)
            return done(null)
          case 'cancel':
            link.cancel(args.run, args.reason)
            return done(null)
          case 'look':
            return link.look(args.run).then((found) => done({ ...found }), fail)
          case 'query':
            return link.query(args.run, args.name).then(done, fail)
        }
      } catch (cause) {
        return fail(cause)
      }
    },
  }
}

function performOwn(args: Asked, call: EffectCall): EffectOutcome | Promise<EffectOutcome> {
  switch (args.op) {
    case 'key': {
      const gate = call.nested?.durable ?? null
      if (gate === null) return refuse('keys of events')
      try {
        return done(gate.mint(`${EVENT_TOKEN}${args.name}`))
      } catch (cause) {
        return fail(cause)
      }
    }
    case 'await_event': {
      const token = readEvent(args.event, call)
      if (token === null) return failed('invalid_await_event_wait_identity', 'this is no key of an event of the run')
      return wait(call, token, args.timeout_ms, `the event ${JSON.stringify(token.slice(EVENT_TOKEN.length))}`)
    }
    case 'await_signal':
      return wait(call, `${SIGNAL_TOKEN}${args.name}#${args.ordinal}`, args.timeout_ms, `the signal ${JSON.stringify(args.name)}`)
    case 'await_run':
      return wait(call, `${RUN_TOKEN}${args.run}`, args.timeout_ms, `the end of the run ${JSON.stringify(args.run)}`)
    case 'publish':
      call.link?.publish(args.name, args.value)
      return done(null)
    case 'emit':
      if (call.link === undefined)
        return failed('durable_effect_process_event_unavailable', 'no store keeps this run: nobody could read its events')
      return done(call.link.emit(args.type, args.payload))
    case 'again':
      if (call.link === undefined) return refuse('continue_as_new')
      call.link.again(args.input, args.taken)
      call.exit(0)
      return untilAbort(call)
    case 'await_cancel':
    case 'hold_cancel':
      return untilAbort(call)
  }
}

/** Whether the effect waits for the run to be cancelled: `await_cancel` is notified; `hold_cancel` was notified and continues. */
export function readCancelWatch({ kind, args }: { readonly kind: string; readonly args: object }): 'await' | 'hold' | null {
  if (kind !== 'durable.op') return null
  const { op } = args as { readonly op?: unknown }
  return op === 'await_cancel' ? 'await' : op === 'hold_cancel' ? 'hold' : null
}

/** Only the driver answers these. */
function untilAbort(call: EffectCall): Promise<EffectOutcome> {
  return new Promise((resolve) => void listenForAbort(call.signal, () => resolve(done(null))))
}

async function wait(call: EffectCall, token: string, timeoutMs: number | null, what: string): Promise<EffectOutcome> {
  if (call.awaitToken === undefined) return refuse('waiting')
  const limit: TokenLimit | null =
    timeoutMs === null
      ? null
      : {
          dueAt: (call.askedAt ?? call.now) + timeoutMs,
          error: { code: 'durable_effect_event_timeout', message: `${what} did not come in time` },
        }
  return readOutcome(await call.awaitToken(token, call.signal, limit))
}

function readOutcome(outcome: ToolOutcome): EffectOutcome {
  switch (outcome.kind) {
    case 'result':
      return done(outcome.value)
    case 'failed':
      return failed(outcome.error.code, outcome.error.message)
    case 'rejected':
      return failed(outcome.code, outcome.message)
    case 'pending':
      return failed('execution_failed', 'the answer comes later')
  }
}

/** Null for a key that is not of this run. */
function readEvent(event: string, call: EffectCall): string | null {
  if (!event.startsWith('bk1.')) return `${EVENT_TOKEN}${event}`
  const token = readUnverified(event)
  if (token?.startsWith(EVENT_TOKEN) !== true) return null
  return call.nested?.durable?.mint(token) === event ? token : null
}

function done(value: Plain): EffectOutcome {
  return answered({ value })
}

function failed(code: string, message: string): EffectOutcome {
  return answered({ code, message })
}

function refuse(what: string): EffectOutcome {
  return failed('durable_effects_unavailable', `${what}: no store keeps this run (bridle run --store)`)
}

function fail(cause: unknown): EffectOutcome {
  if (isToolError(cause)) return failed(cause.code, cause.message)
  throw cause
}
