// What a tool has the runtime do behind its result: `return ctx.done(value, {intents})`. All of it happens with the commit that keeps the result,
// or none of it.

import { stringifySorted, fromPlain, toUtf8 } from '@bridle/vm/families'
import type { Plain } from '@bridle/vm/families'
import { describeCause } from '../executors/provider.js'
import type { RunLink } from '../executors/provider.js'
import { plainFromHost } from './edge.js'
import { ToolError } from './errors.js'

export type Intent =
  | {
      readonly kind: 'start_process'
      readonly pipeline: string
      readonly input?: unknown
      readonly id?: string
      readonly onParentEnd?: 'cancel' | 'abandon'
    }
  | { readonly kind: 'signal_process'; readonly run: string; readonly name: string; readonly value?: unknown }
  | { readonly kind: 'cancel_process'; readonly run: string; readonly reason?: string }
  | { readonly kind: 'emit_process_event'; readonly type: string; readonly payload?: unknown }

export const INTENT_LIMITS = { total: 32, ofKind: 16, bytes: 65_536 }

export const NO_EVENTS = {
  code: 'durable_effect_process_event_unavailable',
  message: 'no store keeps this run: nobody could read its events',
}

/** A result, and what follows from it. */
export class Done {
  readonly value: unknown
  readonly intents: readonly Intent[]

  constructor(value: unknown, intents: readonly Intent[]) {
    this.value = value
    this.intents = intents
  }
}

/** Checks all of them, and gives what carries them out. */
export function readIntents(intents: readonly Intent[], link: RunLink, makeId: (at: number) => string): () => void {
  const counts = new Map<string, number>()
  let bytes = 0
  const steps = intents.map((intent, at) => {
    const data = takeIntent(intent, at)
    const count = (counts.get(intent.kind) ?? 0) + 1
    counts.set(intent.kind, count)
    bytes += toUtf8(stringifySorted(fromPlain(data))).length
    const limit =
      at >= INTENT_LIMITS.total
        ? `${INTENT_LIMITS.total} intents in a call`
        : count > INTENT_LIMITS.ofKind
          ? `${INTENT_LIMITS.ofKind} intents of a kind in a call`
          : bytes > INTENT_LIMITS.bytes
            ? '64 KiB of intents in a call'
            : null
    if (limit !== null) throw new ToolError('intent_limit', `at most ${limit}`, { details: { limit } })
    return prepareIntent(data, link, at, makeId)
  })
  return () => {
    for (const step of steps) step()
  }
}

type IntentData = { readonly kind: Intent['kind']; readonly [field: string]: Plain }

function takeIntent(intent: Intent, at: number): IntentData {
  try {
    const data = plainFromHost({ ...intent }) as IntentData
    return data
  } catch (cause) {
    throw new ToolError('intent_invalid', `intent ${at}: ${describeCause(cause)}`, { cause })
  }
}

function prepareIntent(data: IntentData, link: RunLink, at: number, makeId: (at: number) => string): () => void {
  const readName = (field: string): string => {
    const given = data[field]
    if (typeof given !== 'string' || given.trim() === '')
      throw new ToolError('intent_invalid', `intent ${at}: ${data.kind} needs ${JSON.stringify(field)}, a text that is not blank`)
    return given
  }
  switch (data.kind) {
    case 'start_process': {
      const ending = data['onParentEnd'] ?? 'cancel'
      if (ending !== 'cancel' && ending !== 'abandon')
        throw new ToolError('intent_invalid', `intent ${at}: onParentEnd is "cancel" or "abandon"`)
      const run = data['id'] === undefined ? makeId(at) : readName('id')
      const asked = { run, pipeline: readName('pipeline'), input: data['input'] ?? null, on_parent_end: ending } as const
      try {
        return link.prepareStart(asked)
      } catch (cause) {
        throw new ToolError('intent_invalid', `intent ${at}: ${describeCause(cause)}`, { cause })
      }
    }
    case 'signal_process': {
      const [run, name] = [readName('run'), readName('name')]
      return () => link.signal(run, name, data['value'] ?? null)
    }
    case 'cancel_process': {
      const run = readName('run')
      const reason = typeof data['reason'] === 'string' ? data['reason'] : 'cancelled'
      return () => link.cancel(run, reason)
    }
    case 'emit_process_event': {
      const type = readName('type')
      return () => void link.emit(type, data['payload'] ?? null)
    }
    default:
      throw new ToolError(
        'intent_invalid',
        `intent ${at}: ${JSON.stringify((data as IntentData).kind)} is none of start_process, signal_process, cancel_process, emit_process_event`,
      )
  }
}
