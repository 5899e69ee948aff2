// The event log: topics of numbered events, kept in the machine for the length of a run. Scripts reach
// it through the global dict `event_log`; internal modules append by the primitive `__append_event`. A host may keep the log as well
// (log-place.ts): then what is appended goes there too, and what is read comes from there.

import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'
import { STAND_INS } from './stand-ins.js'
import { EVENT_LOG_PLACE } from './log-place.js'
import {
  END,
  HarnAtomic,
  HarnBuiltin,
  HarnDict,
  HarnList,
  builtin,
  display,
  family,
  frame,
  isInt,
  toPlain,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, FrameState, LibraryCall, Result, Value } from '@bridle/vm/families'
import { toJsonData } from '../files/state-files.js'

export interface LoggedEvent {
  readonly id: number
  readonly kind: string
  readonly payload: Value
  readonly headers: HarnDict
  readonly occurredAtMs: number
}

const logState = family<{ readonly topics: Map<string, LoggedEvent[]> }>('event_log', () => ({ topics: new Map() }))

/** Tasks that wait for an event of a topic park on this key. */
export function makeTopicKey(topic: string): string {
  return `event_log:${topic}`
}

export function listEvents(ctx: Context, topic: string): readonly LoggedEvent[] {
  return ctx.state(logState).topics.get(topic) ?? []
}

/** Topics that only the builtins of people in the loop write to (hitl.ts), where scripts do not answer for them. */
function isOfPeople(topic: string): boolean {
  return topic === 'hitl' || topic.startsWith('hitl.')
}

/** Appends and wakes waiting tasks of the topic; the event's id, from 1 within its topic. */
function appendEvent(ctx: Context, topicName: Value, kind: Value, payload: Value, atMs: Value, headers: Value): number {
  const { topics } = ctx.state(logState)
  const topic = topicName as string
  const events = topics.get(topic) ?? []
  topics.set(topic, events)
  const id = events.length + 1
  ctx.charge(1, 128)
  events.push({
    id,
    kind: kind as string,
    payload,
    headers: headers instanceof HarnDict ? headers : new HarnDict(),
    occurredAtMs: Number(atMs),
  })
  ctx.wake(makeTopicKey(topic))
  return id
}

function isKeptByHost(ctx: Context): boolean {
  return ctx.machine.hostData(EVENT_LOG_PLACE) === 'host'
}

function toPlainInt(value: Value): number | null {
  return value === null ? null : Number(value)
}

function appendWhereKept(
  ctx: Context,
  topic: Value = null,
  kind: Value = null,
  payload: Value = null,
  atMs: Value = null,
  headers: Value = null,
  wantsId: Value = null,
  expected: Value = null,
): Result {
  const last = toPlainInt(expected)
  if (!isKeptByHost(ctx)) {
    if (last !== null && listEvents(ctx, topic as string).length !== last) return null
    return appendEvent(ctx, topic, kind, payload, atMs, headers)
  }
  // Those of the run that wait for the topic are woken by its own log.
  if (last === null) appendEvent(ctx, topic, kind, payload, atMs, headers)
  return ctx.perform({
    kind: 'event_log.op',
    args: {
      op: 'append',
      topic: topic as string,
      kind: kind as string,
      payload: toPlain(toJsonData(payload)),
      headers: toPlain(copyAsTexts(headers)) as { readonly [name: string]: string },
      at_ms: Number(atMs),
      wants_id: wantsId === true || last !== null,
      expected: last,
    },
  })
}

function readWhereKept(ctx: Context, topic: Value = null, query: Value = null): Result {
  const find = (name: string): Value => (query instanceof HarnDict ? (query.get(name) ?? null) : null)
  if (isKeptByHost(ctx)) {
    const args = {
      op: 'read' as const,
      topic: topic as string,
      after: toPlainInt(find('after')) ?? 0,
      last: toPlainInt(find('last')),
      kind: find('kind') as string | null,
      event_id: find('event_id') as string | null,
    }
    return ctx.perform({ kind: 'event_log.op', args })
  }
  const all = listEvents(ctx, topic as string)
  ctx.charge(all.length * 4, all.length * 128)
  const after = toPlainInt(find('after')) ?? 0
  const kind = find('kind')
  const eventId = find('event_id')
  const last = toPlainInt(find('last'))
  const fitting =
    query === null
      ? all
      : all.filter(
          (event) =>
            event.id > after &&
            (kind === null || event.kind === kind) &&
            (eventId === null || event.headers.get('event_id') === eventId),
        )
  const events = last === null ? fitting : fitting.slice(Math.max(0, fitting.length - last))
  // The log keeps references to them, so they must not be changed in place.
  for (const { payload, headers } of events) {
    headers.owned = false
    if (payload instanceof HarnList || payload instanceof HarnDict) payload.owned = false
  }
  return new HarnList(events.map((event) => encodeEvent(topic as string, event)))
}

function encodeEvent(topic: string, event: LoggedEvent): HarnDict {
  return HarnDict.of({
    id: event.id,
    cursor: event.id,
    topic,
    kind: event.kind,
    payload: event.payload,
    headers: event.headers,
    occurred_at_ms: event.occurredAtMs,
  })
}

const APPEND: LibraryCall = { module: 'library/logging/event-log', function: 'append_now', output: 'keep' }

