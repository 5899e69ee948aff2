// Workers: sub-agents and stages that run beside the script; workers.harn is what they do.

import { builtinTaking, HarnBuiltin, HarnDict, builtin, display, harnBuiltin, stringifySorted } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value, Demands } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { openSession, touch } from '../sessions/sessions.js'
import { listDicts } from '../transcripts/shape.js'
import { stagePrimitives } from './stage-workers.js'

const MODULE = 'agents/workers/workers'

/** Field of a task that names the worker it runs for. */
const CURRENT = 'worker_id'

const primitives: readonly BuiltinDef[] = [
  ...stagePrimitives,
  definePrimitive('__current_worker() -> string?', 'The worker that the task runs for.', (ctx) => {
    const id = ctx.machine.task().fields.get(CURRENT) ?? null
    return id === null ? null : display(id)
  }),
  definePrimitive('__set_current_worker(id: string) -> nil', 'The task runs for this worker from here on.', (ctx, id) => {
    ctx.machine.task().fields.set(CURRENT, id!)
    return null
  }),
  definePrimitive(
    '__spawn_worker(id: string, name: string) -> int',
    'Starts the task of a worker; its number.',
    (ctx, id, name) => ctx.machine.spawn(new HarnBuiltin('__worker_body'), [id!], { name: name as string }),
  ),
  definePrimitive('__end_worker(task: int) -> nil', 'Ends the task of a worker; 0 is none.', (ctx, task) => {
    if (task !== 0) ctx.machine.abortTask(Number(task))
    return null
  }),
  definePrimitive(
    '__open_session_after(before: string, id: string, keeps: bool) -> nil',
    'Opens a session, with the messages of another if it keeps them.',
    (ctx, before, id, keeps) => {
      const source = touch(ctx, before as string)
      const session = openSession(ctx, id as string)
      if (keeps === true && source !== undefined) session.messages = [...source.messages]
      return null
    },
  ),
  definePrimitive(
    '__set_session_messages(id: string, messages: list) -> nil',
    'Lets a session have these messages.',
    (ctx, id, messages) => {
      openSession(ctx, id as string).messages = listDicts(messages)
      return null
    },
  ),
  builtin('__sorted_json(value: any) -> string', { doc: 'JSON with sorted keys, on one line.' }, (_ctx, value) =>
    stringifySorted(value!),
  ),
]

const EFFECTS = ['random.bytes', 'clock.now', 'process.info', 'process.exec', 'fs.query', 'fs.write', 'callback']

function runHarn(ctx: Context, name: string, args: readonly Value[]): Result {
  return ctx.library({ module: MODULE, function: name, output: 'drop' }, args)
}

/** A builtin on workers that says itself what it misses. */
function onHandle(signature: string, doc: string, missing: string): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const demands: Demands = { raise: 'runtime', fewer: `{f}: ${missing}` }
  return builtinTaking(signature, { doc, effects: EFFECTS }, demands, (ctx, ...args: Value[]) => runHarn(ctx, name, args))
}

export const workersFamily: BuiltinFamily = {
  name: 'workers',
  modules: findHarnModule,
  primitives,
  builtins: [
    harnBuiltin(
      '__worker_body(id: string) -> nil',
      { doc: 'What the task of a worker does.', effects: [...AGENT_EFFECTS, 'fs.write', 'process.exec'] },
      { module: MODULE, function: 'run_worker', output: 'drop' },
    ),
    builtin(
      'spawn_agent(config: dict) -> dict as ?',
      {
        doc: 'Starts a worker that carries out one stage – a model call, or an agent loop with tools – or a graph of them.',
        effects: [...AGENT_EFFECTS, 'fs.write', 'process.exec'],
      },
      (ctx, config) =>
        config instanceof HarnDict ? runHarn(ctx, 'spawn_agent', [config]) : ctx.runtime('spawn_agent: config must be a dict'),
    ),
    onHandle(
      'wait_agent(handle_or_list: dict | string | list) -> any',
      'Waits until a worker, or each of a list, has ended.',
      'missing handle',
    ),
    onHandle(
      'send_input(handle: dict | string, task: any) -> dict as ?',
      'Gives a worker that has ended something more to do.',
      'requires worker handle and task text',
    ),
    onHandle(
      'worker_trigger(handle: dict | string, payload: any) -> dict',
      'Starts a retriggerable worker again.',
      'requires worker handle and payload',
    ),
    onHandle('close_agent(handle: dict | string) -> dict as ?', 'Cancels a worker.', 'missing worker handle'),
    onHandle(
      'resume_agent(id_or_snapshot_path: string) -> dict',
      'The worker of an id or a snapshot file.',
      'missing worker id or snapshot path',
    ),
    harnBuiltin(
      'list_agents() -> list',
      { doc: 'Handles of all workers of the run.', effects: ['callback'] },
      { module: MODULE, function: 'list_agents' },
    ),
  ],
}
