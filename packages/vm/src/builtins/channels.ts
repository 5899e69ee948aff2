// Channels: bounded queues between tasks. A receive passes its free slot to the task that has waited longest to
// send, which writes its value when it runs. The task that has waited longest to receive takes a value when it runs, and
// until then no other task may. So no task acts for another, and output in between has one order. Queues are first in,
// first out. Every waiting task has its own ticket, which is also its park key. A task that is aborted in between leaves
// the queue, or returns its slot, in the frame's onLeave.
//
// Invariant: while a task waits to send, every slot holds a value or is reserved for another sender.

import { builtin, frame, family } from './builtin.js'
import { toMillis } from './time-amounts.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { END, HarnChannel } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import type { Context, FrameState, Result } from './builtin.js'
import type { IterOps } from './iter-op.js'
import type { BuiltinFamily } from './registry.js'
import { builtinTaking } from './unpack.js'
import type { Value } from '../values/value.js'

interface Receiver {
  readonly ticket: number
  /** A `for` loop ends when the channel is closed under it. A plain receive keeps waiting, as in the reference. */
  readonly endsOnClose: boolean
}

interface ChannelState {
  channels: number
  tickets: number
  /** Waiting tasks by channel id, longest first; channels without any have no entry. */
  readonly receivers: Map<number, Receiver[]>
  readonly senders: Map<number, { readonly ticket: number }[]>
  /** Number of slots by channel id that are reserved for senders which have not run since. */
  readonly given: Map<number, number>
  /** What a woken sender finds: whether it has a slot. */
  readonly ready: Map<number, boolean>
  /** By channel id, for channels that the library fills. */
  readonly feeds: Map<number, Feed>
}

/** Fills a channel. When it ends, the channel is closed for good: a plain receive stops waiting. */
interface Feed {
  /** Called with `args` when a script closes the channel; null when the feed has ended. */
  closer: { readonly builtin: string; readonly args: readonly Value[] } | null
  /** Raised after the last value. */
  failure: { readonly value: Value } | null
}

const channelState = family<ChannelState>('channels', () => ({
  channels: 0,
  tickets: 0,
  receivers: new Map(),
  senders: new Map(),
  given: new Map(),
  ready: new Map(),
  feeds: new Map(),
}))

const makeTicketKey = (ticket: number): string => `channel:${ticket}`

/** Park key of tasks that watch several channels; a value put into a buffer and a close wake them. */
export const ANY_CHANNEL = 'channel:any'

const MAX_CAPACITY = 1 << 24

export function makeChannel(ctx: Context, name: string, capacity: number): HarnChannel {
  const state = ctx.state(channelState)
  state.channels++
  return new HarnChannel(name, Math.min(Math.max(1, capacity), MAX_CAPACITY), state.channels)
}

/** Marks the channel as filled by the library; `builtin` stops the feed when a script closes the channel. */
export function beginFeed(ctx: Context, channel: HarnChannel, builtin: string, args: readonly Value[]): void {
  ctx.state(channelState).feeds.set(channel.id, { closer: { builtin, args }, failure: null })
}

/** Ends the feed; `failure` is raised after the remaining values. */
export function endFeed(ctx: Context, channel: HarnChannel, failure: Value | undefined): void {
  const feed = ctx.state(channelState).feeds.get(channel.id)
  // The script closed the channel, so the reason for the end does not interest it.
  if (feed === undefined || feed.closer === null) return
  feed.closer = null
  if (failure !== undefined) feed.failure = { value: failure }
  close(ctx, channel)
}

/** What a receiver gets from a closed, drained channel if that is not just its end. */
function findFailure(ctx: Context, channel: HarnChannel): { readonly value: Value } | null {
  if (!channel.closed || channel.buffer.length > 0) return null
  return ctx.state(channelState).feeds.get(channel.id)?.failure ?? null
}

function shiftLine<T>(lines: Map<number, T[]>, id: number): T | undefined {
  const line = lines.get(id)
  const head = line?.shift()
  if (line?.length === 0) lines.delete(id)
  return head
}

function leaveLine<T extends { readonly ticket: number }>(lines: Map<number, T[]>, id: number, ticket: number): void {
  const line = lines.get(id)
  if (line === undefined) return
  const rest = line.filter((entry) => entry.ticket !== ticket)
  if (rest.length === 0) lines.delete(id)
  else lines.set(id, rest)
}

