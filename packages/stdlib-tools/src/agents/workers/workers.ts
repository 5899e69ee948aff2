// Workers: sub-agents and stages that run beside the script. A worker is a record of the run and, while it works, a task;
// handles are copies of the record, made when they are asked for. Each start and end is written to a file that `resume_agent` reads.

import {
  Fault,
  HarnDict,
  HarnList,
  builtin,
  display,
  failCategorized,
  failRuntime,
  failWith,
  family,
  runHere,
  isTruthy,
  parkUntil,
  parseJson,
  makeScripts,
  stringifySorted,
  tryAsk,
  tryCallBack,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Script, Value } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { compactMessages } from '../transcripts/compaction.js'
import { makeTimeOrderedId } from '../../library/time/identity.js'
import { describeFolderNameProblem } from '../../library/files/lexical-path.js'
import { findCurrentSession, openSession, touch } from '../sessions/sessions.js'
import { readEnvironment, toJsonData, stringifyPretty, readText } from '../../library/files/state-files.js'
import { readTask, runTask, readTranscriptMode } from './sub-agents.js'
import { readStage, runStage } from './stage-workers.js'

type Status = 'running' | 'awaiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted'

interface Worker {
  readonly id: string
  readonly mode: 'sub_agent' | 'stage'
  readonly name: string
  readonly createdAt: string
  readonly request: HarnDict
  /** Options of the sub-agent, or the configuration of the stage, as they were given. */
  readonly options: HarnDict
  readonly carry: HarnDict
  readonly execution: HarnDict
  readonly audit: HarnDict
  readonly parentId: string | null
  readonly snapshotPath: string
  /** The conversation that the next run goes on with. */
  sessionId: string
  task: string
  history: string[]
  status: Status
  startedAt: string | null
  finishedAt: string | null
  awaitingAt: string | null
  result: Value
  error: Value
  /** What the last run ended with, until someone who waits has heard of it. */
  failure: Failure | null
  /** Number of the machine's task, 0 while none works. */
  running: number
}

/** A fault as plain data. */
interface Failure {
  readonly kind: 'thrown' | 'categorized' | 'runtime'
  readonly message: string
  readonly category: string
  readonly value: Value
}

function toFailure({ kind, message, category, value }: Fault): Failure {
  return { kind: kind === 'thrown' || kind === 'categorized' ? kind : 'runtime', message, category, value }
}

function raise({ kind, message, category, value }: Failure): never {
  if (kind === 'thrown') return failWith(value)
  return kind === 'categorized' ? failCategorized(category, message) : failRuntime(message)
}

const workerState = family('workers', () => ({ workers: new Map<string, Worker>() }))

/** Field of a task that names the worker it runs for. */
const CURRENT = 'worker_id'
const KEPT_WHEN_COMPACTED = 2

function makeChangedKey(id: string): string {
  return `worker:${id}`
}

// --------------------------------------------------------------------------------------------------------------- handles

function makeHandle(worker: Worker): HarnDict {
  const transcript = worker.result instanceof HarnDict ? (worker.result.get('transcript') ?? null) : null
  const artifacts = worker.result instanceof HarnDict ? worker.result.get('artifacts') : null
  return HarnDict.of({
    _type: 'agent_handle',
    id: worker.id,
    name: worker.name,
    task: worker.task,
    mode: worker.mode,
    status: worker.status,
    created_at: worker.createdAt,
    started_at: worker.startedAt,
    finished_at: worker.finishedAt,
    awaiting_started_at: worker.awaitingAt,
    history: new HarnList([...worker.history]),
    request: worker.request,
    provenance: HarnDict.of({
      worker_id: worker.id,
      worker_name: worker.name,
      mode: worker.mode,
      parent_worker_id: worker.parentId,
      parent_stage_id: null,
      session_id: worker.audit.get('session_id') ?? null,
      parent_session_id: worker.audit.get('parent_session_id') ?? null,
      snapshot_path: worker.snapshotPath,
      run_id: null,
      run_path: null,
    }),
    result: worker.result,
    error: worker.error,
    artifact_count: artifacts instanceof HarnList ? artifacts.length : 0,
    has_transcript: transcript !== null,
    parent_worker_id: worker.parentId,
    parent_stage_id: null,
    child_run_id: null,
    child_run_path: null,
    execution: worker.execution,
    snapshot_path: worker.snapshotPath,
    audit: worker.audit,
  })
}

