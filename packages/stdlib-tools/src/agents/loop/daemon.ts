// Daemon loops: a loop that waits for work instead of ending. Its state is written down each time it idles,
// and a timer or a changed file wakes it.

import {
  HarnDict,
  HarnList,
  display,
  here,
  isInt,
  isTruthy,
  parseJson,
  sortedJson,
  stringifyJson,
  tryCallBack,
} from '@bridle/vm/families'
import type { Fault, Script, Value } from '@bridle/vm/families'
import type { Loop } from './loop-state.js'
import { wallMs } from '../../library/time/identity.js'
import { pause } from '../models/call.js'
import { listAt, textAt } from '../../tools/definitions/registry.js'
import { dictsOf, makeEvent } from '../transcripts/shape.js'

/** Waits without an interval grow. */
const BACKOFF_MS: readonly number[] = [100, 500, 1000, 2000]

export interface Daemon {
  readonly wakeMs: number | null
  readonly watchPaths: readonly string[]
  readonly persistPath: string | null
  readonly resumePath: string | null
  readonly consolidates: boolean
  /** Idle waits without anything new before the loop gives up; null waits on. */
  readonly attempts: number | null
  /** What the watched files looked like. */
  watched: string
  /** Iterations of the loops that it resumes. */
  before: number
  waits: number
}

/** Null for ordinary loops: a persistent loop does not idle. */
export function readDaemon(given: HarnDict): Daemon | null {
  if (!isTruthy(given.get('daemon') ?? false) || isTruthy(given.get('persistent') ?? false)) return null
  const count = (key: string): number | null => {
    const value = given.get(key) ?? null
    return isInt(value) && value >= 0 ? Number(value) : null
  }
  const paths = given.get('watch_paths') ?? null
  return {
    wakeMs: count('wake_interval_ms'),
    watchPaths: paths instanceof HarnList ? paths.view().map(display) : typeof paths === 'string' ? [paths] : [],
    persistPath: textAt(given, 'persist_path'),
    resumePath: textAt(given, 'resume_path'),
    consolidates: isTruthy(given.get('consolidate_on_idle') ?? false),
    attempts: count('idle_watchdog_attempts'),
    watched: '',
    before: 0,
    waits: 0,
  }
}

function* call(name: string, ...args: Value[]): Script<Value | Fault> {
  const callee = yield* here((ctx) => ctx.builtinValue(name))
  return yield* tryCallBack(callee, ...args)
}

/** The snapshot that a loop resumes: it goes on with its messages, without the prompt. Null when there is none. */
export function* resumedState(daemon: Daemon | null): Script<HarnDict | null> {
  if (daemon === null || daemon.resumePath === null) return null
  const text = yield* call('read_file', daemon.resumePath)
  const parsed = typeof text === 'string' ? parseJson(text) : null
  return parsed?.ok === true && parsed.value instanceof HarnDict ? parsed.value : null
}

/** Takes over what a snapshot says of the loop before. */
export function resume(loop: Loop, snapshot: HarnDict): void {
  loop.messages = [...dictsOf(snapshot.get('visible_messages'))]
  loop.text = textAt(snapshot, 'total_text') ?? ''
  loop.called.push(...listAt(snapshot, 'all_tools_used').map(display))
  loop.rejected.push(...listAt(snapshot, 'rejected_tools').map(display))
  const iterations = snapshot.get('total_iterations') ?? null
  if (loop.daemon !== null && isInt(iterations)) loop.daemon.before = Number(iterations)
}

function* lookAtFiles(paths: readonly string[]): Script<HarnDict> {
  const seen = new HarnDict()
  for (const path of paths) {
    const facts = yield* call('stat', path)
    seen.set(path, facts instanceof HarnDict ? (facts.get('modified') ?? facts.get('size') ?? null) : null)
  }
  return seen
}

/** Writes the state down where the loop is told to; a failure is no matter of the loop. */
export function* saveDaemon(loop: Loop, state: string, iterations: number): Script<null> {
  const { daemon } = loop
  const path = daemon === null ? null : (daemon.persistPath ?? daemon.resumePath)
  if (daemon === null || path === null) return null
  const messages = new HarnList([...loop.messages])
  const snapshot = HarnDict.of({
    _type: 'daemon_snapshot',
    saved_at: String(Math.trunc(Number(yield* wallMs()) / 1000)),
    daemon_state: state,
    visible_messages: messages,
    recorded_messages: messages,
    transcript_summary: loop.summary,
    transcript_events: new HarnList([...loop.events]),
    total_text: loop.text,
    last_iteration_text: loop.lastText,
    all_tools_used: new HarnList([...loop.called]),
    rejected_tools: new HarnList([...loop.rejected]),
    deferred_user_messages: new HarnList([...loop.deferred]),
    total_iterations: daemon.before + iterations,
    idle_backoff_ms: BACKOFF_MS[Math.min(daemon.waits, BACKOFF_MS.length - 1)]!,
    last_run_exit_code: null,
    watch_state: yield* lookAtFiles(daemon.watchPaths),
  })
  yield* call('write_file', path, stringifyJson(snapshot, { indent: 2 }))
  return null
}

export type Wake = { readonly reason: 'timer' | 'watch'; readonly text: string }

/** Waits for something to do; null when nothing can come, or the watchdog gave up. The status is set then. */
export function* awaitWork(loop: Loop, daemon: Daemon): Script<Wake | null> {
  if (daemon.wakeMs === null && daemon.watchPaths.length === 0) {
    loop.status = 'idle'
    return null
  }
  if (daemon.watched === '') daemon.watched = sortedJson(yield* lookAtFiles(daemon.watchPaths))
  for (let attempt = 1; ; attempt++) {
    yield* pause(daemon.wakeMs ?? BACKOFF_MS[Math.min(daemon.waits, BACKOFF_MS.length - 1)]!)
    daemon.waits += 1
    const seen = sortedJson(yield* lookAtFiles(daemon.watchPaths))
    if (daemon.watchPaths.length > 0 && seen !== daemon.watched) {
      daemon.watched = seen
      daemon.waits = 0
      return { reason: 'watch', text: `Watched files changed: ${daemon.watchPaths.join(', ')}. Look at what is new.` }
    }
    if (daemon.wakeMs !== null) {
      daemon.waits = 0
      return { reason: 'timer', text: 'The timer woke this loop. Look for new work, and act only when there is some.' }
    }
    if (daemon.attempts !== null && attempt >= daemon.attempts) {
      loop.status = 'watchdog'
      return null
    }
  }
}

export function* wakeEvent(loop: Loop, { reason }: Wake): Script<null> {
  const metadata = HarnDict.of({ reason, resumed: false, watch_paths: new HarnList([...(loop.daemon?.watchPaths ?? [])]) })
  loop.events.push(yield* makeEvent('daemon_wake', 'system', 'internal', reason, metadata))
  return null
}