function joinLine<T>(lines: Map<number, T[]>, id: number, entry: T): void {
  const line = lines.get(id)
  if (line === undefined) lines.set(id, [entry])
  else line.push(entry)
}

function giveBack(state: ChannelState, channel: HarnChannel): void {
  const left = (state.given.get(channel.id) ?? 1) - 1
  if (left === 0) state.given.delete(channel.id)
  else state.given.set(channel.id, left)
}

/** Gives a free slot to the task that has waited longest for one. */
function freePlace(ctx: Context, channel: HarnChannel): void {
  const state = ctx.state(channelState)
  const sender = shiftLine(state.senders, channel.id)
  if (sender === undefined) return
  state.given.set(channel.id, (state.given.get(channel.id) ?? 0) + 1)
  answer(ctx, sender.ticket, true)
}

function answer(ctx: Context, ticket: number, hasPlace: boolean): void {
  ctx.state(channelState).ready.set(ticket, hasPlace)
  ctx.wake(makeTicketKey(ticket))
}

function put(ctx: Context, channel: HarnChannel, value: Value): void {
  channel.buffer.push(value)
  wakeReceiver(ctx, channel)
  ctx.wake(ANY_CHANNEL)
}

/** Wakes the task that has waited longest. */
function wakeReceiver(ctx: Context, channel: HarnChannel): void {
  const receiver = ctx.state(channelState).receivers.get(channel.id)?.[0]
  if (receiver !== undefined) ctx.wake(makeTicketKey(receiver.ticket))
}

function take(ctx: Context, channel: HarnChannel): Value | undefined {
  if (channel.buffer.length === 0) return undefined
  const value = channel.buffer.shift()!
  freePlace(ctx, channel)
  return value
}

/** Sends a value without waiting; false when there is no free slot. The channel may be closed meanwhile. */
function offer(ctx: Context, channel: HarnChannel, value: Value): boolean {
  const taken = channel.buffer.length + (ctx.state(channelState).given.get(channel.id) ?? 0)
  if (taken >= channel.capacity) return false
  put(ctx, channel, value)
  return true
}

/** The next value without waiting; undefined when there is none, or when it is reserved for a waiting task. */
export function takeFrom(ctx: Context, channel: HarnChannel): Value | undefined {
  return ctx.state(channelState).receivers.has(channel.id) ? undefined : take(ctx, channel)
}

interface SendState extends FrameState {
  readonly channel: HarnChannel
  readonly value: Value
  /** 0 before the task is in the queue. */
  ticket: number
}

const sendFrame = frame<SendState>({
  kind: 'channel.send',
  runBoundary: false,
  step: (ctx, state) => {
    const channels = ctx.state(channelState)
    if (state.ticket === 0) {
      channels.tickets++
      state.ticket = channels.tickets
      joinLine(channels.senders, state.channel.id, { ticket: state.ticket })
    }
    const hasPlace = channels.ready.get(state.ticket)
    if (hasPlace === undefined) return ctx.park(makeTicketKey(state.ticket), null)
    // Cleared before onLeave, which returns an unused slot.
    channels.ready.delete(state.ticket)
    if (hasPlace) {
      giveBack(channels, state.channel)
      put(ctx, state.channel, state.value)
    }
    return hasPlace
  },
  onLeave: (ctx, state) => {
    const channels = ctx.state(channelState)
    leaveLine(channels.senders, state.channel.id, state.ticket)
    if (channels.ready.get(state.ticket) === true) {
      giveBack(channels, state.channel)
      freePlace(ctx, state.channel)
    }
    channels.ready.delete(state.ticket)
  },
})

interface ReceiveState extends FrameState {
  readonly channel: HarnChannel
  /** For iteration: END instead of nil on a closed, drained channel, also while waiting. */
  readonly iterating: boolean
  ticket: number
}