/** Id in a handle or an id itself; raises the reference's text for anything else. */
function readId(handle: Value): string {
  if (typeof handle === 'string') return handle
  if (!(handle instanceof HarnDict)) return failRuntime('expected agent handle or worker id')
  const id = handle.get('id') ?? null
  return id === null ? failRuntime('agent handle dict is missing an id field') : display(id)
}

function getWorker(ctx: Context, id: string): Worker {
  return ctx.state(workerState).workers.get(id) ?? failRuntime(`unknown worker: ${id}`)
}

// -------------------------------------------------------------------------------------------------------------- requests

function toList(value: Value): HarnList {
  if (value === null) return new HarnList([])
  return value instanceof HarnList ? value : new HarnList([value])
}

/** What the worker was asked for at first; later inputs leave it alone. */
function makeRequest(task: string, options: HarnDict): HarnDict {
  const pickList = (...names: readonly string[]): HarnList =>
    toList(names.map((name) => options.get(name) ?? null).find((v) => v !== null) ?? null)
  const lists = {
    research_questions: pickList('research_questions', 'questions'),
    action_items: pickList('action_items', 'actions'),
    workflow_stages: pickList('workflow_stages', 'stages'),
    verification_steps: pickList('verification_steps', 'verification'),
  }
  const filled = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))
  return HarnDict.of({
    task,
    system: options.get('system') ?? null,
    payload: options.get('request') ?? HarnDict.of(filled),
    ...lists,
  })
}

function readCarry(given: Value): HarnDict {
  const carry = given instanceof HarnDict ? given : new HarnDict()
  const mode = readTranscriptMode(carry)
  const readFlag = (name: string, fallback: boolean): boolean => {
    const value = carry.get(name) ?? null
    return value === null ? fallback : isTruthy(value)
  }
  return HarnDict.of({
    artifact_mode: display(carry.get('artifact_mode') ?? 'inherit'),
    transcript_mode: mode,
    context_policy: carry.get('context_policy') ?? new HarnDict(),
    resume_workflow: readFlag('resume_workflow', true),
    persist_state: readFlag('persist_state', true),
    retriggerable: readFlag('retriggerable', false),
    policy: carry.get('policy') ?? null,
  })
}

function readExecution(given: Value): HarnDict {
  const execution = given instanceof HarnDict ? given : new HarnDict()
  const readField = (name: string): Value => execution.get(name) ?? null
  return HarnDict.of({ cwd: readField('cwd'), env: readField('env') ?? new HarnDict(), worktree: readField('worktree') })
}

/** A worker of a `spawn_agent` configuration. */
function* createStage(config: HarnDict): Script<string> {
  const task = config.get('task') ?? null
  if (task === null || display(task) === '') return failRuntime('spawn_agent: config.task is required')
  const { node } = readStage(config)
  const metadata = node.get('metadata')
  const asked = metadata instanceof HarnDict && metadata.size > 0 ? metadata.with('request', metadata) : new HarnDict()
  const name = config.get('name') ?? null
  return yield* register('stage', task, {
    options: config,
    request: { options: asked.with('system', node.get('system') ?? null), payload: asked.get('request') ?? null },
    name: name === null || display(name) === '' ? 'worker' : display(name),
    sessionId: null,
  })
}

function* create(task: Value, options: HarnDict): Script<string> {
  yield* runHere((ctx) => {
    readTask(ctx, task, options)
    return null
  })
  const wanted = options.get('session_id') ?? null
  return yield* register('sub_agent', task, {
    options,
    request: { options },
    name: display(options.get('name') ?? 'sub-agent'),
    sessionId: wanted === null ? `sub_agent_session_${yield* makeTimeOrderedId()}` : display(wanted),
  })
}

interface Registration {
  readonly options: HarnDict
  /** Where the request is read from; a payload of null stays null. */
  readonly request: { readonly options: HarnDict; readonly payload?: Value }
  readonly name: string
  /** Null for a session named after the worker. */
  readonly sessionId: string | null
}

