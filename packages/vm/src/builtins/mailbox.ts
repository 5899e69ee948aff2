// Mailboxes: named channels within a scope, with counters. Unlike on a channel, closing wakes all waiting tasks.

import { builtin, Control, family, frame } from './builtin.js'
import { closeForAll, makeChannel, takeFrom } from './channels.js'
import { makeHandle, openPlace, placeName, resolveTarget } from './scopes.js'
import { toMillis } from './time-amounts.js'
import { builtinTaking } from './unpack.js'
import { HarnDict } from '../values/dict.js'
import { EndOfIteration } from '../values/handles.js'
import type { Context, FrameState, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { HarnChannel } from '../values/handles.js'
import type { Value } from '../values/value.js'

interface Mailbox {
  readonly channel: HarnChannel
  sent: number
  received: number
  failedSends: number
}

/** By scope and name. */
const mailboxState = family<{ boxes: Map<string, Mailbox> }>('mailboxes', () => ({ boxes: new Map() }))

function open(ctx: Context, given: Value, capacity: Value): Result {
  const place = openPlace(ctx, 'mailbox_open', 'mailbox', given)
  if (place instanceof Control) return place
  const { boxes } = ctx.state(mailboxState)
  if (!boxes.has(placeName(place))) {
    const size = toMillis(capacity) ?? (given instanceof HarnDict ? toMillis(given.get('capacity')) : null) ?? 256
    boxes.set(placeName(place), { channel: makeChannel(ctx, place.key, size), sent: 0, received: 0, failedSends: 0 })
  }
  return makeHandle('mailbox', place)
}

function lookUpMailbox(ctx: Context, target: Value): Result {
  const place = resolveTarget(ctx, 'mailbox_lookup', 'mailbox', target)
  if (place instanceof Control) return place
  return ctx.state(mailboxState).boxes.has(placeName(place)) ? makeHandle('mailbox', place) : null
}

/** An operation on a mailbox; returns `unknown` for a mailbox that was never opened. */
function onMailbox(name: string, unknown: Value, run: (ctx: Context, box: Mailbox, key: string, value: Value) => Result) {
  return (ctx: Context, target: Value, value: Value = null): Result => {
    const place = resolveTarget(ctx, name, 'mailbox', target)
    if (place instanceof Control) return place
    const key = placeName(place)
    const box = ctx.state(mailboxState).boxes.get(key)
    return box === undefined ? unknown : run(ctx, box, key, value)
  }
}

interface TransferState extends FrameState {
  /** Key of the mailbox; its counters are looked up again after the wait. */
  readonly key: string
  readonly sending: boolean
  readonly args: Value[]
  started: boolean
}

/** Waits through the channel's own frames, then counts. */
const transferFrame = frame<TransferState>({
  heedsCancel: true,
  kind: 'mailbox.transfer',
  runBoundary: false,
  step: (ctx, state) => {
    if (!state.started) {
      state.started = true
      return ctx.call(ctx.builtinValue(state.sending ? 'send' : '__channel_next'), state.args)
    }
    const box = ctx.state(mailboxState).boxes.get(state.key)
    const { result } = ctx
    if (state.sending) {
      if (box !== undefined) count(box, result === true ? 'sent' : 'failedSends')
      return result
    }
    if (result instanceof EndOfIteration) return null
    if (box !== undefined) count(box, 'received')
    return result
  },
})

function count(box: Mailbox, counter: 'sent' | 'received' | 'failedSends'): void {
  box[counter]++
}

function send(ctx: Context, box: Mailbox, key: string, value: Value): Result {
  if (box.channel.closed) {
    count(box, 'failedSends')
    return false
  }
  return ctx.frame('mailbox.transfer', { key, sending: true, args: [box.channel, value], started: false } satisfies TransferState)
}

function receive(ctx: Context, box: Mailbox, key: string): Result {
  return ctx.frame('mailbox.transfer', { key, sending: false, args: [box.channel], started: false } satisfies TransferState)
}

function tryReceive(ctx: Context, box: Mailbox): Result {
  const value = takeFrom(ctx, box.channel)
  if (value === undefined) return null
  count(box, 'received')
  return value
}

function close(ctx: Context, box: Mailbox): Result {
  if (box.channel.closed) return false
  closeForAll(ctx, box.channel)
  return true
}

function readMetrics(_ctx: Context, box: Mailbox): Result {
  return HarnDict.of({
    capacity: box.channel.capacity,
    depth: box.channel.buffer.length,
    sent_count: box.sent,
    received_count: box.received,
    failed_send_count: box.failedSends,
    closed: box.channel.closed,
  })
}

/** The counters of an unknown mailbox. */
const NO_METRICS = HarnDict.of({
  capacity: 0,
  depth: 0,
  sent_count: 0,
  received_count: 0,
  failed_send_count: 0,
  closed: false,
})

/** Counters of a mailbox, zeros when it is unknown. */
export const mailboxMetrics = onMailbox('mailbox_metrics', NO_METRICS, readMetrics)

const MAILBOX = ['mailbox'] as const

const NEEDS_TARGET = { raise: 'runtime', fewer: '{f}: target is required' } as const

export const mailboxFamily: BuiltinFamily = {
  name: 'mailbox',
  builtins: [
    builtin(
      'mailbox_open(name_or_options: string|dict, capacity?: int) -> dict',
      { doc: 'Opens a named mailbox and gives its handle.', effects: MAILBOX },
      open,
    ),
    builtinTaking(
      'mailbox_lookup(target: string|dict)',
      { doc: 'The handle of an open mailbox, or nil.', effects: MAILBOX },
      { raise: 'runtime', fewer: '{f}: name or handle is required' },
      lookUpMailbox,
    ),
    builtinTaking(
      'mailbox_send(target: string|dict, value: any) -> bool',
      { doc: 'Puts a value in; waits while it is full. False when unknown or closed.', effects: MAILBOX },
      { raise: 'runtime', fewer: '{f}: requires target and value' },
      onMailbox('mailbox_send', false, send),
    ),
    builtinTaking(
      'mailbox_receive(target: string|dict)',
      { doc: 'Takes the next value; waits for one. nil when unknown or closed and empty.', effects: MAILBOX },
      NEEDS_TARGET,
      onMailbox('mailbox_receive', null, receive),
    ),
    builtinTaking(
      'mailbox_try_receive(target: string|dict)',
      { doc: 'The next value, or nil when there is none now.', effects: MAILBOX },
      NEEDS_TARGET,
      onMailbox('mailbox_try_receive', null, tryReceive),
    ),
    builtinTaking(
      'mailbox_close(target: string|dict) -> bool',
      { doc: 'Closes it; true the first time.', effects: MAILBOX },
      NEEDS_TARGET,
      onMailbox('mailbox_close', false, close),
    ),
    builtinTaking(
      'mailbox_metrics(target: string|dict) -> dict',
      { doc: 'Counters of a mailbox.', effects: MAILBOX },
      NEEDS_TARGET,
      mailboxMetrics,
    ),
  ],
  frames: [transferFrame],
}