const receiveFrame = frame<ReceiveState>({
  kind: 'channel.receive',
  runBoundary: false,
  step: (ctx, state) => {
    const channels = ctx.state(channelState)
    if (state.ticket === 0) {
      channels.tickets++
      state.ticket = channels.tickets
      joinLine(channels.receivers, state.channel.id, { ticket: state.ticket, endsOnClose: state.iterating })
    }
    const { channel } = state
    if (channels.receivers.get(channel.id)?.[0]?.ticket === state.ticket) {
      const value = take(ctx, channel)
      if (value !== undefined) return value
    }
    const failure = findFailure(ctx, channel)
    if (failure !== null) return ctx.throw(failure.value)
    const ends = state.iterating || channels.feeds.has(channel.id)
    if (channel.closed && ends && channel.buffer.length === 0) return state.iterating ? END : null
    return ctx.park(makeTicketKey(state.ticket), null)
  },
  onLeave: (ctx, { channel, ticket }) => {
    leaveLine(ctx.state(channelState).receivers, channel.id, ticket)
    if (channel.buffer.length > 0) wakeReceiver(ctx, channel)
    else if (channel.closed) wakeIterating(ctx, channel)
  },
})

/** Wakes the tasks that stop waiting when the channel closes. */
function wakeIterating(ctx: Context, channel: HarnChannel): void {
  const { receivers, feeds } = ctx.state(channelState)
  const isFed = feeds.has(channel.id)
  for (const receiver of receivers.get(channel.id) ?? []) {
    if (receiver.endsOnClose || isFed) ctx.wake(makeTicketKey(receiver.ticket))
  }
}

function receiveFrom(ctx: Context, channel: HarnChannel, iterating: boolean): Result {
  const value = takeFrom(ctx, channel)
  if (value !== undefined) return value
  const failure = findFailure(ctx, channel)
  if (failure !== null) return ctx.throw(failure.value)
  if (channel.closed && channel.buffer.length === 0) return iterating ? END : null
  return ctx.frame('channel.receive', { channel, iterating, ticket: 0 } satisfies ReceiveState)
}

function send(ctx: Context, channel: HarnChannel, value: Value): Result {
  if (channel.closed) return false
  ctx.charge(1, 16)
  if (offer(ctx, channel, value)) return true
  return ctx.frame('channel.send', { channel, value, ticket: 0 } satisfies SendState)
}

function close(ctx: Context, channel: HarnChannel): void {
  channel.closed = true
  wakeIterating(ctx, channel)
  ctx.wake(ANY_CHANNEL)
}

/** Closes for good, as mailboxes do: all waiting tasks resume, receivers with END and senders with false. */
export function closeForAll(ctx: Context, channel: HarnChannel): void {
  close(ctx, channel)
  const { senders } = ctx.state(channelState)
  for (let sender = shiftLine(senders, channel.id); sender !== undefined; sender = shiftLine(senders, channel.id)) {
    answer(ctx, sender.ticket, false)
  }
}

interface SelectState extends FrameState {
  readonly channels: Value[]
  /** Milliseconds on the machine's clock; null waits without limit. */
  readonly due: number | null
}

/** The result of `select` for the first channel that holds a value, undefined when none does. */
export function takeFirst(ctx: Context, channels: readonly Value[]): HarnDict | undefined {
  for (let index = 0; index < channels.length; index++) {
    const channel = channels[index] as HarnChannel
    const value = takeFrom(ctx, channel)
    if (value !== undefined) return HarnDict.of({ index, value, channel: channel.name })
  }
  return undefined
}

/** The failure of the first channel that has one. */
function findFirstFailure(ctx: Context, channels: readonly Value[]): { readonly value: Value } | null {
  if (ctx.state(channelState).feeds.size === 0) return null
  for (const channel of channels) {
    const failure = findFailure(ctx, channel as HarnChannel)
    if (failure !== null) return failure
  }
  return null
}

const selectFrame = frame<SelectState>({
  kind: 'channel.select',
  runBoundary: false,
  step: (ctx, state) => {
    ctx.charge(state.channels.length)
    const found = takeFirst(ctx, state.channels)
    if (found !== undefined) return found
    const failure = findFirstFailure(ctx, state.channels)
    if (failure !== null) return ctx.throw(failure.value)
    if (state.due !== null && ctx.now >= state.due) return null
    return ctx.park(ANY_CHANNEL, state.due)
  },
})

function select(ctx: Context, ...channels: Value[]): Result {
  ctx.charge(channels.length)
  if (!channels.every((channel) => channel instanceof HarnChannel)) return ctx.throw('select: all arguments must be channels')
  if (channels.length === 0) return null
  return takeFirst(ctx, channels) ?? ctx.frame('channel.select', { channels, due: null } satisfies SelectState)
}