function* register(mode: Worker['mode'], task: Value, given: Registration): Script<string> {
  const { options } = given
  const carry = readCarry(options.get('carry') ?? null)
  const id = `worker_${yield* makeTimeOrderedId()}`
  const createdAt = yield* makeTimeOrderedId()
  const auditSession = `session_${yield* makeTimeOrderedId()}`
  const folder = (yield* readEnvironment('HARN_WORKER_STATE_DIR')) ?? '.harn/workers'
  return yield* runHere((ctx) => {
    const text = display(task)
    const parent = ctx.machine.task().fields.get(CURRENT) ?? null
    const extra = options.get('audit')
    const audit = HarnDict.of({
      approval_policy: null,
      execution_kind: mode,
      mutation_scope: 'read_only',
      parent_session_id: findCurrentSession(ctx),
      run_id: null,
      session_id: auditSession,
      worker_id: id,
    }).merged(mode === 'stage' && extra instanceof HarnDict ? extra : new HarnDict())
    const request = makeRequest(text, given.request.options)
    ctx.charge(1, 1024)
    ctx.state(workerState).workers.set(id, {
      id,
      mode,
      name: given.name,
      createdAt,
      request: given.request.payload === undefined ? request : request.with('payload', given.request.payload),
      options,
      carry,
      execution: readExecution(options.get('execution') ?? null),
      audit,
      parentId: parent === null ? null : display(parent),
      snapshotPath: `${folder}/${id}.json`,
      sessionId: given.sessionId ?? `worker_session_${id}_stage`,
      task: text,
      history: [text],
      status: 'running',
      startedAt: null,
      finishedAt: null,
      awaitingAt: null,
      result: null,
      error: null,
      failure: null,
      running: 0,
    })
    return id
  })
}

// ------------------------------------------------------------------------------------------------------------------ runs

/** Starts a task for the worker; it begins when the caller next waits. */
function launch(ctx: Context, worker: Worker): HarnDict {
  worker.status = 'running'
  worker.failure = null
  worker.finishedAt = null
  worker.awaitingAt = null
  const body = ctx.machine.closureOver('__worker_body', [worker.id], [])
  worker.running = ctx.machine.spawn(body as never, [], { name: worker.name })
  return makeHandle(worker)
}

/** Everything there is to know of a worker, as the file has it. */
function makeSnapshot(worker: Worker): HarnDict {
  const handle = makeHandle(worker)
  const result = worker.result instanceof HarnDict ? worker.result : null
  for (const key of ['result', 'error', 'provenance', 'artifact_count', 'has_transcript']) handle.delete(key)
  return handle.merged(
    HarnDict.of({
      _type: 'worker_snapshot',
      artifacts: result?.get('artifacts') ?? new HarnList([]),
      carry_policy: worker.carry,
      config: HarnDict.of({
        mode: worker.mode,
        spec: HarnDict.of({ name: worker.name, options: worker.options, session_id: worker.sessionId }),
      }),
      latest_payload: worker.result,
      latest_error: worker.error,
      transcript: result?.get('transcript') ?? null,
    }),
  )
}

/** Without a file system the worker lives in the run alone. */
function* persist(id: string): Script<null> {
  const file = yield* runHere((ctx) => {
    const worker = getWorker(ctx, id)
    return worker.carry.get('persist_state') === true
      ? { path: worker.snapshotPath, text: stringifyPretty(toJsonData(makeSnapshot(worker))) }
      : null
  })
  if (file === null) return null
  const folder = file.path.slice(0, file.path.lastIndexOf('/'))
  yield* tryAsk({ kind: 'fs.write', args: { op: 'mkdir', path: folder } })
  yield* tryAsk({ kind: 'fs.write', args: { op: 'write', path: file.path, data: file.text, whole: true } })
  return null
}

/** The session of the next run, as the worker's transcript mode says. */
function* openNextSession(id: string): Script<null> {
  const fresh = `sub_agent_session_${yield* makeTimeOrderedId()}`
  return yield* runHere((ctx) => {
    const worker = getWorker(ctx, id)
    const mode = worker.carry.get('transcript_mode')
    if (mode !== 'fork' && mode !== 'reset') return null
    const before = touch(ctx, worker.sessionId)
    const session = openSession(ctx, fresh)
    if (mode === 'fork' && before !== undefined) session.messages = [...before.messages]
    worker.sessionId = fresh
    return null
  })
}

