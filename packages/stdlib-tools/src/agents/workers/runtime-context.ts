// The runtime context: where the running task stands, and values that child tasks inherit as copies.

import { HarnDict, HarnList, builtin, sortTexts } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Entries, Result, Value } from '@bridle/vm/families'
import { listSupervisorStates } from './supervisor.js'

/** Fields besides those of the task itself; nil unless an agent or a workflow has set them. */
const OTHER_FIELDS = [
  'scope_id',
  'workflow_id',
  'run_id',
  'stage_id',
  'worker_id',
  'agent_session_id',
  'parent_agent_session_id',
  'root_agent_session_id',
  'agent_name',
  'trigger_id',
  'trigger_event_id',
  'binding_key',
  'tenant_id',
  'provider',
  'trace_id',
  'span_id',
  'scheduler_key',
  'runner',
  'capacity_class',
] as const

function readValues(ctx: Context): HarnDict {
  return new HarnDict(new Map(ctx.machine.task().values))
}

function makeRuntimeContext(ctx: Context): Result {
  const task = ctx.machine.task()
  const context = HarnDict.of({
    task_id: task.taskId,
    parent_task_id: task.parentId,
    root_task_id: task.rootId,
    task_name: task.name,
    task_group_id: task.group,
    context_values: readValues(ctx),
    cancelled: task.cancelled,
    debug: HarnDict.of({
      cancelled: task.cancelled,
      waiting_reason: null,
      active_task_ids: new HarnList(sortTexts(task.unawaited.map((number) => `vm_task_${number}`))),
      held_synchronization: new HarnList([]),
      supervisors: listSupervisorStates(ctx),
    }),
  })
  for (const field of OTHER_FIELDS) context.set(field, task.fields.get(field) ?? null)
  return context
}

/** A builtin whose first argument is a key of the context values. */
function onKey(name: string, run: (values: Entries<string, Value>, key: string, value: Value) => Value) {
  return (ctx: Context, key: Value, value: Value = null): Result =>
    typeof key === 'string'
      ? run(ctx.machine.task().values, key, value)
      : ctx.runtime(`${name}: first argument must be a string key`)
}

const CONTEXT = ['context'] as const

export const runtimeContextFamily: BuiltinFamily = {
  name: 'runtime-context',
  builtins: [
    builtin('runtime_context() -> dict', { doc: 'Where the running task stands.', effects: CONTEXT }, makeRuntimeContext),
    builtin('task_current() -> dict', { doc: 'Where the running task stands.', effects: CONTEXT }, makeRuntimeContext),
    builtin(
      'runtime_context_values() -> dict',
      { doc: 'The values set in this task or inherited by it.', effects: CONTEXT },
      readValues,
    ),
    builtin(
      'runtime_context_get(key: string, default?: any)',
      { doc: 'A context value, or the default.', effects: CONTEXT },
      onKey('runtime_context_get', (values, key, fallback) => (values.has(key) ? values.get(key)! : fallback)),
    ),
    builtin(
      'runtime_context_set(key: string, value: any)',
      { doc: 'Sets a context value and gives the one before.', effects: CONTEXT },
      onKey('runtime_context_set', (values, key, value) => {
        const before = values.get(key) ?? null
        values.set(key, value)
        return before
      }),
    ),
    builtin(
      'runtime_context_clear(key: string)',
      { doc: 'Removes a context value and gives it.', effects: CONTEXT },
      onKey('runtime_context_clear', (values, key) => {
        const before = values.get(key) ?? null
        values.delete(key)
        return before
      }),
    ),
  ],
}