/** Milliseconds of a timeout argument: an int, a duration, or a dict with one of `keys`; null when there is none. */
export function readTimeoutMs(value: Value, keys: readonly string[]): number | null {
  if (!(value instanceof HarnDict)) return toMillis(value)
  for (const key of keys) {
    const ms = toMillis(value.get(key))
    if (ms !== null) return ms
  }
  return null
}

function selectChannel(ctx: Context, list: Value, timeout: Value): Result {
  if (!(list instanceof HarnList)) return ctx.throw('channel_select: first argument must be a list of channels')
  ctx.charge(list.length)
  const channels = list.copyItems()
  if (!channels.every((channel) => channel instanceof HarnChannel))
    return ctx.throw('channel_select: channel list must contain only channels')
  if (channels.length === 0) return null
  const found = takeFirst(ctx, channels)
  if (found !== undefined) return found
  const ms = readTimeoutMs(timeout, ['timeout_ms'])
  const failure = findFirstFailure(ctx, channels)
  if (failure !== null) return ctx.throw(failure.value)
  if (ms !== null && ms <= 0) return null
  return ctx.frame('channel.select', { channels, due: ms === null ? null : ctx.now + ms } satisfies SelectState)
}

/** Iteration over a channel: waits in its own frame, so that an aborted task leaves the queue. */
export const CHANNEL_ITER_OPS: IterOps = {
  channel: {
    step: (ctx, state) => {
      if (state.phase === 1) return ctx.result
      state.phase = 1
      return ctx.call(ctx.builtinValue('__channel_next'), [state.iter.state[0]!])
    },
  },
}

const CHANNEL = ['channel'] as const

const NO_CHANNEL = { ch: '{f}: first argument must be a {type}' } as const
const ONE_CHANNEL = { fewer: '{f}: requires a channel', not: NO_CHANNEL } as const

export const channelsFamily: BuiltinFamily = {
  name: 'channels',
  builtins: [
    builtin(
      'channel(name?: string, capacity?: int) -> channel as ?',
      { doc: 'A queue between tasks, 256 values deep unless said otherwise.', effects: CHANNEL },
      (ctx, name, capacity) => makeChannel(ctx, name === null ? 'default' : display(name!), toMillis(capacity) ?? 256),
    ),
    builtinTaking(
      'send(ch: channel, value: any) -> bool as ?',
      { doc: 'Puts a value in; waits while the channel is full. False when it is closed.', effects: CHANNEL },
      { fewer: '{f}: requires channel and value', not: NO_CHANNEL },
      send,
    ),
    builtinTaking(
      'receive(ch: channel)',
      { doc: 'Takes the next value; waits for one. nil on a closed, drained channel.', effects: CHANNEL },
      ONE_CHANNEL,
      (ctx, channel) => receiveFrom(ctx, channel, false),
    ),
    builtinTaking(
      'try_receive(ch: channel)',
      { doc: 'The next value, or nil when there is none now.', effects: CHANNEL },
      ONE_CHANNEL,
      (ctx, channel) => {
        const value = takeFrom(ctx, channel)
        if (value !== undefined) return value
        const failure = findFailure(ctx, channel)
        return failure === null ? null : ctx.throw(failure.value)
      },
    ),
    builtinTaking(
      'close_channel(ch: channel) -> nil',
      { doc: 'Refuses further values; what is buffered can still be received.', effects: CHANNEL },
      ONE_CHANNEL,
      (ctx, channel) => {
        const feed = ctx.state(channelState).feeds.get(channel.id)
        const closer = feed?.closer ?? null
        close(ctx, channel)
        if (feed === undefined || closer === null) return null
        feed.closer = null
        return ctx.call(ctx.builtinValue(closer.builtin), closer.args)
      },
    ),
    builtin(
      'select(...channels: channel)',
      { doc: 'Waits for the first channel with a value: `{index, value, channel}`.', effects: CHANNEL },
      select,
    ),
    builtin(
      'channel_select(channels: list<channel>, timeout?: int|duration)',
      { doc: 'As select, over a list and with a time limit.', effects: CHANNEL },
      selectChannel,
    ),
    builtinTaking(
      '__channel_next(ch: channel)',
      { doc: 'The next value for an iterator.', effects: CHANNEL },
      ONE_CHANNEL,
      (ctx, channel) => receiveFrom(ctx, channel, true),
    ),
  ],
  frames: [sendFrame, receiveFrame, selectFrame],
}