/** Leaves the conversation short for the next run; the result's transcript is what remains. */
function* compactSession(sessionId: string, result: HarnDict): Script<HarnDict> {
  const messages = yield* runHere((ctx) => [...(touch(ctx, sessionId)?.messages ?? [])])
  const made = yield* compactMessages(messages, {
    keepFirst: 0,
    keepLast: KEPT_WHEN_COMPACTED,
    strategy: 'truncate',
    hardLimit: null,
    hardStrategy: 'truncate',
    custom: null,
    mask: null,
    options: new HarnDict(),
  })
  if (made === null) return result
  return yield* runHere((ctx) => {
    openSession(ctx, sessionId).messages = [...made.messages]
    const transcript = result.get('transcript')
    if (!(transcript instanceof HarnDict)) return result
    return result.with('transcript', transcript.with('messages', new HarnList([...made.messages])).with('summary', made.summary))
  })
}

/** What the worker does with its present task. */
function* carryOut(worker: Worker): Script<HarnDict> {
  const { mode, task, options, sessionId, execution } = worker
  if (mode === 'stage') return yield* runStage(readStage(options), task, sessionId, execution)
  const read = yield* runHere((ctx) => readTask(ctx, task, options.with('session_id', sessionId)))
  return yield* runTask(read)
}

function* runWorker(id: string): Script<null> {
  const startedAt = yield* makeTimeOrderedId()
  const worker = yield* runHere((ctx) => {
    const found = getWorker(ctx, id)
    found.startedAt ??= startedAt
    ctx.machine.task().fields.set(CURRENT, id)
    return { ...found }
  })
  yield* persist(id)
  const body = yield* runHere((ctx) => ctx.builtinValue('__worker_task'))
  const outcome = yield* tryCallBack(body, id)
  const endedAt = yield* makeTimeOrderedId()
  if (outcome instanceof Fault) {
    yield* runHere((ctx) => {
      const failed = getWorker(ctx, id)
      failed.running = 0
      if (failed.status !== 'running') return null
      failed.status = 'failed'
      failed.error = outcome.text
      failed.failure = toFailure(outcome)
      failed.finishedAt = endedAt
      ctx.wake(makeChangedKey(id))
      return null
    })
    return yield* persist(id)
  }
  const result = outcome as HarnDict
  const compacts = worker.carry.get('transcript_mode') === 'compact'
  const kept = compacts ? yield* compactSession(worker.sessionId, result) : result
  yield* runHere((ctx) => {
    const ended = getWorker(ctx, id)
    ended.running = 0
    ended.result = kept
    if (ended.status !== 'running') return null
    const again = ended.carry.get('retriggerable') === true
    ended.status = again ? 'awaiting' : 'completed'
    if (again) ended.awaitingAt = endedAt
    else ended.finishedAt = endedAt
    ctx.wake(makeChangedKey(id))
    return null
  })
  return yield* persist(id)
}

function* restart(id: string, text: string): Script<HarnDict> {
  yield* openNextSession(id)
  return yield* runHere((ctx) => {
    const worker = getWorker(ctx, id)
    worker.task = text
    worker.history = [...worker.history, text]
    return launch(ctx, worker)
  })
}

function* awaitWorker(id: string): Script<HarnDict> {
  for (;;) {
    const found = yield* runHere((ctx) => {
      const worker = getWorker(ctx, id)
      // Who waits for a worker hears of its failure, once; afterwards the handle tells.
      const { failure } = worker
      worker.failure = null
      if (failure !== null) raise(failure)
      return worker.status === 'running' || worker.status === 'awaiting' ? null : makeHandle(worker)
    })
    if (found !== null) return found
    yield* parkUntil(makeChangedKey(id), null)
  }
}

function* cancelWorker(id: string): Script<HarnDict> {
  const endedAt = yield* makeTimeOrderedId()
  yield* runHere((ctx) => {
    const worker = getWorker(ctx, id)
    worker.status = 'cancelled'
    worker.error = 'worker cancelled'
    worker.finishedAt = endedAt
    if (worker.running !== 0) ctx.machine.abortTask(worker.running)
    worker.running = 0
    ctx.wake(makeChangedKey(id))
    return null
  })
  yield* persist(id)
  return yield* runHere((ctx) => makeHandle(getWorker(ctx, id)))
}