function copyAsTexts(headers: Value): HarnDict {
  const copy = new HarnDict()
  if (headers instanceof HarnDict) for (const [name, value] of headers.entries()) copy.set(name, display(value))
  return copy
}

function emit(name: string): (ctx: Context, ...args: Value[]) => Result {
  return (ctx, topic = null, kind = null, payload = null, headers = null) => {
    // One that was not passed is nil, too.
    if (typeof topic !== 'string') return ctx.type(`${name}: topic must be a string, got ${typeName(topic)}`)
    if (kind === null) return ctx.type(`${name}: missing kind`)
    if (isOfPeople(topic) && ctx.machine.hostData(STAND_INS) === 'none')
      return ctx.throw(`${name}: the topic "${topic}" is for the answers of people; a script cannot answer for them here`)
    return ctx.library(APPEND, [topic, display(kind), toJsonData(payload), copyAsTexts(headers)])
  }
}

function subscribe(ctx: Context, first: Value, second: Value): Result {
  const named = first instanceof HarnDict
  const topic = named ? (first.get('topic') ?? null) : first
  const cursor = named ? (first.get('from_cursor') ?? null) : second
  if (typeof topic !== 'string') return ctx.type(`event_log.subscribe: topic must be a string, got ${typeName(topic)}`)
  if (cursor !== null && (!isInt(cursor) || cursor < 0))
    return ctx.type(`event_log.subscribe: from_cursor must be a non-negative int or nil, got ${typeName(cursor)}`)
  return ctx.machine.streamOver('__event_log_next', [topic, new HarnAtomic(cursor === null ? 0 : Number(cursor))])
}

interface NextState extends FrameState {
  readonly topic: string
  readonly cursor: HarnAtomic
}

const nextFrame = frame<NextState>({
  kind: 'event_log.next',
  runBoundary: false,
  step: (ctx, state) => {
    // Ids count from 1 without gaps, so the event behind cursor n is at index n.
    const event = listEvents(ctx, state.topic)[Number(state.cursor.value)]
    if (event === undefined) return ctx.park(makeTopicKey(state.topic), null)
    state.cursor.value = event.id
    return encodeEvent(state.topic, event)
  },
})

const WRITES = { effects: ['clock.now'] as const }

export const eventLogFamily: BuiltinFamily = {
  name: 'event_log',
  modules: findHarnModule,
  frames: [nextFrame],
  primitives: [
    definePrimitive(
      '__append_event(topic: string, kind: string, payload: any, at_ms: int, headers?: dict, wants_id?: bool, expected?: int) -> int | nil',
      'Appends an event and wakes who waits for the topic; its id. A host that keeps the log says it only where it is wanted. With `expected`, the last id that the caller knows of, nothing is appended behind another one.',
      appendWhereKept,
    ),
    definePrimitive(
      '__topic_events(topic: string, query?: dict) -> list',
      'The events of a topic so far; of a query {after, last, kind, event_id} those that fit.',
      readWhereKept,
    ),
    definePrimitive('__keeps_log() -> bool', 'Whether the host keeps the log.', (ctx) => isKeptByHost(ctx)),
    definePrimitive(
      '__load_topic(topic: string, events: list) -> nil',
      'Adds events that the host has of a topic to those of the run.',
      (ctx, topic, events) => {
        if (!(events instanceof HarnList)) return null
        for (const event of events.view())
          if (event instanceof HarnDict) {
            const read = (name: string): Value => event.get(name) ?? null
            appendEvent(ctx, topic ?? null, read('kind'), read('payload'), read('occurred_at_ms'), read('headers'))
          }
        return null
      },
    ),
    definePrimitive('__stand_ins() -> string', 'Who answers in place of people.', (ctx) => ctx.machine.hostData(STAND_INS)),
  ],
  builtins: [
    builtin(
      'event_log.emit(topic: string, kind: string, payload?: any, headers?: dict) -> int',
      { doc: 'Appends an event and gives its id.', ...WRITES },
      emit('event_log.emit'),
    ),
    builtin(
      'event_log_emit(topic: string, kind: string, payload?: any, headers?: dict) -> int as ?',
      { doc: 'Appends an event and gives its id.', ...WRITES },
      emit('event_log_emit'),
    ),
    builtin(
      'event_log.latest(topic: string) -> int | nil',
      { doc: 'The id of the last event of a topic.', effects: [] },
      (ctx, topic) => {
        if (typeof topic !== 'string') return ctx.type(`event_log.latest: topic must be a string, got ${typeName(topic ?? null)}`)
        return listEvents(ctx, topic).length || null
      },
    ),
    builtin(
      'event_log.subscribe(options: {topic: string, from_cursor?: int} | string, cursor?: int) -> stream',
      { doc: 'The events of a topic behind a cursor, then those to come.', effects: [] },
      (ctx, first, second) => subscribe(ctx, first ?? null, second ?? null),
    ),
    builtin(
      '__event_log_next(topic: string, cursor: atomic) -> dict',
      { doc: 'The next event of a subscription; waits for it.', effects: [] },
      (ctx, topic, cursor) => {
        if (typeof topic !== 'string' || !(cursor instanceof HarnAtomic)) return END
        return ctx.frame('event_log.next', { topic, cursor } satisfies NextState)
      },
    ),
  ],
  constants: {
    event_log: HarnDict.of(
      Object.fromEntries(['emit', 'latest', 'subscribe'].map((name) => [name, new HarnBuiltin(`event_log.${name}`)])),
    ),
  },
}