// ---------------------------------------------------------------------------------------------------------------- resume

function* resume(target: string): Script<HarnDict> {
  const known = yield* runHere((ctx) => ctx.state(workerState).workers.has(target))
  if (known) return yield* runHere((ctx) => makeHandle(getWorker(ctx, target)))
  const folder = (yield* readEnvironment('HARN_WORKER_STATE_DIR')) ?? '.harn/workers'
  const problem = target.endsWith('.json') ? null : describeFolderNameProblem(target)
  if (problem !== null) return failRuntime(`resume_agent: the id '${target}' ${problem}`)
  const path = target.endsWith('.json') ? target : `${folder}/${target}.json`
  const text = yield* readText(path)
  if (text === null) return failRuntime(`failed to read worker snapshot ${path}`)
  const parsed = parseJson(text)
  const file = parsed.ok && parsed.value instanceof HarnDict ? parsed.value : null
  if (file === null || file.get('_type') !== 'worker_snapshot') return failRuntime(`failed to parse worker snapshot ${path}`)
  return yield* runHere((ctx) => {
    const worker = restoreWorker(file, path)
    ctx.state(workerState).workers.set(worker.id, worker)
    if (file.get('transcript') instanceof HarnDict) {
      const messages = (file.get('transcript') as HarnDict).get('messages')
      if (messages instanceof HarnList) {
        openSession(ctx, worker.sessionId).messages = messages.view().filter((each): each is HarnDict => each instanceof HarnDict)
      }
    }
    return makeHandle(worker)
  })
}

function restoreWorker(file: HarnDict, path: string): Worker {
  const readField = (name: string): string | null => {
    const value = file.get(name) ?? null
    return value === null ? null : display(value)
  }
  const toDict = (value: Value | undefined): HarnDict => (value instanceof HarnDict ? value : new HarnDict())
  const spec = toDict(toDict(file.get('config')).get('spec'))
  const history = file.get('history')
  const status = readField('status') ?? 'interrupted'
  return {
    id: readField('id') ?? '',
    mode: readField('mode') === 'stage' ? 'stage' : 'sub_agent',
    name: readField('name') ?? 'sub-agent',
    createdAt: readField('created_at') ?? '',
    request: toDict(file.get('request')),
    options: toDict(spec.get('options')),
    carry: readCarry(file.get('carry_policy') ?? null),
    execution: readExecution(file.get('execution') ?? null),
    audit: toDict(file.get('audit')),
    parentId: readField('parent_worker_id'),
    snapshotPath: path,
    sessionId: display(spec.get('session_id') ?? readField('id')),
    task: readField('task') ?? '',
    history: history instanceof HarnList ? history.view().map(display) : [],
    // Its task went with the process that ran it.
    status: status === 'running' ? 'interrupted' : (status as Status),
    startedAt: readField('started_at'),
    finishedAt: readField('finished_at'),
    awaitingAt: readField('awaiting_started_at'),
    result: file.get('latest_payload') ?? null,
    error: file.get('latest_error') ?? null,
    failure: null,
    running: 0,
  }
}

// --------------------------------------------------------------------------------------------------------------- scripts

const machine = makeScripts('workers.script', {
  *start(task, options) {
    const id = yield* create(task!, options instanceof HarnDict ? options : new HarnDict())
    return yield* runHere((ctx) => launch(ctx, getWorker(ctx, id)))
  },
  *startStage(config) {
    const id = yield* createStage(config as HarnDict)
    const handle = yield* runHere((ctx) => launch(ctx, getWorker(ctx, id)))
    return isTruthy((config as HarnDict).get('wait') ?? false) ? yield* awaitWorker(id) : handle
  },
  *task(id) {
    return yield* carryOut(yield* runHere((ctx) => getWorker(ctx, display(id!))))
  },
  *body(id) {
    return yield* runWorker(display(id!))
  },
  *wait(handle) {
    if (!(handle instanceof HarnList)) return yield* awaitWorker(readId(handle!))
    const found: Value[] = []
    for (const each of handle.view()) found.push(yield* awaitWorker(readId(each)))
    return new HarnList(found)
  },
  *send(handle, text) {
    const id = readId(handle!)
    const task = display(text!)
    if (task.trim() === '') return failRuntime('send_input: task text must not be empty')
    yield* runHere((ctx) => {
      if (getWorker(ctx, id).status === 'running') return failRuntime(`send_input: worker ${id} is still running`)
      return null
    })
    return yield* restart(id, task)
  },
  *trigger(handle, payload) {
    const id = readId(handle!)
    yield* runHere((ctx) => {
      const worker = getWorker(ctx, id)
      const refuse = (why: string): never => failRuntime(`worker_trigger: worker ${id} is ${why}`)
      if (worker.carry.get('retriggerable') !== true) return refuse('not retriggerable')
      if (worker.status === 'running') return refuse('still running')
      return worker.status === 'awaiting' ? null : refuse(`not awaiting (status=${worker.status})`)
    })
    const text = typeof payload === 'string' ? payload : stringifySorted(payload!)
    if (text.trim() === '') return failRuntime('worker_trigger: payload must not be empty')
    return yield* restart(id, text)
  },
  *close(handle) {
    const id = readId(handle!)
    return yield* cancelWorker(id)
  },
  *resume(target) {
    return yield* resume(target instanceof HarnDict ? readId(target) : display(target!))
  },
})

const EFFECTS = ['random.bytes', 'clock.now', 'process.info', 'fs.write', 'callback']

function onHandle(signature: string, doc: string, script: string, least: number, missing: string) {
  return builtin(signature, { doc, effects: EFFECTS }, (ctx, handle, more): Result => {
    if (ctx.argc < least) return ctx.runtime(missing)
    return machine.start(ctx, script, handle ?? null, more ?? null)
  })
}

export const workersFamily: BuiltinFamily = {
  name: 'workers',
  frames: [machine.frame],
  builtins: [
    builtin(
      '__worker_start(task: string, options: dict) -> dict',
      { doc: 'Starts a worker.', effects: EFFECTS },
      (ctx, task, options) => machine.start(ctx, 'start', task ?? null, options ?? null),
    ),
    builtin(
      '__worker_task(id: string) -> dict',
      { doc: 'What a worker does with its present task.', effects: AGENT_EFFECTS },
      (ctx, id) => machine.start(ctx, 'task', id ?? null),
    ),
    builtin(
      'spawn_agent(config: dict) -> dict as ?',
      { doc: 'Starts a worker that carries out one stage: a model call, or an agent loop with tools.', effects: AGENT_EFFECTS },
      (ctx, config) =>
        config instanceof HarnDict ? machine.start(ctx, 'startStage', config) : ctx.runtime('spawn_agent: config must be a dict'),
    ),
    builtin('__worker_body(id: string) -> nil', { doc: 'What the task of a worker does.', effects: EFFECTS }, (ctx, id) =>
      machine.start(ctx, 'body', id ?? null),
    ),
    onHandle(
      'wait_agent(handle_or_list: dict | string | list) -> any',
      'Waits until a worker, or each of a list, has ended.',
      'wait',
      1,
      'wait_agent: missing handle',
    ),
    onHandle(
      'send_input(handle: dict | string, task: any) -> dict as ?',
      'Gives a worker that has ended something more to do.',
      'send',
      2,
      'send_input: requires worker handle and task text',
    ),
    onHandle(
      'worker_trigger(handle: dict | string, payload: any) -> dict',
      'Starts a retriggerable worker again.',
      'trigger',
      2,
      'worker_trigger: requires worker handle and payload',
    ),
    onHandle(
      'close_agent(handle: dict | string) -> dict as ?',
      'Cancels a worker.',
      'close',
      1,
      'close_agent: missing worker handle',
    ),
    onHandle(
      'resume_agent(id_or_snapshot_path: string) -> dict',
      'The worker of an id or a snapshot file.',
      'resume',
      1,
      'resume_agent: missing worker id or snapshot path',
    ),
    builtin('list_agents() -> list', { doc: 'Handles of all workers of the run.', effects: [] }, (ctx) => {
      const { workers } = ctx.state(workerState)
      ctx.charge(workers.size, 512 * workers.size)
      return new HarnList([...workers.values()].map(makeHandle))
    }),
  ],
}
